"""Which cells side by side may be memory: those of which the rule of the comparison and of the run's page says so."""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from django.test import Client

from apps.api.resources.side_by_side import document, represent
from apps.comparison.caveats.ram_cache import check
from apps.comparison.queries.samples import of_runs
from apps.comparison.side_by_side.queries import answer
from apps.comparison.side_by_side.question import SideBySideQuestion
from apps.comparison.side_by_side.table import SideBySideTable
from apps.inventory.models import Target
from apps.labs.models import Lab
from apps.runs.models import Run
from apps.studies.models import Configuration, PlannedRun
from apps.studies.plans.plan_import import import_plans
from tests.comparison.caveats.on_reports import CRS4, DTN, INFN, THUMPER, TRISTAN
from tests.comparison.factories import GIB, MIB, published, run, sample, target
from tests.comparison.side_by_side_page import table_html
from tests.studies.loading import all_loaded
from tests.studies.loading import published as reports

__all__ = ["all_loaded", "reports"]

ADDRESS = "/compare/side-by-side/"
Marks = tuple[bool, bool]  # in RAM, partly in RAM


@pytest.fixture
def place(lab: Lab) -> Target:
    return target(lab, "alpha")


def measured(at: Target, size: int = GIB, operation: str = "write", metric: str = "bandwidth", **fields: Any) -> Run:
    one = run(at.lab, at, **{"facts": {"ram": 8 * GIB}, **fields})
    sample(one, 1e8, operation, metric, file_size=size, block_size=MIB)
    return one


def marks(found: SideBySideTable) -> dict[Any, Marks]:
    """By what the row is about and the column."""
    return {
        (row.place, cell.column): (cell.in_ram, cell.partly_in_ram)
        for row, cells in zip(found.rows, found.cells(), strict=True)
        for cell in cells
        if cell
    }


def of_sizes(**asked: Any) -> dict[int | None, Marks]:
    return {place.file_size: found for (place, _), found in marks(answer(SideBySideQuestion(**asked))).items()}


FACTS = [
    {"ram": 8 * GIB}, {"ram": 8.0 * GIB}, {"ram": 8 * GIB, "sync": "none"}, {"ram": 8 * GIB, "sync": "dsync", "direct": 0},
    {"ram": 8 * GIB, "direct": False}, {"ram": 8 * GIB, "direct": "0"}, {"ram": 8 * GIB, "direct": "unknown"}, {"ram": 8 * GIB, "direct": None},
    {"ram": 8 * GIB, "direct": True}, {"ram": 8 * GIB, "direct": 1}, {"ram": 8 * GIB, "direct": "1"}, {"ram": 8 * GIB, "direct": "true"},
    {"ram": 8 * GIB, "sync": "direct"}, {"ram": GIB}, {"ram": GIB - 1}, {"ram": 0}, {"ram": -1}, {"ram": None}, {"ram": "8589934592"}, {},
]  # fmt: skip


@pytest.mark.parametrize("facts", FACTS, ids=str)
def test_one_run_is_marked_where_the_rule_speaks(place: Target, facts: dict[str, Any]) -> None:
    one = measured(place, facts=facts)
    [reading] = of_runs([one.pk])[one.pk]
    assert of_sizes(targets=(place.pk,)) == {GIB: (check(reading) is not None, False)}


def test_both_ways_of_files_are_among_the_facts_that_are_tried(place: Target) -> None:
    said = []
    for facts in FACTS:
        one = measured(place, facts=facts)
        said += [check(reading) is not None for reading in of_runs([one.pk])[one.pk]]
    assert 5 <= said.count(True) <= len(said) - 5


def test_a_label_counts_where_the_facts_do_not_say_it(place: Target) -> None:
    measured(place, labels={"sync": "direct"})
    assert of_sizes(targets=(place.pk,)) == {GIB: (False, False)}


def test_a_direct_run_has_no_mark_on_any_measure_and_keeps_its_ram(
    place: Target, sign_in: Callable[[str], Client]
) -> None:
    one = measured(place, facts={"ram": 8 * GIB, "direct": 1, "sync": "direct"})
    for metric in ("iops", "clat_mean", "cpu"):
        sample(one, 0.5, "write", metric, file_size=GIB, block_size=MIB)
    page = sign_in("viewer").get(f"{ADDRESS}?target={place.pk}").content.decode()
    assert page.count('<td class="num"') == 4
    assert page.count(">m</sup>") == 1  # explained below the table
    assert answer(SideBySideQuestion(targets=(place.pk,))).columns[0].ram == 8 * GIB


def test_names_of_files_alone_and_messages_are_no_files_in_memory(place: Target) -> None:
    one = measured(place)
    sample(one, 5e3, "create_seq", "rate", file_size=GIB, block_size=MIB)
    found = marks(answer(SideBySideQuestion(targets=(place.pk,))))
    assert {place.operation: mark for (place, _), mark in found.items()} == {
        "write": (True, False),
        "create_seq": (False, False),
    }


def test_on_one_target_what_went_past_the_cache_is_told_from_what_did_not(place: Target) -> None:
    measured(place, 2 * GIB)
    measured(place, 4 * GIB, facts={"ram": 8 * GIB, "direct": 1})
    measured(place, 6 * GIB, facts={"ram": 5 * GIB})
    assert of_sizes(targets=(place.pk,)) == {
        2 * GIB: (True, False), 4 * GIB: (False, False), 6 * GIB: (False, False),
    }  # fmt: skip


def test_a_mean_of_direct_and_other_runs_is_marked_until_the_others_are_no_longer_among_the_last(place: Target) -> None:
    measured(place)
    for _ in range(2):
        measured(place, facts={"ram": 8 * GIB, "direct": 1})
    assert of_sizes(targets=(place.pk,), last=3) == {GIB: (True, False)}
    assert of_sizes(targets=(place.pk,), last=2) == {GIB: (False, False)}


def _statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """As they are sent, those too that Django does not see."""
    sent: list[str] = []
    execute = psycopg.Cursor.execute

    def counted(cursor: Any, statement: Any, *args: Any, **kwargs: Any) -> Any:
        sent.append(statement.decode() if isinstance(statement, bytes) else str(statement))
        return execute(cursor, statement, *args, **kwargs)

    monkeypatch.setattr(psycopg.Cursor, "execute", counted)
    return sent


def test_only_runs_that_are_not_alike_cost_another_statement(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    alike, mixed = target(lab, "alpha"), target(lab, "beta")
    for place in (alike, mixed):
        for _ in range(2):
            measured(place)
            measured(place, 2 * GIB, facts={"ram": 8 * GIB, **({"direct": 1} if place is mixed else {})})
    sent, counts = _statements(monkeypatch), []
    for chosen in ((alike.pk,), (alike.pk, mixed.pk)):
        sent.clear()
        answer(SideBySideQuestion(targets=chosen))
        counts.append(len(sent))
    # sums, words of the measures, columns, kinds of runs; and the cells of the one that is mixed in memory
    assert counts == [4, 5]


def test_a_studys_page_and_the_chooser_send_as_many_statements_whatever_there_is(
    lab: Lab, sign_in: Callable[[str], Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    client = sign_in("viewer")
    client.get(ADDRESS)  # from now on the session is read together with the person

    def counts() -> list[int]:
        found = []
        for address in (f"{ADDRESS}?study=paper", f"{ADDRESS}choose/?study=paper"):
            sent.clear()
            assert client.get(address).status_code == 200
            found.append(len([one for one in sent if "SAVEPOINT" not in one]))
        return found

    published(lab, "RAID 0", {100: 1e8, 200: 2e8})
    sent = _statements(monkeypatch)
    few = counts()
    for number in range(6):
        published(lab, f"RAID {number}", {100: 1e8, 200: 2e8})
    assert counts() == few
    # session, person, memberships and labs; sums, words of the measures, columns and what was printed of single samples
    assert few[0] <= 9
    assert few[1] <= 8  # session, person, memberships and labs; measures, targets, studies


@pytest.fixture
def planned(lab: Lab) -> Configuration:
    """1, 3 and 5 GiB written on a host with 1 GiB of RAM."""
    return published(lab, "RAID 5", {1024: 1e8, 3 * 1024: 1e8, 5 * 1024: 1e8})


def _put(configuration: Configuration, **factors: float | None) -> None:
    """A plan for each factor, of this one configuration."""
    plans = [
        {
            "name": name, "title": name, "order": "sequential", "stopping": {"kind": "fixed", "rounds": 1},
            "configurations": [{"configuration": configuration.name}],
            "points": [{"name": "one", "tool": "bonnie", "file_size": 3 * GIB, "operations": ["write"]}],
            "guards": [{"kind": "cache_rule", "factor": factor, "tolerance": 0.05}] if factor else [],
        }
        for name, factor in factors.items()
    ]  # fmt: skip
    import_plans(configuration.study, {"plans": plans})


@pytest.mark.parametrize(
    ("factors", "partly"), [({}, 0), ({"four": 4}, 1), ({"eight": 8}, 2), ({"eight": 8, "four": 4}, 1), ({"one": 1}, 0)]
)
def test_of_a_plans_rule_the_weaker_mark_speaks(
    planned: Configuration, sign_in: Callable[[str], Client], factors: dict[str, float], partly: int
) -> None:
    _put(planned, **factors)
    found = of_sizes(study="paper")
    assert found == {
        GIB: (True, False), 3 * GIB: (False, partly > 0), 5 * GIB: (False, partly > 1),
    }  # fmt: skip
    page = sign_in("viewer").get(f"{ADDRESS}?study=paper").content.decode().split("<tbody>")[1].split("</tbody>")[0]
    assert (page.count(">m</sup>"), page.count(">p</sup>")) == (1, partly)
    assert of_sizes(targets=(Run.objects.values_list("target", flat=True)[0],)) == found


def test_a_run_that_a_plan_made_is_held_against_that_plan_alone(planned: Configuration) -> None:
    _put(planned, free=None, eight=8)
    one = Run.objects.get(samples__point__file_size=5 * GIB)
    for name, is_marked in (("free", False), ("eight", True)):
        plan = planned.study.plans.get(name=name)
        PlannedRun.objects.update_or_create(
            run=one, defaults={"row": plan.rows.get(), "point": plan.points.get(), "round": 1}
        )
        assert of_sizes(study="paper") == {
            GIB: (True, False), 3 * GIB: (False, True), 5 * GIB: (False, is_marked),
        }  # fmt: skip


def test_rest_and_the_document_say_what_the_page_says(planned: Configuration) -> None:
    _put(planned, four=4)
    asked = SideBySideQuestion(study="paper")
    found = answer(asked)
    plain = represent(found, asked, "https://example.org/")
    assert [column["ram"] for column in plain["columns"]] == [GIB]
    assert {row["file_size"]: [(one["in_ram"], one["partly_in_ram"]) for one in row["cells"]] for row in plain["rows"]} == {
        GIB: [(True, False)], 3 * GIB: [(False, True)], 5 * GIB: [(False, False)],
    }  # fmt: skip
    made = document(found, "https://example.org/")
    table = made.sections[0].table
    assert table
    assert [str(row[1]).partition("; ")[2] for row in table.rows] == ["may be memory)", "may be partly memory)", ""]


def test_a_range_is_marked_too_and_a_missing_value_is_not(place: Target) -> None:
    one = run(place.lab, place, facts={"ram": 8 * GIB})
    sample(one, None, file_size=GIB, low=7e7, high=8e7, quality="range")
    sample(one, None, file_size=2 * GIB, missing_reason="N.A.")
    rows = table_html(answer(SideBySideQuestion(targets=(place.pk,)))).split("<tr>")
    assert [row.count(">m</sup>") for row in rows] == [0, 0, 1, 0]


@pytest.mark.parametrize("slug", [CRS4, THUMPER, INFN, DTN, TRISTAN])
@pytest.mark.usefixtures("reports")
def test_in_the_reports_exactly_those_cells_are_marked_of_which_the_rule_speaks(slug: str) -> None:
    runs = dict(
        Run.objects.finished()
        .filter(study_run__configuration__study__slug=slug)
        .values_list("id", "study_run__configuration")
    )
    said = defaultdict(list)
    for run_id, readings in of_runs(runs).items():
        for one in readings:
            point = (one.file_size, one.block_size, one.threads, one.iodepth, one.section)
            said[one.operation, one.metric, *point, runs[run_id]].append(check(one) or "")
    expected = {}
    for key, lines in said.items():
        fits = any(line and "partly" not in line for line in lines)
        expected[key] = (fits, not fits and any(lines))
    found = {
        (one.operation, one.metric, one.file_size, one.block_size, one.threads, one.iodepth, one.section, column): mark
        for (one, column), mark in marks(answer(SideBySideQuestion(study=slug))).items()
    }
    assert found == expected


@pytest.mark.usefixtures("reports")
def test_crs4s_100_mb_files_on_1_and_2_gb_are_marked() -> None:
    found = answer(SideBySideQuestion(study=CRS4, operations=("write",)))
    small = [mark for (place, _), mark in marks(found).items() if place.file_size == 100 * MIB]
    assert small == [(True, False)] * 7
    rows = [row for row in table_html(found).replace("\u00a0", " ").split("<tr>") if ">100 MiB file" in row]
    assert sum(row.count(">m</sup>") for row in rows) == 7
    large = [mark for (place, _), mark in marks(found).items() if place.file_size == 8000 * MIB]
    assert large
    assert set(large) == {(False, False)}

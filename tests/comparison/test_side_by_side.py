"""Many measures of a few configurations on one page: the same arithmetic as the comparison, found in two statements."""

import math
import random
import statistics
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import psycopg
import pytest
from django.test import Client

from apps.comparison.cells import Verdict
from apps.comparison.question import QuestionError
from apps.comparison.side_by_side.memory import MemorySizes
from apps.comparison.side_by_side.queries import load, newest_measured
from apps.comparison.side_by_side.question import MOST_COLUMNS, SideBySideQuestion, parse
from apps.comparison.side_by_side.table import (
    LOGS,
    Judgement,
    SideBySideColumn,
    SideBySidePlace,
    Sums,
    _one_by_one,
    judge_cells,
    table,
)
from apps.comparison.statistics.ratios import holm, ratios
from apps.core import units
from apps.inventory.models import Target
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from tests.comparison.factories import GIB, MIB, run, sample, target
from tests.comparison.side_by_side_page import table_html, without_blanks
from tests.conftest import Cast

NIGHT = datetime(2026, 1, 1, 2, tzinfo=UTC)


def logs(values: list[float]) -> list[float]:
    found = [math.log(value) for value in values]
    return [len(found), statistics.fmean(found), statistics.variance(found) if len(found) > 1 else 0.0]


def judge(pairs: list[tuple[list[float], list[float]]], higher_is_better: list[bool]) -> list[Judgement]:
    """One by one; pairs are what `logs` gave for the values and for the baseline's."""
    ours, theirs = (np.array([pair[side] for pair in pairs]).T for side in (0, 1))
    return _one_by_one(judge_cells(ours, theirs, higher_is_better))


def nights(lab: Lab, at: Target, values: list[float], operation: str = "write", **more: object) -> None:
    for night, value in enumerate(values):
        one = run(lab, at, finished_at=NIGHT + timedelta(days=night), facts={"ram": 8 * GIB})
        sample(one, value, operation, **{"file_size": 32 * GIB, "block_size": MIB, **more})  # type: ignore[arg-type]


def test_ratios_are_those_of_the_comparison() -> None:
    draw = random.Random(7)
    pairs = [
        ([draw.lognormvariate(5, 0.1) for _ in range(n)], [draw.lognormvariate(5.1, 0.1) for _ in range(m)])
        for n, m in ((3, 4), (4, 4), (3, 3))
    ]
    found = judge([(logs(a), logs(b)) for a, b in pairs], [True] * len(pairs))
    for ours, theirs in zip(found, ratios(pairs), strict=True):
        assert theirs is not None
        assert theirs.method == "welch"
        assert (ours.ratio, ours.low, ours.high, ours.p) == pytest.approx(
            (theirs.ratio, theirs.low, theirs.high, theirs.p), rel=1e-9
        )


def test_verdicts_hold_after_the_correction_for_all_cells() -> None:
    same = [100.0, 101, 99, 100.5]
    slightly = [104.0, 105, 103, 104.5]
    pairs = [(logs(slightly), logs(same))] + [(logs(same[::-1]), logs(same))] * 40
    one = judge(pairs[:1], [True])[0]
    assert one.verdict is Verdict.BETTER
    many = judge([(logs([101.8, 102.9, 100.7, 102.4]), logs(same))] + pairs[1:], [True] * 41)
    assert many[0].p is not None
    assert many[0].p < 0.05 < holm([found.p or 1 for found in many])[0]
    assert many[0].verdict is Verdict.NO_DIFFERENCE


def test_two_runs_have_a_ratio_and_no_verdict_and_equal_runs_do_not_differ() -> None:
    few, flat = judge([(logs([2.0, 2.0]), logs([1.0, 1.0, 1.0])), (logs([5.0] * 3), logs([5.0] * 3))], [True, True])
    assert (few.ratio, few.low, few.verdict) == (pytest.approx(2.0), None, Verdict.TOO_FEW)
    assert (flat.low, flat.high, flat.p, flat.verdict) == (1.0, 1.0, 1.0, Verdict.NO_DIFFERENCE)


def test_for_latency_less_is_better() -> None:
    pair = (logs([1.0, 1.01, 0.99]), logs([2.0, 2.02, 1.98]))
    assert [found.verdict for found in judge([pair, pair], [False, True])] == [Verdict.BETTER, Verdict.WORSE]


@pytest.mark.django_db
def test_only_the_last_runs_of_each_target_count(cast: Cast) -> None:
    with lab_scope(cast.lab.pk):
        old, new = target(cast.lab, "alpha"), target(cast.lab, "beta")
        nights(cast.lab, old, [1e6] * 5 + [2e8, 2.1e8, 1.9e8])
        nights(cast.lab, new, [4e8, 4.1e8, 3.9e8])
        asked = SideBySideQuestion(targets=(old.pk, new.pk), last=3)
        found = table(*load(asked))
    [row], [cells] = found.rows, found.cells()
    assert [cell.n for cell in cells if cell] == [3, 3]
    ours, theirs = cells
    assert ours
    assert theirs
    assert (ours.mean, ours.low, ours.high) == (2e8, 1.9e8, 2.1e8)
    assert ours.stdev == pytest.approx(1e7)
    assert ours.half == pytest.approx(4.302652729911275 * 1e7 / math.sqrt(3))
    assert theirs.judgement
    assert theirs.judgement.ratio == pytest.approx(
        math.exp(
            statistics.fmean(map(math.log, [4e8, 4.1e8, 3.9e8])) - statistics.fmean(map(math.log, [2e8, 2.1e8, 1.9e8]))
        )
    )
    assert theirs.judgement.verdict is Verdict.BETTER
    assert row.unit.label == "MB/s"


@pytest.mark.django_db
def test_a_file_in_memory_is_marked_and_a_missing_value_is_no_zero(cast: Cast, client: Client) -> None:
    with lab_scope(cast.lab.pk):
        small, empty = target(cast.lab, "alpha"), target(cast.lab, "beta")
        nights(cast.lab, small, [9e9] * 3, file_size=GIB)
        sample(run(cast.lab, empty), None, file_size=GIB, block_size=MIB, missing_reason="N.A.")
        asked = SideBySideQuestion(targets=(small.pk, empty.pk))
    client.force_login(cast.viewer)
    page = client.get(f"/compare/side-by-side/?{asked.address}").content.decode()
    assert page.count(">m</sup>") == 2  # in the one cell, and explained below
    assert "1 run without a number" in page
    assert "1 GiB file" in page.replace("\u00a0", " ")


@pytest.mark.django_db
def test_the_page_begins_with_what_was_measured_last_and_can_be_chosen(cast: Cast, client: Client) -> None:
    client.force_login(cast.viewer)
    assert "No target has a finished run yet" in client.get("/compare/side-by-side/").content.decode()
    with lab_scope(cast.lab.pk):
        nights(cast.lab, target(cast.lab, "<b>alpha"), [2e8] * 3)
        nights(cast.lab, target(cast.lab, "beta"), [3e8] * 4)
        assert [str(one) for one in newest_measured()] == ["beta: scratch", "<b>alpha: scratch"]
    page = client.get("/compare/side-by-side/").content.decode()
    assert "&lt;b&gt;alpha: scratch" in page
    assert "<b>alpha" not in page
    assert "operation=write" in page
    chooser = client.get("/compare/side-by-side/choose/").content.decode()
    assert chooser.count('name="target"') == 2


def _counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Statements as they are sent, those too that Django does not see."""
    asked: list[str] = []
    execute = psycopg.Cursor.execute

    def counted(cursor: Any, statement: Any, *args: Any, **kwargs: Any) -> Any:
        asked.append(str(statement))
        return execute(cursor, statement, *args, **kwargs)

    monkeypatch.setattr(psycopg.Cursor, "execute", counted)
    return asked


@pytest.mark.django_db
def test_the_number_of_queries_does_not_grow_with_the_columns(
    cast: Cast, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.force_login(cast.viewer)
    client.get("/compare/side-by-side/")  # from now on the session is read together with the person
    with lab_scope(cast.lab.pk):
        places = [target(cast.lab, f"node{number}") for number in range(12)]
        for place in places:
            nights(cast.lab, place, [2e8, 2.1e8])
    asked = _counted(monkeypatch)
    counts = []
    for chosen in (places[:2], places):
        asked.clear()
        page = client.get(
            f"/compare/side-by-side/?{SideBySideQuestion(targets=tuple(one.pk for one in chosen)).address}"
        )
        assert page.content.decode().count('<td class="num"') == len(chosen)
        counts.append(len(asked))
    # session, person, memberships and labs; sums, words of the measures, columns; a transaction of the test may add savepoints
    assert 4 <= counts[0] == counts[1] <= 9


@pytest.mark.django_db
def test_a_stranger_sees_nothing_of_anothers_targets(cast: Cast, client: Client) -> None:
    with lab_scope(cast.lab.pk):
        secret = target(cast.lab, "secret")
        nights(cast.lab, secret, [2e8] * 3)
    client.force_login(cast.stranger)
    page = client.get(f"/compare/side-by-side/?target={secret.pk}").content.decode()
    assert "secret" not in page
    assert "200" not in page.split("<main")[1].split("</main")[0]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"target": ["x"]}, "target"), ({"target": ["1"] * 0 + [str(n) for n in range(1, MOST_COLUMNS + 2)]}, "target"), ({"last": ["0"]}, "last"),
        ({"last": ["9999"]}, "last"), ({"metric": ["speed"]}, "metric"), ({"base": ["1001"]}, "base"), ({"target": ["1"], "study": ["a"]}, "study"),
        ({"colour": ["red"]}, "address"), ({"last": ["1", "2"]}, "last"), ({"study": ["a\0"]}, "study"), ({"target": ["9" * 40]}, "target"),
    ],
)  # fmt: skip
def test_an_address_that_asks_nothing_names_the_field(query: dict[str, list[str]], field: str) -> None:
    with pytest.raises(QuestionError) as error:
        parse(query)
    assert error.value.field == field


def test_an_address_comes_back_as_it_was() -> None:
    asked = SideBySideQuestion(
        targets=(3, 1), last=5, baseline=1, metrics=("iops",), operations=("read", "write"), base=1024
    )
    pairs = [pair.split("=") for pair in asked.address.split("&")]
    query: dict[str, list[str]] = {}
    for name, value in pairs:
        query.setdefault(name, []).append(value)
    assert parse(query) == asked


@pytest.mark.django_db
def test_a_study_stands_side_by_side_by_its_configurations(cast: Cast, client: Client) -> None:
    from apps.studies.models import Configuration, Study, StudyRun

    with lab_scope(cast.lab.pk):
        study = Study.objects.create(lab=cast.lab, slug="disks", title="Disks")
        for position, name in enumerate(("raid-0", "raid-1")):
            configuration = Configuration.objects.create(study=study, name=name, label=name.upper(), position=position)
            one = run(cast.lab)
            sample(one, 1e8 * (position + 1), file_size=GIB)
            StudyRun.objects.create(run=one, configuration=configuration)
    client.force_login(cast.viewer)
    page = client.get("/compare/side-by-side/?study=disks").content.decode()
    assert page.index("RAID-0") < page.index("RAID-1")
    assert "too few runs" in page
    assert client.get("/compare/side-by-side/?target=0").status_code == 400


@pytest.mark.django_db
def test_one_sample_says_what_was_printed_and_leads_to_its_run_and_a_mean_says_neither(
    cast: Cast, client: Client
) -> None:
    with lab_scope(cast.lab.pk):
        place = target(cast.lab, "alpha")
        for value in (1e8, 2e8):
            sample(run(cast.lab, place), value, file_size=GIB, printed="never of a mean", source_line=3)
        one = run(cast.lab, place)
        sample(one, 59.7e6, "read", file_size=GIB, printed="<59,7> MB/s", source_line=214)
    client.force_login(cast.viewer)
    page = without_blanks(client.get("/compare/side-by-side/").content.decode())
    page = page.replace("\u00a0", " ").replace("\u202f", " ")
    said = "59.7 MB/s; n = 1; printed “&lt;59,7&gt; MB/s”, line 214 of the result"
    assert f'<td class="num" title="{said}"><a class="quiet-link" href="/runs/{one.pk}/">59.7</a>' in page
    assert "never of a mean" not in page
    assert '<td class="num" tabindex="0" title="150 MB/s; n = 2; from 100 to 200 MB/s">150' in page


@pytest.mark.django_db
def test_only_cells_of_one_sample_cost_another_statement(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    with lab_scope(cast.lab.pk):
        several, one = target(cast.lab, "alpha"), target(cast.lab, "beta")
        nights(cast.lab, several, [1e8, 2e8])
        nights(cast.lab, one, [1e8])
        asked, found = _counted(monkeypatch), []
        for chosen in ((several.pk,), (several.pk, one.pk)):
            asked.clear()
            load(SideBySideQuestion(targets=chosen))
            found.append(len(asked))
    assert 0 < found[0] == found[1] - 1


@pytest.mark.django_db
def test_the_page_is_in_the_readers_base_unless_the_address_says_another(cast: Cast, client: Client) -> None:
    with lab_scope(cast.lab.pk):
        nights(cast.lab, target(cast.lab, "alpha"), [100 * MIB] * 2)
    client.force_login(cast.viewer)
    client.cookies["spindle_base"] = "1024"
    page = client.get("/compare/side-by-side/").content.decode()
    assert "MiB/s" in page
    assert "base=1000" in page  # the other base is said, or the reader's would be taken
    assert '<span class="unit">MB/s</span>' in client.get("/compare/side-by-side/?base=1000").content.decode()


@pytest.mark.django_db
def test_a_range_stands_as_its_bounds_and_gets_no_mean(cast: Cast, client: Client) -> None:
    with lab_scope(cast.lab.pk):
        place = target(cast.lab, "alpha")
        sample(run(cast.lab, place), None, file_size=GIB, low=72.7e6, high=80.9e6, quality="range")
        sample(run(cast.lab, place), None, file_size=2 * GIB, low=5e7, quality="lower bound")
        asked = SideBySideQuestion(targets=(place.pk,))
        [ranged], [least] = table(*load(asked)).cells()
    assert ranged
    assert (ranged.mean, ranged.bound_low, ranged.bound_high) == (None, 72.7e6, 80.9e6)
    assert least
    assert (least.bound_low, least.bound_high) == (5e7, None)
    client.force_login(cast.viewer)
    page = without_blanks(client.get(f"/compare/side-by-side/?{asked.address}").content.decode())
    assert "72.7 – 80.9<" in page
    assert "≥ 50.0<" in page
    assert "without a number" not in page


@pytest.mark.django_db
def test_a_missing_value_beside_others_is_neither_counted_nor_a_nought(cast: Cast) -> None:
    with lab_scope(cast.lab.pk):
        place = target(cast.lab, "alpha")
        nights(cast.lab, place, [1e8, 2e8, 4e8])
        sample(run(cast.lab, place), None, "write", file_size=32 * GIB, block_size=MIB, low=5e7, quality="lower bound")
        found = table(*load(SideBySideQuestion(targets=(place.pk,))))
    [[cell]] = found.cells()
    assert cell
    assert (cell.n, cell.without, cell.low, cell.bound_low) == (3, 1, 1e8, 5e7)
    assert found.figures.sums[0, 0, LOGS].tolist() == pytest.approx([3, math.log(2e8), math.log(2) ** 2])


@pytest.mark.parametrize("base", [1000, 1024])
@pytest.mark.parametrize(
    ("metric", "low"),
    [
        ("bandwidth", 172015714.75690156),
        ("bandwidth", 2e8),
        ("bandwidth", 0.25),
        ("bandwidth", 1e16),
        ("cpu", 1.5e-7),
        ("iops", 999.5),
    ],
)
def test_a_cell_shows_three_digits_and_all_of_them_on_hover(metric: str, low: float, base: int) -> None:
    found = table(
        [SideBySideColumn(1, "a", ""), SideBySideColumn(2, "b", "")], _sums(metric, 5, [low, low * 3]), base=base
    )
    [row], [cells] = found.rows, found.cells()
    shown = table_html(found)
    for cell in cells:
        assert cell
        text, behind = row.unit.text, units.suffix(row.unit.label)
        assert f'>{text(cell.mean)} <span class="muted">± {text(cell.half)}</span>' in shown
        mean, least, most = (_twelve(value / row.unit.factor) for value in (cell.mean, cell.low, cell.high) if value)
        assert f'title="{mean}{behind}; n = 5; from {least} to {most}{behind}"' in shown
    judgement = cells[1].judgement if cells[1] else None
    assert judgement
    ratio, at_least, at_most = (
        units.significant(value or 0) for value in (judgement.ratio, judgement.low, judgement.high)
    )
    worse = "worse" if row.metric.higher_is_better is (judgement.ratio < 1) else "better"
    assert f'{worse}">{ratio}× {worse} ({at_least} to {at_most})<' in shown.replace(units.NO_BREAK, " ")


def _sums(metric: str, n: int, lows: list[float]) -> Sums:
    """One row, a column for each."""
    key = (1, 1, 0)
    place = SideBySidePlace("write", metric, None, None, None, None, 0)
    figures = [[n, 0, low * 1.5 + 0.123456789, low / 7, low, low * 2, math.log(low * 1.5), 0.01] for low in lows]
    return Sums({key: place}, [(column, key) for column in range(1, len(lows) + 1)], np.array(figures), {})


def _twelve(value: float) -> str:
    return units.exact(float(f"{value:.12g}") if 1e-4 <= value < 1e12 else value)


def test_too_few_runs_have_a_ratio_without_an_interval() -> None:
    found = table([SideBySideColumn(1, "a", ""), SideBySideColumn(2, "b", "")], _sums("bandwidth", 2, [2e8, 1e8]))
    shown = table_html(found)
    assert ">0.500× too few runs<" in shown.replace(units.NO_BREAK, " ")
    assert ">n = 2<" in shown
    assert "±" not in shown


def test_nothing_measured_is_an_empty_table() -> None:
    nothing = Sums({}, [], np.empty((0, 8)), {})
    assert table([], nothing).rows == table([SideBySideColumn(1, "a", "")], nothing).rows == []
    assert table([SideBySideColumn(1, "a", "")], nothing).cells() == []


def test_another_baseline_and_a_cell_that_was_not_measured() -> None:
    both, alone = (1, 1, 0), (1, 2, 0)
    places = {key: SideBySidePlace("write", "bandwidth", key[1] * GIB, None, 2, None, 0) for key in (alone, both)}
    figures = [[3, 0, mean, 1.0, mean, mean, math.log(mean), 0.0] for mean in (1e8, 2e8, 4e8)]
    sums = Sums(places, [(2, alone), (7, both), (2, both)], np.array(figures), {})
    found = table(
        [
            SideBySideColumn(2, "b", "", memory=MemorySizes(3.0 * GIB)),
            SideBySideColumn(7, "a", "", memory=MemorySizes(1.0 * GIB)),
        ],
        sums,
        baseline=7,
    )
    assert found.baseline
    assert found.baseline.id == 7
    [[held, against], [lonely, missing]] = found.cells()
    assert held
    assert held.judgement
    assert held.judgement.ratio == pytest.approx(2)
    assert against
    assert against.judgement is missing is None
    assert lonely
    assert lonely.judgement is None
    assert [held.in_ram, against.in_ram, lonely.in_ram] == [True, False, False]
    assert table_html(found).count("not measured") == 1


@pytest.mark.django_db
def test_a_name_that_looks_like_a_comment_is_written_as_a_name(cast: Cast, client: Client) -> None:
    with lab_scope(cast.lab.pk):
        nights(cast.lab, target(cast.lab, "<!-- inside -->"), [2e8] * 3)
    client.force_login(cast.viewer)
    page = client.get("/compare/side-by-side/").content.decode()
    assert "<!-- inside -->" not in page
    assert page.count("&lt;!-- inside --&gt;: scratch") >= 1
    assert page.count("<tbody>") == 1


@pytest.mark.django_db
def test_the_compare_page_leads_there_and_keeps_its_study(cast: Cast, client: Client) -> None:
    client.force_login(cast.viewer)
    assert 'href="/compare/side-by-side/">Everything side by side' in client.get("/compare/").content.decode()
    page = client.get("/compare/?study=two%26words").content.decode()
    assert 'href="/compare/side-by-side/?study=two%26words">' in page
    assert 'href="/compare/side-by-side/">' in client.get("/compare/?metric=speed").content.decode()

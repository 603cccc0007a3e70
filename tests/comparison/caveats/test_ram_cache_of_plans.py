"""A plan's k: files of at least k × RAM. Seed 000 asks for four times, seed 003 for twice; seed 001 for more than once.

That rule and line are there on the reports as they are loaded is in test_on_reports.py.
"""

from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.comparison.answer import answer, caveats_of_runs
from apps.comparison.caveats.ram_cache import check
from apps.comparison.in_studies.caveats import caveats_of
from apps.comparison.question import Question
from apps.comparison.readings import Evidence, Reading
from apps.labs.models import Lab
from apps.runs.models import Run
from apps.studies.models import Configuration, PlannedRun, StudyRun
from apps.studies.plans.guards import CacheRule
from apps.studies.plans.plan_import import import_plans
from tests.comparison.caveats.machines import plain
from tests.comparison.factories import GIB, MIB, published, reading, run, sample

FOUR = CacheRule(4, 0.05)  # CRS4
BOTH = "file size 4 000 MiB < 4 × RAM 2 GiB within 5% (4 194 304 000 B < 8 160 437 862 B; 1.95 × RAM): "


def asked(rule: CacheRule | None, size: int, ram: int = 2 * GIB, **more: object) -> Reading:
    facts = {"ram": ram, **more.pop("facts", {})}  # type: ignore[dict-item]
    return reading(1, 1e8, file_size=size, facts=facts, evidence=Evidence(cache_rule=rule), **more)


def test_crs4s_4000_mb_are_twice_the_ram_and_the_plan_asks_for_four_times() -> None:
    told = BOTH + "may be partly memory, the plan asks for at least 4 × RAM"
    assert plain(check(asked(FOUR, 4000 * MIB))) == told


def test_a_file_that_fits_altogether_is_told_the_strong_way() -> None:
    assert plain(check(asked(FOUR, 2000 * MIB))).startswith("file size 2 000 MiB ≤ RAM 2 GiB")


def test_exactly_as_large_as_the_plan_asks_is_silent() -> None:
    assert check(asked(CacheRule(4), 8 * GIB)) is None
    assert check(asked(CacheRule(4), 8 * GIB - 1))
    assert check(asked(FOUR, 8000 * MIB)) is None  # 3.91 times, which CRS4 counts as four
    assert check(asked(CacheRule(2, 0.05), 47 * GIB, ram=24 * GIB)) is None  # bonnie++ on DTN


def test_without_a_plan_or_with_one_that_asks_for_no_more_than_ram_it_is_silent() -> None:
    assert check(asked(None, 4000 * MIB)) is None
    assert check(asked(CacheRule(1), 9 * GIB, ram=8 * GIB)) is None  # Thumper
    assert check(asked(CacheRule(0.5), 3 * GIB)) is None


def test_past_the_page_cache_and_without_file_data_a_plans_k_does_not_matter() -> None:
    assert check(asked(FOUR, 4000 * MIB, facts={"sync": "direct"})) is None
    assert check(asked(FOUR, 4000 * MIB, operation="create_seq")) is None
    assert check(reading(1, 1e8, file_size=4000 * MIB, evidence=Evidence(cache_rule=FOUR))) is None


def test_all_threads_files_together_meet_the_plan() -> None:
    assert "of 4 threads together 4 GiB < 4 × RAM 2 GiB" in plain(check(asked(CacheRule(4), GIB, threads=4)))
    assert check(asked(CacheRule(4), 2 * GIB, threads=4)) is None


@pytest.fixture
def planned(lab: Lab) -> Configuration:
    """A configuration with one printed value of 3 GiB on a host with 1 GiB, and a plan that asks for four times."""
    configuration = published(lab, "RAID 5", {3 * 1024: 1e8})
    _put(configuration, four={"kind": "cache_rule", "factor": 4})
    return configuration


def _put(configuration: Configuration, **guards: dict[str, object] | None) -> None:
    """A plan for each guard, of this one configuration."""
    plans = [
        {
            "name": name, "title": name, "order": "sequential", "stopping": {"kind": "fixed", "rounds": 1},
            "configurations": [{"configuration": configuration.name}],
            "points": [{"name": "one", "tool": "bonnie", "file_size": 3 * GIB, "operations": ["write"]}],
            "guards": [guard] if guard else [],
        }
        for name, guard in guards.items()
    ]  # fmt: skip
    import_plans(configuration.study, {"plans": plans})


def sentences(configuration: Configuration) -> list[tuple[str, ...]]:
    """Of the comparison, the study, and the run by itself."""
    runs = list(Run.objects.values_list("pk", flat=True))
    found = [answer(Question())[0].caveats, caveats_of([configuration.study])[configuration.study.pk]]
    found += caveats_of_runs(runs).values()
    return [tuple(plain(line) for one in some if one.rule == "ram_cache" for line in one.arithmetic) for some in found]


def test_comparison_study_and_run_say_the_same(planned: Configuration) -> None:
    told = (
        "file size 3 GiB < 4 × RAM 1 GiB (3 221 225 472 B < 4 294 967 296 B; 3.00 × RAM): may be partly memory, "
        "the plan asks for at least 4 × RAM"
    )
    assert sentences(planned) == [(told,)] * 3


def test_of_two_plans_the_one_that_asks_less_counts(planned: Configuration) -> None:
    _put(planned, four={"kind": "cache_rule", "factor": 4}, three={"kind": "cache_rule", "factor": 3})
    assert sentences(planned) == [()] * 3


def test_a_run_that_a_plan_made_is_held_against_that_plan_alone(planned: Configuration) -> None:
    _put(planned, four={"kind": "cache_rule", "factor": 4}, free=None)
    one = Run.objects.get()
    for name, told in (("free", False), ("four", True)):
        plan = planned.study.plans.get(name=name)
        PlannedRun.objects.update_or_create(
            run=one, defaults={"row": plan.rows.get(), "point": plan.points.get(), "round": 1}
        )
        assert [bool(found) for found in sentences(planned)] == [told] * 3


def test_the_pages_and_rest_have_it(planned: Configuration, sign_in: Callable[[str], Client]) -> None:
    client, one = sign_in("viewer"), Run.objects.get()
    for address in ("/compare/free/", f"/studies/{planned.study.slug}/", one.get_absolute_url()):
        page = plain(client.get(address).content.decode())
        assert "may be partly memory, the plan asks for at least 4 × RAM" in page.replace("&lt;", "<"), address
    answered = client.get(f"/api/v1/runs/{one.pk}/").json()
    (caveat,) = [one for one in answered["caveats"] if one["rule"] == "ram_cache"]
    assert "may be partly memory" in str(caveat)


def test_the_number_of_queries_does_not_grow_with_plans_and_runs(planned: Configuration) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            answer(Question())
        return len(captured)

    few = queries()
    for number in range(6):
        more = published(planned.study.lab, f"RAID {number}", {1024 * (2 + number): 1e8}, slug=f"paper{number}")
        _put(more, four={"kind": "cache_rule", "factor": 4})
        another = run(planned.study.lab, origin="published", tool="bonnie", facts={"ram": GIB})
        StudyRun.objects.create(run=another, configuration=more)
        sample(another, 1e8, file_size=GIB)
    assert queries() == few

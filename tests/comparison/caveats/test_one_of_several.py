"""Processes of one job that fio reported one by one."""

from typing import Any

import pytest

from apps.comparison.caveats import RULES, of_cells
from apps.comparison.caveats.one_of_several import check
from apps.comparison.queries.samples import load, of_runs
from apps.comparison.question import Question
from apps.comparison.readings import Reading
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from apps.parsers.core.source_text import SourceText
from apps.parsers.fio.text import format as text_format
from apps.runs.samples import save_samples
from apps.runs.sections import sections_of
from tests.comparison.caveats.machines import plain
from tests.comparison.factories import reading, run
from tests.parsers.fixture_pairs import FIXTURES


def one(value: float | None, section: int = 0, name: str = "clones", **more: Any) -> Reading:
    beside = {"bandwidth": value, "io_bytes": value * 10} if value else {}
    known = {"run": 7, "section": section, "section_name": name, "threads": 3, "beside": beside}
    return reading(section, value, **{**known, **more})


def test_processes_of_one_name_are_told_with_their_sum() -> None:
    some = [one(30e6), one(40e6, 1), one(50e6, 2), one(90e6, 3, name="other")]
    assert plain(check(some) or "") == "run 7: 3 processes of clones, 40.0 MB/s each in mean, 120 MB/s together"


def test_processes_that_ran_for_different_times_are_summed_over_the_longest() -> None:
    """One moved 300 MB in 10 s, the other 1.2 GB in 30 s: together 1.5 GB in 30 s."""
    some = [one(30e6), one(40e6, 1, beside={"bandwidth": 40e6, "io_bytes": 1.2e9})]
    assert plain(check(some) or "") == "run 7: 2 processes of clones, 35.0 MB/s each in mean, 50.0 MB/s together"


def test_processes_whose_time_is_not_known_have_no_sum() -> None:
    assert (
        plain(check([one(30e6), one(40e6, 1, beside={})]) or "")
        == "run 7: 2 processes of clones, 35.0 MB/s each in mean"
    )
    moved = [one(3e9, metric="io_bytes", beside={}), one(4e9, 1, metric="io_bytes", beside={})]
    assert plain(check(moved) or "").endswith("7.00 GB together")


@pytest.mark.parametrize(
    "some",
    [
        [one(30e6)],
        [one(30e6, 0, "a"), one(30e6, 1, "b")],
        [one(30e6, 0, ""), one(30e6, 1, "")],  # nothing says that they are of one job
        [one(30e6, 0, block_size=4096), one(30e6, 1, block_size=65536)],
        [one(30e6), one(30e6, run=8)],
        [one(30e6), one(None, 1)],
    ],
)
def test_jobs_runs_and_points_that_differ_are_silent(some: list[Reading]) -> None:
    assert check(some) is None


def test_latencies_of_processes_may_be_averaged() -> None:
    rule = next(rule for rule in RULES if rule.name == "one_of_several")
    assert rule.arithmetic([one(3e6, metric="clat_mean"), one(5e6, 1, metric="clat_mean")]) == []


def test_of_a_real_report_of_three_processes_a_comparison_has_what_they_did_together(lab: Lab) -> None:
    data = (FIXTURES / "fio_text" / "clones.txt").read_bytes()
    [parsed] = text_format.parse(SourceText(data, "clones.txt")).runs
    with lab_scope(lab.pk):
        kept = run(lab, origin="uploaded", sections=sections_of(parsed))
        save_samples(kept, parsed.samples)
        readings = load(Question(operation="randread", metric="bandwidth"))
        processes = [
            one for one in of_runs([kept.pk])[kept.pk] if (one.operation, one.metric) == ("randread", "bandwidth")
        ]
    [whole] = readings
    assert whole.note == "sum of 3 jobs"
    assert "one_of_several" not in {caveat.rule for caveat in of_cells({(3, "a"): readings})}
    [found] = [caveat for caveat in of_cells({(3, "a"): processes}) if caveat.rule == "one_of_several"]
    assert (
        plain(found.arithmetic[0])
        == f"run {kept.pk}: 3 processes of clones, 8.39 GB/s each in mean, 25.2 GB/s together"
    )
    assert whole.value == pytest.approx(sum(one.value or 0.0 for one in processes), rel=0.02)

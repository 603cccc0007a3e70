"""Figures that a law doubts, and engines that reach no disk, in comparisons."""

from typing import Any

import pytest

from apps.comparison.answer import caveats_of_runs
from apps.comparison.caveats.contradiction import check as check_contradiction
from apps.comparison.caveats.not_at_a_disk import check as check_engine
from apps.labs.models import Lab
from apps.parsers.core.models import ParsedFile, ParsedRun, ParsedSample
from apps.parsers.laws import apply_laws
from apps.runs.samples import save_samples
from tests.comparison.factories import reading, run


def test_a_doubted_figure_has_a_caveat_with_the_laws_arithmetic(lab: Lab) -> None:
    figures = {"iops": 5000.0, "latency_mean": 2e6}
    samples = tuple(ParsedSample("randread", metric, value, threads=1, iodepth=2) for metric, value in figures.items())
    parsed = apply_laws(ParsedFile((ParsedRun("fio", "3.33", samples=samples),)))
    one = run(lab)
    save_samples(one, parsed.runs[0].samples)
    (found,) = [caveat for caveat in caveats_of_runs([one.pk])[one.pk] if caveat.rule == "contradiction"]
    assert [line.replace("\xa0", " ") for line in found.arithmetic] == [
        f"run {one.pk}, randread: 2.00 ms × 5.00 k/s is 10 I/O under way, where jobs × depth is 2"
    ]


@pytest.mark.parametrize("note", ["", "all directions of the job together", "sum of 4 jobs"])
def test_other_notes_have_none(note: str) -> None:
    assert check_contradiction(reading(1, 5.0, note=note)) is None


@pytest.mark.parametrize(
    ("more", "engine"),
    [
        ({"section_engine": "null"}, "null"), ({"facts": {"ioengine": "cpuio"}}, "cpuio"),
        ({"section_engine": "libaio", "facts": {"ioengine": "null"}}, ""), ({"section_engine": "io_uring"}, ""), ({}, ""),
    ],
)  # fmt: skip
def test_an_engine_that_reaches_no_disk_has_a_caveat(more: dict[str, Any], engine: str) -> None:
    found = check_engine(reading(1, 5.0, **more))
    assert (found or "").startswith(f"ioengine={engine}: the engine" if engine else "")
    assert bool(found) is bool(engine)


def test_it_is_found_by_the_options_of_a_runs_job(lab: Lab) -> None:
    one = run(lab, origin="uploaded", sections={"0": {"name": "a", "options": {"ioengine": "null"}}})
    save_samples(one, [ParsedSample("read", "bandwidth", 1e10)])
    assert "not_at_a_disk" in {caveat.rule for caveat in caveats_of_runs([one.pk])[one.pk]}

"""A run's caveats are found part by part: the same as in all its readings at once, whatever the size of a part."""

from dataclasses import replace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.comparison.answer import caveats_of_runs
from apps.comparison.caveats import of_readings
from apps.comparison.queries import samples
from apps.comparison.queries.samples import of_run
from apps.comparison.readings import NO_EVIDENCE, Reading
from apps.labs.models import Lab
from apps.runs.models import Run
from tests.comparison.caveats.machines import disk
from tests.comparison.caveats.test_on_pages import sata_run, snapshot
from tests.comparison.factories import MIB, sample


@pytest.fixture
def runs(lab: Lab) -> list[Run]:
    """Two whose samples came in turns; what is beside a value came long after it."""
    made = [sata_run(lab, value, snapshot=snapshot(lab, disk("sdi"), name)) for value, name in ((1e9, "a"), (2e9, "b"))]
    for number in range(1, 6):
        for one in made:
            sample(one, number * 4e8, file_size=number * MIB, threads=10, section=number, cpu=0.99)
    for one in made:
        sample(one, 3.7e6, metric="bandwidth_parent", file_size=MIB, threads=10)
        sample(one, 0.0, metric="bandwidth_min", file_size=MIB, threads=10)
    return made


@pytest.mark.parametrize("size", [1, 2, 3, 7, 5_000])
def test_parts_of_any_size_find_the_same(runs: list[Run], size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples, "SAMPLES_AT_ONCE", size)
    wanted = {one.pk: of_readings(of_run(one)) for one in runs}
    assert {"above_ceiling", "throughput_conflict"} <= {caveat.rule for caveat in wanted[runs[0].pk]}
    assert len(next(one for one in wanted[runs[0].pk] if one.rule == "above_ceiling").arithmetic) > 3
    assert caveats_of_runs([one.pk for one in runs]) == wanted


@pytest.mark.parametrize("size", [1, 2, 3, 7, 5_000])
def test_parts_of_any_size_are_all_the_readings(runs: list[Run], size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples, "SAMPLES_AT_ONCE", size)
    parts = list(samples.by_parts([runs[0].pk]))
    assert [len(part) for part in parts[:-1]] == [size] * (len(parts) - 1)
    assert [_said(one) for part in parts for one in part] == [_said(one) for one in of_run(runs[0])]


def _said(one: Reading) -> Reading:
    """Each part has evidence of its own, which is equal to no other."""
    assert one.machine
    return replace(one, evidence=NO_EVIDENCE)


def test_a_run_without_samples_has_no_caveats(runs: list[Run]) -> None:
    runs[0].samples.all().delete()
    assert caveats_of_runs([runs[0].pk]) == {runs[0].pk: []}
    assert caveats_of_runs([]) == {}


def test_a_run_of_few_samples_is_asked_for_once(runs: list[Run]) -> None:
    with CaptureQueriesContext(connection) as captured:
        caveats_of_runs([one.pk for one in runs])
    assert sum('FROM "runs_sample"' in one["sql"] for one in captured) == 1
    assert len(captured) <= 4

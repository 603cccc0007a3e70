"""fio's counts of the disks, held against what it says it moved."""

from typing import Any

import pytest

from apps.comparison.answer import caveats_of_runs
from apps.comparison.caveats.disk_count import check
from apps.comparison.queries import samples
from apps.comparison.question import Question
from apps.labs.models import Lab
from apps.parsers.core.models import ParsedSample
from apps.runs.samples import save_samples
from tests.comparison.caveats.machines import plain
from tests.comparison.factories import GIB, MIB, reading, run


def told(moved: float, operation: str = "randread", seconds: float = 60, **at_disks: Any) -> str | None:
    beside = {"io_bytes": moved, "bandwidth": moved / seconds}
    return check(reading(1, 1e9, operation=operation, beside=beside, at_disks=at_disks))


def test_a_read_that_no_disk_saw_came_from_memory() -> None:
    assert plain(told(16 * GIB, disk_reads=0) or "") == "the test read 17.2 GB; its disks counted 0 reads"


def test_few_large_requests_cannot_have_been_all_of_it() -> None:
    assert plain(told(16 * GIB, disk_reads=12) or "") == (
        "the test read 17.2 GB; its disks counted 12 reads, at most 50.3 MB at 4 MiB each"
    )


def test_counted_sectors_say_how_much() -> None:
    found = told(16 * GIB, "write", disk_writes=9000, disk_bytes_written=4.0 * GIB)
    assert plain(found or "") == "the test wrote 17.2 GB, its disks 4.29 GB (25%)"


@pytest.mark.parametrize(
    ("moved", "operation", "at_disks"),
    [
        (GIB, "read", {"disk_reads": 256}),  # requests of 4 MiB
        (GIB, "read", {"disk_reads": 1, "disk_bytes_read": GIB}),
        (GIB, "write", {"disk_reads": 0}),  # nothing is known of writes
        (GIB, "read", {}),
        (GIB, "mixed", {"disk_reads": 0, "disk_writes": 0}),
    ],
)
def test_what_the_disks_can_have_done_or_nobody_counted_is_silent(moved: float, operation: str, at_disks: Any) -> None:
    assert told(moved, operation, **at_disks) is None


def test_counters_of_less_than_a_second_may_not_have_moved_yet() -> None:
    assert told(MIB, seconds=0.9, disk_reads=0) is None
    assert told(MIB, seconds=1.1, disk_reads=0)


def test_it_is_found_in_a_run_that_has_both(lab: Lab) -> None:
    one = run(lab)
    save_samples(one, [
        ParsedSample("randread", "bandwidth", 1e9, block_size=4096), ParsedSample("randread", "io_bytes", 6e10, block_size=4096),
        ParsedSample("disk", "disk_reads", 12.0), ParsedSample("disk", "disk_reads", 3.0, section=1),
    ])  # fmt: skip
    (found,) = [caveat for caveat in caveats_of_runs([one.pk])[one.pk] if caveat.rule == "disk_count"]
    assert (
        plain(found.arithmetic[0]) == "the test read 60.0 GB; its disks counted 15 reads, at most 62.9 MB at 4 MiB each"
    )


def test_it_is_found_in_each_part_of_a_run_that_is_read_part_by_part(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    one = run(lab)
    save_samples(one, [
        ParsedSample("disk", "disk_reads", 12.0), ParsedSample("disk", "disk_reads", 3.0, section=1),
        ParsedSample("randread", "io_bytes", 6e10, block_size=4096), ParsedSample("randread", "bandwidth", 1e9, block_size=4096),
    ])  # fmt: skip
    monkeypatch.setattr(samples, "SAMPLES_AT_ONCE", 1)
    readings = [reading for part in samples.by_parts([one.pk]) for reading in part]
    assert [(each.metric, each.at_disks) for each in readings] == [
        ("io_bytes", {"disk_reads": 15.0}), ("bandwidth", {"disk_reads": 15.0}),
    ]  # fmt: skip
    assert all(map(check, readings))


def four_processes(lab: Lab, each: float, at_disks: float, operation: str = "randread") -> Any:
    """A run whose four processes are reported one by one, 20 s each."""
    sections = {str(number): {"name": "r", "options": {"rw": operation}} for number in range(4)}
    one = run(lab, sections=sections)
    counted = "disk_bytes_read" if "read" in operation else "disk_bytes_written"
    counts = "disk_reads" if "read" in operation else "disk_writes"
    own = [
        ParsedSample(operation, metric, value, section=number, block_size=4096, threads=4)
        for number in range(4)
        for metric, value in (("bandwidth", each / 20), ("io_bytes", each))
    ]
    save_samples(one, [*own, ParsedSample("disk", counts, 327680.0), ParsedSample("disk", counted, at_disks)])
    return one


@pytest.mark.parametrize(("operation", "did"), [("randread", "read"), ("write", "wrote")])
def test_what_all_processes_moved_together_is_held_against_the_disks(lab: Lab, operation: str, did: str) -> None:
    one = four_processes(lab, GIB, 1342177280.0, operation)
    (found,) = [caveat for caveat in caveats_of_runs([one.pk])[one.pk] if caveat.rule == "disk_count"]
    assert [plain(line) for line in found.arithmetic] == [f"the test {did} 4.29 GB, its disks 1.34 GB (31%)"]


def test_disks_that_did_what_all_processes_moved_are_silent(lab: Lab) -> None:
    one = four_processes(lab, GIB, 4.0 * GIB)
    assert "disk_count" not in {caveat.rule for caveat in caveats_of_runs([one.pk])[one.pk]}


def test_jobs_of_other_operations_count_too(lab: Lab) -> None:
    """The disks read for a sequential job what a random one did not ask of them."""
    one = run(lab)
    save_samples(one, [
        ParsedSample("read", "bandwidth", 1e8), ParsedSample("read", "io_bytes", 1e9),
        ParsedSample("randread", "bandwidth", 1e8, section=1), ParsedSample("randread", "io_bytes", 1e9, section=1),
        ParsedSample("disk", "disk_reads", 5.0), ParsedSample("disk", "disk_bytes_read", 1.5e9),
    ])  # fmt: skip
    (found,) = [caveat for caveat in caveats_of_runs([one.pk])[one.pk] if caveat.rule == "disk_count"]
    assert [plain(line) for line in found.arithmetic] == ["the test read 2.00 GB, its disks 1.50 GB (75%)"]


def test_parts_of_a_run_know_what_all_of_it_moved(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    one = four_processes(lab, GIB, 1342177280.0)
    monkeypatch.setattr(samples, "SAMPLES_AT_ONCE", 1)
    readings = [reading for part in samples.by_parts([one.pk]) for reading in part]
    assert {reading.moved["randread"] for reading in readings} == {4.0 * GIB}


def test_a_comparison_of_one_metric_knows_it(lab: Lab) -> None:
    one = four_processes(lab, GIB, 1342177280.0)
    (loaded,) = samples.load(Question(operation="randread", metric="bandwidth"))
    assert (loaded.run, loaded.moved) == (one.pk, {"randread": 4.0 * GIB})
    assert plain(check(loaded) or "") == "the test read 4.29 GB, its disks 1.34 GB (31%)"

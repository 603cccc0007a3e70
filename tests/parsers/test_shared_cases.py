"""Small inputs that contradict themselves or say less than they seem to, read where they lie beside the project.

Each file of the folder has its right reading beside it. Inputs of the same kind that always run are in `test_laws.py`,
`test_fio_engines.py`, `test_fio_failed.py` and `test_log_messages.py`.
"""

from pathlib import Path

import pytest

from apps.parsers.core.models import ParsedRun, ParsedSample
from apps.parsers.core.source_text import SourceText
from apps.uploads.file_reader import FileReading, read_file
from tests.parsers.corpus import CORPUS

CASES = CORPUS.parent / "cases"


def path_of(number: str) -> Path:
    paths = sorted(path for path in CASES.glob(f"{number}-*") if not path.name.endswith(".expected.txt"))
    if not paths:
        pytest.skip(f"the cases are not here ({CASES})")
    return paths[0]


def read(number: str) -> FileReading:
    path = path_of(number)
    return read_file(SourceText(path.read_bytes(), path.name))


def only(number: str) -> ParsedRun:
    (item,) = read(number).runs
    return item.run


def samples_of(run: ParsedRun) -> dict[tuple[str, str], ParsedSample]:
    return {(sample.operation, sample.metric): sample for sample in run.samples}


@pytest.mark.parametrize(
    ("number", "operation", "lat", "bandwidth"),
    [("05", "write", 207520.0, 18.7 * 1024**2), ("05b", "randwrite", 207520.0, 19608371.0)],
)
def test_clat_above_lat_is_withheld(number: str, operation: str, lat: float, bandwidth: float) -> None:
    samples = samples_of(only(number))
    assert samples[operation, "latency_mean"].value == lat
    assert samples[operation, "bandwidth"].value == pytest.approx(bandwidth)
    of_clat = [sample for (_, metric), sample in samples.items() if metric.startswith("clat_")]
    assert len(of_clat) >= 6
    assert {sample.value for sample in of_clat} == {None}
    assert all("above lat mean" in sample.missing_reason for sample in of_clat)


def test_the_end_of_a_histogram_is_a_lower_bound() -> None:
    samples = samples_of(only("06"))
    assert (samples["write", "clat_p1"].value, samples["write", "clat_p1"].quality) == (876609536.0, "exact")
    for metric in ("clat_p50", "clat_p99", "clat_p99_99"):
        last = samples["write", metric]
        assert (last.value, last.low, last.high, last.quality) == (None, 17112760320.0, 94396e6, "lower_bound")
        assert "last bin" in last.note


def test_an_engine_that_moves_no_data_has_a_rate_and_no_bandwidth() -> None:
    run = only("07")
    samples = samples_of(run)
    assert samples["create", "rate"].value == 24700.0
    assert samples["create", "clat_mean"].value == 15930.0
    assert {operation for operation, _ in samples} == {"create"}
    assert not [s for s in run.samples if s.metric in ("bandwidth", "io_bytes") and s.value is not None]


def test_fio_that_printed_no_report_is_named_with_its_reason() -> None:
    run = only("16")
    assert (run.tool, run.tool_version) == ("fio", "3.26")
    assert "error 84" in run.problem
    assert "line 4: verify: bad header" in run.problem
    assert not any(sample.value is not None for sample in run.samples)


def test_a_loggers_words_are_no_part_of_a_jobs_name() -> None:
    run = only("18")
    assert [section.name for section in run.sections] == ["fio-rand-write"]
    samples = samples_of(run)
    assert (samples["write", "bandwidth"].value, samples["write", "iops"].value) == (24035 * 1024.0, 6008.0)


def test_processes_of_one_job_are_held_against_the_disks_together() -> None:
    """What comparisons make of it is in `tests/comparison/caveats/test_disk_count.py`."""
    run = only("20")
    moved = [sample.value for sample in run.samples if sample.metric == "io_bytes"]
    assert moved == [1024 * 1024**2] * 4
    (counted,) = [sample.value for sample in run.samples if sample.metric == "disk_bytes_read"]
    assert counted == 2621440 * 512

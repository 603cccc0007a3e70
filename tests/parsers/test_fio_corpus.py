"""Other people's real terse and normal reports and logs, against the true values of the corpus's index."""

from itertools import pairwise

import pytest

from apps.parsers.core.models import ParsedFile, ParsedRun
from apps.parsers.core.source_text import SourceText
from apps.parsers.fio.json import format as json_format
from apps.parsers.fio.logs import format as logs_format
from apps.parsers.fio.terse import format as terse_format
from apps.parsers.fio.text import format as text_format
from tests.parsers.corpus import folder
from tests.sampling import for_each

KIB, MIB, GIB = 1024, 1024**2, 1024**3


def source(format_: str, name: str) -> SourceText:
    return SourceText((folder(format_) / name).read_bytes(), name)


def value(run: ParsedRun, operation: str, metric: str, section: int = 0) -> float | None:
    found = [s.value for s in run.samples if (s.operation, s.metric, s.section) == (operation, metric, section)]
    assert len(found) == 1
    return found[0]


# file → version, records, and of one of them: section, operation, KiB, KiB/s, IOPS
TERSE: dict[str, tuple[str, int, int, str, int, int, int]] = {
    "hikalium-result_2246HK6933GS.txt": ("3.28", 8, 0, "read", 1048576, 88704, 86),
    "hikalium-64g4_2414XY1719JF.txt": ("3.28", 8, 0, "read", 1048576, 86867, 84),
    "hikalium-result_2408X01456JF.txt": ("3.28", 8, 2, "read", 1048576, 85493, 83),
    "mcgrof-0001-bs4k-64iobs-1j-128qd-read.ini.out": ("3.8-83-g24a9", 1, 0, "read", 261561600, 871869, 217967),
    "mcgrof-0003-bs4k-64iobs-4j-128qd-read.ini.out": ("3.8-83-g24a9", 1, 0, "read", 559606820, 1865343, 466335),
    "fiovisualizer-client-status-interval.txt": ("3.8-41-g7302", 1, 0, "write", 1886832, 188645, 23580),
}


@pytest.mark.parametrize("name", TERSE)
def test_terse_records_are_those_of_the_index(name: str) -> None:
    version, count, section, operation, moved, bandwidth, iops = TERSE[name]
    (run,) = terse_format.parse(source("fio-terse", name)).runs
    assert (run.tool_version, len(run.sections)) == (version, count)
    assert value(run, operation, "io_bytes", section) == moved * KIB
    assert value(run, operation, "bandwidth", section) == bandwidth * KIB
    assert value(run, operation, "iops", section) == iops
    reads = [s for s in run.samples if (s.section, s.operation) == (0, "read")]
    assert bool(reads) == (operation == "read")


def test_a_terse_report_with_the_normal_one_beside_it_is_one_run() -> None:
    for name in (name for name in TERSE if name.startswith("hikalium")):
        text = source("fio-terse", name)
        assert text_format.parse(text).runs == ()
        (run,) = terse_format.parse(text).runs
        assert (value(run, "randread", "iops", 4) or 0) > 0
        assert {s.block_size for s in run.samples if s.operation != "disk"} == {4096, MIB}


def test_the_glued_first_record_is_read() -> None:
    (run,) = terse_format.parse(source("fio-terse", "hikalium-result_2408X01456JF.txt")).runs
    assert [section.name for section in run.sections[:2]] == ["Seq1M-Read-Q8", "Seq1M-Write-Q8"]
    assert value(run, "read", "iops") == 85


# file → runs, directions of jobs, and of the first two: operation, bandwidth, IOPS, bytes
TEXT: dict[str, tuple[int, int, list[tuple[int, int, str, float, float, float]]]] = {
    "fioblog-xnvme-compare.txt": (4, 4, [
        (0, 0, "randread", 24.3 * GIB, 6367e3, 1457 * GIB), (1, 0, "randread", 18.8 * GIB, 4919e3, 1126 * GIB),
    ]),
    "fioblog-xnvme-libaio.txt": (4, 4, [
        (0, 0, "randread", 427 * MIB, 109e3, 25 * GIB), (1, 0, "randread", 687 * MIB, 176e3, 40.2 * GIB),
    ]),
    "vps-do-5bucks-ubuntu-fio_randread.txt": (5, 5, [
        (0, 0, "randread", 611058 * KIB, 152764, 4096 * MIB), (1, 0, "randread", 502252 * KIB, 125562, 4096 * MIB),
    ]),
    "vps-do-5bucks-ubuntu-fio_randwrite.txt": (5, 5, [
        (0, 0, "randwrite", 53966 * KIB, 13491, 4096 * MIB), (1, 0, "randwrite", 28675 * KIB, 7168, 4096 * MIB),
    ]),
    "ncb-results.txt": (1, 16, [
        (0, 0, "read", 661966 * KIB, 165491, 19412 * MIB), (0, 1, "randread", 59809 * KIB, 14952, 1752.1 * MIB),
    ]),
    "article-fio-2.x-explained.md": (1, 1, [(0, 0, "read", 63317 * KIB, 15829, 10240 * MIB)]),
    "notes-fio3.txt": (16, 16, [
        (0, 0, "read", 1674 * MIB, 1674, 100 * GIB), (1, 0, "write", 1052 * MIB, 1052, 100 * GIB),
    ]),
    "mail-2.2.10-raid1-two-runs.txt": (2, 2, [
        (0, 0, "write", 19999 * KIB, 4999, 400004 * KIB), (1, 0, "write", 20683, 5, 413696),
    ]),
}  # fmt: skip


@pytest.mark.parametrize("name", TEXT)
def test_normal_reports_are_those_of_the_index(name: str) -> None:
    count, directions, expected = TEXT[name]
    text = source("fio-text", name)
    assert text_format.looks_like(text) >= 0.9
    runs = text_format.parse(text).runs
    assert len(runs) == count
    assert sum(s.metric == "iops" for run in runs for s in run.samples) == directions
    for number, section, operation, bandwidth, iops, moved in expected:
        run = runs[number]
        assert value(run, operation, "bandwidth", section) == pytest.approx(bandwidth, rel=1e-12)
        assert value(run, operation, "iops", section) == iops
        assert value(run, operation, "io_bytes", section) == pytest.approx(moved, rel=1e-12)
    assert all((run.line or 0) < (other.line or 0) for run, other in pairwise(runs))


def test_a_latency_that_no_clock_can_have_measured_is_what_fio_printed() -> None:
    (run,) = text_format.parse(source("fio-text", "ncb-results.txt")).runs
    assert value(run, "read", "latency_min") == 756_523_000 * 10**6


def test_a_command_line_that_a_mail_wrapped_gives_size_and_target() -> None:
    first, second = text_format.parse(source("fio-text", "mail-2.2.10-raid1-two-runs.txt")).runs
    assert (first.target, first.workload["file_size"], first.workload["direct"]) == ("/dev/md0", 1000 * MIB, 1)
    assert second.samples[0].file_size == 1000 * MIB


# file → metric, and the first and last line as (seconds, value, operation); how many lines
LOGS: dict[str, tuple[str, tuple[float, float, str], tuple[float, float, str], int]] = {
    "pbench-perf36-fio_bw.1.log": ("bandwidth", (1, 99556 * KIB, "read"), (15, 21632 * KIB, "read"), 15),
    "pbench-perf36-fio_clat.1.log": ("clat_mean", (1, 1273222, "read"), (15.004, 5299323, "read"), 16),
    "pbench-perf36-fio_iops.1.log": ("iops", (1, 24889, "read"), (15, 5408, "read"), 15),
    "pbench-perf36-fio_lat.1.log": ("latency_mean", (1, 1285976, "read"), (15.004, 5303194, "read"), 16),
    "pbench-perf36-fio_slat.1.log": ("slat_mean", (1, 12609, "read"), (15.004, 40071, "read"), 15),
    "pbench-perf84-fio_bw.3.log": ("bandwidth", (1, 44028 * KIB, "read"), (15, 1492 * KIB, "read"), 15),
    "fioplot-floppy_slat.1.log": ("slat_mean", (3.168, 33733, "write"), (126.176, 48399, "write"), 126),
    "fioplot-s4610_clat.60.log": ("clat_mean", (0.25, 1003120, "read"), (60, 796653, "read"), 240),
    "fioplot-randrw_clat.2.log": ("clat_mean", (0.373, 73668285, "write"), (60.169, 528312455, "write"), 417),
    "fioplot-randrw_iops.24.log": ("iops", (0.251, 7, "read"), (59.001, 3, "write"), 217),
    "fioplot-hgst_bw.21.log": ("bandwidth", (0.5, 72 * KIB, "write"), (59.999, 8 * KIB, "write"), 120),
}


@for_each("name", LOGS)
def test_logs_are_those_of_the_index(name: str) -> None:
    metric, first, last, count = LOGS[name]
    text = source("fio-logs", name)
    assert logs_format.looks_like(text) == 1
    (run,) = logs_format.parse(text).runs
    by_operation = {one.operation: one for one in run.series}
    assert {one.metric for one in run.series} == {metric}
    assert sum(len(one.values) for one in run.series) == count
    for (seconds, number, operation), place in ((first, 0), (last, -1)):
        series = by_operation[operation]
        assert (series.times_s[place], series.values[place]) == (seconds, number)


def test_a_histogram_of_other_memory_is_refused() -> None:
    """Its only row has counts of 19 digits; fio 3.7's server sent what lay in memory."""
    parsed: ParsedFile = logs_format.parse(source("fio-logs", "pbench-perf36-fio_clat_hist.1.log"))
    assert parsed.runs == ()
    assert parsed.broken[0].line == 1


def test_no_fio_format_takes_another_formats_file() -> None:
    formats = {"fio-json": json_format, "fio-logs": logs_format, "fio-terse": terse_format, "fio-text": text_format}
    for directory in sorted(folder("fio-json").parent.iterdir()):
        for file in sorted(directory.iterdir()) if directory.is_dir() else ():
            text = SourceText(file.read_bytes(), file.name)
            sure = {name for name, one in formats.items() if one.looks_like(text) > 0}
            beside = {"fio-text"} if file.name in TERSE and file.name.startswith("hikalium") else set()
            assert sure == ({directory.name} & set(formats)) | beside, file.name

"""Real outputs of ioping, sysbench fileio and Vdbench by other people, against the true values of the corpus's index."""

from typing import Any

import pytest

from apps.parsers.core.models import ParsedFile, ParsedRun
from apps.parsers.core.source_text import SourceText
from tests.parsers import fixture_pairs
from tests.parsers.corpus import folder
from tests.sampling import for_each

KIB, MIB = 1024, 1024**2


def parsed(directory: str, name: str, parser: str) -> ParsedFile:
    module: Any = fixture_pairs.parser(parser)
    text = SourceText((folder(directory) / name).read_bytes())
    assert module.looks_like(text) >= 0.8
    result = module.parse(text)
    assert isinstance(result, ParsedFile)
    return result


def value(run: ParsedRun, operation: str, metric: str) -> float | None:
    found = [s.value for s in run.samples if (s.operation, s.metric) == (operation, metric)]
    assert len(found) == 1, (operation, metric, [(s.operation, s.metric) for s in run.samples])
    return found[0]


# file → per run: operation, iops, bandwidth, min, avg, max, mdev (ns)
IOPING: dict[str, list[tuple[str, float, float, float, float, float, float]]] = {
    "openvz-ioping-session.txt": [
        ("randread", 66, 267.8 * KIB, 296e3, 14.9e6, 600.3e6, 75.3e6),
        ("randread", 1.8e3, 7.1 * MIB, 415e3, 553e3, 831e3, 149e3)],
    "ioping-readme-examples.txt": [
        ("randread", 364, 1.4 * MIB, 0.2e6, 2.8e6, 12.7e6, 5.0e6),
        ("randread", 62, 0.2 * MIB, 6.4e6, 16.0e6, 26.8e6, 4.7e6),
        ("read", 292, 72.9 * MIB, 2.0e6, 3.4e6, 28.9e6, 2.0e6)],
    "mail-bcache0-write.txt": [("randwrite", 754, 2.95 * MIB, 968.6e3, 1.33e6, 1.60e6, 249.1e3)],
    "virtiofs.txt": [("randread", 2990, 11.7 * MIB, 254.2e3, 334.5e3, 396.4e3, 46.5e3)],
    "mysql-read-and-write.txt": [
        ("randread", 2970, 11.6 * MIB, 244.1e3, 336.7e3, 432.6e3, 48.6e3),
        ("randwrite", 6340, 24.8 * MIB, 131.8e3, 157.6e3, 185.3e3, 13.0e3)],
}  # fmt: skip


@pytest.mark.parametrize("name", IOPING)
def test_ioping_values_are_those_of_the_index(name: str) -> None:
    runs = parsed("ioping", name, "ioping").runs
    assert len(runs) == len(IOPING[name])
    metrics = ("iops", "bandwidth", "latency_min", "latency_mean", "latency_max", "latency_stdev")
    for run, (operation, *true) in zip(runs, IOPING[name], strict=True):
        assert [value(run, operation, metric) for metric in metrics] == pytest.approx(true, rel=1e-12)


# file → runs, operation, (requests/s, MiB/s) of the first and of the last run
SYSBENCH_OLD = {
    "vps-do-5bucks-ubuntu-sysbench_randrd.txt": ("randread", (12788.34, 49.954), (11907.17, 46.512)),
    "vps-do-5bucks-ubuntu-sysbench_randrw.txt": ("mixed", (4559.24, 17.81), (6224.63, 24.315)),
    "vps-ovh-vpsssd1-ubuntu-sysbench_randrd.txt": ("randread", (1231.93, 4.8122), (1233.95, 4.8201)),
    "vps-linode-linode1024-ubuntu-sysbench_randrd.txt": ("randread", (3557.21, 13.895), (5239.16, 20.465)),
}


@pytest.mark.parametrize("name", SYSBENCH_OLD)
def test_sysbench_04_values_are_those_of_the_index(name: str) -> None:
    runs = parsed("sysbench-fileio", name, "sysbench_fileio").runs
    operation, *true = SYSBENCH_OLD[name]
    assert len(runs) == 5
    for run, (rate, speed) in zip((runs[0], runs[-1]), true, strict=True):
        assert value(run, operation, "iops") == rate
        assert value(run, operation, "bandwidth") == pytest.approx(speed * MIB, rel=1e-12)
        assert {(s.file_size, s.block_size, s.threads) for s in run.samples} == {(8 * 1024**3, 4096, 1)}


def test_sysbench_runs_that_failed_have_no_zeros() -> None:
    runs = parsed("sysbench-fileio", "vps-vultr-20gbssd-ubuntu-sysbench_randrw.txt", "sysbench_fileio").runs
    assert len(runs) == 3
    assert all(run.problem.startswith("FATAL: Failed to read file!") for run in runs)
    assert {sample.value for run in runs for sample in run.samples} == {None}


def test_sysbench_values_of_the_other_files_are_those_of_the_index() -> None:
    run = parsed("sysbench-fileio", "0.4.12-16threads-rndrw.txt", "sysbench_fileio").runs[0]
    assert value(run, "mixed", "iops") == 189.72
    assert value(run, "mixed", "bandwidth") == pytest.approx(2.9644 * MIB)
    assert (value(run, "mixed", "latency_mean"), value(run, "mixed", "latency_max")) == (43.48e6, 1105.16e6)
    run = parsed("sysbench-fileio", "1.0.20-rndrw.txt", "sysbench_fileio").runs[0]
    rates = [value(run, operation, "iops") for operation in ("randread", "randwrite")]
    assert [*rates, value(run, "sync", "rate")] == [280.20, 140.05, 542.51]
    assert value(run, "randread", "bandwidth") == pytest.approx(4.38 * MIB)
    assert value(run, "randwrite", "bandwidth") == pytest.approx(2.19 * MIB)
    assert (value(run, "mixed", "latency_mean"), value(run, "mixed", "latency_max")) == (1.03e6, 5.93e6)
    run = parsed("sysbench-fileio", "arcaflow-1.0.20-seqwr.txt", "sysbench_fileio").runs[0]
    assert (value(run, "write", "iops"), value(run, "write", "bandwidth")) == (600.89, pytest.approx(9.39 * MIB))
    assert run.workload["sync"] == "sync"


# file, parser, runs, and of one run (0 the first, -1 the last): operation → iops, B/s, mean latency (ns)
VDBENCH: list[tuple[str, str, int, int, str, float, float, float]] = [
    ("vdb-create_file_32T-summary.html", "vdbench", 1, 0, "write", 390635, 48271 * MIB, 0.100e6),
    ("vdb-create_file_32T-totals.html", "vdbench", 1, 0, "write", 390635, 48271 * MIB, 0.100e6),
    ("vdb-create_file_32T-flatfile.html", "vdbench_flatfile", 1, 0, "write", 390635, 48271.4826 * MIB, 0.0999e6),
    ("vdb-output1-summary.html", "vdbench", 1, 0, "mixed", 107.5, 0.10 * MIB, 1.557e6),
    ("vdb-output1-flatfile.html", "vdbench_flatfile", 1, 0, "mixed", 107.5, 0.105 * MIB, 1.557e6),
    (
        "vdb-random_read_128T_4K_8HOST-flatfile.html",
        "vdbench_flatfile",
        1,
        0,
        "read",
        1104872.7091,
        4313.7267 * MIB,
        0.1148e6,
    ),
    ("vdb-random_read_128T_4K_8HOST-summary.html", "vdbench", 1, 0, "read", 1104872, 4313 * MIB, 0.115e6),
    ("oceanstor-sd_all-summary.html", "vdbench", 38, 0, "write", 29881.3, 221.78 * MIB, 0.264e6),
    ("vdbconvert-flatfile.html", "vdbench_flatfile", 3, -1, "mixed", 185.5517, 0.7248 * MIB, 10.7573e6),
    ("explorer-flatfile.html", "vdbench_flatfile", 8, -1, "read", 13091.2222, 102.2752 * MIB, 0.6088e6),
    ("plot-excerpt-interval-lines.txt", "vdbench", 8, 0, "read", 7389.00, 3694.50 * MIB, 4.326e6),
]
FIRST_INTERVALS = {
    "vdb-create_file_32T-flatfile.html": (491694, 60762.7363), "vdb-output1-flatfile.html": (103, 0.1006),
    "vdb-random_read_128T_4K_8HOST-flatfile.html": (1097593.6, 4285.3573), "vdbconvert-flatfile.html": (37.0, 0.1445),
    "explorer-flatfile.html": (2219.0, 8.6680),
}  # fmt: skip


@for_each("row", VDBENCH)
def test_vdbench_values_are_those_of_the_index(row: tuple[str, str, int, int, str, float, float, float]) -> None:
    name, parser, count, place, operation, iops, bandwidth, latency = row
    found = parsed("vdbench", name, parser)
    assert (len(found.runs), found.broken) == (count, ())
    run = found.runs[place]
    assert value(run, operation, "iops") == iops
    assert value(run, operation, "bandwidth") == pytest.approx(bandwidth, rel=1e-12)
    assert value(run, operation, "latency_mean") == pytest.approx(latency, rel=1e-12)
    if name in FIRST_INTERVALS:
        rate, megabytes = FIRST_INTERVALS[name]
        series = {s.metric: s.values[0] for s in found.runs[0].series if s.operation != "mixed" or operation == "mixed"}
        assert (series["iops"], series["bandwidth"]) == (rate, pytest.approx(megabytes * MIB))


def test_vdbench_starts_are_told_in_utc_by_the_reports_own_line() -> None:
    run = parsed("vdbench", "vdb-create_file_32T-summary.html", "vdbench").runs[0]
    assert run.started_at == 1552032892 + 3.001  # created 08:14:52 UTC, 15:14:52 local; RD at 15:14:55.001


def test_a_vdbench_report_without_a_run_is_broken() -> None:
    found = parsed("vdbench", "oceanstor-aborted-summary.html", "vdbench")
    assert not found.runs
    assert "aborted" in found.broken[0].message


def test_a_vdbench_histogram_has_its_27_bins() -> None:
    (histogram,) = parsed("vdbench", "vdb-create_file_32T-histogram.html", "vdbench_histogram").runs[0].histograms
    assert len(histogram.bins) == 27
    assert dict(histogram.bins)[100_000] == 495_570


def test_no_file_of_the_folders_is_left_out() -> None:
    others = {"oceanstor-aborted-summary.html", "vdb-create_file_32T-histogram.html"}
    assert {path.name for path in folder("vdbench").iterdir()} == {row[0] for row in VDBENCH} | others
    assert {path.name for path in folder("ioping").iterdir()} == set(IOPING)
    rest = {"vps-vultr-20gbssd-ubuntu-sysbench_randrw.txt", "0.4.12-16threads-rndrw.txt", "1.0.20-rndrw.txt"}
    rest |= {"arcaflow-1.0.20-seqwr.txt"}
    assert {path.name for path in folder("sysbench-fileio").iterdir()} == set(SYSBENCH_OLD) | rest

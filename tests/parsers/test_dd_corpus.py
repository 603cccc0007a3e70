"""Other people's dd outputs, against the values that were read from them by eye."""

import csv

import pytest

from apps.parsers.core.models import ParsedRun
from apps.parsers.core.source_text import SourceText
from apps.parsers.dd import format as dd_format
from tests.parsers.corpus import CORPUS, folder
from tests.sampling import for_each

GIB = 1024**3
RESULTS = {  # per file: bytes, seconds and the printed rate of each run
    "busybox-tmpfs-full.txt": [(1048576, 0.000943, "1.0GB/s")],
    "de-2009-dot-decimals.txt": [(108493824, 19.6147, "5.5 MB/s"), (1099967488, 7.41137, "148 MB/s")],
    "de-hdparm-and-dd.txt": [(GIB, 7.86539, "137 MB/s"), (GIB, 9.78325, "110 MB/s")],
    "de-sekunden.txt": [(4294967296, 54.1014, "79,4 MB/s")],
    "es-coreos-usb.txt": [(1048576000, 116.91, "9,0 MB/s")],
    "fr-2006-seconde.txt": [(2359296, 0.00566277, "417 MB/s")],
    "fr-md0-read.txt": [(104857600, 4.56589, "23,0 MB/s")],
    "freebsd-da47-read.txt": [(805306368, 10.373802, "77628853 bytes/sec")],
    "gnu-2004-transferred-seconds.txt": [(10485760, 0.028418, "368981986 bytes/sec")],
    "gnu-6.x-seconds.txt": [(1048576, 0.006107, "172 MB/s")],
    "gnu-small-no-parentheses.txt": [(512, 0.000172661, "3.0 MB/s"), (470, 8.6686e-05, "5.4 MB/s")],
    "gnu-small-with-B.txt": [(512, 0.00044093, "1.2 MB/s")],
    "gnu-swapfile-zh.txt": [(GIB, 16.6154, "64.6 MB/s")],
    "gnu-three-in-make-output.txt": [
        (5120000, 0.0333522, "154 MB/s"), (512, 0.000129699, "3.9 MB/s"), (78964, 0.000418797, "189 MB/s"),
    ],
    "it-copiati.txt": [(GIB, 1.71588, "626 MB/s")],
    "it-mixed-copied-comma.txt": [(1083944, 0.00955853, "113 MB/s")],
    "macos-hdd-img-makefile.txt": [(10485760, 0.001912, "5484184100 bytes/sec")],
    "macos-kali-image.txt": [(3053371392, 2151.132182, "1419425 bytes/sec")],
    "macos-raspian-image.txt": [(1021592274, 480.752682, "2124985 bytes/sec")],
    "mail-dd-glued-to-labels.txt": [
        (419430400, 3.13387, "134 MB/s"), (104857600, 16.1961, "6.5 MB/s"), (419430400, 1.58549, "265 MB/s"),
        (3145728000, 6.51223, "483 MB/s"), (419430400, 1.75172, "239 MB/s"), (3145728000, 5.25801, "598 MB/s"),
        (419430400, 1.81613, "231 MB/s"),
    ],
    "mail-de-two-runs.txt": [(21474836480, 46.411, "463 MB/s"), (21474836480, 161.319, "133 MB/s")],
    "openvz-host1plus.txt": [(GIB, 1.52203, "705 MB/s"), (GIB, 2.83076, "379 MB/s")],
    "pt-freenas-nfs.txt": [(GIB, 9.82436, "109 MB/s")],
    "ru-error-then-result.txt": [(7106560, 1.98313, "3,6 MB/s")],
    "ru-starred-copied.txt": [(16777216, 0.089367, "188 MB/s")],
    "vps-do-5bucks-ubuntu-dd_io.txt": [
        (GIB, 1.70473, "630 MB/s"), (GIB, 1.4057, "764 MB/s"), (GIB, 1.56102, "688 MB/s"), (GIB, 1.55368, "691 MB/s"),
        (GIB, 1.45143, "740 MB/s"),
    ],
    "vps-ovh-vpsssd1-ubuntu-dd_io.txt": [
        (GIB, 2.38124, "451 MB/s"), (GIB, 1.88613, "569 MB/s"), (GIB, 1.88043, "571 MB/s"), (GIB, 1.85008, "580 MB/s"),
        (GIB, 1.85568, "579 MB/s"),
    ],
}  # fmt: skip
IN_LOGS = {
    "pi-SDCard-output_benchmark_1.txt": (335544320, 17.3846, "19,3 MB/s"),
    "pi-SSD_Kingston-output_benchmark_3.txt": (335544320, 2.15769, "156 MB/s"),
    "pi-iSCSI-output_benchmark_2.txt": (335544320, 6.2232, "53,9 MB/s"),
}
COMMANDS = {  # per file: operation, target, block size and sync of each run
    "de-hdparm-and-dd.txt": [("write", "tempfile", 1 << 20, "fdatasync"), ("read", "tempfile", 1 << 20, None)],
    "de-sekunden.txt": [("write", "test", 1024, "none")],
    "es-coreos-usb.txt": [("copy", "/dev/sdf", 1024, "none")],
    "fr-md0-read.txt": [("read", "/dev/md0", 1 << 20, None)],
    "gnu-2004-transferred-seconds.txt": [("write", "testfile", 1 << 20, "none")],
    "gnu-swapfile-zh.txt": [("write", "/swapfile1", GIB, "none")],
    "macos-raspian-image.txt": [("copy", "/dev/disk2", 1 << 20, "none")],
    "mail-de-two-runs.txt": [("copy", "test.dat", 1 << 20, "none"), ("copy", "test.dat", 1 << 20, "direct")],
    "openvz-host1plus.txt": [("write", "sb-io-test", 1 << 20, "fdatasync"), ("copy", "", 1 << 20, "none")],
    "pt-freenas-nfs.txt": [("write", "tempfile", 1 << 20, "none")],
    "freebsd-da47-read.txt": [("copy", "", 1 << 20, None)],
    "ru-starred-copied.txt": [("write", "big1", 16384, "none")],
}


def runs_of(kind: str, name: str) -> tuple[ParsedRun, ...]:
    text = SourceText((folder(kind) / name).read_bytes(), name)
    assert dd_format.looks_like(text) == 1.0
    parsed = dd_format.parse(text)
    assert parsed.broken == ()
    assert parsed.warnings == ()
    return parsed.runs


def told(run: ParsedRun) -> tuple[int | None, float, str]:
    bandwidth, elapsed = run.samples
    assert elapsed.value is not None
    return bandwidth.file_size, elapsed.value / 1e9, bandwidth.printed


@for_each("name", RESULTS)
def test_every_result_gives_its_bytes_seconds_and_rate(name: str) -> None:
    runs = runs_of("dd", name)
    assert [told(run) for run in runs] == RESULTS[name]
    for run, (size, seconds, printed) in zip(runs, RESULTS[name], strict=True):
        whole = float(printed.split()[0]) if "bytes/sec" in printed else size / seconds
        assert run.samples[0].value == pytest.approx(whole, rel=1e-12)


def test_every_file_of_the_folder_is_in_the_table() -> None:
    assert {path.name for path in folder("dd").iterdir()} == set(RESULTS)


@for_each("name", COMMANDS)
def test_command_gives_operation_target_block_size_and_sync(name: str) -> None:
    found = [
        (run.samples[0].operation, run.target, run.workload.get("block_size"), run.workload.get("sync"))
        for run in runs_of("dd", name)
    ]
    assert found == COMMANDS[name]


@pytest.mark.parametrize("name", IN_LOGS)
def test_result_among_other_tools_is_found_and_nothing_else_claimed(name: str) -> None:
    (run,) = runs_of("mixed-logs", name)
    assert told(run) == IN_LOGS[name]
    assert run.line
    assert run.last_line == run.line + 2


def test_article_without_dd_is_not_taken_for_one() -> None:
    text = SourceText((folder("mixed-logs") / "kaiser-iozone-in-markdown.md").read_bytes())
    assert dd_format.looks_like(text) == 0.0


def legacy(study: str, name: str) -> SourceText:
    path = CORPUS.parent / "studies" / study / "legacy" / name
    if not path.is_file():
        pytest.skip(f"the studies' legacy files are not here ({path})")
    return SourceText(path.read_bytes(), name)


def results(study: str) -> list[dict[str, str]]:
    with (CORPUS.parent / "studies" / study / "results.csv").open(newline="") as file:
        return [row for row in csv.DictReader(file) if row["tool"] == "dd" and row["confidence"] == "exact"]


@pytest.mark.parametrize("name", ["dd_lines.txt", "dd_lines.reconstructed.txt"])
def test_tristan_lines_read_as_their_study_says(name: str) -> None:
    runs = dd_format.parse(legacy("tristan-sas-sata", name)).runs
    expected = {(int(row["file_size_bytes"]), float(row["value_si"])) for row in results("tristan-sas-sata")}
    assert len(expected) == 10
    assert {(run.samples[0].file_size, run.samples[0].value) for run in runs} == expected
    assert {run.is_transcribed for run in runs} == {name == "dd_lines.txt"}
    assert len(runs) == 10


def test_tristan_files_hold_one_transcribed_run_each() -> None:
    names = [f"dd_{number:02}_" for number in range(1, 11)]
    here = CORPUS.parent / "studies" / "tristan-sas-sata" / "legacy"
    files = [path for path in sorted(here.glob("dd_*.txt")) if path.name.startswith(tuple(names))]
    if not files:
        pytest.skip(f"the studies' legacy files are not here ({here})")
    runs = [dd_format.parse(SourceText(path.read_bytes())).runs for path in files]
    assert [len(each) for each in runs] == [1] * 10
    assert all(each[0].is_transcribed for each in runs)


def test_dtn_session_reads_as_its_study_says() -> None:
    runs = dd_format.parse(legacy("dtn-ucsc", "dd_session.txt")).runs
    found = [
        (run.samples[0].operation, run.samples[0].file_size, run.workload["block_size"], run.workload["sync"],
         round(run.samples[0].value or 0, 3))
        for run in runs
    ]  # fmt: skip
    syncs = {"dd-plain": "none", "dd-fdatasync": "fdatasync", "dd-dsync-1m": "dsync", "dd-dsync-1g": "dsync"}
    expected = [
        ("write", int(row["file_size_bytes"]), int(row["record_size_bytes"]), syncs[row["configuration"]],
         float(row["value_si"]))
        for row in results("dtn-ucsc")
    ]  # fmt: skip
    assert len(expected) == 4
    assert found == expected


@pytest.mark.parametrize("number", range(1, 5))
def test_dtn_run_alone_reads_the_same(number: int) -> None:
    (run,) = dd_format.parse(legacy("dtn-ucsc", f"dd_run{number}.txt")).runs
    assert round(run.samples[0].value or 0, 3) == float(results("dtn-ucsc")[number - 1]["value_si"])
    assert run.samples[0].operation == "copy"
    assert run.samples[0].note == dd_format.NO_COMMAND

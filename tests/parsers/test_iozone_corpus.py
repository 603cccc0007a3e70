"""Other people's IOzone outputs, against the values that were read from them by eye."""

import csv

import pytest

from apps.parsers.core.models import ParsedRun
from apps.parsers.core.source_text import SourceText
from apps.parsers.iozone import format as iozone_format
from tests.parsers.corpus import CORPUS, folder

KIB = 1024

TABLES = {  # per file: version, rows, the first row's file and record size and first figures, the last row's
    "comparator-ext2_1.iozone": ("3.327", 163, (4, 4, 285299, 511411, 562886), (4194304, 16384, 717889)),
    "comparator-ext4_3.iozone": ("3.327", 163, (4, 4, 148726, 251134, 401314), (4194304, 16384, 1420788)),
    "esos-localssd.xfs.iozone-01.txt": ("3.465", 126, (64, 4, 1865, 1802, 18212), (524288, 16384, 187438)),
    "esos-srptarget.xfs.iozone-07.txt": ("3.465", 126, (64, 4, 20189, 24260, 11136), (524288, 16384, 379016)),
    "psteinb-single.txt": ("3.434", 8, (1048576, 512, 5169375, 7712220, 7634280), (2097152, 4096, 4339063)),
}
THROUGHPUT = {  # per file: version, and per operation the processes and what the children saw
    "duscc-bm-iozone_w_64.txt": ("3.493", {"write": (64, 367382.55), "rewrite": (64, 399835.02)}),
    "duscc-intel-vm-iozone_w_32.txt": ("3.493", {"write": (32, 465924.73), "rewrite": (32, 492045.87)}),
    "duscc-vm-iozone_r_1.txt": ("3.493", {"read": (1, 14449725.00), "reread": (1, 9142618.00)}),
    "duscc-bm-iozone_r_64.txt": ("3.493", {"read": (64, 108879387.38), "reread": (64, 69600276.78)}),
    "mail-t12-odirect-cpu.txt": ("", {"write": (12, 2430898.66), "rewrite": (12, 2431774.06)}),
    "reference-c3large.txt": ("", {"write": (1, 907733.81), "rewrite": (1, 1765222.62), "randread": (1, 1557497.38)}),
}
IN_LOGS = {  # per file: the one row's write, rewrite, read, reread, randread
    "pi-SDCard-output_benchmark_1.txt": (2251, 2288, 8810, 8814, 7353),
    "pi-SSD_Kingston-output_benchmark_3.txt": (26024, 30347, 31781),
    "pi-iSCSI-output_benchmark_2.txt": (7417, 7861, 7960),
}
FIRST = ("write", "rewrite", "read", "reread", "randread")


def runs_of(kind: str, name: str) -> tuple[ParsedRun, ...]:
    text = SourceText((folder(kind) / name).read_bytes(), name)
    assert iozone_format.looks_like(text) == 1.0
    parsed = iozone_format.parse(text)
    assert parsed.broken == ()
    return parsed.runs


def rates(run: ParsedRun, size: int, record: int) -> dict[str, float | None]:
    point = (size * KIB, record * KIB)
    return {one.operation: one.value for one in run.samples if (one.file_size, one.block_size) == point}


@pytest.mark.parametrize("name", TABLES)
def test_table_gives_every_row_and_thirteen_columns(name: str) -> None:
    version, rows, (size, record, *figures), (last_size, last_record, last) = TABLES[name]
    (run,) = runs_of("iozone", name)
    assert run.tool_version == version
    assert len(run.samples) == rows * 13
    first = rates(run, size, record)
    assert [first[operation] for operation in FIRST[:3]] == [figure * KIB for figure in figures]
    assert rates(run, last_size, last_record)["write"] == last * KIB
    assert {one.metric for one in run.samples} == {"bandwidth"}
    assert all(one.note == "" for one in run.samples)


@pytest.mark.parametrize("name", THROUGHPUT)
def test_throughput_gives_what_the_children_saw(name: str) -> None:
    version, expected = THROUGHPUT[name]
    (run,) = runs_of("iozone", name)
    assert run.tool_version == version
    seen = {one.operation: (one.threads, one.value) for one in run.samples if one.metric == "bandwidth"}
    assert seen == {operation: (threads, rate * KIB) for operation, (threads, rate) in expected.items()}


def test_throughput_keeps_parent_and_children_and_cpu() -> None:
    (run,) = runs_of("iozone", "mail-t12-odirect-cpu.txt")
    write = {one.metric: one.value for one in run.samples if one.operation == "write"}
    assert write == {
        "bandwidth": 2430898.66 * KIB, "bandwidth_parent": 2425731.85 * KIB, "bandwidth_min": 202025.03 * KIB,
        "bandwidth_max": 202899.33 * KIB, "bandwidth_mean": 202574.89 * KIB, "min_xfer": 1044224 * KIB,
    }  # fmt: skip
    assert [one.cpu for one in run.samples if one.cpu is not None] == [0.39, 0.3899]
    assert run.workload["direct"] == 1
    assert run.workload["block_size"] == 256 * KIB
    assert run.last_line == 27  # the prose behind it is not IOzone's


def test_throughput_report_adds_only_the_tests_whose_blocks_were_cut() -> None:
    (run,) = runs_of("iozone", "t5-excel-throughput-KB.txt")
    seen = [(one.operation, one.value) for one in run.samples if one.metric == "bandwidth"]
    assert seen == [
        ("pwrite", 243020.93 * KIB), ("pread", 1598297.62 * KIB), ("write", 246059.19 * KIB),
        ("rewrite", 86058.34 * KIB), ("read", 2089045.09 * KIB), ("reread", 2055142.27 * KIB),
        ("backward_read", 1839414.62 * KIB), ("stride_read", 1779844.83 * KIB), ("randread", 1850449.30 * KIB),
        ("mixed", 1135221.11 * KIB), ("randwrite", 88760.41 * KIB),
    ]  # fmt: skip
    assert {(one.threads, one.block_size) for one in run.samples} == {(5, 4 * KIB)}


def test_matrices_alone_are_a_run_that_says_its_unit_is_the_default() -> None:
    text = SourceText((folder("iozone") / "renderer-excel-only.txt").read_bytes())
    parsed = iozone_format.parse(text)
    (run,) = parsed.runs
    assert iozone_format.looks_like(text) >= 0.9
    assert rates(run, 64, 4)["write"] == 581273 * KIB
    assert rates(run, 64, 8)["write"] == 743988 * KIB
    assert rates(run, 4096, 4096)["freread"] == 4801789 * KIB
    assert len(run.samples) == 13 * (5 + 6 + 7 + 8 + 9 + 10 + 11)
    assert all("unit" in one.note for one in run.samples)
    assert len(parsed.warnings) == 1


def test_hosts_of_pdsh_are_runs_of_their_own() -> None:
    text = SourceText((folder("iozone") / "pdsh-prefixed.txt").read_bytes())
    seen = {host: iozone_format.parse(part).runs[0].samples for host, part in text.by_host()}
    assert {host: samples[0].value for host, samples in seen.items()} == {
        "10.0.0.11": 302980.50 * KIB, "10.0.0.12": 302805.03 * KIB, "10.0.0.13": 302646.16 * KIB,
        "10.0.0.15": 303576.34 * KIB, "10.0.0.7": 302753.22 * KIB, "10.0.0.8": 302846.19 * KIB,
    }  # fmt: skip
    assert seen["10.0.0.7"][0].line == 4


@pytest.mark.parametrize("name", IN_LOGS)
def test_table_among_other_tools_is_found_and_nothing_else_claimed(name: str) -> None:
    (run,) = runs_of("mixed-logs", name)
    found = rates(run, 81920, 4)
    assert [found[operation] for operation in FIRST[: len(IN_LOGS[name])]] == [each * KIB for each in IN_LOGS[name]]
    assert len(run.samples) == 6
    lines = (folder("mixed-logs") / name).read_text().split("\n")
    assert run.line
    assert run.last_line
    assert "Iozone: Performance Test" in lines[run.line - 1]
    assert "iozone test complete" in lines[run.last_line - 1]


def test_tables_in_prose_are_runs_of_their_own() -> None:
    runs = runs_of("mixed-logs", "kaiser-iozone-in-markdown.md")
    assert [len(run.samples) // 6 for run in runs] == [2, 2, 2, 2, 2, 2, 1, 1]
    assert [rates(runs[0], 102400, 4)[operation] for operation in FIRST[:3]] == [2738 * KIB, 2762 * KIB, 12852 * KIB]
    assert rates(runs[-1], 512000, 16384)["write"] == 655228 * KIB
    assert runs[-1].tool_version == "3.489"
    assert runs[-1].workload["direct"] == 1


def legacy(study: str, name: str) -> SourceText:
    path = CORPUS.parent / "studies" / study / "legacy" / name
    if not path.is_file():
        pytest.skip(f"the studies' legacy files are not here ({path})")
    return SourceText(path.read_bytes(), name)


def results(study: str, configuration: str) -> list[dict[str, str]]:
    with (CORPUS.parent / "studies" / study / "results.csv").open(newline="") as file:
        return [row for row in csv.DictReader(file) if row["configuration"] == configuration]


NAMES = {
    "random_read": "randread", "random_write": "randwrite", "bkwd_read": "backward_read",
}  # fmt: skip


@pytest.mark.parametrize("name", ["iozone_table.txt", "iozone_banner_and_table.txt"])
def test_dtn_table_reads_as_its_study_says(name: str) -> None:
    (run,) = iozone_format.parse(legacy("dtn-ucsc", name)).runs
    found = {(one.operation, one.file_size, one.block_size): one.value for one in run.samples}
    expected = {}
    for row in results("dtn-ucsc", "iozone-auto-8g"):
        operation = row["test"].removeprefix("iozone_")
        key = (NAMES.get(operation, operation), int(row["file_size_bytes"]), int(row["record_size_bytes"]))
        expected[key] = float(row["value_si"])
    assert len(expected) == 169
    assert found == expected


def test_thumper_throughput_reads_as_its_study_says() -> None:
    (run,) = iozone_format.parse(legacy("thumper-x4500", "iozone_throughput_raid6_xfs_t10.txt")).runs
    metrics = {
        "children": "bandwidth", "parent": "bandwidth_parent", "min": "bandwidth_min", "max": "bandwidth_max",
        "avg": "bandwidth_mean", "min_xfer": "min_xfer",
    }  # fmt: skip
    expected = {
        (row["direction"], metrics[row["test"].removeprefix("iozone_throughput_")]): float(row["value_si"])
        for row in results("thumper-x4500", "x4500-xfs-raid6-t10")
    }
    assert len(expected) == 12
    assert {(one.operation, one.metric): one.value for one in run.samples} == expected
    assert {one.threads for one in run.samples} == {10}

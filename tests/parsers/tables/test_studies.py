"""The tables of two published studies, as printed and in every way that people paste them: all of their values."""

from itertools import product

import pytest

from apps.parsers.core.models import ParsedFile, ParsedSample
from apps.parsers.core.source_text import SourceText
from apps.parsers.tables import ColumnMapping, ColumnRole, guess, list_questions, read, sniff
from tests.parsers.tables.studies import CONFIGURATIONS, CRS4_TITLES, crs4_table, rows_of
from tests.sampling import for_each

OPERATION = {"seq_write_block": "write", "seq_read_char": "char_read", "seq_read_block": "read"}


def crs4_mapping(test: str) -> ColumnMapping:
    values = {
        place: ColumnRole("value", fixed={"configuration": name})
        for place, name in enumerate(CONFIGURATIONS.values(), 1)
    }
    return ColumnMapping(
        layout="wide",
        columns={0: ColumnRole("file_size", unit="MB (1024)"), **values},
        headings="configuration",
        fixed={"operation": OPERATION[test], "metric": "bandwidth", "unit": "KB/s (1024)"},
        decimal=",",
        tool="bonnie",
    )


def by_point(found: ParsedFile) -> dict[tuple[str, int | None], ParsedSample]:
    return {(run.labels["configuration"], one.file_size): one for run in found.runs for one in run.samples}


LAYOUTS = {
    "semicolons": lambda table: table.delimited(";"),
    "tabs": lambda table: table.delimited("\t"),
    "aligned": lambda table: table.aligned(),
    "markdown": lambda table: table.piped(),
    "moinmoin": lambda table: table.piped("||"),
}


@for_each("layout, test", product(LAYOUTS, CRS4_TITLES))
def test_every_value_of_the_crs4_tables_is_that_of_the_study(test: str, layout: str) -> None:
    grid = sniff(SourceText(LAYOUTS[layout](crs4_table(test))))
    found = read(grid, crs4_mapping(test))
    samples = by_point(found)
    expected = [row for row in rows_of("crs4-sata-scsi") if row["test"] == test]
    assert len(expected) == 38
    for row in expected:
        sample = samples[row["configuration"], int(row["file_size_bytes"])]
        assert sample.value == (float(row["value_si"]) if row["value"] else None)
        assert (sample.missing_reason == "printed ?") is not bool(row["value"])
        assert sample.operation == OPERATION[test]
    assert len(samples) == 42
    blank = [one for one in samples.values() if one.missing_reason == "blank in the table"]
    assert len(blank) == 4
    assert not found.broken


def test_the_decimal_comma_of_the_crs4_tables_is_proven_by_their_numbers() -> None:
    grid = sniff(SourceText(crs4_table("seq_write_block").delimited("\t")))
    assert grid.decimal == (",",)
    assert grid.caption.endswith("Kbyte/sec")
    assert guess(grid).decimal == ","
    said = " ".join(list_questions(grid, guess(grid)))
    assert "'Kbyte/sec' can be KB/s (1000) or KB/s (1024)" in said
    assert "'MB' can be MB (1000) or MB (1024)" in said


def test_samples_keep_what_was_printed_and_where() -> None:
    grid = sniff(SourceText(crs4_table("seq_write_block").delimited(";")))
    sample = by_point(read(grid, crs4_mapping("seq_write_block")))["scsi-raid0-sw", 100 << 20]
    assert sample.printed == "315715,9 Kbyte/sec"
    assert sample.line == 4


NETWORK = """\
Gbs      No Ottimi.   Ottimi.     Myricom
Test 1   ~ 3          ~ 8         8.1-8.2
Test 2   2.0 – 2.6    7.0 – 7.6   N.A.
Test 3   N.A.         ~ 7         N.A.
"""
NETWORK_AS_PASTED = "\n".join(" ".join(line.split()) for line in NETWORK.splitlines())


@pytest.mark.parametrize(("text", "first"), [(NETWORK, 1), (NETWORK_AS_PASTED, 2)], ids=["aligned", "single blanks"])
def test_every_value_of_the_infn_network_table_is_that_of_the_study(text: str, first: int) -> None:
    columns = {
        first + place: ColumnRole("value", fixed={"configuration": name})
        for place, name in enumerate(["untuned", "tuned", "myricom"])
    }
    before = {0: ColumnRole("ignore"), 1: ColumnRole("label:test")} if first == 2 else {0: ColumnRole("label:test")}
    mapping = ColumnMapping(
        "wide", {**before, **columns}, fixed={"operation": "net_send", "unit": "Gbit/s"}, decimal="."
    )
    samples = {
        (run.labels["test"].removeprefix("Test "), run.labels["configuration"]): run.samples[0]
        for run in read(sniff(SourceText(text)), mapping).runs
    }
    expected = [row for row in rows_of("infn-10ge-chain") if row["test"] == "net_throughput"]
    assert len(expected) == 12
    for row in expected:
        _, number, configuration = row["configuration"].split("-")
        sample = samples[number, configuration]
        value = float(row["value_si"]) if row["value"] else None
        if "end of the printed range" in row["note"]:
            assert (sample.low if "low end" in row["note"] else sample.high) == value
            assert sample.value is None
        else:
            assert sample.value == value
            assert (sample.missing_reason == "printed N.A.") is (value is None)
            assert (sample.quality == "approximate") is (row["confidence"] == "approximate")
    assert len(samples) == 9


CHAIN = """\
MB/s SAN (rete/disco) NAS (rete/disco)
R 6 file 300 job 270 / 20 270 / 270
R 150 file 300 job 80 / 60 N.A.
R 1 file 300 job 270 / 30 N.A.
W 1 file 250 job 270 / 270 200 / 200
W 1 file 30 job 30 / 30 N.A.
"""


def test_every_pair_of_the_infn_chain_table_is_that_of_the_study() -> None:
    mapping = ColumnMapping(
        layout="wide",
        columns={
            0: ColumnRole("operation"), 1: ColumnRole("label:files"), 2: ColumnRole("ignore"), 3: ColumnRole("threads"), 4: ColumnRole("ignore"),
            5: ColumnRole("value", fixed={"host": "server-san"}), 6: ColumnRole("value", fixed={"host": "server-nas"}),
        },
        fixed={"unit": "MB/s (1000)", "file_size": "2000000000"},
        meanings={"operation": {"R": "read", "W": "write"}},
        pair_separator="/",
        pair=({"label:part": "net"}, {"label:part": "disk"}),
    )  # fmt: skip
    found = read(sniff(SourceText(CHAIN)), mapping)
    samples = {
        (run.host, run.labels["part"], run.labels["files"], one.threads, one.operation): one
        for run in found.runs
        for one in run.samples
    }
    rows = [
        row
        for row in rows_of("infn-10ge-chain")
        if row["configuration"].startswith("chain-") and row["confidence"] != "read_from_text"
    ]
    assert len(rows) == len(samples) == 20
    for row in rows:
        _, _, _, files, jobs = row["configuration"].split("-")
        _, operation, part = row["test"].split("_")
        sample = samples[row["host"], part, files.removesuffix("f"), int(jobs.removesuffix("j")), operation]
        assert sample.value == (float(row["value_si"]) if row["value"] else None)
        assert sample.file_size == 2_000_000_000
        assert bool(sample.missing_reason) is not bool(row["value"])
    assert not found.broken

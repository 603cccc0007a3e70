"""Tables of means: what is told from the text, what must be said, and what is refused."""

import json
import time

import pytest

from apps.parsers import tables
from apps.parsers.core.models import ParsedSample, ParseError
from apps.parsers.core.source_text import SourceText
from apps.parsers.tables import (
    ColumnMapping,
    ColumnRole,
    TableGrid,
    guess,
    looks_like,
    make_signature,
    parse,
    read,
    sniff,
)
from tests.pace import within
from tests.sampling import for_each

LONG = """\
configuration,operation,file size (MiB),value,unit
ext3,write,1024,55.5,MiB/s
ext3,read,1024,71.25,MiB/s
xfs,write,1024,80,MiB/s
xfs,read,1024,+++++,MiB/s
"""
WIDE = "config;write (MiB/s);read (MiB/s)\nmd0;10,5;20,25\nmd1;11,5;N.A.\n"


def grid(text: str | bytes) -> TableGrid:
    return sniff(SourceText(text))


def sample(text: str, mapping: ColumnMapping) -> ParsedSample:
    (run,) = read(grid(text), mapping).runs
    (found,) = run.samples
    return found


def test_a_long_table_whose_headings_say_everything_needs_no_mapping() -> None:
    found = parse(SourceText(LONG))
    assert [run.labels["configuration"] for run in found.runs] == ["ext3", "xfs"]
    write, read_ = found.runs[0].samples
    assert (write.operation, write.metric, write.value, write.file_size, write.line) == (
        "write",
        "bandwidth",
        55.5 * 2**20,
        2**30,
        2,
    )
    assert (read_.operation, read_.value) == ("read", 71.25 * 2**20)
    missing = found.runs[1].samples[1]
    assert (missing.value, missing.missing_reason) == (None, "too fast to be measured (printed as plus signs)")
    assert (found.runs[1].line, found.runs[1].last_line) == (4, 5)


TOLD = """\
configuration,operation,value,unit,printed,quality,remark,other readings,why missing
md0,write,59500,KB/s (1024),29500 Kbyte/sec,repaired after OCR,"scan, line 198",29500|39500,
md1,write,71000 – 79000,KB/s (1024),,,,,not readable
"""


def test_a_row_may_say_more_of_its_one_value() -> None:
    repaired, lost = (
        run.samples[0] for run in parse(SourceText(TOLD.replace("repaired after OCR", "ocr_repaired"))).runs
    )
    assert (repaired.value, repaired.printed, repaired.quality) == (59500 * 1024, "29500 Kbyte/sec", "ocr_repaired")
    assert (repaired.note, repaired.alternatives) == ("scan, line 198", (29500 * 1024, 39500 * 1024))
    assert (lost.value, lost.low, lost.high) == (None, 71000 * 1024, 79000 * 1024)
    assert (lost.missing_reason, lost.quality, lost.alternatives) == ("not readable", "exact", ())


def test_a_quality_that_there_is_not_is_told_with_its_line() -> None:
    (broken,) = parse(SourceText(TOLD)).broken
    assert (broken.line, broken.expected.partition(",")[0]) == (2, "a quality")


def test_what_is_said_of_one_value_is_refused_where_a_row_has_several() -> None:
    wide = guess(grid("config;write (MiB/s);read (MiB/s);remark\nmd0;10,5;20,25;first\nmd1;11,5;7,5;second\n"))
    assert 3 not in wide.columns
    mapping = ColumnMapping("wide", {**wide.columns, 3: ColumnRole("remark")}, decimal=",")
    assert mapping.faults() == ["remark: found 2 values in a row, expected one that it is said of"]


def test_a_wide_table_of_known_operations_needs_no_mapping() -> None:
    found = parse(SourceText(WIDE))
    assert {(run.labels["configuration"], s.operation): s.value for run in found.runs for s in run.samples} == {
        ("md0", "write"): 10.5 * 2**20, ("md0", "read"): 20.25 * 2**20, ("md1", "write"): 11.5 * 2**20, ("md1", "read"): None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        (WIDE.replace("MiB/s", "MB/s"), "'MB/s' can be MB/s (1000) or MB/s (1024)"),
        (WIDE.replace("MiB/s", "Gb/s"), "Gbit/s or GB/s (1000)"),
        (WIDE.replace("read (", "gnurf ("), "what is column 3"),
        ("config;ext3;xfs\nmd0;10;20\nmd1;11;12\n", "what are the columns ext3, xfs"),
        ("size write read\n1 2 3\n4 5 6\n", "single blanks"),
        ("config;write (MiB/s);cpu\nmd0;10;20\nmd1;11;12\n", "in % or a fraction"),
        (LONG.replace("size (MiB)", "size"), "which unit is that of the sizes"),
    ],
)
def test_what_the_headings_leave_open_is_asked_for(text: str, asked: str) -> None:
    with pytest.raises(ParseError, match="needs a mapping") as error:
        parse(SourceText(text))
    assert asked in error.value.message


def test_a_comma_that_can_be_either_is_refused_with_its_cells() -> None:
    text = "config;write (MiB/s)\nmd0;1,234\nmd1;2,345\n"
    assert grid(text).decimal == (".", ",")
    assert guess(grid(text)).decimal == ""
    with pytest.raises(ParseError, match="decimal or a thousands mark") as error:
        parse(SourceText(text))
    assert (error.value.line, error.value.found) == (2, "line 2, write (MiB/s): 1,234; line 3, write (MiB/s): 2,345")


@pytest.mark.parametrize(("decimal", "thousands", "value"), [(",", ".", 1.234), (".", ",", 1234), (",", "", 1.234)])
def test_the_choice_of_a_mark_settles_it(decimal: str, thousands: str, value: float) -> None:
    mapping = ColumnMapping("long", {0: ColumnRole("configuration"), 1: ColumnRole("value", unit="1/s",
        fixed={"operation": "seek", "metric": "rate"})},
                      decimal=decimal, thousands=thousands)  # fmt: skip
    assert read(grid("config;seeks\nmd0;1,234\nmd1;2,345\n"), mapping).runs[0].samples[0].value == value


def test_marks_used_both_ways_are_refused() -> None:
    with pytest.raises(ParseError, match="used both ways"):
        parse(SourceText("config;write (MiB/s)\nmd0;1,5\nmd1;2.5\n"))


def test_one_bad_cell_leaves_the_others() -> None:
    found = parse(SourceText(WIDE.replace("11,5", "7TE6122]")))
    assert sum(len(run.samples) for run in found.runs) == 3
    (broken,) = found.broken
    assert (broken.line, broken.found) == (3, "7TE6122]")
    assert "write (MiB/s)" in broken.message
    assert "a number" in broken.expected


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("md1;-5;1", "not negative"), ("md1;1e999;1", "finite"), ("md1;inf;1", "a number"), ("md1;12 KB/s;1", "a number in MB/s (1024)"),
        ("md1;1.5;1", "',' before decimals"), ("md1;" + "9" * 5000 + ";1", "a number"), ("md0;1;1", "each measure once"),
    ],
)  # fmt: skip
def test_a_value_that_cannot_be_one_is_broken(row: str, expected: str) -> None:
    found = read(grid(WIDE + row + "\n"), guess(grid(WIDE)))
    assert expected in found.broken[0].expected
    assert found.broken[0].line == 4


def test_a_row_with_more_cells_than_columns_is_broken() -> None:
    found = parse(SourceText(WIDE + "md2;1;2;3\nmd3;1;2\n"))
    assert [broken.message for broken in found.broken] == ["4 cells, expected 3"]
    assert "md3" in {run.labels["configuration"] for run in found.runs}


ALIGNED = """\
config    write (MiB/s)     read (MiB/s)
md0       10.5              20.5
md1       11.5              21.5
"""


def test_an_aligned_cell_between_two_columns_is_not_given_to_either() -> None:
    found = parse(SourceText(ALIGNED + "md2                      30\n"))
    assert [(broken.message, broken.line) for broken in found.broken] == [("a cell stands between the columns", 4)]


def test_an_aligned_short_row_gives_its_cells_to_the_columns_above() -> None:
    found = parse(SourceText(ALIGNED + "md2                         30.5\n"))
    assert [(s.operation, s.value) for s in found.runs[2].samples] == [("write", None), ("read", 30.5 * 2**20)]


def test_pasted_with_single_blanks_a_short_row_is_broken() -> None:
    mapping = ColumnMapping("wide", {0: ColumnRole("file_size", unit="MB (1024)"), **{i: ColumnRole("value",
        fixed={"configuration": str(i)}) for i in (1, 2)}},
                      fixed={"operation": "read", "unit": "KB/s (1024)"})  # fmt: skip
    found = read(grid("100 5 6\n200 7 8\n300 9\n"), mapping)
    assert [run.samples[0].value for run in found.runs] == [5 * 1024, 6 * 1024]
    assert [broken.line for broken in found.broken] == [3]
    assert "which are empty" in found.broken[0].message


@for_each("text", [
        "| config | write (MiB/s) |\n|:--|--:|\n| md0 | 10.5 |\n| md1 | 11.5 |\n",
        "||config||write (MiB/s)||\n|md0|10.5|\n|md1|11.5|\n",
        "|| config || write (MiB/s) ||\n|| md0 || 10.5 ||\n|| md1 || 11.5 ||\n",
        "^ config ^ write (MiB/s) ^\n| md0 | 10.5 |\n| md1 | 11.5 |\n",
        '{| class="wikitable"\n! config !! write (MiB/s)\n|-\n| md0 || 10.5\n|-\n| md1 || 11.5\n|}\n',
        " config | write (MiB/s) \n--------+---------------\n md0    |          10.5 \n md1    |          11.5 \n",
        "+-----+-------------+\n|config|write (MiB/s)|\n+-----+-------------+\n|md0|10.5|\n|md1|11.5|\n+-----+-------------+\n",
        'config,write (MiB/s)\n"md0",10.5\n"md1","11.5"\n',
        "config\twrite (MiB/s)\nmd0\t10.5\nmd1\t11.5\n",
        "\ufeffconfig;write (MiB/s)\r\nmd0;10,5\r\nmd1;11,5\r\n",
        "config       write (MiB/s)\nmd0          10.5\nmd1          11.5\n",
        "We ran it twice, on 5 May, and it took long.\n\nconfig;write (MiB/s)\nmd0;10,5\n\nmd1;11,5\n\nThat, we think, is good.\n",
        "> config;write (MiB/s)\n> md0;10,5\n> md1;11,5\n",
    ])  # fmt: skip
def test_a_table_is_found_however_it_was_pasted(text: str) -> None:
    found = parse(SourceText(text))
    assert [(run.labels["configuration"], run.samples[0].value) for run in found.runs] == [
        ("md0", 10.5 * 2**20),
        ("md1", 11.5 * 2**20),
    ]


def test_utf_16_from_a_spreadsheet_is_read() -> None:
    assert len(parse(SourceText(WIDE.replace(";", "\t").encode("utf-16"))).runs) == 2


def test_a_quoted_cell_may_hold_the_delimiter_a_line_end_and_a_decimal_comma() -> None:
    found = parse(SourceText('config,write (MiB/s)\n"md0, two\ndisks","10,5"\nmd1,"11,5"\n'))
    assert [run.labels["configuration"] for run in found.runs] == ["md0, two\ndisks", "md1"]
    assert found.runs[1].samples[0].line == 4


def test_several_tables_in_one_text_are_all_read() -> None:
    found = parse(SourceText(WIDE + "\nAnd once more:\n\n" + WIDE.replace("md", "raid")))
    assert [run.labels["configuration"] for run in found.runs] == ["md0", "md1", "raid0", "raid1"]


def test_headings_that_are_sizes_become_the_file_size() -> None:
    mapping = ColumnMapping("wide", {0: ColumnRole("configuration"), 1: ColumnRole("value"), 2: ColumnRole("value")},
        headings="file_size", heading_unit="MB (1024)",
                      fixed={"operation": "read", "unit": "MB/s (1000)"})  # fmt: skip
    found = read(grid("config;100;1 GiB\nmd0;5;6\nmd1;7;8\n"), mapping)
    assert [s.file_size for s in found.runs[0].samples] == [100 << 20, 1 << 30]


def test_a_suffix_of_a_size_needs_its_meaning() -> None:
    text = "config;block size;value\nmd0;4k;5\nmd0;1M;6\n"
    mapping = ColumnMapping(
        "long",
        {0: ColumnRole("configuration"), 1: ColumnRole("block_size"), 2: ColumnRole("value")},
        fixed={"operation": "read", "unit": "MB/s (1000)"},
    )
    assert len(read(grid(text), mapping).broken) == 2
    said = ColumnMapping(**{**vars_of(mapping), "units": {"k": "KB (1024)", "M": "MB (1024)"}})
    assert [s.block_size for s in read(grid(text), said).runs[0].samples] == [4096, 1 << 20]


def vars_of(mapping: ColumnMapping) -> dict[str, object]:
    return {name: getattr(mapping, name) for name in ColumnMapping.__dataclass_fields__}


def test_the_cpu_column_belongs_to_the_value_before_it() -> None:
    text = "config;write (MiB/s);%CPU;read (MiB/s);%CPU\nmd0;10;97,5;20;130\nmd1;1;2;3;4\n"
    found = parse(SourceText(text))
    assert [(s.operation, s.cpu) for s in found.runs[0].samples] == [("write", 0.975), ("read", 1.3)]


def test_repetitions_and_labels_are_runs_of_their_own() -> None:
    text = "config;rep;kernel;value\nmd0;1;2.6;5\nmd0;2;2.6;6\nmd0;1;3.1;7\n"
    mapping = ColumnMapping("long", {0: ColumnRole("configuration"), 1: ColumnRole("repetition"),
        2: ColumnRole("label:kernel"), 3: ColumnRole("value")},
                      fixed={"operation": "read", "unit": "MB/s (1000)", "host": "h1"}, tool="dd", tool_version="8.32")  # fmt: skip
    found = read(grid(text), mapping)
    assert [(run.tool, run.tool_version, run.host) for run in found.runs] == [("dd", "8.32", "h1")] * 3
    assert found.runs[2].labels == {"configuration": "md0", "kernel": "3.1", "repetition": "1"}


def test_merged_cells_are_filled_down_only_when_that_is_said() -> None:
    text = "config;size (MiB);value\nmd0;100;5\n;200;6\nmd1;100;7\n"
    mapping = ColumnMapping("long", {0: ColumnRole("configuration"), 1: ColumnRole("file_size", unit="MB (1024)"), 2: ColumnRole("value")},
                      fixed={"operation": "read", "unit": "MB/s (1000)"}, fill_down=True)  # fmt: skip
    assert [len(run.samples) for run in read(grid(text), mapping).runs] == [2, 1]
    unfilled = ColumnMapping(**{**vars_of(mapping), "fill_down": False})
    assert [run.labels for run in read(grid(text), unfilled).runs] == [
        {"configuration": "md0"},
        {},
        {"configuration": "md1"},
    ]


def test_the_quality_is_the_mappings_and_repaired_figures_are_transcribed() -> None:
    found = read(grid(WIDE), ColumnMapping(**{**vars_of(guess(grid(WIDE))), "quality": "ocr_repaired"}))
    assert found.runs[0].is_transcribed
    assert found.runs[0].samples[0].quality == "ocr_repaired"


def test_a_mapping_is_the_same_after_storing() -> None:
    mapping = ColumnMapping("wide", {0: ColumnRole("file_size", unit="MB (1024)"), 2: ColumnRole("value",
        fixed={"host": "a"})}, headings="configuration",
                      decimal=",", thousands=".", pair_separator="/", pair=({"operation": "read"}, {"operation": "write"}))  # fmt: skip
    assert ColumnMapping.from_json(json.loads(json.dumps(mapping.to_json()))) == mapping


@for_each("plain, said", [
        ({"layout": "deep"}, "layout"), ({"decimal": ";"}, "decimal"), ({"decimal": ",", "thousands": ","}, "both"), ({"nonsense": 1}, "nonsense"),
        ({"columns": {"0": {"word": "speed"}}}, "column 1"), ({"columns": {"x": {"word": "value"}}}, "invalid literal"),
        ({"columns": []}, "no mapping"),
        ({"fixed": {"operation": "fly"}}, "operation"), ({"fixed": {"unit": "MB/s"}}, "unit"), ({"fixed": {"file_size": "1G"}}, "whole number"),
        ({"quality": "good"}, "quality"),
        ({"headings": "value"}, "headings"), ({"pair": [1]}, "not enough values"), ({"columns": {"0": {"term": "value"}}}, "no mapping"),
        ({"columns": {"0": {"word": "label:"}}}, "column 1"), ({"fixed": {"x": "y"}}, "what is fixed"),
    ])  # fmt: skip
def test_a_mapping_that_is_none_is_refused(plain: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        ColumnMapping.from_json(plain)


def test_tables_with_the_same_headings_share_a_signature() -> None:
    assert make_signature(grid(WIDE)) == make_signature(grid(WIDE.replace("10,5", "99,25") + "md2;1;2\n"))
    assert make_signature(grid(WIDE)) != make_signature(grid(WIDE.replace("read", "rewrite")))
    assert make_signature(grid(WIDE)) != make_signature(grid(WIDE.replace(",", ".").replace(";", ",")))


def test_a_pair_needs_a_word_for_each_half() -> None:
    text = "config;net / disk\nmd0;270 / 20\nmd1;80 / 60\n"
    mapping = ColumnMapping("long", {0: ColumnRole("configuration"), 1: ColumnRole("value")}, fixed={"unit": "MB/s (1000)"}, pair_separator="/",
                      pair=({"operation": "net_send"}, {"operation": "read"}))  # fmt: skip
    assert [(s.operation, s.value) for s in read(grid(text), mapping).runs[0].samples] == [
        ("net_send", 270e6),
        ("read", 20e6),
    ]
    with pytest.raises(ParseError, match="which operation"):
        read(grid(text), ColumnMapping(**{**vars_of(mapping), "pair": ({}, {})}))


def test_a_table_is_never_surer_than_a_tools_own_parser() -> None:
    assert 0 < looks_like(SourceText(LONG)) <= 0.4
    assert looks_like(SourceText("size write\n1 2\n3 4\n")) <= 0.2
    assert looks_like(SourceText("Just prose, with a comma, or two,\nand another line, here.\n")) == 0
    assert looks_like(SourceText(b"")) == 0


@for_each(
    "text",
    [
        "," * 2**20,
        '"' * 2**20,
        '"a,1\n' * 200_000,
        "1 " * 2**19,
        "|1" * 2**19,
        "1" * 2**20,
        ("~ " * 500 + "\n") * 1000,
        "|=- " * 2**18,
        ("1." * 100 + ",2\n") * 5000,
        "\x00" * 1000,
        '"' + "x,1\n" * 100_000,
        ("a" * 200_000 + ",1\n") * 5,
    ],
    number=4,
)
def test_hostile_text_is_refused_soon(text: str) -> None:
    started = time.process_time()
    with pytest.raises(ParseError):
        parse(SourceText(text[: 2**20]))
    assert within(time.process_time() - started, 2)


def test_a_column_mapped_to_repetition_by_mistake_cannot_make_a_run_of_every_row() -> None:
    text = "rep;write (MiB/s)\n" + "".join(f"{i};5\n" for i in range(10_050))
    with pytest.raises(ParseError, match="more than 10000 runs"):
        parse(SourceText(text))


@pytest.mark.slow
def test_reading_takes_time_in_proportion_to_rows() -> None:
    def seconds(rows: int) -> float:
        text = SourceText(
            "config;size (MiB);write (MiB/s)\n"
            + "".join(f"c{i % 7};{i};{i % 1000},{i % 100:02d}\n" for i in range(rows))
        )
        started = time.process_time()
        assert sum(len(run.samples) for run in parse(text).runs) == rows
        return time.process_time() - started

    seconds(1000)
    few = max(min(seconds(5_000) for _ in range(3)), 0.05)
    assert any(seconds(40_000) < 8 * 1.6 * few for _ in range(3))  # one pause of the machine is no slope


def test_the_module_is_a_parser() -> None:
    assert (tables.NAME, tables.TITLE) == ("table", "a table of means")


def test_a_first_column_that_is_headed_with_a_size_unit_alone_holds_the_file_sizes() -> None:
    grid = sniff(
        SourceText("Writing (KB/s)\nMB;array one;array two\n100;297.450,5;172.100,2\n500;295.110,0;168.004,7\n")
    )
    found = guess(grid)
    assert [found.columns[index].word for index in range(3)] == ["file_size", "value", "value"]
    assert found.columns[0].unit == "", "MB may be 1000 or 1024: that is asked"
    assert found.layout == "wide"


def test_a_unit_that_only_the_mapping_knows_stands_in_brackets() -> None:
    mapping = ColumnMapping(
        "long",
        {0: ColumnRole("configuration"), 1: ColumnRole("value")},
        fixed={"operation": "read", "unit": "MB/s (1000)"},
    )
    (run,) = read(grid("config,read\nmd0,12.5\n"), mapping).runs
    assert run.samples[0].printed == "12.5 [MB/s (1000)]"
    (run,) = read(grid("config,read (MB/s)\nmd0,12.5\n"), mapping).runs
    assert run.samples[0].printed == "12.5 MB/s"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("config;ext3;xfs\nmd0;10;20\nmd1;11;12\n", "config, ext3, xfs"),
        (WIDE.replace("MiB/s", "MB/s"), "config, write (MB/s), read (MB/s)"),
        ("size write read\n1 2 3\n4 5 6\n", "1, 2, 3"),
    ],
    ids=["headings", "unit", "single blanks"],
)
def test_what_has_to_be_mapped_is_told_with_found_and_expected(text: str, found: str) -> None:
    with pytest.raises(ParseError) as error:
        parse(SourceText(text))
    assert error.value.found == found
    assert error.value.expected.startswith("a mapping")

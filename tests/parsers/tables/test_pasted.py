"""Tables as people paste them: footnotes, brackets, numbers of many countries, merged headings, counts over columns, titles."""

from dataclasses import replace

import pytest

from apps.parsers import tables
from apps.parsers.core.models import ParsedFile, ParsedSample, ParseError
from apps.parsers.core.source_text import SourceText
from apps.parsers.tables import (
    ColumnMapping,
    ColumnRole,
    TableGrid,
    guess,
    list_questions,
    make_signature,
    parse,
    read,
)
from apps.parsers.tables.units import find_unit, get_meanings
from tests.sampling import for_each


def grid(text: str, heading_rows: int | None = None) -> TableGrid:
    return tables.sniff(SourceText(text), heading_rows)


def samples(found: ParsedFile) -> list[ParsedSample]:
    return [sample for run in found.runs for sample in run.samples]


@for_each("cell, value, note", [
        ("223 [204–234]", 223, "[204–234] as printed"), ("123 (±4)", 123, "(±4) as printed"), ("99.5 (4)", 99.5, "(4) as printed"),
        ("100 ± 3 [n=5]", 100, "± 3 [n=5] as printed"), ("123*", 123, "* as printed"), ("123¹", 123, "¹ as printed"), ("130 †", 130, "† as printed"),
        ("**68.0** (±2)", 68, "(±2) as printed"), ("12[^1]", 12, "[^1] as printed"), ("12 ((warm cache))", 12, "((warm cache)) as printed"),
        ("1,05,123.5", 105123.5, ""), ("\u200b12\u2007345.5\u200b", 12345.5, ""), ("12.5 (MiB/s)", 12.5, ""),
    ])  # fmt: skip
def test_what_stands_behind_a_number_is_its_note(cell: str, value: float, note: str) -> None:
    found = samples(parse(SourceText(f"config\twrite (MiB/s)\nmd0\t{cell}\nmd1\t11.5\n")))
    assert [(one.value, one.note) for one in found] == [(value * 2**20, note), (11.5 * 2**20, "")]


@pytest.mark.parametrize("cell", ["10⁶", "2³⁰", "145 a", "12 130 (3", "1,2,345", "145 (KB/s)"])
def test_what_may_be_another_number_is_refused(cell: str) -> None:
    found = parse(SourceText(f"config\twrite (MiB/s)\nmd0\t10.5\nmd1\t11.5\nmd2\t{cell}\nmd3\t12.5\n"))
    assert [broken.line for broken in found.broken] == [4]


@pytest.mark.parametrize(
    "text",
    [
        "See <tt>man fio</tt>.\n\n| config | write (MiB/s) |\n|---|---|\n| md0 | 123<sup>1</sup> |\n| md1 | 130 |\n",
        '{| class="wikitable"\n! config !! write (MiB/s)\n|-\n| md0 || 123<ref name="a">cache off</ref>\n|-\n| md1 || 130\n|}\n',
        '<table><tr><th>config</th><th>write (MiB/s)</th></tr>\n<tr><td>md0</td><td>123<sup><a href="#a">1</a></sup></td></tr>\n'
        "<tr><td>md1</td><td>1<wbr>30</td></tr></table>\n",
    ],
)
def test_a_raised_word_is_no_digit_of_its_number(text: str) -> None:
    found = samples(parse(SourceText(text)))
    assert [one.value for one in found] == [123 * 2**20, 130 * 2**20]
    assert found[0].note


@pytest.mark.parametrize("cell", ["12<br>130", "<p>12</p><p>130</p>"])
def test_numbers_on_two_lines_of_a_cell_are_two(cell: str) -> None:
    rows = f"<tr><td>md0</td><td>{cell}</td></tr>\n<tr><td>md1</td><td>1 250</td></tr><tr><td>md2</td><td>9</td></tr>"
    found = parse(SourceText(f"<table><tr><th>config</th><th>write (MiB/s)</th></tr>\n{rows}</table>\n"))
    assert [one.value for one in samples(found)] == [1250 * 2**20, 9 * 2**20]
    assert [broken.found for broken in found.broken] == ["12 / 130"]


def test_counts_over_columns_are_headings_where_the_corner_is_blank() -> None:
    found = grid("\t1\t2\t4\nwrite\t10\t20\t30\nread\t11\t21\t31\n")
    assert [column.heading for column in found.columns] == ["", "1", "2", "4"]
    mapping = ColumnMapping("wide", {0: ColumnRole("operation"), **{i: ColumnRole("value") for i in (1, 2, 3)}}, headings="threads",
                      fixed={"unit": "MB/s (1000)"})  # fmt: skip
    assert [(one.threads, one.value) for one in samples(read(found, mapping))][:3] == [(1, 10e6), (2, 20e6), (4, 30e6)]


def test_a_first_row_of_rising_counts_is_asked_about() -> None:
    text = "disks;1;2;4\nwrite;10,5;20,5;30,5\nread;11;21;31\n"
    columns = {0: ColumnRole("operation"), **{i: ColumnRole("value", "MB/s (1000)") for i in (1, 2, 3)}}
    unsaid = ColumnMapping("wide", columns, headings="label:disks")
    assert "is line 1 (disks, 1, 2, 4) a row of headings, or of values?" in list_questions(grid(text), unsaid)[0]
    said = replace(unsaid, heading_rows=1)
    found = read(grid(text, 1), said)
    assert [(run.labels, one.value) for run in found.runs for one in run.samples][:2] == [
        ({"disks": "1"}, 10.5e6), ({"disks": "1"}, 11e6)]  # fmt: skip
    values = {
        0: ColumnRole("configuration"),
        1: ColumnRole("value", "MB/s (1000)"),
        2: ColumnRole("ignore"),
        3: ColumnRole("ignore"),
    }
    assert (
        len(samples(read(grid(text, 0), ColumnMapping("long", values, fixed={"operation": "write"}, heading_rows=0))))
        == 3
    )


@pytest.mark.parametrize(
    "rows", [("host1;10,5;20", "host2;11,5;21"), ("file1;10;20", "file2;11;21"), ("test 1;5;6", "test 2;7;8")]
)
def test_a_row_of_values_is_no_heading_because_its_name_is_numbered(rows: tuple[str, str]) -> None:
    assert len(grid("\n".join(rows) + "\n").rows) == 2


def test_a_first_row_without_any_value_stays_a_row() -> None:
    found = parse(SourceText("config;write (MiB/s);read (MiB/s)\nmd0;n/a;-\nmd1;10;20\nmd2;11;21\n"))
    assert [(run.labels["configuration"], [one.value for one in run.samples]) for run in found.runs][:2] == [
        ("md0", [None, None]), ("md1", [10 * 2**20, 20 * 2**20])]  # fmt: skip


MERGED = ";Write (MiB/s);;Read (MiB/s);\nsize (MiB);ext3;xfs;ext3;xfs\n100;10,5;11,5;20;21\n200;12,5;13,5;22;23\n"


def test_a_merged_heading_stands_over_each_of_its_columns() -> None:
    found = grid(MERGED)
    assert [column.heading for column in found.columns[1:]] == [
        "Write (MiB/s) ext3", "Write (MiB/s) xfs", "Read (MiB/s) ext3", "Read (MiB/s) xfs"]  # fmt: skip
    mapping = guess(found)
    assert [mapping.columns[i].fixed for i in (2, 3)] == [
        {"operation": "write", "configuration": "xfs"}, {"operation": "read", "configuration": "ext3"}]  # fmt: skip
    by = {
        (run.labels["configuration"], one.operation, one.file_size): one.value
        for run in read(found, mapping).runs
        for one in run.samples
    }
    assert by["xfs", "write", 100 << 20] == 11.5 * 2**20
    assert by["ext3", "read", 200 << 20] == 22 * 2**20


def test_operation_and_configuration_in_one_heading_are_shown_to_somebody_first() -> None:
    with pytest.raises(ParseError, match="what are the columns Write ext3"):
        parse(SourceText("size (MiB);Write ext3 (MiB/s);Write xfs (MiB/s)\n100;10,5;11,5\n200;12,5;13,5\n"))


def test_a_heading_of_a_cache_is_no_operation() -> None:
    mapping = guess(grid("size (MiB);write cache on (MiB/s);write cache off (MiB/s)\n100;10,5;11,5\n200;12,5;13,5\n"))
    assert mapping.headings == "configuration"
    assert not any(role.fixed for role in mapping.columns.values())


def test_versions_in_another_column_prove_no_mark() -> None:
    found = grid("kernel;write (MiB/s)\n2.6;1,234\n3.1;2,345\n")
    mapping = guess(found)
    assert mapping.decimal == ""
    with pytest.raises(ParseError, match="decimal or a thousands mark") as error:
        read(found, replace(mapping, columns={**mapping.columns, 0: ColumnRole("label:kernel")}))
    assert error.value.found == "line 2, write (MiB/s): 1,234; line 3, write (MiB/s): 2,345"


def test_a_load_in_percent_is_never_taken_for_a_fraction() -> None:
    text = "config;write (MiB/s);CPU\nmd0;10;45%\nmd1;11;n/a\n"
    assert [one.cpu for one in samples(parse(SourceText(text)))] == [0.45, None]
    mapping = guess(grid(text))
    fraction = replace(mapping, columns={**mapping.columns, 2: ColumnRole("cpu", "fraction")})
    assert [broken.line for broken in read(grid(text), fraction).broken] == [2]


def test_headings_that_a_page_break_repeats_are_no_values() -> None:
    head = "config;write (MiB/s);read (MiB/s)\n"
    found = parse(SourceText(f"{head}md0;10;20\nmd1;11;21\n{head}md2;12;22\n"))
    assert not found.broken
    assert [run.labels["configuration"] for run in found.runs] == ["md0", "md1", "md2"]


def test_a_title_in_the_first_cell_is_the_caption() -> None:
    found = grid("Sequential write, KiB/s;;\nsize (MiB);ext3;xfs\n100;10,5;11,5\n200;12;13\n")
    assert found.caption == "Sequential write, KiB/s"
    mapping = guess(found)
    assert mapping.fixed == {"operation": "write", "unit": "KB/s (1024)"}
    assert [column.heading for column in found.columns] == ["size (MiB)", "ext3", "xfs"]


@pytest.mark.parametrize("title", ["We read it twice", "Read-ahead 128", "write cache off", "writing and reading"])
def test_a_title_that_says_more_than_an_operation_says_none(title: str) -> None:
    assert "operation" not in guess(grid(f"{title}\n\nsize (MiB);ext3;xfs\n100;10,5;11,5\n200;12;13\n")).fixed


def test_the_same_columns_under_another_title_are_another_kind_of_table() -> None:
    rows = "size (MiB);ext3;xfs\n100;10,5;11,5\n200;12;13\n"
    looks = [make_signature(grid(f"{title}\n{rows}")) for title in (
        "Writing (KiB/s)", "Reading (KiB/s)", "Writing (MiB/s)", "Writing, 4 threads (KiB/s)", "Writing, records of 64k (KiB/s)", "Results of May",
        "Results of June",
    )]  # fmt: skip
    assert len(set(looks)) == 6
    assert looks[-1] == looks[-2]
    assert make_signature(grid(rows), "2009/seq_write.csv") != make_signature(grid(rows), "2009/seq_read.csv")
    assert make_signature(grid(rows), "host1.csv") == make_signature(grid(rows), "host2.csv")


@pytest.mark.parametrize(
    ("heading", "unit", "names"),
    [
        ("Écriture (Mo/s)", "Mo/s", ("MB/s (1000)", "MB/s (1024)")), ("Lecture, Mio/s", "Mio/s", ("MB/s (1024)",)),
        ("Запись (МБ/с)", "МБ/с", ("MB/s (1000)", "MB/s (1024)")), ("Чтение, Мбит/с", "Мбит/с", ("Mbit/s",)), ("Задержка, мс", "мс", ("ms",)),
        ("Schreiben in MB/Sek.", "MB/Sek", ("MB/s (1000)", "MB/s (1024)")), ("escritura (MB/seg)", "MB/seg", ("MB/s (1000)", "MB/s (1024)")),
        ("写入 (MB/秒)", "MB/秒", ("MB/s (1000)", "MB/s (1024)")), ("Go to the disk", "", ()),
    ],
)  # fmt: skip
def test_units_of_other_languages(heading: str, unit: str, names: tuple[str, ...]) -> None:
    assert find_unit(heading) == unit
    assert get_meanings(unit) == names


@pytest.mark.parametrize(
    ("headings", "operations"),
    [
        ("Konfiguration;Schreiben (MiB/s);Lesen (MiB/s)", ["write", "read"]),
        ("configuration;Écriture (Mio/s);Lecture aléatoire (Mio/s)", ["write", "randread"]),
        ("configurazione;Scrittura sequenziale (MiB/s);Lettura (MiB/s)", ["write", "read"]),
        ("config;Escritura (MiB/s);Lectura (MiB/s)", ["write", "read"]),
        ("config;Запись (МиБ/с);Случайное чтение (МиБ/с)", ["write", "randread"]), ("config;写入 (MiB/s);读取 (MiB/s)", ["write", "read"]),
        ("config;write speed (MiB/s);read throughput (MiB/s)", ["write", "read"]),
    ],
)  # fmt: skip
def test_operations_in_other_languages(headings: str, operations: list[str]) -> None:
    found = samples(parse(SourceText(f"{headings}\nmd0;10,5;20,5\nmd1;11,5;21,5\n")))
    assert [one.operation for one in found[:2]] == operations


def test_a_unit_beside_a_rows_operation_is_that_rows() -> None:
    text = "test\text3\txfs\nwrite (MiB/s)\t10.5\t11.5\nread (KiB/s)\t20.5\t21.5\nseeks (/s)\t200\t210\nrewrite (MB/s)\t1\t2\n"
    found = grid(text)
    mapping = guess(found)
    assert list_questions(found, mapping) == []
    for one in (mapping, replace(mapping, fixed={"unit": "MB/s (1024)"})):
        parsed = read(found, one)
        assert [s.value for s in parsed.runs[0].samples][:2] == [10.5 * 2**20, 20.5 * 2**10]
        assert not any(s.operation == "seek" for s in samples(parsed)), "a rate is no bandwidth"
    assert [broken.line for broken in read(found, mapping).broken] == [4, 4, 5, 5]
    assert "which unit 'MB/s' is" in read(found, mapping).broken[-1].expected
    seeks = replace(mapping, units={"MB/s": "MB/s (1000)"})
    assert [s.value for s in samples(read(found, seeks)) if s.operation == "rewrite"] == [1e6, 2e6]


def test_a_unit_beside_an_operation_goes_down_with_it() -> None:
    text = "test\tsize\text3\nread (KiB/s)\t1 MiB\t20.5\n\t2 MiB\t30.5\n"
    columns = {0: ColumnRole("operation"), 1: ColumnRole("file_size"), 2: ColumnRole("value")}
    mapping = ColumnMapping("long", columns, fixed={"unit": "MB/s (1000)"}, fill_down=True)
    assert [one.value for one in samples(read(grid(text), mapping))] == [20.5 * 1024, 30.5 * 1024]

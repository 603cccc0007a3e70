"""The pages of bon_csv2html, with their tags, and rows that posts have dressed."""

import pytest

from apps.parsers.core.models import ParsedFile, ParsedRun
from apps.parsers.core.registry import recognise
from apps.parsers.core.source_text import SourceText

MIB = 1024.0**2
RATES = "1001 11 20002 12 3003 13 4004 94 50005 15 600.6 6"
FILES = "16 7007 17 +++++ +++ 8008 18 9009 19 +++++ +++ 1010 20"
LATENCIES = "11us 22ms 33us 44us 55us 66us", "77us 88us 99us 10us 20us 30us"


def cells(words: str, attributes: str = "") -> str:
    return "".join(f"<td{attributes}>{word.strip('-')}</td>" for word in words.split())


def page(*rows: str, version: str = "1.97", first: str = "<td></td><td>Size</td>", unit: str = "K/sec") -> str:
    """`rows` as bon_csv2html writes them."""
    five = ["Per Char", "Block", "Rewrite", "Per Char", "Block"]
    six = ("Create", "Read", "Delete") * 2
    wide = "".join(f'<td colspan="2">{word}</td>' for word in five)
    files = "<td>Num Files</td>" + "".join(f'<td colspan="2">{word}</td>' for word in six)
    units = "".join(
        f'<td class="ksec"><font size=-2>{word}</font></td>' for word in [unit, "% CPU"] * 5 + ["/sec", "% CPU"]
    )
    return f"""\
<!DOCTYPE html><html><head><title>Bonnie++ Benchmark results</title>
<style type="text/css">td.size {{text-align: center}}</style></head>
<body><table border="3"><tr><td colspan="2" class="header"><font size=+1><b>Version {version}</b></font></td>\
<td colspan="6"><b>Sequential Output</b></td><td colspan="4"><b>Sequential Input</b></td>\
<td rowspan="2"><b>Random<br>Seeks</b></td><td colspan="6"><b>Sequential Create</b></td></tr>
<tr>{first}{wide}{files}</tr><tr><td colspan="2"></td>{units}<td></td>{cells("/sec %CPU " * 6)}</tr>
{"".join(rows)}</table>
</body></html>
"""


def row(name: str, size: str, rates: str = RATES, files: str = FILES, latencies: tuple[str, str] = LATENCIES) -> str:
    late = [f'<td class="size">Latency</td>{cells(some, " colspan=2")}' for some in latencies]
    return (
        f'<tr><td rowspan="2" class="rowheader"><font size=+1>{name}</td>{cells(size)}{cells(rates)}{cells(files)}</tr>\n'
        f"<tr>{''.join(late)}</tr>\n"
    )


def read(text: str) -> ParsedFile:
    (found,) = [one for one in recognise(SourceText(text)) if one.format.name == "bonnie++"]
    assert found.parsed is not None
    return found.parsed


def values(run: ParsedRun, metric: str) -> dict[str, float | None]:
    return {one.operation: one.value for one in run.samples if one.metric == metric}


def test_the_page_that_bon_csv2html_writes_is_read_row_by_row() -> None:
    found = read(
        "### Disks of the lab\n\n" + page(row("one", "8G"), row("two", "300M", RATES.replace("20002", "70007")))
    )
    assert [(run.host, run.tool_version, run.samples[0].file_size) for run in found.runs] == [
        ("one", "1.97", 8 << 30),
        ("two", "1.97", 300 << 20),
    ]
    one, two = found.runs
    assert values(one, "bandwidth") == {
        "char_write": 1001 * 1024, "write": 20002 * 1024, "rewrite": 3003 * 1024, "char_read": 4004 * 1024,
        "read": 50005 * 1024,
    }  # fmt: skip
    assert values(two, "bandwidth")["write"] == 70007 * 1024
    assert values(one, "rate")["seek"] == 600.6
    assert (values(one, "rate")["create_rand"], values(one, "rate")["stat_rand"]) == (9009, None)
    assert (values(one, "latency_max")["write"], values(one, "latency_max")["delete_rand"]) == (22e6, 30e3)
    assert not found.broken


def test_megabytes_of_1_98_are_rounded_and_single_characters_are_in_kilobytes_below_that_word() -> None:
    (run,) = read(page(row("one", "8G", RATES.replace(" 3003 ", " 0 ")), version="2.00a", unit="M/sec")).runs
    told = {one.operation: (one.value, one.printed, one.quality) for one in run.samples if one.metric == "bandwidth"}
    assert told == {
        "char_write": (1001 * 1024, "1001 K/s", "exact"),
        "write": (20002 * MIB, "20002 M/s", "rounded"),
        "rewrite": (None, "0 M/s", "rounded"),
        "char_read": (4004 * 1024, "4004 K/s", "exact"),
        "read": (50005 * MIB, "50005 M/s", "rounded"),
    }


def test_cells_that_differ_between_rows_have_columns_of_their_own() -> None:
    first = '<td colspan="2">Concurrency</td><td>Size</td><td>Chunk Size</td>'
    found = read(page(row("one", "4 8G -"), row("two", "1 8G 32k", files="- " * 13), first=first))
    assert [(run.host, run.workload["numjobs"], run.workload["block_size"]) for run in found.runs] == [
        ("one", 4, 8192),
        ("two", 1, 32768),
    ]


def test_a_page_of_what_f_left_out_has_the_rest_in_place() -> None:
    late = ("- 22ms 33us - 55us 66us", LATENCIES[1])
    (run,) = read(page(row("one", "8G", "- - 20002 12 3003 13 - - 50005 15 600.6 6", latencies=late))).runs
    assert values(run, "bandwidth") == {
        "char_write": None, "write": 20002 * 1024, "rewrite": 3003 * 1024, "char_read": None, "read": 50005 * 1024,
    }  # fmt: skip
    assert values(run, "latency_max")["rewrite"] == 33e3


def test_a_page_of_1_03_in_a_post_has_a_line_for_each_cell_of_its_first_row() -> None:
    above = """\
[HTML]<TABLE BORDER=3>
<TR><TD COLSPAN=2 class="header"></TD>
<TD COLSPAN=6 class="header"><B>Sequential Output</B></TD>
<TD COLSPAN=2 ROWSPAN=2 class="header"><B>Random<BR>Seeks</B></TD>
</tr>
"""
    text = page(row("one", "8G", latencies=("", ""))).replace("<tr><td>Latency</td></tr>", "")
    (run,) = read(above + text[text.index("<tr><td></td><td>Size") :].replace("Size<", "Size:Chunk Size<")).runs
    assert (run.host, run.tool_version, run.line, run.caption) == ("one", "", 3, "[HTML]")
    assert values(run, "bandwidth")["read"] == 50005 * 1024


CSV = "box,8G,3001,91,4002,12,5003,13,6004,94,7005,15,81.6,1,16,{},+++++,+++,3003,53,1004,54,+++++,+++,2006,56\n"


@pytest.mark.parametrize(("text", "host"), [("+++++\t,++", "box"), ("+++++,++", "box"), ("+++++,+++", "box")])
def test_a_line_that_a_forum_broke_is_read(text: str, host: str) -> None:
    (run,) = read(CSV.format(text)).runs
    assert (run.host, values(run, "rate")["create_seq"], values(run, "rate")["delete_rand"]) == (host, None, 2006)


def test_words_before_a_line_in_backticks_are_no_name() -> None:
    (run,) = read("example data: `" + CSV.format("1001,51").strip() + "`\n").runs
    assert run.host == "box"


def test_a_table_that_was_made_narrower_tells_its_version_without_the_word() -> None:
    text = """\
1.02b           ------Sequential Output------ --Sequential Input- --Random-
                -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Machine    Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP /sec %CP
lab (v2)   300M  4001  57  5002   2  3003   3  5004  91 10005   3 442.2   4
"""
    (run,) = read(text).runs
    assert (run.tool_version, run.host, values(run, "bandwidth")["read"]) == ("1.02b", "lab (v2)", 10005 * 1024)

"""User text comes out of every wiki exactly as it went in: read back by pandoc, as a wiki would read it."""

import csv
import io
import json
from typing import Any
from unicodedata import normalize

import pypandoc
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.core.tables import Column, Document, Footer, Head, Section, Table
from apps.wiki import dialects

READERS = {"mediawiki": "mediawiki", "dokuwiki": "dokuwiki", "markdown": "gfm"}
NASTY = [
    "a|b", "[[l]]", "{{t}}", "*x*", "<script>alert(1)</script>", "~~x~~", "~~~~", "{{{1}}}", "__TOC__", "|}", "|-",
    "||", "!!", "^ ^", "two\nlines", "=1+1", "@x", "+1", "-1", "\u202eRTL\u202c", "日本語 ünï", "שלום", "'''bold'''",
    "''i''", "== h ==", "* li", "# li", ": x", "; x", "----", "http://evil.example", "www.evil.example",
    "a@b.example", "mailto:a@b", "//it//", "**b**", "__u__", "\\\\ x", "%%", "5%", "100 %% %", "</nowiki>",
    "<nowiki>", "%%</nowiki>%%", "(c) 640x480 ... --", "FIXME", "DELETEME", ":-)", "CamelCase", "ISBN 1234567890",
    "RFC 2616", "&amp; &#60;", "\\", "\\|", "`code`", "$x$", "~x~", "1. one", "1) one", "> q", "![i](x)", "[a](b)",
    "<!-- c -->", "#123", ":smile:", "{{#if:x}}", "{% raw %}", "~~NOTOC~~", "((fn))", "[[http://x|y]]", ":::",
    "a_b_c", "snake__case", "it's \"q\"", "|", "", "\\*", "%5B", "<https://x.example>", "&copy;", "^", "x^2^",
    "H~2~O", "- [ ] task", "\u00a0", "12.5", "1.", "µs ± 3", "-{zh}-", "#REDIRECT [[x]]",
]  # fmt: skip
TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=30) | st.lists(
    st.sampled_from(list("|!%*_{}[]<>=~'\"\\`#@:;&^-+.() \nwx1/")), max_size=12
).map("".join)


def document(cells: list[str]) -> Document:
    table = Table.of(
        ["n", "text", "number"], [(str(n), cell, cell) for n, cell in enumerate(cells)], numbers=["number"]
    )
    section = Section("Values", tuple(cells), table)
    return Document("Title", (), (section,), Footer("Made now", "https://lab.example/compare/?x=a__b~~c"), table)


def words(nodes: Any) -> str:
    """The text a reader sees; links, images and formatting are marked, so that they never pass for text."""
    out = []
    for node in nodes:
        kind, content = node["t"], node.get("c")
        if kind == "Str":
            out.append(content)
        elif kind in ("Space", "SoftBreak"):
            out.append(" ")
        elif kind == "LineBreak" or (kind == "RawInline" and content[1] in ("<br>", "<br />")):
            out.append("\n")
        elif kind in ("Plain", "Para"):
            out.append(words(content))
        elif kind == "RawInline" and content[1] == "<!-- -->":
            pass
        elif kind == "Quoted":
            out.append(f"‹{kind}›")
        elif kind == "Code" and content[0][1] == []:
            out.append(content[1]) if UNFORMATTED else out.append("‹Code›")
        else:
            out.append(f"‹{kind} {json.dumps(content, ensure_ascii=False)}›")
    return "".join(out)


UNFORMATTED = False


def read(dialect: str, text: str) -> tuple[list[tuple[str, str]], list[str]]:
    """The table's (text, number) cells, and the list's items, as pandoc reads them."""
    tree = json.loads(pypandoc.convert_text(text, "json", format=READERS[dialect]))
    tables = [block for block in tree["blocks"] if block["t"] == "Table"]
    lists = [block for block in tree["blocks"] if block["t"] == "BulletList"]
    assert len(tables) == 1, "text made or broke a table"
    rows = [row for body in tables[0]["c"][4] for row in body[3]]
    cells = [[words(cell[4]) for cell in row[1]] for row in rows]
    assert all(len(row) == 3 for row in cells), "text made or broke a cell"
    return [(row[1], row[2]) for row in cells], [words(item) for block in lists for item in block["c"]]


def seen(text: str) -> str:
    """White space as any wiki folds it; line breaks stay. Composed, as pandoc reads (U+F900 becomes U+8C48)."""
    text = normalize("NFC", text)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return "\n".join(" ".join(line.split()) for line in text.split("\n")).strip()


@pytest.mark.parametrize("dialect", READERS)
def test_nasty_cells_come_back_exactly(dialect: str) -> None:
    cells, _ = read(dialect, dialects.render(dialect, document(NASTY)))
    assert [(seen(a), seen(b)) for a, b in cells] == [(seen(text), seen(text)) for text in NASTY]


@pytest.mark.parametrize("dialect", READERS)
def test_nasty_list_items_come_back_exactly(dialect: str) -> None:
    full = [text for text in NASTY if text.strip()]
    _, items = read(dialect, dialects.render(dialect, document(full)))
    assert [seen(item) for item in items] == [seen(text) for text in full]


@pytest.mark.slow
@pytest.mark.parametrize("dialect", READERS)
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(cells=st.lists(TEXT, min_size=1, max_size=40))
def test_any_text_comes_back_exactly(dialect: str, cells: list[str]) -> None:
    found, _ = read(dialect, dialects.render(dialect, document(cells)))
    assert [seen(text) for text, _ in found] == [seen(text) for text in cells]


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["mediawiki", "markdown"])
def test_a_nasty_title_stays_a_title(dialect: str) -> None:
    for text in NASTY:
        made = Document(text or "x", (), (), Footer("now", "https://lab.example/"), document([]).data)
        tree = json.loads(pypandoc.convert_text(dialects.render(dialect, made), "json", format=READERS[dialect]))
        header = tree["blocks"][0]
        assert header["t"] == "Header"
        assert seen(words(header["c"][2])) == " ".join((text or "x").split())


def test_a_nasty_heading_of_dokuwiki_is_its_text() -> None:
    """DokuWiki (2022 and 2026 asked) reads a line of equals signs around any text as a heading, and no mark within it."""
    for text in filter(str.strip, NASTY):
        section = Section(text, level=3)
        made = Document(text, (), (section,), Footer("now", "https://lab.example/"), document([]).data)
        title, heading, footer = dialects.render("dokuwiki", made).strip().split("\n\n")
        assert (title, heading) == tuple(f"{marks} {' '.join(text.split())} {marks}" for marks in ("======", "===="))
        assert footer == "now [[https://lab.example/|Permalink]]"


MERGED = Table(
    (Column("", is_head=True), Column("Block · K/sec", True), Column("Block · % CPU", True), Column("Seeks", True)),
    (("RAID6", "1265", "99", "632.3"), ("Latency", "9192us", "", "|")),
    heads=((Head(""), Head("Block", 2), Head("Seeks", down=2)), (Head(""), Head("K/sec"), Head("% CPU"))),
    spans={(1, 1): 2},
)


@pytest.mark.parametrize(
    ("dialect", "lines"),
    [
        (
            "dokuwiki",
            ["^  ^ Block ^^ Seeks ^", "^  ^ %%K/sec%% ^ <nowiki>%</nowiki> %%CPU%% ^ ::: ^", "^ %%RAID6%% |  %%1265%% |  99 |  632.3 |",
             "^ Latency |  %%9192us%% ||  %%|%% |"],
        ),
        (
            "mediawiki",
            ["|", '! scope="colgroup" colspan="2" | Block', '! scope="col" rowspan="2" | Seeks', "|-", "|",
             '! scope="col" | K/sec', '! scope="col" | % CPU', "|-", '! scope="row" | RAID6',
             '| style="text-align:right" | 1265', '| style="text-align:right" | 99', '| style="text-align:right" | 632.3',
             "|-", '! scope="row" | Latency', '| style="text-align:right" colspan="2" | 9192us',
             '| style="text-align:right" | &#124;', "|}"],
        ),
        (
            "html",
            ['<table>', '<thead><tr><td></td><th scope="colgroup" colspan="2">Block</th><th scope="col" rowspan="2">Seeks</th></tr>'
             '<tr><td></td><th scope="col">K/sec</th><th scope="col">% CPU</th></tr></thead>', "<tbody>",
             '<tr><th scope="row">RAID6</th><td align="right">1265</td><td align="right">99</td><td align="right">632.3</td></tr>',
             '<tr><th scope="row">Latency</th><td align="right" colspan="2">9192us</td><td align="right">|</td></tr>'],
        ),
        (
            "markdown",
            ["|   | Block · K/sec | Block · % CPU | Seeks |", "| --- | ---: | ---: | ---: |", "| RAID6 | 1265 | 99 | 632.3 |",
             "| Latency | 9192us |  | &#124; |"],
        ),
    ],
)  # fmt: skip
def test_merged_cells_stay_merged_where_a_wiki_knows_them(dialect: str, lines: list[str]) -> None:
    made = Document("Title", (), (Section("Values", table=MERGED),), Footer("now", "https://lab.example/"), MERGED)
    assert "\n".join(lines) in dialects.render(dialect, made)


def test_a_table_without_headings_has_no_row_of_them() -> None:
    slots = Table((Column("", is_head=True), Column("")), (("Ctrl 0", "Disk 3"), ("", "Disk 7")))
    made = Document("Title", (), (Section("Slots", table=slots),), Footer("now", "https://lab.example/"), slots)
    assert '{| class="wikitable"\n! scope="row" | Ctrl 0\n| Disk 3\n|-\n|\n| Disk 7\n|}' in dialects.render(
        "mediawiki", made
    )
    assert "\n\n^ Ctrl 0 | Disk 3 |\n|  | Disk 7 |\n\n" in dialects.render("dokuwiki", made)


@pytest.mark.parametrize("dialect", ["mediawiki", "dokuwiki", "markdown", "html"])
def test_the_footer_leads_to_the_place_in_the_page(dialect: str) -> None:
    made = Document("Title", (), (), Footer("now", "https://lab.example/studies/x/#table-a#b"), document([]).data)
    assert "https://lab.example/studies/x/#table-a%23b" in dialects.render(dialect, made)


@pytest.mark.parametrize("dialect", READERS)
def test_the_footer_leads_back_by_one_link(dialect: str) -> None:
    text = dialects.render(dialect, document(["x"]))
    assert "https://lab.example/compare/?x=a%5F%5Fb%7E%7Ec" in text
    assert text.count("Permalink") == 1


def test_csv_gives_text_back_and_formulas_as_text() -> None:
    rows = list(csv.reader(io.StringIO(dialects.render("csv", document(NASTY)))))
    assert rows[0] == ["n", "text", "number"]
    for (_, found, _), text in zip(rows[1:], NASTY, strict=True):
        assert found == (f"'{text}" if text.lstrip()[:1] in tuple("=+-@") and text.strip() else text)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_no_csv_cell_begins_as_a_formula(text: str) -> None:
    assert not dialects.csv.escape(text).lstrip().startswith(tuple("=+-@\t\r\0"))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_csv_numbers_stay_numbers(value: float) -> None:
    assert float(dialects.csv.escape(value)) == value

"""What stands in a page is read as a browser shows it, at the lines of the file."""

from collections.abc import Callable
from pathlib import Path

import pytest

from apps.parsers.cleanup.web_pages import without_html
from apps.parsers.core.registry import get_format, read_as
from apps.parsers.core.source_text import SourceText
from apps.parsers.tables.markup import convert_markup
from tests.parsers.every import surely_read, timed
from tests.parsers.fixture_pairs import FORMATS, outputs
from tests.parsers.wrappings import PAGES, block
from tests.sampling import for_each, in_turn

WITHOUT_WORDS = "fio_logs"  # bare rows of figures, which formats of no words claim
TEXTS = [path for folder in FORMATS if folder != WITHOUT_WORDS for path in outputs(folder).values()]


@pytest.mark.slow
@for_each("as_page, path", in_turn(PAGES, TEXTS))
def test_what_is_read_of_a_page_is_the_same_with_the_same_line_numbers(
    path: Path, as_page: Callable[[str], str]
) -> None:
    text = path.read_bytes().decode("utf-8", "replace")
    shown = text if as_page is block else text.replace("\t", "    ")
    assert surely_read(as_page(text)) == surely_read(shown)


PAGE = """<html><head><script>
var result = "1073741824 bytes (1.1 GB) copied, 9 s, 119 MB/s";
</script></head><!--
1073741824 bytes (1.1 GB) copied, 8 s, 134 MB/s
--><body><table><tr><td class="post">Look:<br>
<span class="go">1073741824 bytes (1.1&nbsp;GB) copied, 10 s, <b>107</b> MB/s</span></td></tr></table></body></html>
"""


def test_what_no_browser_shows_is_not_read_and_words_in_bold_are() -> None:
    ((name, parsed),) = surely_read(PAGE)
    assert name == "dd"
    assert [(run.line, sample.value) for run in parsed.runs for sample in run.samples if sample.metric == "bandwidth"] == [
        (6, 107374182.4)
    ]  # fmt: skip
    assert read_as(get_format("dd"), SourceText(PAGE)).parsed == parsed


def test_empty_lines_stay_and_ends_of_blocks_make_none() -> None:
    shown = without_html(SourceText("<div>a<br><br>b</div><div>c</div>\n<br>\n<p>d &lt;p&gt;\n"))
    assert shown is not None
    assert [(shown.number(at), line) for at, line in enumerate(shown.lines)] == [
        (1, "a"), (1, " "), (1, "b"), (1, "c"), (2, ""), (3, "d <p>")
    ]  # fmt: skip


def test_an_iozone_table_of_a_web_log_is_read() -> None:
    table = (
        "              KB  reclen   write rewrite    read    reread<br>\n"
        "         1048576      64   61000   62000  101000   102000<BR />  \n"
    )
    (run,) = read_as(get_format("iozone"), SourceText(table)).parsed.runs  # type: ignore[union-attr]
    assert [one.value for one in run.samples if one.metric == "bandwidth"] == [
        kb * 1024 for kb in (61000, 62000, 101000, 102000)
    ]


def test_a_table_of_means_has_no_breaks_at_the_end_of_its_rows_and_keeps_them_in_cells() -> None:
    text = SourceText("configuration;write MB/s<br>\na<br>b;5<br />\nc;7<BR>\n")
    assert convert_markup(text).lines == ["configuration;write MB/s", "a<br>b;5", "c;7"]


def test_a_tag_of_several_lines_is_as_many() -> None:
    shown = without_html(SourceText('<p>a <a\nhref="b"\n>c</a>\nd</p>\n'))
    assert shown is not None
    assert [(shown.number(at), line) for at, line in enumerate(shown.lines)] == [(1, "a "), (2, ""), (3, "c"), (4, "d")]


def test_what_only_looks_like_a_tag_stays() -> None:
    assert without_html(SourceText("fio <host> a & b <none>\n")) is None
    shown = without_html(SourceText("<pre><host7> Run status group 0 (all jobs): 5 < 6 &unknown; a=1&lt=5</pre>"))
    assert shown is not None
    assert shown.lines == ["<host7> Run status group 0 (all jobs): 5 < 6 &unknown; a=1&lt=5"]


def test_all_status_reports_of_one_line_are_read() -> None:
    text = outputs("fio_json")["stonewall"].read_text().replace("\n", "<br>")
    (run,) = read_as(get_format("fio json"), SourceText(f"<p>{text}</p>")).parsed.runs  # type: ignore[union-attr]
    (plain,) = read_as(get_format("fio json"), SourceText(text.replace("<br>", "\n"))).parsed.runs  # type: ignore[union-attr]
    assert run.series == plain.series


@for_each("piece", ["<br>", "<script", "<!--", "<style></style", "<p ", "&nbsp;", "&#10;", "<b", "&lt", "\v"], number=4)
def test_a_hostile_mebibyte_takes_little(piece: str) -> None:
    text = SourceText("<br>" + piece * (2**20 // len(piece)))
    _, seconds = timed(lambda: without_html(text), 1)
    assert seconds < 1

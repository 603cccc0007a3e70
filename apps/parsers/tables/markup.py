r"""Conversion of tables in a markup: each row becomes one line of cells between `|`, at the line on which it begins.

HTML's `<tr><td>`, MediaWiki's `{|` with a cell per line, LaTeX's `a & b \\\\`, reStructuredText's between `===`, lines
drawn with `│`, and those that end with `<br>`. A cell over several columns or rows is repeated in each of them, as
HTML, MediaWiki and LaTeX define it. A raised word is no digit of the number before it (`123<sup>1</sup>`), nor is what
stands in a cell's next line. Everything else stays as it is.

reStructuredText's `list-table` and `csv-table` are read as well:

    .. list-table:: Means                       .. csv-table:: Means
       :header-rows: 1                             :header: "file size", "write (MiB/s)"

       * - file size                               "1 GiB", 120
         - write (MiB/s)
       * - 1 GiB
         - 120

Options other than `:header:` and `:delim:` do not concern the cells. The heading of `:header:` is always separated by
commas (docutils, `CSVTable.HeaderDialect`). Lines of which no row can be made stay as they are.
"""

import csv
import html
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

from apps.parsers.core.source_text import SourceText
from apps.parsers.tables.margins import MARGIN, NUMBERED, convert_frames, fill_dokuwiki, join_row, strip_margins

Line = tuple[str, int]  # and its number in the file

DIRECTIVE = re.compile(r"^( {0,40})\.\. (list|csv)-table::[ \t]{0,10}(.{0,300})$", re.MULTILINE)
_OPTION = re.compile(r" {0,80}:([a-z-]{2,30}):(?: {1,10}(.{0,1000}))?$")
_ROW = re.compile(r"( {0,80}[*+-] {1,4})[*+-](?: {1,4}|$)")
_DELIMITERS = {"tab": "\t", "space": " "}


def convert_directives(lines: Sequence[Line]) -> Iterator[Line]:
    """Yield the lines with the tables of directives as rows between `|`."""
    index = 0
    while index < len(lines):
        line, number = lines[index]
        index += 1
        match = DIRECTIVE.match(line)
        if match is None:
            yield line, number
            continue
        first = index
        while index < len(lines) and (not lines[index][0].strip() or _count_indent(lines[index][0]) > len(match[1])):
            index += 1
        yield match[3], number
        yield from (_convert_list if match[2] == "list" else _convert_csv)(lines[first:index])


def _count_indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _split_options(lines: Sequence[Line]) -> tuple[dict[str, Line], int]:
    """Return the options, and where the body begins behind them."""
    options: dict[str, Line] = {}
    name = ""
    for place, (line, number) in enumerate(lines):
        if match := _OPTION.match(line):
            name = match[1]
            options[name] = (match[2] or "", number)
        elif not line.strip() or not name:
            return options, place
        else:  # continues an option
            options[name] = (f"{options[name][0]} {line.strip()}", options[name][1])
    return options, len(lines)


def _convert_list(lines: Sequence[Line]) -> Iterator[Line]:
    _, begin = _split_options(lines)
    cells: list[str] = []
    mark, at = "", 0  # indent of a row's other cells, and the row's line number
    for line, number in lines[begin:]:
        if match := _ROW.match(line):
            if cells:
                yield join_row(cells), at
            mark, cells, at = " " * len(match[1]), [line[match.end() :].strip()], number
        elif cells and line.startswith(mark) and line[len(mark) : len(mark) + 1] in ("*", "-", "+"):
            cells.append(line[len(mark) + 1 :].strip())
        elif cells and line.strip():  # a cell of several lines
            cells[-1] = f"{cells[-1]} {line.strip()}".strip()
        elif not cells:
            yield line, number
    if cells:
        yield join_row(cells), at
    yield "", lines[-1][1] if lines else 0


def _convert_csv(lines: Sequence[Line]) -> Iterator[Line]:
    options, begin = _split_options(lines)
    delimiter_text = options.get("delim", (",", 0))[0].strip()
    delimiter = _DELIMITERS.get(delimiter_text, delimiter_text)
    rows = [line for line in lines[begin:] if line[0].strip()]
    if len(delimiter) != 1 or not rows:
        yield from lines
        return
    if "header" in options:
        yield _convert_row(*options["header"], ",")
    for line, number in rows:
        yield _convert_row(line.strip(), number, delimiter)
    yield "", lines[-1][1]


def _convert_row(line: str, number: int, delimiter: str) -> Line:
    try:
        cells = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True, strict=True), [])
    except csv.Error:  # the row continues in the next line
        return line, number
    return join_row([cell.strip() for cell in cells]), number


SpannedCell = tuple[str, int, int]  # a text, and the columns and rows that it spans

_IN_BRACKETS = str.maketrans("[]{}|\n", "    / ")
_LONGEST = 2_000_000  # characters; longer tables are not written in markup
_MOST_SPANNED = 100
_MOST_COLUMNS = 2000  # cells behind these are not repeated
_MOST_ROWS = 500  # of a table in reStructuredText
_RST_RULE = re.compile(r"={2,}(?: {1,40}={2,}){1,100}\s*")
_TAG = re.compile(r"<(/?)(table|tr|td|th)\b([^<>]{0,500})>", re.IGNORECASE)
_BREAKS = re.compile(r"[ \t]{0,40}(?:<br ?/?>[ \t]{0,40}){1,4}$", re.IGNORECASE)
_ANY_TAG = re.compile(r"<[/!]?[A-Za-z][^<>]{0,500}>")
_RAISED = re.compile(r"<(sup|ref)\b([^<>]{0,200})(?:/>|>(.{0,300}?)</\1>)", re.IGNORECASE)
_TO_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_BETWEEN_DIGITS = re.compile(r"(?<=\d)\s{0,40}(?:<[/!]?[A-Za-z][^<>]{0,500}>\s{0,40}){1,20}(?=\d)")
_WORD_BREAK = re.compile(r"<wbr ?/?>", re.IGNORECASE)
_SPAN = re.compile(r"\b(col|row)span\s*=\s*[\"']?(\d{1,3})", re.IGNORECASE)
_ATTRIBUTES = re.compile(r"(?:[A-Za-z-]{1,20} ?= ?(?:\"[^\"|]{0,200}\"|'[^'|]{0,200}'|[\w%#.-]{1,40}) ?){1,8}\|(?!\|)")
_DRAWN = "│┃║"
_DRAWN_RULE = re.compile(r"[─━═┄┈╌┌┐└┘├┤┬┴┼╒╓╔╕╖╗╘╙╚╛╜╝╞╟╠╡╢╣╤╥╦╧╨╩╪╫╬┏┓┗┛┣┫┳┻╋┡┩╇╭╮╯╰ ]{3,}")
_LATEX_ROW = re.compile(r"\\\\(?:\[[^\]]{0,20}\])?\s*(?:\\[a-z]{4,12}(?:\{[^{}]{0,20}\})?\s*)*$")
_LATEX_RULE = re.compile(
    r"\\(?:hline|toprule|midrule|bottomrule|[a-z]{1,5}line|[a-z]{1,5}rule)(?:\[[^\]]{0,20}\])?(?:\([a-z]{1,4}\))?(?:\{[^{}]{0,20}\})?"
)
_LATEX_WORD = re.compile(
    r"\\(?:textbf|textit|texttt|textsf|emph|mathrm|mathbf|text|num|underline|bfseries|small|centering)\b ?(?:\{([^{}]{0,200})\})?"
)
_LATEX_MANY = re.compile(r"\s*\\multicolumn\{(\d{1,2})\}\{[^{}]{0,40}\}\{(.{0,200})\}\s*$")
_LATEX_SIGNS = {
    "~": " ", "\\pm": "±", "\\mu": "µ", "\\times": "×", "\\sim": "~", "\\,": "\u2009", "{,}": ",", "\\%": "%",
    "\\_": "_", "\\#": "#", "$": "",
}  # fmt: skip


def convert_markup(text: SourceText) -> SourceText:
    """Return the text with its tables converted; unchanged where there are none."""
    body = text.text
    if len(body) > _LONGEST:
        return text
    changes = [change for is_there, change in _CHANGES if is_there(body)]
    if not changes:
        return text
    lines: Iterable[Line] = [(line, text.number(index)) for index, line in enumerate(text.lines)]
    for change in changes:
        lines = change(list(lines))
    return _make_text(text, list(lines))


def _make_text(text: SourceText, lines: Sequence[Line]) -> SourceText:
    converted = SourceText("\n".join(line for line, _ in lines), text.name)
    converted.__dict__["_cleaned"] = ([line for line, _ in lines], [number for _, number in lines])
    return converted


def _convert_html(lines: Sequence[Line]) -> Iterator[Line]:
    body = "\n".join(line for line, _ in lines)
    starts = [0, *(match.end() for match in re.finditer("\n", body))]
    behind = 0  # the last row's lines
    for first, end, cells in _iterate_html_rows(body):
        begin, last = bisect_right(starts, first) - 1, bisect_right(starts, end) - 1
        yield from _without_tags(lines[behind:begin])
        yield join_row(cells), lines[begin][1]
        behind = max(behind, last + 1)
    yield from _without_tags(lines[behind:])


def _without_tags(lines: Sequence[Line]) -> Iterator[Line]:
    return ((html.unescape(_ANY_TAG.sub("", _separate_values(line))), number) for line, number in lines)


def _convert_raised(lines: Sequence[Line]) -> Iterator[Line]:
    """Yield the lines with `<sup>1</sup>` as ¹, and other footnotes and MediaWiki's `<ref>` in brackets."""
    return ((_RAISED.sub(_replace_raised, line) if "<" in line else line, number) for line, number in lines)


def _replace_raised(match: re.Match[str]) -> str:
    text = _ANY_TAG.sub("", match[3] or "").translate(_IN_BRACKETS).strip()
    if match[1].lower() == "ref":
        return f" [{text or 'a footnote'}]"
    return text.translate(_TO_RAISED) if text.isdecimal() and text.isascii() else text and f"[{text}]"


def _without_breaks(lines: Sequence[Line]) -> Iterator[Line]:
    """Yield the lines without `<br>` at their ends; inside cells they belong to the cell."""
    return ((_BREAKS.sub("", line) if "<" in line else line, number) for line, number in lines)


def _iterate_html_rows(body: str) -> Iterator[tuple[int, int, list[str]]]:
    """Yield where each row begins and ends, and its cells."""
    spanned: dict[int, tuple[str, int]] = {}  # column → text that is repeated there, and in how many more rows
    cells: list[SpannedCell] = []
    row, place, spans = -1, 0, (0, 0)
    for tag in _TAG.finditer(body):
        name, is_end = tag[2].lower(), bool(tag[1])
        if spans[0] and row >= 0:
            words = html.unescape(_ANY_TAG.sub(" ", _separate_values(body[place : tag.start()]))).split()
            cells.append((" ".join(words), *spans))
        spans = _read_spans(tag[3]) if name in ("td", "th") and not is_end else (0, 0)
        place = tag.end()
        if name in ("tr", "table"):
            if row >= 0 and cells:
                yield row, tag.end() - 1 if is_end and name == "tr" else tag.start() - 1, _spread_row(cells, spanned)
            row, cells = (tag.start() if name == "tr" and not is_end else -1), []
        if name == "table":
            spanned = {}


def _separate_values(cell: str) -> str:
    """Separate digits on two lines of a cell, which are two numbers; a possible line break is removed."""
    return _BETWEEN_DIGITS.sub(" / ", _WORD_BREAK.sub("", cell)) if "<" in cell else cell


def _read_spans(attributes: str) -> tuple[int, int]:
    spans = {match[1].lower(): min(int(match[2]), _MOST_SPANNED) for match in _SPAN.finditer(attributes)}
    return max(spans.get("col", 1), 1), max(spans.get("row", 1), 1)


def _spread_row(cells: Sequence[SpannedCell], spanned: dict[int, tuple[str, int]]) -> list[str]:
    """Return the row with what spans several columns or rows in each of them."""
    row: list[str] = []

    def from_above() -> None:
        while len(row) in spanned:
            text, more = spanned.pop(len(row))
            if more > 1:
                spanned[len(row)] = (text, more - 1)
            row.append(text)

    for text, columns, rows in cells:
        from_above()
        for _ in range(columns if len(row) < _MOST_COLUMNS else 1):
            if rows > 1:
                spanned[len(row)] = (text, rows - 1)
            row.append(text)
    from_above()
    return row


def _convert_mediawiki(lines: Sequence[Line]) -> Iterator[Line]:
    """Yield the lines with MediaWiki's tables as rows; tables with a row per line stay as they are unless cells have attributes."""
    ends = [at for at, (line, _) in enumerate(lines) if line.lstrip().startswith("|}")]
    index = 0
    while index < len(lines):
        behind = bisect_right(ends, index)
        if behind == len(ends) or not lines[index][0].lstrip().startswith("{|"):
            yield lines[index]
            index += 1
            continue
        end = ends[behind]
        rows = list(_iterate_mediawiki_rows(lines[index + 1 : end]))
        if any(len(row) > 1 or _has_attributes(row[0][0]) for row in rows):
            spanned: dict[int, tuple[str, int]] = {}
            for row in rows:
                yield join_row(_spread_row([cell for line, _ in row for cell in _read_cells(line)], spanned)), row[0][1]
        else:
            yield from lines[index : end + 1]
        index = end + 1


def _iterate_mediawiki_rows(lines: Sequence[Line]) -> Iterator[list[Line]]:
    row: list[Line] = []
    for line, number in lines:
        bare = line.strip()
        if bare.startswith(("|-", "|+")):
            if row:
                yield row
            row = []
        elif bare.startswith(("|", "!")):
            row.append((bare, number))
        elif row and bare:  # a cell of several lines
            row[-1] = (f"{row[-1][0]} {bare}", row[-1][1])
    if row:
        yield row


def _read_cells(line: str) -> list[SpannedCell]:
    """Return the cells of `! a !! b` or `| rowspan="2" | a || b`."""
    raw_cells = [(cell, _ATTRIBUTES.match(cell)) for cell in _split_raw_cells(line)]
    return [(cell[match.end() :], *_read_spans(match[0])) if match else (cell, 1, 1) for cell, match in raw_cells]


def _has_attributes(line: str) -> bool:
    return "=" in line and any(map(_ATTRIBUTES.match, _split_raw_cells(line)))


def _split_raw_cells(line: str) -> list[str]:
    marks = line[1:].replace("!!", "||") if line[0] == "!" else line[1:]
    return [" ".join(cell.split()) for cell in marks.split("||")]


def _convert_latex(lines: Sequence[Line]) -> Iterator[Line]:
    begun: list[Line] = []
    for line, number in lines:
        bare = _without_rules(line)
        is_end = bool(_LATEX_ROW.search(bare))
        if not (begun or is_end or _is_open(bare)):
            if bare or not line.strip():
                yield line, number
            continue
        begun.append((bare, number))
        if is_end:
            whole = _LATEX_ROW.sub("", " ".join(part for part, _ in begun))
            yield (join_row(_split_latex(whole)) if "&" in whole else whole), begun[0][1]
            begun = []
        elif len(begun) > 4 or not bare.strip():
            yield from begun
            begun = []
    yield from begun


def _without_rules(line: str) -> str:
    place = len(line) - len(line.lstrip())
    while match := _LATEX_RULE.match(line, place):
        place = (
            match.end() + len(line[match.end() : match.end() + 40]) - len(line[match.end() : match.end() + 40].lstrip())
        )
    return line[place:] if place else line


def _is_open(line: str) -> bool:
    """Return whether a row begins that ends on another line."""
    return "&" in line and not line.rstrip().endswith("|") and "|" not in line


def _split_latex(row: str) -> list[str]:
    cells: list[str] = []
    for cell in row.replace("\\&", "＆").split("&"):
        match = _LATEX_MANY.match(cell)
        for sign, letter in _LATEX_SIGNS.items():
            cell = cell.replace(sign, letter) if match is None else match[2].replace(sign, letter)
        for _ in range(2):  # one inside another
            cell = _LATEX_WORD.sub(lambda word: word[1] or "", cell)
        cells += [cell.replace("＆", "&").strip()] * (min(int(match[1]), _MOST_SPANNED) if match else 1)
    return cells


def _convert_drawn(lines: Sequence[Line]) -> Iterator[Line]:
    return map(_convert_drawn_line, lines)


def _convert_drawn_line(line: Line) -> Line:
    text = line[0]
    if _DRAWN_RULE.fullmatch(text.strip()[:1000]) and not any(mark in text for mark in _DRAWN):
        return "|-|", line[1]
    if text.strip()[:1] in _DRAWN and text.strip()[-1:] in _DRAWN:
        return text.translate(dict.fromkeys(map(ord, _DRAWN), "|")), line[1]
    return line


def _convert_rst(lines: Sequence[Line]) -> Iterator[Line]:
    """Yield the lines with reStructuredText's simple tables as rows; their columns are those of the lines of `===` around them."""
    columns: list[tuple[int, int]] = []
    distances = _measure_distances([line for line, _ in lines])
    for place, (line, number) in enumerate(lines):
        if place in distances:
            is_more = distances[place] <= _MOST_ROWS
            starts = [match.start() for match in re.finditer("=+", line)]
            columns = list(pairwise([*starts, 10**6])) if is_more else []
            yield "|-|", number
        elif columns and line.strip() and all(line[start - 1 : start].isspace() for start, _ in columns if start):
            yield join_row([line[start:end] for start, end in columns]), number
        else:
            yield line, number


def _measure_distances(lines: Sequence[str]) -> dict[int, int]:
    """Return how many lines below each line of `===` the next one like it stands, by index."""
    rules = {place: line.strip() for place, line in enumerate(lines) if _RST_RULE.fullmatch(line[:1000])}
    wanted = set(rules.values())
    last: dict[str, int] = {}
    distances: dict[int, int] = {}
    for place in range(len(lines) - 1, -1, -1):
        bare = lines[place].strip()
        if place in rules:
            distances[place] = last.get(bare, len(lines) + _MOST_ROWS) - place
        if bare in wanted:
            last[bare] = place
    return distances


_CHANGES: tuple[tuple[Callable[[str], object], Callable[[Sequence[Line]], Iterator[Line]]], ...] = (
    (MARGIN.search, strip_margins),
    (DIRECTIVE.search, convert_directives),
    (lambda body: "<sup" in body or "<ref" in body, _convert_raised),
    (lambda body: "</t" in body.lower(), _convert_html),
    (lambda body: "<br" in body.lower(), _without_breaks),
    (lambda body: "{|" in body, _convert_mediawiki),
    (lambda body: "\\\\" in body and "&" in body, _convert_latex),
    (lambda body: any(mark in body for mark in _DRAWN), _convert_drawn),
    (lambda body: "== =" in body or "=  =" in body, _convert_rst),
    (lambda body: "| :::" in body or "|:::" in body, fill_dokuwiki),
    (NUMBERED.search, convert_frames),
)

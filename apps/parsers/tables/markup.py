"""Tables that are written in a markup: each row becomes one line of cells between `|`, at the line on which it begins.

HTML's `<tr><td>`, MediaWiki's `{|` with a cell per line, LaTeX's `a & b \\\\`, reStructuredText's between `===`, lines drawn
with `│`, and those that end with `<br>`. A cell over several columns or rows stands in each of them, as HTML, MediaWiki and LaTeX
define it. A raised word is no digit of the number before it (`123<sup>1</sup>`), nor is what stands in a cell's next line. Everything else
stays as it is.
"""

import html
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

from apps.parsers.source_text import SourceText
from apps.parsers.tables.directives import DIRECTIVE, of_directives
from apps.parsers.tables.margins import MARGIN, NUMBERED, of_dokuwiki, of_frames, of_margins, row_of

Line = tuple[str, int]  # and its number in the file
Cell = tuple[str, int, int]  # and over how many columns and rows it stands

_IN_BRACKETS = str.maketrans("[]{}|\n", "    / ")
_LONGEST = 2_000_000  # characters; nobody sets longer tables by hand
_MOST_SPANNED = 100
_MOST_COLUMNS = 2000  # behind these a cell stands once
_MOST_ROWS = 500  # of one of reStructuredText's tables
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


def plain(text: SourceText) -> SourceText:
    """The same text where it has none of them."""
    body = text.text
    if len(body) > _LONGEST:
        return text
    changes = [change for is_there, change in _CHANGES if is_there(body)]
    if not changes:
        return text
    lines: Iterable[Line] = [(line, text.number(index)) for index, line in enumerate(text.lines)]
    for change in changes:
        lines = change(list(lines))
    return _text(text, list(lines))


def _text(text: SourceText, lines: Sequence[Line]) -> SourceText:
    found = SourceText("\n".join(line for line, _ in lines), text.name)
    found.__dict__["_cleaned"] = ([line for line, _ in lines], [number for _, number in lines])
    return found


def _of_html(lines: Sequence[Line]) -> Iterator[Line]:
    body = "\n".join(line for line, _ in lines)
    starts = [0, *(match.end() for match in re.finditer("\n", body))]
    behind = 0  # the last row's lines
    for first, end, cells in _html_rows(body):
        begin, last = bisect_right(starts, first) - 1, bisect_right(starts, end) - 1
        yield from _without_tags(lines[behind:begin])
        yield row_of(cells), lines[begin][1]
        behind = max(behind, last + 1)
    yield from _without_tags(lines[behind:])


def _without_tags(lines: Sequence[Line]) -> Iterator[Line]:
    return ((html.unescape(_ANY_TAG.sub("", _two_values(line))), number) for line, number in lines)


def _of_raised(lines: Sequence[Line]) -> Iterator[Line]:
    """`<sup>1</sup>` becomes ¹, another word of a footnote stands in brackets, and so does that of MediaWiki's `<ref>`."""
    return ((_RAISED.sub(_raised, line) if "<" in line else line, number) for line, number in lines)


def _raised(match: re.Match[str]) -> str:
    text = _ANY_TAG.sub("", match[3] or "").translate(_IN_BRACKETS).strip()
    if match[1].lower() == "ref":
        return f" [{text or 'a footnote'}]"
    return text.translate(_TO_RAISED) if text.isdecimal() and text.isascii() else text and f"[{text}]"


def _without_breaks(lines: Sequence[Line]) -> Iterator[Line]:
    """Those at the end of lines; in a cell they are its own."""
    return ((_BREAKS.sub("", line) if "<" in line else line, number) for line, number in lines)


def _html_rows(body: str) -> Iterator[tuple[int, int, list[str]]]:
    """Where each row begins and ends, and its cells."""
    spanned: dict[int, tuple[str, int]] = {}  # column → what stands there too, in how many more rows
    cells: list[Cell] = []
    row, place, spans = -1, 0, (0, 0)
    for tag in _TAG.finditer(body):
        name, is_end = tag[2].lower(), bool(tag[1])
        if spans[0] and row >= 0:
            words = html.unescape(_ANY_TAG.sub(" ", _two_values(body[place : tag.start()]))).split()
            cells.append((" ".join(words), *spans))
        spans = _spans(tag[3]) if name in ("td", "th") and not is_end else (0, 0)
        place = tag.end()
        if name in ("tr", "table"):
            if row >= 0 and cells:
                yield row, tag.end() - 1 if is_end and name == "tr" else tag.start() - 1, _spread(cells, spanned)
            row, cells = (tag.start() if name == "tr" and not is_end else -1), []
        if name == "table":
            spanned = {}


def _two_values(cell: str) -> str:
    """Digits on two lines of a cell are two numbers; a place to break at is nothing."""
    return _BETWEEN_DIGITS.sub(" / ", _WORD_BREAK.sub("", cell)) if "<" in cell else cell


def _spans(attributes: str) -> tuple[int, int]:
    told = {match[1].lower(): min(int(match[2]), _MOST_SPANNED) for match in _SPAN.finditer(attributes)}
    return max(told.get("col", 1), 1), max(told.get("row", 1), 1)


def _spread(cells: Sequence[Cell], spanned: dict[int, tuple[str, int]]) -> list[str]:
    """The row with what stands over several columns or rows in each of them."""
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


def _of_mediawiki(lines: Sequence[Line]) -> Iterator[Line]:
    """Tables with a row per line are left as they are, where no cell says how it is to be shown."""
    ends = [at for at, (line, _) in enumerate(lines) if line.lstrip().startswith("|}")]
    index = 0
    while index < len(lines):
        behind = bisect_right(ends, index)
        if behind == len(ends) or not lines[index][0].lstrip().startswith("{|"):
            yield lines[index]
            index += 1
            continue
        end = ends[behind]
        rows = list(_mediawiki_rows(lines[index + 1 : end]))
        if any(len(row) > 1 or _has_attributes(row[0][0]) for row in rows):
            spanned: dict[int, tuple[str, int]] = {}
            for row in rows:
                yield row_of(_spread([cell for line, _ in row for cell in _cells(line)], spanned)), row[0][1]
        else:
            yield from lines[index : end + 1]
        index = end + 1


def _mediawiki_rows(lines: Sequence[Line]) -> Iterator[list[Line]]:
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


def _cells(line: str) -> list[Cell]:
    """Of `! a !! b` or `| rowspan="2" | a || b`."""
    found = [(cell, _ATTRIBUTES.match(cell)) for cell in _raw_cells(line)]
    return [(cell[match.end() :], *_spans(match[0])) if match else (cell, 1, 1) for cell, match in found]


def _has_attributes(line: str) -> bool:
    return "=" in line and any(map(_ATTRIBUTES.match, _raw_cells(line)))


def _raw_cells(line: str) -> list[str]:
    marks = line[1:].replace("!!", "||") if line[0] == "!" else line[1:]
    return [" ".join(cell.split()) for cell in marks.split("||")]


def _of_latex(lines: Sequence[Line]) -> Iterator[Line]:
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
            yield (row_of(_latex_cells(whole)) if "&" in whole else whole), begun[0][1]
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
    """Whether a row begins that ends on another line."""
    return "&" in line and not line.rstrip().endswith("|") and "|" not in line


def _latex_cells(row: str) -> list[str]:
    cells: list[str] = []
    for cell in row.replace("\\&", "＆").split("&"):
        match = _LATEX_MANY.match(cell)
        for sign, letter in _LATEX_SIGNS.items():
            cell = cell.replace(sign, letter) if match is None else match[2].replace(sign, letter)
        for _ in range(2):  # one inside another
            cell = _LATEX_WORD.sub(lambda word: word[1] or "", cell)
        cells += [cell.replace("＆", "&").strip()] * (min(int(match[1]), _MOST_SPANNED) if match else 1)
    return cells


def _of_drawn(lines: Sequence[Line]) -> Iterator[Line]:
    return map(_undrawn, lines)


def _undrawn(line: Line) -> Line:
    shown = line[0]
    if _DRAWN_RULE.fullmatch(shown.strip()[:1000]) and not any(mark in shown for mark in _DRAWN):
        return "|-|", line[1]
    if shown.strip()[:1] in _DRAWN and shown.strip()[-1:] in _DRAWN:
        return shown.translate(dict.fromkeys(map(ord, _DRAWN), "|")), line[1]
    return line


def _of_rst(lines: Sequence[Line]) -> Iterator[Line]:
    """reStructuredText's simple tables: their columns are those of the lines of `===` around them."""
    columns: list[tuple[int, int]] = []
    distances = _until_the_same([line for line, _ in lines])
    for place, (line, number) in enumerate(lines):
        if place in distances:
            is_more = distances[place] <= _MOST_ROWS
            starts = [match.start() for match in re.finditer("=+", line)]
            columns = list(pairwise([*starts, 10**6])) if is_more else []
            yield "|-|", number
        elif columns and line.strip() and all(line[start - 1 : start].isspace() for start, _ in columns if start):
            yield row_of([line[start:end] for start, end in columns]), number
        else:
            yield line, number


def _until_the_same(lines: Sequence[str]) -> dict[int, int]:
    """The place of each line of `===` → how many lines on the next one like it stands."""
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
    (MARGIN.search, of_margins),
    (DIRECTIVE.search, of_directives),
    (lambda body: "<sup" in body or "<ref" in body, _of_raised),
    (lambda body: "</t" in body.lower(), _of_html),
    (lambda body: "<br" in body.lower(), _without_breaks),
    (lambda body: "{|" in body, _of_mediawiki),
    (lambda body: "\\\\" in body and "&" in body, _of_latex),
    (lambda body: any(mark in body for mark in _DRAWN), _of_drawn),
    (lambda body: "== =" in body or "=  =" in body, _of_rst),
    (lambda body: "| :::" in body or "|:::" in body, of_dokuwiki),
    (NUMBERED.search, of_frames),
)

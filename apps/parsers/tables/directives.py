"""reStructuredText's `list-table` and `csv-table`: each row becomes one line of cells between `|`, at the line on which it begins.

    .. list-table:: Means                       .. csv-table:: Means
       :header-rows: 1                             :header: "file size", "write (MiB/s)"

       * - file size                               "1 GiB", 120
         - write (MiB/s)
       * - 1 GiB
         - 120

Options but `:header:` and `:delim:` say nothing of the cells. The heading of `:header:` is separated by commas always
(docutils, `CSVTable.HeaderDialect`). What no row can be made of stays as it is.
"""

import csv
import re
from collections.abc import Iterator, Sequence

from apps.parsers.tables.margins import row_of

Line = tuple[str, int]  # and its number in the file

DIRECTIVE = re.compile(r"^( {0,40})\.\. (list|csv)-table::[ \t]{0,10}(.{0,300})$", re.MULTILINE)
_OPTION = re.compile(r" {0,80}:([a-z-]{2,30}):(?: {1,10}(.{0,1000}))?$")
_ROW = re.compile(r"( {0,80}[*+-] {1,4})[*+-](?: {1,4}|$)")
_DELIMITERS = {"tab": "\t", "space": " "}


def of_directives(lines: Sequence[Line]) -> Iterator[Line]:
    index = 0
    while index < len(lines):
        line, number = lines[index]
        index += 1
        match = DIRECTIVE.match(line)
        if match is None:
            yield line, number
            continue
        first = index
        while index < len(lines) and (not lines[index][0].strip() or _indent(lines[index][0]) > len(match[1])):
            index += 1
        yield match[3], number
        yield from (_of_list if match[2] == "list" else _of_csv)(lines[first:index])


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _split(lines: Sequence[Line]) -> tuple[dict[str, Line], int]:
    """The options, and where the body begins behind them."""
    options: dict[str, Line] = {}
    name = ""
    for place, (line, number) in enumerate(lines):
        if match := _OPTION.match(line):
            name = match[1]
            options[name] = (match[2] or "", number)
        elif not line.strip() or not name:
            return options, place
        else:  # the rest of an option
            options[name] = (f"{options[name][0]} {line.strip()}", options[name][1])
    return options, len(lines)


def _of_list(lines: Sequence[Line]) -> Iterator[Line]:
    _, begin = _split(lines)
    cells: list[str] = []
    mark, at = "", 0  # what stands before a row's other cells, and the row's number
    for line, number in lines[begin:]:
        if match := _ROW.match(line):
            if cells:
                yield row_of(cells), at
            mark, cells, at = " " * len(match[1]), [line[match.end() :].strip()], number
        elif cells and line.startswith(mark) and line[len(mark) : len(mark) + 1] in ("*", "-", "+"):
            cells.append(line[len(mark) + 1 :].strip())
        elif cells and line.strip():  # a cell of several lines
            cells[-1] = f"{cells[-1]} {line.strip()}".strip()
        elif not cells:
            yield line, number
    if cells:
        yield row_of(cells), at
    yield "", lines[-1][1] if lines else 0


def _of_csv(lines: Sequence[Line]) -> Iterator[Line]:
    options, begin = _split(lines)
    told = options.get("delim", (",", 0))[0].strip()
    delimiter = _DELIMITERS.get(told, told)
    rows = [line for line in lines[begin:] if line[0].strip()]
    if len(delimiter) != 1 or not rows:
        yield from lines
        return
    if "header" in options:
        yield _row(*options["header"], ",")
    for line, number in rows:
        yield _row(line.strip(), number, delimiter)
    yield "", lines[-1][1]


def _row(line: str, number: int, delimiter: str) -> Line:
    try:
        cells = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True, strict=True), [])
    except csv.Error:  # goes on in the next line
        return line, number
    return row_of([cell.strip() for cell in cells]), number

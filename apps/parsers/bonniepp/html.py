"""Reading of the tables of bon_csv2html, as a browser shows them and as text copied from there.

    RAID6 Size Per Char Block Rewrite Per Char Block Num Files Create Read Delete Create Read Delete
    K/sec % CPU K/sec % CPU …
    47G 1265 99 1139579 96 423197 54 2467 99 1120794 66 632.3 42 16 29273 95 +++++ +++ …
    Latency 9192us 211us 114ms 7606us 87079us 90117us Latency 220us 92us 3631us 211us 10us 213us

The figures are those of the CSV. 1.98 and later have M/sec (changelog.txt), rounded to whole numbers, but one character
at a time is still in K/sec below that heading (bon_csv2html 2.00a turns 540,…,745124 into 540 and 728). Empty cells
vanish in the copying, see `text.py`. The name of a single machine may end up before the header or before its row.
Concurrency, Chunk Size and the sizes of the small files have columns where they differ or are set.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from apps.parsers.bonniepp.record import BonnieppRecord

_HEADER = re.compile(r"Per Char {1,4}Block {1,4}Rewrite {1,4}Per Char {1,4}Block\b")
_BEFORE_SIZE = re.compile(r"(.{0,200}?)(?:\bConcurrency {1,4})?\bSize(?::Chunk Size)? {1,4}(?:Chunk Size {1,4})?$")
_CHUNK = re.compile(r"[0-9]{1,7}[km]?")
_PAIRS = re.compile(r"(?:(?:[0-9]{1,15}(?:\.[0-9]{1,3})?|\+{5}) (?:[0-9]{1,6}|\+{3}) )*")
_SIZE = re.compile(r"([0-9]{1,9}[MGT])(?::([0-9]{1,7}[km]?))?")
_COUNT = re.compile(r"[0-9]{1,9}")
_LATENCY = re.compile(r"[0-9]{1,9}(?:us|ms|s)")
_VERSION = re.compile(r"Version +([0-9]\.[0-9]{2}[a-z]{0,2})")
_ALL, _WITHOUT_CHARS = (0, 1, 2, 3, 4, 5), (1, 2, 4, 5)
_LONGEST_ROW = 600
_MOST_ABOVE = 3
_MOST_CELLS = 12  # lines above the header, one for each cell of its first row in pages of 1.03
_CELLS_ABOVE = re.compile(r"\s*(?:Sequential (?:Output|Input|Create)|Random(?: Create)?|Seeks)?\s*").fullmatch
_OF_FILES = ("Max Size", "Min Size", "Num Dirs", "Chunk Size")  # columns that may follow "Num Files"


@dataclass(frozen=True, slots=True)
class _HtmlColumns:
    """The columns that the header has besides the tests."""

    name: str
    has_threads: bool
    has_chunk: bool
    of_files: tuple[str, ...]


def has_header(text: str) -> bool:
    """Return whether the text has a header of such a table."""
    return "Per Char" in text and _HEADER.search(text) is not None


def read_html_rows(lines: Sequence[str], index: int, floor: int) -> list[BonnieppRecord]:
    """Read the rows under the header in this line; the version may stand above it, down from line `floor`."""
    first, version = _find_first(lines, index, floor), ""
    for at in range(index, max(index - _MOST_ABOVE - 1, floor - 1), -1):
        if match := _VERSION.search(lines[at]):
            first, version = at, match[1]
            break
    unit = "M/s" if any("M/sec" in line for line in lines[index : index + _MOST_ABOVE]) else "K/s"
    columns = _read_columns(lines[index])
    records: list[BonnieppRecord] = []
    for at in range(index + 1, len(lines)):
        line = lines[at].strip()
        if not line or line.startswith(("K/sec", "M/sec", "/sec")):
            if len(records) or at > index + _MOST_ABOVE:
                break
            continue
        if records and "Latency" in line:
            _put_latencies(records[-1], line.split(), at)
        elif record := _read_row(line, at, columns):
            record.first = first if not records else at
            record.version, record.io_unit = version, unit
            record.name = record.name or (columns.name if not records else "")
            records.append(record)
        else:
            break
    return records


def _find_first(lines: Sequence[str], index: int, floor: int) -> int:
    """Return the line in which the table begins: each cell of its first row may be on a line of its own."""
    first, at = index, index - 1
    while at >= max(floor, index - _MOST_CELLS) and _CELLS_ABOVE(lines[at]):
        first, at = (at if lines[at].strip() else first), at - 1
    return first


def _read_columns(header: str) -> _HtmlColumns:
    match = _HEADER.search(header)
    assert match is not None
    head, tail = header[: match.start()], header[match.end() :].partition("Create")[0]
    name = _BEFORE_SIZE.match(head[-300:])
    of_files = tuple(word for word in _OF_FILES if word in tail)
    has_chunk = "Chunk Size" in head.replace("Size:Chunk Size", "")
    return _HtmlColumns(name[1].strip() if name else "", "Concurrency" in head, has_chunk, of_files)


def _read_row(line: str, index: int, columns: _HtmlColumns) -> BonnieppRecord | None:
    words = line.split()
    if len(words) < 9 or len(line) > _LONGEST_ROW:
        return None
    at = next((place for place, word in enumerate(words[:8]) if _SIZE.fullmatch(word)), None)
    if at is None or (size := _SIZE.fullmatch(words[at])) is None:
        return None
    head, rest, chunk = words[:at], words[at + 1 :], size[2] or ""
    if columns.has_chunk and len(rest) in (9, 13, 22, 26) and _CHUNK.fullmatch(rest[0]):
        chunk = rest.pop(0)
    threads = head.pop() if columns.has_threads and head and _COUNT.fullmatch(head[-1]) else ""
    sizes = _take_sizes(rest, columns)
    tests = _ALL if len(rest) in (12, 25) else _WITHOUT_CHARS if len(rest) in (8, 21) else None
    if tests is None:
        return None
    large, small = rest[: 2 * len(tests)], rest[2 * len(tests) :]
    if not _PAIRS.fullmatch(" ".join([*large, *small[1:], ""])) or not _COUNT.fullmatch((small or ["0"])[0]):
        return None
    record = BonnieppRecord(index, index, name=" ".join(head), size=size[1], chunk=chunk, lines=(index,) * 4)
    record.concurrency = threads
    _put(record, tests, large)
    if small:
        record.files = (small[0], *sizes)
        _put(record, range(6, 12), small[1:])
    return record


def _take_sizes(rest: list[str], columns: _HtmlColumns) -> tuple[str, str, str]:
    """Take largest, smallest and directories out of a row that has all the columns of its header."""
    count = len(columns.of_files)
    if not count or len(rest) not in (21 + count, 25 + count):
        return "", "", ""
    sizes = dict(zip(columns.of_files, rest[-12 - count : -12], strict=True))
    del rest[-12 - count : -12]
    return sizes.get("Max Size", ""), sizes.get("Min Size", ""), sizes.get("Num Dirs", "")


def _put(record: BonnieppRecord, tests: Sequence[int], cells: list[str]) -> None:
    for at, test in enumerate(tests):
        record.rates[test], record.cpus[test] = cells[2 * at], cells[2 * at + 1]


def _put_latencies(record: BonnieppRecord, words: list[str], index: int) -> None:
    """Add the latencies of the tests that have figures, in their order."""
    latencies = [word for word in words if _LATENCY.fullmatch(word)]
    tests = [test for test, rate in enumerate(record.rates) if rate]
    if len(latencies) == len(tests):
        for test, latency in zip(tests, latencies, strict=True):
            record.latencies[test] = latency
    record.last = index
    record.lines = (record.lines[0], record.lines[1], index, index)

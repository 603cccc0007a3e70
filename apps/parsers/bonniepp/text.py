"""Reading of bonnie++'s text tables, also those of bon_csv2txt (many rows under one header) and of web pages copied as text.

`printf` widens a column when a value needs it, so positions in the line say little; numbers are counted from the right.
Four pairs of rate and CPU instead of six are a run with -f: only the two tests by characters can be left out.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from apps.parsers.bonniepp.csv import FEWEST_COMMAS, split_files
from apps.parsers.bonniepp.record import FILES, BonnieppRecord
from apps.parsers.core.models import Broken

_TAG = re.compile(r"</?[a-z]{1,6}(?: [^<>]{0,100}|/)?>")
_GLUED = re.compile(
    r"(\S[^\s,]{0,14}(?: [^\s,]{1,14}){0,3}(?<=.{12})(?<!.{17})[^\s,0-9.])([0-9]{3,9}[MG])(?=\s)"
)  # a name that fills its 13 to 15 columns
MARKS = "= \\"  # characters behind a row that are no part of it


def split_words(line: str) -> list[str]:
    """Return the words of a row without the markup of forums, web pages and mails; a name that fills its column is split from the size."""
    if "*" in line:
        line = line.replace("**", "")
    if "<" in line:
        line = _TAG.sub("", line)
    words = line.rstrip(MARKS).split()
    if words and (glued := _GLUED.match(line.lstrip())):
        words[: len(glued[0].split())] = [*glued[1].split(), glued[2]]
    return words


IO_HEADER, FILES_HEADER = "-Per Chr-", "-Create-- --Read"
_LONGEST_ROW = 400
_NUMBER, _PLUS, _CPU = r"[0-9]{1,15}(?:\.[0-9]{0,3})?", r"\+{3,6}", r"(?:-?[0-9]{1,6}|\+{3})"
_RATE = re.compile(rf"{_NUMBER}[kmg]?|{_PLUS}")
_SMALL_PAIRS = re.compile(rf"(?:(?:-?{_NUMBER}|{_PLUS}) {_CPU} ){{6}}")
_IO_PAIRS = re.compile(rf"(?:(?:-?{_NUMBER}[kmg]?|{_PLUS}) {_CPU} ){{3,5}}(?:{_NUMBER}|{_PLUS}) {_CPU} ")
_OPTIONS = r"(?::([0-9]{1,7}[km]?)?)?(?::([0-9]{1,4})?)?(?::([0-9]{1,9})?)?(?::([0-9]{1,4})?)?"
_IO = re.compile(rf"([0-9]{{1,9}}[MGT]){_OPTIONS}")
_IO_PLAIN = re.compile(rf"([0-9]{{1,9}}[MGT]?){_OPTIONS}")  # 1.00: megabytes without a letter
_SMALL = re.compile(r"[0-9]{1,9}(?::link|:symlink|:[0-9]{1,12}:[0-9]{1,12})?(?:/[0-9]{1,9})?")
_LIKE_IO = re.compile(r"\w{0,10}[0-9]\w{0,10}[MGT](?::\w{0,10}){0,4}|\w{1,2}[MGT]")  # with a letter in its figures
_VERSION = re.compile(r"\bVersion +([0-9]\.[0-9]{2}[a-z]{0,2})")
_BARE_VERSION = re.compile(
    r"\s*([0-9]\.[0-9]{2}[a-z]{0,2}) +-+Sequential "
)  # a table whose header was shortened by hand
_UNKNOWN = "?"
_CONCURRENCY = re.compile(r"Concurrency +([0-9]{1,4})")
_HEADER_WORDS = re.compile(r"(?:K/sec|/sec|%CP|-+[A-Z][a-z]+-*|Chr-|files|files:max(?::min)?|\*+)")
LATENCY = re.compile(r"[0-9]{1,9}(?:us|ms|s)")
_ROOM = " " * 8  # the least room of two columns that are left out
_MOST_BETWEEN = 3  # other lines between rows, captions, and bad rows in a table
_ONLY_FOUR = (1, 2, 4, 5)
_ENDS = tuple("0123456789+*>kmg")  # last character of a row: a digit, a unit, or a mark of its mail or forum


@dataclass(slots=True)
class TextRow:
    """One row: `name`, the sizes in `spec`, and pairs of rate and CPU."""

    name: str
    spec: str
    pairs: list[str]  # rate, CPU, rate, CPU…
    last: int
    latencies: list[str]
    latency_line: int
    line: int

    def get_tests(self, offset: int) -> Sequence[int]:
        """Return the indices in `TESTS` of its pairs; `offset` is that of the first test in its table."""
        return range(offset, offset + 6) if len(self.pairs) == 12 else _ONLY_FOUR


@dataclass(slots=True)
class TextTable:
    """A table and its rows; `first` and `last` are indices of lines."""

    first: int
    last: int
    version: str
    concurrency: str
    name: str  # from the header of the file table, which has more room than a row
    is_plain: bool  # sizes in MB without a letter
    has_kib: bool  # rates in K/sec
    rows: list[TextRow]
    broken: list[Broken]
    is_bent: bool = False  # its version can not be read, so the unit of rates without k, m or g is unknown
    is_cut: bool = False  # its header ends before the last test, so its rows may, too


def read_table(lines: Sequence[str], index: int, floor: int) -> TextTable:
    """Read the table whose second header line this is; its header begins in line `floor` at the earliest."""
    first, version = _read_above(lines, index, floor)
    is_io = IO_HEADER in lines[index]
    concurrency = _CONCURRENCY.search(lines[index])
    name = "" if is_io else lines[index].partition(FILES_HEADER)[0].strip()
    table = TextTable(first, index, version, concurrency[1] if concurrency else "", name, False, False, [], [])
    if version == _UNKNOWN:
        table.version, table.is_bent = "", True
        table.broken.append(
            Broken("a version that cannot be read", first, lines[first].strip()[:80], "as in Version 2.00")
        )
    at = index + 1
    while at < len(lines) and _is_header(lines[at]):
        table.is_plain = table.is_plain or " MB " in lines[at]
        table.has_kib = table.has_kib or "K/sec" in lines[at]
        if any(map(str.isdigit, lines[at].rpartition("%CP")[2])):
            table.broken.append(
                Broken("a row of bonnie++'s behind its header", at, lines[at].strip()[:120], "a line of its own")
            )
        table.last, at = at, at + 1
    table.is_cut = is_io and not any("Seeks" in line for line in lines[index:at])
    between = 0
    while at < len(lines) and max(between, len(table.broken)) <= _MOST_BETWEEN and not _begins_another(lines[at]):
        row = _read_row(lines, at, is_io, table)
        if isinstance(row, TextRow):
            table.rows.append(row)
            table.last, between = row.last, 0
        elif row is not None and not between:
            table.broken.append(row)
        elif lines[at].strip():
            between += 1
        at = max(at, table.last) + 1
    if at < len(lines) and not table.rows and (row := _find_bad_row(split_words(lines[at]), lines[at], at, _IO)):
        table.broken.append(row)  # the first line of the next header stands behind it on one line
    return table


def is_stray(line: str) -> bool:
    """Return whether it is the last line of a header: `read_table` reads those with their header, so any other stands alone."""
    return len(line) <= _LONGEST_ROW and line.count("K/sec %CP ") > 3 and "%CPU" not in line


def make_stray(line: str, index: int) -> Broken:
    """Return the `Broken` for a header line that stands alone."""
    message = "a header of bonnie++'s that is not whole: what stands below is not read"
    return Broken(message, index, line.strip()[:120], f"a line with {IO_HEADER} above it")


def make_records(io: TextTable | None, files: TextTable | None) -> list[BonnieppRecord]:
    """Make a record of each row; rows of two tables that belong to one invocation become one record."""
    large = [_make_io_record(io, row) for row in io.rows] if io else []
    small = files.rows if files else []
    if files and len(large) in (0, len(small)):
        alone: list[BonnieppRecord | None] = [None] * len(small)
        return [_add_files(record, files, row) for record, row in zip(large or alone, small, strict=True)]
    return large + [_add_files(None, files, row) for row in small if files]


def _read_above(lines: Sequence[str], index: int, floor: int) -> tuple[int, str]:
    """Return the index at which the header begins, and the version that it states."""
    first, version = index, ""
    for at in range(index - 1, max(index - 4, floor - 1), -1):
        line = lines[at]
        if match := _VERSION.search(line) or _BARE_VERSION.match(line):
            return at, match[1]
        if "Version " in line and "Sequential " in line:
            return at, _UNKNOWN
        if not ("Sequential" in line or "Random" in line or "Create-" in line or _is_header(line)):
            break
        first = at
    return first, version


def _begins_another(line: str) -> bool:
    return "Sequential " in line or line.count(",") >= FEWEST_COMMAS or _is_header(line)


def _is_header(line: str) -> bool:
    if "%CP" in line:
        return True
    words = line.split()
    return bool(words) and len(words) < 8 and all(_HEADER_WORDS.fullmatch(word) for word in words)


def _read_row(lines: Sequence[str], index: int, is_io: bool, table: TextTable) -> TextRow | Broken | None:
    line = lines[index]
    if len(line) > _LONGEST_ROW:
        return None
    words, last = split_words(line), index
    spec = _SMALL if not is_io else _IO_PLAIN if table.is_plain else _IO
    if not line.rstrip(MARKS).endswith(_ENDS):
        return _find_bad_row(words, line, index, spec)
    cells = _find_cells(words, spec, 12)
    if cells is None:
        words, last, cells = _join_broken(lines, index, words, spec, is_io)
    if cells is None or (len(cells) == 8 and (table.is_cut or _ends_early(lines, last, line, words[-9]))):
        return _find_bad_row(words, line, index, spec)
    head = len(words) - len(cells) - 1
    latencies, at = _read_latencies(lines, last + 1, len(cells) // 2)
    latency_line = last + 1 if at > last + 1 else last
    return TextRow(" ".join(words[:head]), words[head], cells, at - 1, latencies, latency_line, index)


def _ends_early(lines: Sequence[str], last: int, line: str, size: str) -> bool:
    """Return whether a row in columns is the last line, and has no room for the tests by characters that it would have to lack."""
    figures = line.partition(size)[2].strip()
    return last == len(lines) - 1 and "  " in figures and _ROOM not in figures


def _join_broken(
    lines: Sequence[str], index: int, words: list[str], spec: re.Pattern[str], is_io: bool
) -> tuple[list[str], int, list[str] | None]:
    """Return words, last index and cells of a row that a mail program broke, else of one without the two tests by characters."""
    forms, last = [(words, index)], index
    while last < min(index + 2, len(lines) - 1) and 4 < len(words) < 40:
        more = split_words(lines[last + 1])
        if not more or len(more) > 11 or not all(_RATE.fullmatch(word) for word in more):
            break
        words, last = words + more, last + 1
        forms.append((words, last))
    for count in (12, 8) if is_io else (12,):
        for form, end in forms:
            if (cells := _find_cells(form, spec, count)) is not None:
                return form, end, cells
    return forms[0][0], index, None


def _find_cells(words: list[str], spec: re.Pattern[str], count: int) -> list[str] | None:
    if len(words) <= count or not spec.fullmatch(words[-count - 1]):
        return None
    if count == 8 and any(_RATE.fullmatch(word) for word in words[: -count - 1]):
        return None  # what looks like a size is a figure in a row that can not be read
    cells = words[-count:]
    return cells if _are_pairs(cells, spec) else None


def _are_pairs(cells: Sequence[str], spec: re.Pattern[str]) -> bool:
    pairs = _SMALL_PAIRS if spec is _SMALL else _IO_PAIRS
    return pairs.fullmatch(" ".join(cells) + " ") is not None


def _find_bad_row(words: list[str], line: str, index: int, spec: re.Pattern[str]) -> Broken | None:
    """Return a `Broken` for a line that is a row but can not be read.

    That is a line with a size and numbers behind it, but not as many as there are tests; or all numbers and no size,
    where somebody left out what is the same in the row above.
    """
    if len(words) == 12 and spec is not _SMALL and _are_pairs(words, spec):
        expected = "both before its figures: nothing says that they are those of the row above"
        return Broken("a row without machine and size", index, line.strip()[:120], expected)
    numbers = sum(1 for word in words if _RATE.fullmatch(word))
    has_spec = any(spec.fullmatch(word) or _LIKE_IO.fullmatch(word) for word in words[:-1])
    is_of_numbers = numbers >= len(words) * 0.6 or "Latency " in line  # the next line may be joined to it
    if numbers < 4 or not has_spec or not is_of_numbers:
        return None
    return Broken("a row of bonnie++'s that cannot be read", index, line.strip()[:120], "six pairs of rate and CPU")


def _read_latencies(lines: Sequence[str], index: int, count: int) -> tuple[list[str], int]:
    """Return the latencies below a row, and the index of the next line. One that can not be read stays as printed."""
    if index >= len(lines) or not lines[index].lstrip().startswith("Latency"):
        return [""] * count, index
    latencies, at = lines[index].split()[1:], index + 1
    if len(latencies) < count and at < len(lines):
        more = lines[at].split()
        if more and all(LATENCY.fullmatch(word) for word in more):
            latencies, at = latencies + more, at + 1
    return (
        latencies if len(latencies) == count and _are_latencies(latencies) else _read_by_columns(lines[index], count)
    ), at


def _read_by_columns(line: str, count: int) -> list[str]:
    """Read latencies of which some are blank: `Latency` and ten blanks, then ten characters for each."""
    if count != 6:
        return [""] * count
    latencies = [line[start : start + 10].strip() for start in range(17, 77, 10)]
    return latencies if _are_latencies([latency for latency in latencies if latency]) else [""] * count


def _are_latencies(words: Sequence[str]) -> bool:
    """Return whether most words are latencies, so that each stands at its test."""
    return sum(1 for word in words if LATENCY.fullmatch(word)) * 2 > len(words)


def _make_io_record(table: TextTable, row: TextRow) -> BonnieppRecord:
    match = _IO_PLAIN.fullmatch(row.spec)
    size, chunk, concurrency, seeks, seekers = (value or "" for value in match.groups()) if match else ("",) * 5
    is_of_csv = bool(concurrency and seeks) and not seekers and int(concurrency) > int(seeks)
    if is_of_csv:  # printed by bon_csv2txt 2.00, which leaves the concurrency out
        concurrency, seeks, seekers = "", concurrency, seeks
    record = BonnieppRecord(
        table.first, table.last, table.version, row.name, size, chunk, table.concurrency or concurrency,
        seeks, seekers, lines=(row.line, row.line, row.latency_line, row.latency_line), is_text=True,
    )  # fmt: skip
    record.has_kib = table.has_kib
    record.has_suffixes = (table.is_bent and not table.has_kib) or any(value[-1] in "kmg" for value in row.pairs[::2])
    if record.is_scaled and not is_of_csv:
        record.concurrency = record.concurrency or "1"  # only other values are printed
    _fill(record, row, 0)
    _claim_row(record, table, row)
    return record


def _add_files(record: BonnieppRecord | None, table: TextTable, row: TextRow) -> BonnieppRecord:
    if record is None:
        record = BonnieppRecord(
            table.first, table.last, table.version, row.name, is_text=True, has_suffixes=table.is_bent
        )
        record.lines = (row.line, row.line, row.latency_line, row.latency_line)
        _claim_row(record, table, row)
    record.files = split_files(row.spec)
    record.last = max(record.last, row.last)
    record.lines = (record.lines[0], row.line, record.lines[2], row.latency_line)
    if len(table.name) > len(record.name) and len(table.rows) == 1:
        record.name = table.name
    _fill(record, row, FILES)
    return record


def _fill(record: BonnieppRecord, row: TextRow, offset: int) -> None:
    for at, test in enumerate(row.get_tests(offset)):
        rate, cpu = row.pairs[2 * at], row.pairs[2 * at + 1]
        record.rates[test] = rate if rate != "0k" or cpu != "+++" else "+++++"  # bon_csv2txt 2.00 prints it as 0k
        record.cpus[test] = cpu
        record.latencies[test] = row.latencies[at]


def _claim_row(record: BonnieppRecord, table: TextTable, row: TextRow) -> None:
    """Let a record of a table with many rows span only its own lines."""
    if len(table.rows) > 1:
        record.first = table.first if row is table.rows[0] else row.line
        record.last = row.last

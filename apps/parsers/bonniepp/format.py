"""Parser of bonnie++ 1.00 to 1.04, 1.9x and 2.00: its text tables and its CSV lines.

One real line of each, from 2.00a: `lab-host-7       2G            427m  87  1.4g  83            3.8g  99 13827  75` and
`1.98,2.00a,lab-host-7,1,42,2G,,8192,5,,,437725,87,1463683,83,,,3949311,99,13827,75,,,,,,,,,,,,,,,,,,,9979us,1707us,…`

    run: one row of a table with its row of small files, or one CSV line, or both of one invocation (then with the CSV's
         figures, which are not rounded, and the text's version and chunk)
    samples: char_write, write, rewrite, char_read, read: bandwidth; seek and create_seq … delete_rand: rate;
             latency_max of each test from 1.90 on; `cpu` on the rates

Units and words (bon_time.cpp, bonnie.h and bonnie++.cpp of 1.00–1.03e, 1.04, 1.97, 2.00a; changelog.txt):

- K/s is KiB/s. In text from 1.98 on `k`, `m`, `g` are KiB, MiB, GiB/s, unless the header says K/sec. Sizes M and G are
  MiB and GiB. CPU is in % of one core. Latencies are the largest of a test, in us, ms or s.
- `+++++` is printed where a test took less than MinTime, 0.5 s (1 s in 1.00 to 1.00e): the rate is above its work in
  that time. The work is the file, 8,192 seeks (8,000 in those) or as printed, or the small files, 1,024 for each one of
  -n. From 1.9x on the tests by characters work on a part of the file that is not printed, so there is no bound.
- A blank is a test that was not run. -f leaves out both tests by characters, -s 0 the large file, -n 0 the small ones.
- No chunk printed is the default, 8,192 bytes; the CSV of 2.00 never prints one.
- In the text of 2.00 a number of small files stands where their rate belongs: no value, only the CSV has it.
- Rows that bon_csv2txt prints, and the page of bon_csv2html copied as text (`html.py`), are read as well.
- The name is cut in text. With -x there are only CSV lines; with -q the table goes to stderr.
- 27 fields and no version: 1.00 to 1.04.

One invocation is printed twice, as a table and as a CSV line; `merge_duplicates` makes one record of them.

CSV lines that end before there is enough of them to be read are reported as broken (`find_cut_line`), so that nobody
misses the run:

    alpha,4G,40001,91,50002,2            1.98,2.00,gamma,1,7,16G,

Other programs also print a name, a size and numbers with commas. So a line counts only if it has bonnie++'s alternation
of K/s and percents, or begins as a complete CSV line of the same file does, and if no neighbour has as many fields, as
in a table.
"""

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice

from msgspec.structs import replace as with_fields

from apps.parsers.bonniepp import caption as bonniepp_caption
from apps.parsers.bonniepp import csv as bonniepp_csv
from apps.parsers.bonniepp import failures as bonniepp_failures
from apps.parsers.bonniepp import html as bonniepp_html
from apps.parsers.bonniepp import text as bonniepp_text
from apps.parsers.bonniepp.csv import FEWEST_OLD_FIELDS, NEW_FIELDS, OLD_FIELDS, SEEK_FIELDS
from apps.parsers.bonniepp.record import FILES, SEEK, BonnieppRecord, parse_bytes
from apps.parsers.bonniepp.samples import UNREADABLE, make_samples
from apps.parsers.bonniepp.text import LATENCY
from apps.parsers.core.models import Broken, ParsedFile, ParsedRun, ParseError
from apps.parsers.core.source_text import SourceText

MOST_BETWEEN = 4  # lines between two parts of one run
_MOST_BELOW = 12  # lines of a table in which a row can not be read
_FEWEST_ALIKE = 4
_FEWEST_FIGURES = 3  # two CSV lines with so many equal figures are one

Signature = tuple[str, tuple[str, ...], tuple[str, ...]]


def merge_duplicates(records: Sequence[BonnieppRecord], text: SourceText, warnings: list[str]) -> list[BonnieppRecord]:
    """Return each invocation once: a CSV line takes the place of the table that has the same figures."""
    if all(record.is_text for record in records):
        return list(records)
    tables: defaultdict[Signature, deque[int]] = defaultdict(deque)
    for index, record in enumerate(records):
        if record.is_text:
            tables[_make_signature(record)].append(index)
    merged: dict[int, BonnieppRecord] = {}
    seen: set[tuple[str, ...]] = set()
    repeated: set[int] = set()
    for index, record in enumerate(records):
        if record.is_text:
            merged[index] = record
            continue
        version = record.version  # before it is completed from the table; lines of 1.03 have none
        twins = tables.get(_make_signature(record)) if tables else None
        if tables and not twins and index - 1 in merged and _is_nearly(records[index - 1], record):
            repeated.add(index - 1)  # of the table above, a figure cannot be read
            _take_from_table(records[index - 1], record, True)
        elif twins:
            at = twins.popleft()
            _take_from_table(records[at], record, at + 1 == index)
            repeated.add(at)
        elif not bonniepp_csv.is_sure(record):
            continue
        elif _is_tail_of(record, records[index - 1] if index else None):
            warnings.append(f"line {text.number(record.first)}: this CSV line is cut off; the table above has it all")
            continue
        identity = (version, record.name, record.seed, record.size, *record.files, *record.rates, *record.cpus)
        if identity in seen and sum(1 for rate in record.rates if rate[:1].isdigit()) >= _FEWEST_FIGURES:
            warnings.append(f"line {text.number(record.first)}: the same CSV line once more, not counted again")
            continue
        seen.add(identity)
        merged[index] = record
    return [record for index, record in merged.items() if index not in repeated]


def _make_signature(record: BonnieppRecord) -> Signature:
    """Return what the table and the CSV line of one invocation print alike."""
    exact = record.latencies if record.is_scaled else [*record.rates[:5], *record.rates[6:]]
    return record.size, tuple(record.cpus), tuple(exact)


def _take_from_table(table: BonnieppRecord, csv: BonnieppRecord, is_next: bool) -> None:
    """Copy what only the table says to the CSV record, and its lines where the CSV line follows it."""
    csv.version = csv.version or table.version
    csv.chunk = table.chunk if table.size else csv.chunk
    if is_next and 0 < csv.first - table.last <= MOST_BETWEEN:
        csv.first = table.first


def _is_tail_of(record: BonnieppRecord, table: BonnieppRecord | None) -> bool:
    """Return whether a CSV line that is cut off is that of the table before it."""
    if record.cut is None or table is None or not table.is_text or table.size != record.size:
        return False
    there = max(0, record.cut - 1)
    return record.cpus[:there] == table.cpus[:there] and record.first - table.last <= MOST_BETWEEN


def _is_nearly(table: BonnieppRecord, csv: BonnieppRecord) -> bool:
    """Return whether a table above a CSV line is of the same invocation, except for a row or a latency that can not be read."""
    is_far = csv.first - table.last > _MOST_BELOW
    if not table.is_text or csv.cut is not None or is_far or (table.size and table.size != csv.size):
        return False
    rates = [] if table.is_scaled else [*zip(table.rates, csv.rates, strict=True)]
    printed = [*rates[:SEEK], *rates[FILES:], *zip(table.cpus, csv.cpus, strict=True)]
    late = [pair for pair in zip(table.latencies, csv.latencies, strict=True) if LATENCY.fullmatch(pair[0])]
    both = [(in_table, in_csv) for in_table, in_csv in (*printed, *late) if in_table and in_csv]
    alike = sum(1 for in_table, _ in both if in_table[0] != "+")
    return alike >= _FEWEST_ALIKE and all(in_table == in_csv for in_table, in_csv in both)


_LONGEST_CUT = 400
_SIZE = re.compile(r"[0-9]{1,9}[MG](?::[0-9]{1,7}k?)?")
_RATE = re.compile(r"[0-9]{4,12}|\+{5}|")  # K/s of a disk; empty where a test was left out
_CPU = re.compile(r"[0-9]{1,3}|\+{3}|")
_VERSIONS = re.compile(r"1\.9[0-9][a-z]?,(?:1\.9[0-9]|2\.[0-9]{2})[a-z]{0,2},")
_LETTER = re.compile("[A-Za-z]")
_COUNT = re.compile(r"[0-9]{0,12}")
_PARAMETERS = (
    _COUNT,
    _COUNT,
    re.compile(r"[0-9]{1,9}[MGT]|"),
    re.compile(r"[0-9]{1,9}[km]?|"),
)  # threads, seed, size, chunk


def find_cut_line(lines: Sequence[str], index: int) -> Broken | None:
    """Return a `Broken` for a line that can only be the beginning of a CSV line, else None."""
    line = lines[index].strip()
    fields = line.split(",", FEWEST_OLD_FIELDS) if line.count(",") > 1 and len(line) < _LONGEST_CUT else []
    if not fields or " " in fields[0]:
        return None
    is_cut = _is_old_cut(fields) or _is_new_cut(line, fields)
    return _make_cut(line, index) if is_cut and not _is_in_table(lines, index) else None


def find_similar_cuts(lines: Sequence[str], short: Iterable[int], records: Sequence[BonnieppRecord]) -> list[Broken]:
    """Return a `Broken` for each of the lines `short` that begins as a complete CSV line does but ends sooner."""
    known = {_get_beginning(lines[record.first]) for record in records if not record.is_text and record.cut is None}
    candidates = ((index, lines[index].strip()) for index in short) if known else ()
    likely = (pair for pair in candidates if _get_beginning(pair[1]) in known and len(pair[1]) < _LONGEST_CUT)
    return [_make_cut(line, index) for index, line in islice(likely, 1000) if _are_figures(line.split(",")[2:-1], line)]


def _is_old_cut(fields: Sequence[str]) -> bool:
    if len(fields) >= FEWEST_OLD_FIELDS or not _SIZE.fullmatch(fields[1]) or not _are_pairs(fields[2:-1]):
        return False  # the last field is not checked, as it may be incomplete
    return any(map(all, zip(fields[2:-1:2], fields[3:-1:2], strict=False)))


def _is_new_cut(line: str, fields: Sequence[str]) -> bool:
    """Return whether a line of 1.9x or 2.00 ends before its seeks; with more fields it is read, or is part of a table."""
    if not _VERSIONS.match(line) or len(fields) < 3 or len(fields) > 4 + len(_PARAMETERS):
        return False
    return bool(_LETTER.search(fields[2])) and all(
        form.fullmatch(field) for form, field in zip(_PARAMETERS, fields[3:-1], strict=False)
    )


def _are_pairs(fields: Sequence[str]) -> bool:
    return all(map(_RATE.fullmatch, fields[::2])) and all(map(_CPU.fullmatch, fields[1::2]))


def _are_figures(fields: Sequence[str], line: str) -> bool:
    return bool(_VERSIONS.match(line)) or _are_pairs(fields)


def _get_beginning(line: str) -> str:
    """Return the first two fields: name and size, or both versions."""
    return ",".join(line.lstrip().split(",", 2)[:2])


def _is_in_table(lines: Sequence[str], index: int) -> bool:
    count = lines[index].count(",")
    return any(0 <= at < len(lines) and lines[at].count(",") == count for at in (index - 1, index + 1))


def _make_cut(line: str, index: int) -> Broken:
    wanted = OLD_FIELDS
    if _VERSIONS.match(line):
        wanted = SEEK_FIELDS if line >= "1.98" else NEW_FIELDS
    return Broken("a CSV line of bonnie++'s that is cut off", index, line[:120], f"{wanted} fields")


NAME = "bonnie++"
TITLE = "bonnie++"

_STOPPED = "bonnie++ stopped before its table"
_NO_TABLE = "bonnie++ began here, and its table is missing"
_HAS_CSV = re.compile(
    r"[0-9]\.[0-9]{2}[a-z]?,[0-9]\.[0-9]{2}[a-z]{0,2},|,[0-9]{1,9}[MG](?::[0-9]{1,7}k?)?,|\+{5},|,{13}"
)
_SIZE_OPTION = re.compile(r"\s-s\s*(\d{1,9})([kmgtKMGT])?\b")
ROUNDED = 0.02  # share by which a printed size may differ: rows print `47G` for 48,000 MiB
_DIRECTORY = re.compile(r"bonnie\+\+ (?:.{0,500}? )?-d ?([^\s$;|&-][^\s$;|&]{0,250})(?:\s|$)")
_BY_HOST = re.compile(r"^[\w.-]+: (?:Version  ?[0-9]|[0-9]\.[0-9]{2}[a-z]?,[0-9]\.[0-9]{2})", re.MULTILINE)


def looks_like(text: SourceText) -> float:
    """Return how sure it is that the text has results of bonnie++.

    1 for the header of a table or a CSV line with versions, 0.9 for one without that only bonnie++ prints, or for a run
    that ended before its table, 0.6 for a CSV line that is cut off.
    """
    whole = text.text
    if bonniepp_text.IO_HEADER in whole or bonniepp_text.FILES_HEADER in whole or bonniepp_html.has_header(whole):
        return 1.0
    has_csv = _HAS_CSV.search(whole) is not None
    if has_csv and (record := _find_first_csv(text.lines)):
        return 1.0 if record.version else 0.9
    if has_csv and any(find_cut_line(text.lines, index) for index in range(len(text.lines))):
        return 0.6
    if not bonniepp_failures.may_be_in(whole):
        return 0.0
    attempts = bonniepp_failures.find_attempts(text.lines)
    return 0.9 if _find_unfinished(text.lines, attempts, []) else 0.0


def parse(text: SourceText) -> ParsedFile:
    """Parse every run in the text.

    Raises:
        ParseError: if there is none.
    """
    has_hosts = ": " in text.text and _BY_HOST.search(text.text)
    parts = text.by_host() if has_hosts else [("", text)]
    files = [_parse(part, host) for host, part in parts]
    runs = tuple(run for file in files for run in file.runs)
    broken = tuple(item for file in files for item in file.broken)
    if runs:
        return ParsedFile(runs, tuple(item for file in files for item in file.warnings), broken)
    if broken:
        raise ParseError(broken[0].message, line=broken[0].line, found=broken[0].found, expected=broken[0].expected)
    raise ParseError("no result of bonnie++'s", expected="its table or its CSV line")


def _parse(text: SourceText, host: str) -> ParsedFile:
    scan = _BonnieppScan(text.lines)
    broken, warnings = scan.broken, list[str]()
    records = deque(merge_duplicates(scan.records, text, warnings))
    scan.records.clear()
    starts = [record.first for record in records]
    attempts = bonniepp_failures.find_attempts(text.lines) if bonniepp_failures.may_be_in(text.text) else []
    runs, floor = [], 0
    while records:
        record = records.popleft()  # frees its memory for the run
        run = _make_run(record, text, floor, host)
        if problem := _find_problem(attempts, record.first):
            run = with_fields(run, problem=problem)
        floor = max(floor, record.last + 1)
        if run.samples:
            runs.append(run)
        else:
            broken.append(Broken("cut off before the first figure", record.first, text.lines[record.first][:80]))
        if record.cut is not None:
            warnings.append(f"line {run.line}: the CSV line is cut off; what is missing says so")
        if record.has_unread:
            warnings += _warn_of_unread(run)
    broken = broken + _find_unfinished(text.lines, attempts, starts)
    placed = [replace(item, line=text.number(item.line or 0)) for item in broken]
    return ParsedFile(tuple(runs), tuple(warnings), tuple(placed))


def _find_problem(attempts: Sequence[bonniepp_failures.BonnieAttempt], first: int) -> str:
    """Return the failure above the table that begins in line `first`, of the same run; "" where there is none."""
    matches = [attempt for attempt in attempts if attempt.first <= attempt.failure_line < first < attempt.behind]
    return next((attempt.failure for attempt in matches if attempt.failure), "")


def _find_unfinished(
    lines: Sequence[str], attempts: Sequence[bonniepp_failures.BonnieAttempt], starts: Sequence[int]
) -> list[Broken]:
    """Return a `Broken` for each run that ended before its table; `starts` are the first lines of those that did not.

    Nothing where there is a table for each: runs at the same time mix their lines.
    """
    attempts = [attempt for attempt in attempts if not attempt.is_of_bonnie]
    if len(starts) >= len(attempts):
        return []
    unfinished = [
        attempt for attempt in attempts if not any(attempt.first <= start < attempt.behind for start in starts)
    ]
    return [_make_unfinished(attempt, lines) for attempt in unfinished]


def _make_unfinished(attempt: bonniepp_failures.BonnieAttempt, lines: Sequence[str]) -> Broken:
    if attempt.failure:
        return Broken(_STOPPED, attempt.failure_line, attempt.failure[:120], "its table or its CSV line")
    return Broken(_NO_TABLE, attempt.first, lines[attempt.first].strip()[:120], "its table or its CSV line")


def _warn_of_unread(run: ParsedRun) -> list[str]:
    bad = [sample for sample in run.samples if sample.missing_reason == UNREADABLE]
    return [f"line {sample.line}: {sample.printed[:40]!r} is {UNREADABLE}" for sample in bad]


def _find_first_csv(lines: Sequence[str]) -> BonnieppRecord | None:
    for index, line in enumerate(lines):
        if line.count(",") >= bonniepp_csv.FEWEST_COMMAS:
            record = bonniepp_csv.read_record(lines, index)
            if isinstance(record, BonnieppRecord) and bonniepp_csv.is_sure(record):
                return record
    return None


class _BonnieppScan:
    """The rows and CSV lines of a text in their order, not yet merged; `broken` has indices of lines."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.records: list[BonnieppRecord] = []
        self.broken: list[Broken] = []
        self.short: list[int] = []  # lines with some commas, which may be cut CSV lines
        self.pending: bonniepp_text.TextTable | None = None  # a table whose table of small files may follow
        self.floor = index = 0
        while index < len(lines):
            index = self._read_line(index)
        self._flush()
        if self.short:
            self.broken += find_similar_cuts(lines, self.short, self.records)

    def _read_line(self, index: int) -> int:
        line = self.lines[index]
        if "," in line and line.count(",") > 1:
            return self._read_csv(index)
        if ";" in line and (broken := bonniepp_csv.find_semicolons(line, index)):
            self.broken.append(broken)
        if bonniepp_text.IO_HEADER in line:
            return self._read_io(index)
        if bonniepp_text.FILES_HEADER in line:
            return self._read_files(index)
        if "%CP" in line and bonniepp_text.is_stray(line):
            self.broken.append(bonniepp_text.make_stray(line, index))
        return self._read_html(index) if bonniepp_html.has_header(line) else index + 1

    def _read_csv(self, index: int) -> int:
        has_most = self.lines[index].count(",") >= bonniepp_csv.FEWEST_COMMAS
        result = bonniepp_csv.read_record(self.lines, index) if has_most else None
        if isinstance(result, BonnieppRecord):
            self._flush()
            self.records.append(result)
            self.floor = result.last + 1
            return self.floor
        if broken := result or find_cut_line(self.lines, index):
            self.broken.append(broken)
        else:
            self.short.append(index)
        return index + 1

    def _read_io(self, index: int) -> int:
        self._flush()
        self.pending = bonniepp_text.read_table(self.lines, index, self.floor)
        self.broken += self.pending.broken
        self.floor = self.pending.last + 1
        return self.floor

    def _read_files(self, index: int) -> int:
        files = bonniepp_text.read_table(self.lines, index, self.floor)
        self.broken += files.broken
        if self.pending is None or files.first - self.pending.last > MOST_BETWEEN:
            self._flush()
        self.records += bonniepp_text.make_records(self.pending, files)
        self.pending = None
        self.floor = files.last + 1
        return self.floor

    def _read_html(self, index: int) -> int:
        self._flush()
        rows = bonniepp_html.read_html_rows(self.lines, index, self.floor)
        self.records += rows
        self.floor = max([index, *(row.last for row in rows)]) + 1
        return self.floor

    def _flush(self) -> None:
        if self.pending is not None:
            self.records += bonniepp_text.make_records(self.pending, None)
            self.pending = None


def _make_run(record: BonnieppRecord, text: SourceText, floor: int, host: str) -> ParsedRun:
    caption, command = bonniepp_caption.find_caption(text.lines, record.first, floor)
    number, lines = text.number, record.lines
    one_line = lines.count(lines[0]) == len(lines)  # true for every CSV line
    return ParsedRun(
        tool="bonnie++",
        tool_version=record.version,
        samples=make_samples(record, [number(lines[0])] * len(lines) if one_line else [number(line) for line in lines]),
        labels={"seed": record.seed} if record.seed else {},
        workload={**_get_workload(record), **_read_announced_size(command, record.file_size), "command": command}
        if command
        else _get_workload(record),
        host=record.name or host,
        target=directory[1] if (directory := _DIRECTORY.search(command)) else "",
        caption=caption,
        line=number(record.first),
        last_line=number(record.last),
    )


def _read_announced_size(command: str, measured: int | None) -> dict[str, int]:
    """Return the file size of the command line, `-s 48g` or `-s 49152` (MiB), where it differs from that of the row."""
    match = _SIZE_OPTION.search(command)
    if match is None or not measured:
        return {}
    announced = int(match[1]) * {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}[(match[2] or "m").lower()]
    return {"header_file_size": announced} if abs(announced - measured) > ROUNDED * measured else {}


def _get_workload(record: BonnieppRecord) -> dict[str, str | int | float]:
    return dict(
        _make_workload(record.size, record.chunk, record.concurrency, record.seeks, record.seekers, record.files)
    )


@lru_cache(maxsize=256)  # all rows of a log mostly did the same
def _make_workload(
    size: str, chunk: str | None, concurrency: str, seeks: str, seekers: str, files: tuple[str, str, str, str]
) -> dict[str, str | int | float]:
    """Return the workload in fio's words where it has one; what was made and deleted in the second half has words of its own."""
    record = BonnieppRecord(0, 0, size=size, chunk=chunk, concurrency=concurrency, files=files)
    _, largest, smallest, directories = files
    is_link = largest.isalpha()
    workload: dict[str, str | int | float | None] = {
        "file_size": record.file_size,
        "block_size": record.block_size,
        "numjobs": record.threads,
        "seeks": int(seeks) if seeks else None,
        "seek_processes": int(seekers) if seekers else None,
        "num_files": record.file_count,
        "file_type": largest if is_link else None,
        "file_max_size": int(largest) if largest and not is_link else None,
        "file_min_size": int(smallest) if smallest and not is_link else None,
        "num_directories": parse_bytes(directories) or None,
    }
    return {word: value for word, value in workload.items() if value is not None}

"""bonnie++ 1.00 to 1.04, 1.9x and 2.00: its text tables and its CSV lines.

One real line of each, from 2.00a: `lab-host-7       2G            427m  87  1.4g  83            3.8g  99 13827  75` and
`1.98,2.00a,lab-host-7,1,42,2G,,8192,5,,,437725,87,1463683,83,,,3949311,99,13827,75,,,,,,,,,,,,,,,,,,,9979us,1707us,…`

    run: one row of a table with its row of small files, or one CSV line, or both of one invocation (then the CSV's
         figures, which are not rounded, with the text's version and chunk)
    samples: char_write, write, rewrite, char_read, read: bandwidth; seek and create_seq … delete_rand: rate;
             latency_max of each test from 1.90 on; `cpu` on the rates

Units and words (bon_time.cpp, bonnie.h and bonnie++.cpp of 1.00–1.03e, 1.04, 1.97, 2.00a; changelog.txt)
- K/s is KiB/s; in text from 1.98 on `k`, `m`, `g` are KiB, MiB, GiB/s, unless its header says K/sec. Sizes M and G are MiB and GiB. CPU is in %
  of one core. Latencies are the largest of a test, in us, ms or s.
- `+++++` stands where a test took less than MinTime, 0.5 s (1 s in 1.00 to 1.00e): the rate is above its work in that
  time. The work is the file, 8,192 seeks (8,000 in those) or as printed, or the small files, 1,024 for each one of -n.
  From 1.9x on the tests by characters work on a part of the file that is not printed: no bound.
- Blank: not run. -f leaves out both tests by characters, -s 0 the large file, -n 0 the small ones.
- No chunk printed is the default, 8,192 bytes; 2.00's CSV prints none whatever it was.
- In 2.00's text a number of small files stands where their rate belongs: no value, the CSV has it.
- Rows that bon_csv2txt prints, and bon_csv2html's page copied as text (`bonniepp_html`), are read as well.
- The name is cut in text. With -x there are only CSV lines; with -q the table goes to stderr.
- 27 fields and no version: 1.00 to 1.04.
"""

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from apps.parsers import bonniepp_caption, bonniepp_csv, bonniepp_cut, bonniepp_html, bonniepp_text, bonniepp_twins
from apps.parsers.bonniepp_record import Record, bytes_of
from apps.parsers.bonniepp_samples import UNREADABLE, samples
from apps.parsers.bonniepp_twins import MOST_BETWEEN
from apps.parsers.shape import Broken, ParsedFile, ParsedRun, ParseError
from apps.parsers.source_text import SourceText

NAME = "bonnie++"
TITLE = "bonnie++"

_HAS_CSV = re.compile(
    r"[0-9]\.[0-9]{2}[a-z]?,[0-9]\.[0-9]{2}[a-z]{0,2},|,[0-9]{1,9}[MG](?::[0-9]{1,7}k?)?,|\+{5},|,{13}"
)
_DIRECTORY = re.compile(r"bonnie\+\+ (?:.{0,500}? )?-d ?([^\s$;|&-][^\s$;|&]{0,250})(?:\s|$)")
_BY_HOST = re.compile(r"^[\w.-]+: (?:Version  ?[0-9]|[0-9]\.[0-9]{2}[a-z]?,[0-9]\.[0-9]{2})", re.MULTILINE)


def looks_like(text: SourceText) -> float:
    """1 for the header of a table or a CSV line with versions, 0.9 for one without, that only bonnie++ prints, 0.6 for one that
    is cut off.
    """
    whole = text.text
    if bonniepp_text.IO_HEADER in whole or bonniepp_text.FILES_HEADER in whole or bonniepp_html.has_header(whole):
        return 1.0
    if not _HAS_CSV.search(whole):
        return 0.0
    if record := _first_csv(text.lines):
        return 1.0 if record.version else 0.9
    return 0.6 if any(bonniepp_cut.cut(text.lines, index) for index in range(len(text.lines))) else 0.0


def parse(text: SourceText) -> ParsedFile:
    """Every run in the text. `ParseError` where there is none."""
    has_hosts = ": " in text.text and _BY_HOST.search(text.text)
    parts = text.by_host() if has_hosts else [("", text)]
    files = [_parse(part, host) for host, part in parts]
    runs = tuple(run for one in files for run in one.runs)
    broken = tuple(item for one in files for item in one.broken)
    if runs:
        return ParsedFile(runs, tuple(item for one in files for item in one.warnings), broken)
    if broken:
        raise ParseError(broken[0].message, line=broken[0].line, found=broken[0].found, expected=broken[0].expected)
    raise ParseError("no result of bonnie++'s", expected="its table or its CSV line")


def _parse(text: SourceText, host: str) -> ParsedFile:
    scan = _Scan(text.lines)
    broken, warnings = scan.broken, list[str]()
    records = deque(bonniepp_twins.joined(scan.found, text, warnings))
    scan.found.clear()
    runs, floor = [], 0
    while records:
        record = records.popleft()  # what it holds makes room for its run
        run = _run(record, text, floor, host)
        floor = max(floor, record.last + 1)
        if run.samples:
            runs.append(run)
        else:
            broken.append(Broken("cut off before the first figure", record.first, text.lines[record.first][:80]))
        if record.cut is not None:
            warnings.append(f"line {run.line}: the CSV line is cut off; what is missing says so")
        if record.has_unread:
            warnings += _unread(run)
    placed = [replace(one, line=text.number(one.line or 0)) for one in broken]
    return ParsedFile(tuple(runs), tuple(warnings), tuple(placed))


def _unread(run: ParsedRun) -> list[str]:
    bad = [one for one in run.samples if one.missing_reason == UNREADABLE]
    return [f"line {one.line}: {one.printed[:40]!r} is {UNREADABLE}" for one in bad]


def _first_csv(lines: Sequence[str]) -> Record | None:
    for index, line in enumerate(lines):
        if line.count(",") >= bonniepp_csv.FEWEST_COMMAS:
            found = bonniepp_csv.read(lines, index)
            if isinstance(found, Record) and bonniepp_csv.is_sure(found):
                return found
    return None


class _Scan:
    """The rows and CSV lines in their order, not yet joined; `broken` has indices of lines."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.found: list[Record] = []
        self.broken: list[Broken] = []
        self.short: list[int] = []  # lines with some commas, of which nothing is known yet
        self.pending: bonniepp_text.Table | None = None  # waits for its table of small files
        self.floor = index = 0
        while index < len(lines):
            index = self._step(index)
        self._flush()
        if self.short:
            self.broken += bonniepp_cut.like(lines, self.short, self.found)

    def _step(self, index: int) -> int:
        line = self.lines[index]
        if "," in line and line.count(",") > 1:
            return self._csv(index)
        if ";" in line and (broken := bonniepp_csv.with_semicolons(line, index)):
            self.broken.append(broken)
        if bonniepp_text.IO_HEADER in line:
            return self._io(index)
        if bonniepp_text.FILES_HEADER in line:
            return self._files(index)
        if "%CP" in line and bonniepp_text.is_stray(line):
            self.broken.append(bonniepp_text.stray(line, index))
        return self._html(index) if bonniepp_html.has_header(line) else index + 1

    def _csv(self, index: int) -> int:
        has_most = self.lines[index].count(",") >= bonniepp_csv.FEWEST_COMMAS
        one = bonniepp_csv.read(self.lines, index) if has_most else None
        if isinstance(one, Record):
            self._flush()
            self.found.append(one)
            self.floor = one.last + 1
            return self.floor
        if broken := one or bonniepp_cut.cut(self.lines, index):
            self.broken.append(broken)
        else:
            self.short.append(index)
        return index + 1

    def _io(self, index: int) -> int:
        self._flush()
        self.pending = bonniepp_text.read(self.lines, index, self.floor)
        self.broken += self.pending.broken
        self.floor = self.pending.last + 1
        return self.floor

    def _files(self, index: int) -> int:
        files = bonniepp_text.read(self.lines, index, self.floor)
        self.broken += files.broken
        if self.pending is None or files.first - self.pending.last > MOST_BETWEEN:
            self._flush()
        self.found += bonniepp_text.records(self.pending, files)
        self.pending = None
        self.floor = files.last + 1
        return self.floor

    def _html(self, index: int) -> int:
        self._flush()
        rows = bonniepp_html.read(self.lines, index, self.floor)
        self.found += rows
        self.floor = max([index, *(row.last for row in rows)]) + 1
        return self.floor

    def _flush(self) -> None:
        if self.pending is not None:
            self.found += bonniepp_text.records(self.pending, None)
            self.pending = None


def _run(record: Record, text: SourceText, floor: int, host: str) -> ParsedRun:
    caption, command = bonniepp_caption.before(text.lines, record.first, floor)
    number, lines = text.number, record.lines
    one_line = lines.count(lines[0]) == len(lines)  # as of every CSV line
    return ParsedRun(
        tool="bonnie++",
        tool_version=record.version,
        samples=samples(record, [number(lines[0])] * len(lines) if one_line else [number(line) for line in lines]),
        labels={"seed": record.seed} if record.seed else {},
        workload={**_asked(record), "command": command} if command else _asked(record),
        host=record.name or host,
        target=directory[1] if (directory := _DIRECTORY.search(command)) else "",
        caption=caption,
        line=number(record.first),
        last_line=number(record.last),
    )


def _asked(record: Record) -> dict[str, str | int | float]:
    one = record
    return dict(_workload(one.size, one.chunk, one.concurrency, one.seeks, one.seekers, one.files))


@lru_cache(maxsize=256)  # all rows of a log mostly did the same
def _workload(
    size: str, chunk: str | None, concurrency: str, seeks: str, seekers: str, files: tuple[str, str, str, str]
) -> dict[str, str | int | float]:
    """In fio's words where it has one; what was made and deleted in the second half has words of its own."""
    record = Record(0, 0, size=size, chunk=chunk, concurrency=concurrency, files=files)
    _, largest, smallest, directories = files
    is_link = largest.isalpha()
    told: dict[str, str | int | float | None] = {
        "file_size": record.file_size,
        "block_size": record.block_size,
        "numjobs": record.threads,
        "seeks": int(seeks) if seeks else None,
        "seek_processes": int(seekers) if seekers else None,
        "num_files": record.file_count,
        "file_type": largest if is_link else None,
        "file_max_size": int(largest) if largest and not is_link else None,
        "file_min_size": int(smallest) if smallest and not is_link else None,
        "num_directories": bytes_of(directories) or None,
    }
    return {word: value for word, value in told.items() if value is not None}

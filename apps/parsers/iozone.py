"""IOzone's output on the terminal: the table of `-a`, the blocks of `-t`, and the report of `-R`. IOzone 3.88 to 3.506.

One real line each, of 3.471:

    `              64       4  1087638  3588436                    3958892  3203069                      4897948`
    `\\tChildren see throughput for 64 initial writers \\t=  367382.55 kB/sec`
    `"64"   1087638  1562436  2278628  2662899  3203069 `

A run is one banner with what follows it. The table: `kB reclen`, then up to 21 columns in this order: write rewrite
read reread, randread randwrite, bkwd, record rewrite, stride, fwrite frewrite, fread freread, and with -E pwrite
repwrite pread repread (pwritev…). Each is a sample at file_size = kB × 1024 and block_size = reclen × 1024.

Units (iozone.c 3.398, 3.465, 3.471; all of 3.x shift bytes by 10 or divide by 1024): KB, kB and Kbytes are 1024 bytes.
Figures are kB/s; with -O operations per second; with -N microseconds per operation. The banner says so in all three
cases; `-t` prints the unit on each line. The table and the matrices of -R have no unit of their own: where both banner
and command line are missing, IOzone's default is taken, with a note on every sample and a warning.

Oddities
- Rows without some tests, and figures that run together: `iozone_columns`.
- Rows that somebody put a name before are runs of their own, with the name as their caption.
- 0 in a table is no measurement (-+n prints it for what it leaves out; figures are cut to whole numbers); in a matrix of
  -R it fills what did not run. `0.00` for the slowest process of `-t` is one: that process did nothing.
- -R repeats the figures of its run: only those that the table or the blocks lack are taken from it.
- -t: `bandwidth` is what the children saw together, with the CPU utilisation of -+u; the per-child lines of -C are not
  kept. The parent's ops/sec, the smallest transfer in ops, and the second pass of -E's tests have no word here.
- "Run began" has no time zone and is not kept. Mails wrap the table: its header tells how many figures make a row.
"""

import re
from dataclasses import dataclass, field

from apps.parsers import iozone_report as report
from apps.parsers.iozone_banner import START, Banner
from apps.parsers.iozone_columns import HEADER, Columns, is_above_header, is_rest_of_header, read_header
from apps.parsers.iozone_run import DEFAULT_NOTE, Draft
from apps.parsers.iozone_table import Table
from apps.parsers.iozone_throughput import LIKE_ONE, SEEN, problem_of, read_phase
from apps.parsers.shape import Broken, ParsedFile, ParseError
from apps.parsers.source_text import SourceText

NAME = "iozone"
TITLE = "IOzone"

_DAMAGED = "a line of IOzone's whose figures cannot be read"
_PHASE = "Children see throughput for N initial writers = X kB/sec"
_MOST_BLANK = 2  # lines between labelled rows
_LOOSE = 12  # lines between a banner and its figures
_NEEDLES = (START, " throughput for ", "reclen", ' report"', "report Y-axis is type of test")
_SURE = re.compile(
    r"Iozone: Performance Test of File I/O|[kK]B\s+reclen\s|(?:Children see|Parent sees) throughput for +\d"
)


def looks_like(text: SourceText) -> float:
    whole = text.text
    if not any(needle in whole for needle in _NEEDLES):
        return 0.0
    if _SURE.search(whole):
        return 1.0
    has_report = any(report.MATRIX.match(line) or report.THROUGHPUT.match(line) for line in text.lines if '"' in line)
    return 0.9 if has_report else 0.0


def parse(text: SourceText) -> ParsedFile:
    """Every run in the text. `ParseError` where there is none."""
    reader = _Reader(text)
    reader.read()
    runs = tuple(run for draft in reader.drafts if (run := draft.finish(text)))
    if not runs and not reader.broken:
        raise ParseError(
            "no figures of IOzone", expected='a "kB reclen" table, "Children see throughput", or a -R report'
        )
    return ParsedFile(runs, tuple(dict.fromkeys(reader.warnings)), tuple(reader.broken))


@dataclass(slots=True)
class _Reader:
    text: SourceText
    banner: Banner = field(default_factory=Banner)
    drafts: list[Draft] = field(default_factory=list)
    broken: list[Broken] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def read(self) -> None:
        lines = self.text.lines
        index = 0
        while index < len(lines):
            line = lines[index]
            if "reclen" in line and HEADER.search(line):
                index = self._table(index)
            elif "throughput for" in line and SEEN.search(line):
                index = self._phase(index)
            elif "Children see throughput for" in line or LIKE_ONE.match(line):
                self._break(_DAMAGED, index, _PHASE)
                index += 1
            elif '"' in line and report.MATRIX.match(line):
                index = self._matrix(index)
            elif '"' in line and report.THROUGHPUT.match(line):
                index = self._throughput_report(index)
            elif ' report"' in line:
                self._break(_DAMAGED, index, 'a title as "Writer report" on a line of its own')
                index += 1
            else:
                self._other(line, index)
                index += 1

    def _other(self, line: str, index: int) -> None:
        if not line or line.isspace() or line.lstrip()[0].isdigit():
            return
        banner = Banner() if self._is_used(line) else self.banner
        if banner.read(line, index):
            self.banner = banner
        elif (command := banner if "command" not in banner.facts else Banner()).read_shell(line, index):
            self.banner = command  # of the last one above the figures; nothing came of those before it
        elif line.strip() == "iozone test complete." and self._current() is not None:
            self.drafts[-1].last = index

    def _is_used(self, line: str) -> bool:
        """Whether a banner line that comes now belongs to a new run."""
        if START in line:
            return True
        return self._current() is not None and "Each " not in line

    def _draft(self, kind: str, index: int) -> Draft:
        is_near = self.banner.last is not None and index - self.banner.last <= _LOOSE
        if not is_near or self._current() is not None:
            self.banner = Banner()
        self.drafts.append(Draft(kind, self.banner, index, index))
        return self.drafts[-1]

    def _break(self, message: str, index: int, expected: str) -> None:
        found = self.text.lines[index].strip()[:200]
        self.broken.append(Broken(message, self.text.number(index), found, expected))

    def _tell(self, damaged: list[int], expected: str) -> None:
        for index in damaged:
            self._break(_DAMAGED, index, expected)

    def _table(self, index: int) -> int:
        lines = self.text.lines
        above = lines[index - 1] if index else ""
        below = lines[index + 1] if index + 1 < len(lines) and is_rest_of_header(lines[index + 1]) else ""
        columns = read_header(above, lines[index], below)
        if columns is None:
            self._break("a table whose columns cannot be told apart", index, "kB reclen write rewrite read reread…")
            return index + 1
        following = index + (2 if below else 1)
        while True:
            draft = self._draft("table", index - 1 if is_above_header(above) and index else index)
            table = Table(self.text, columns, draft, bool(below), self.broken)
            following = table.read(following)
            self._warn(draft, columns.words, columns.operations)
            if not table.is_at_repeat:
                behind = self._labelled(draft, columns, following)
                if behind == following:
                    return behind
                following = behind
            index, above = following, ""

    def _labelled(self, before: Draft, columns: Columns, index: int) -> int:
        """Rows of other runs below the table's own, each behind the name that somebody gave it."""
        lines, following = self.text.lines, index
        while index < len(lines) and index - following <= _MOST_BLANK:
            draft = Draft("table", before.banner, index, index)
            if Table(self.text, columns, draft, broken=self.broken).read_labelled(index):
                self.drafts.append(draft)
                self._warn(draft, (), ())
                following = index + 1
            elif lines[index].strip():
                break
            index += 1
        return following

    def _warn(self, draft: Draft, words: tuple[str, ...], operations: tuple[str, ...]) -> None:
        number = self.text.number(draft.first)
        if draft.samples and draft.samples[0].note == DEFAULT_NOTE:
            self.warnings.append(f"line {number}: {DEFAULT_NOTE}")
        wordless = [word for word, operation in zip(words, operations, strict=True) if not operation]
        if wordless:
            self.warnings.append(f"line {number}: not kept: {', '.join(wordless)}")

    def _phase(self, index: int) -> int:
        draft = self._current()
        phase, last, following = read_phase(self.text, index, self.banner)
        if problem := problem_of(phase, self.text.number(index)):
            self.broken.append(problem)
            return max(following, index + 1)
        is_other = draft is None or draft.kind != "throughput" or draft.mark != phase.mark
        if is_other or draft is None or not draft.take_phase(phase):
            draft = self._draft("throughput", index)
            phase, last, following = read_phase(self.text, index, self.banner)
            draft.mark = phase.mark
            draft.take_phase(phase)
        self._tell(phase.damaged, "a throughput in kB/sec or ops/sec")
        draft.last = last
        return max(following, index + 1)

    def _current(self) -> Draft | None:
        """The run that what comes now goes on with, None where a new one begins."""
        return self.drafts[-1] if self.drafts and self.drafts[-1].banner is self.banner else None

    def _matrix(self, index: int) -> int:
        matrix = report.read_matrix(self.text, index)
        draft = self._current() or self._draft("report", index)
        if matrix.operation and matrix.cells:
            samples = report.matrix_samples(matrix, self.text, draft.unit())
            if not draft.take_report(samples):
                draft = self._draft("report", index)
                draft.take_report(report.matrix_samples(matrix, self.text, draft.unit()))
            self._warn(draft, (), ())
        if matrix.operation:
            self._tell(matrix.damaged, 'record sizes or a file size in "…", then figures')
        draft.last = matrix.last
        return matrix.last + 1

    def _throughput_report(self, index: int) -> int:
        found = report.read_throughput(self.text, index)
        draft = self._current() or self._draft("report", index)
        if found.tests and "Throughput" in self.text.lines[index]:
            self._take_throughput(found, draft, index)
            draft = self.drafts[-1]
        if "Throughput" in self.text.lines[index]:
            self._tell(found.damaged, "a test and its figures")
        draft.last = found.last
        return found.last + 1

    def _take_throughput(self, found: report.Throughput, draft: Draft, index: int) -> None:
        samples = report.throughput_samples(found, self.text, draft.threads(), draft.file_size())
        if isinstance(samples, str):
            self._break(samples, index, "kBytes/sec or ops/sec, and the number of processes")
            return
        if not draft.take_throughput_report(samples):
            draft = self._draft("report", index)
            samples = report.throughput_samples(found, self.text, draft.threads(), draft.file_size())
            draft.take_report(samples if isinstance(samples, list) else [])
        draft.record = found.record

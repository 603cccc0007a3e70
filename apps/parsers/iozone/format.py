r"""Parser of IOzone's output on the terminal: the table of `-a`, the blocks of `-t`, and the report of `-R`. IOzone 3.88 to 3.506.

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
and command line are missing, IOzone's default is used, with a note on every sample and a warning.

Peculiarities:

- Rows without some tests, and figures that run together: see `columns.py`.
- Rows that have a name before or behind them are runs of their own, with the name as caption.
- 0 in a table is no measurement (-+n prints it for what it leaves out; figures are truncated to whole numbers); in a
  matrix of -R it fills what did not run. `0.00` for the slowest process of `-t` is a measurement: that process did
  nothing.
- -R repeats the figures of its run: only those that the table or the blocks lack are taken from it.
- -t: `bandwidth` is that of all children together, with the CPU utilisation of -+u; the lines of -C for each child are
  not read. The parent's ops/sec, the smallest transfer in ops, and the second pass of -E's tests have no metric.
- What failed is the run's problem (`failures.py`). A throughput of 0.00 of all children is no measurement.
- "Run began" has no time zone and is not read. Mails wrap the table: its header tells how many figures make a row.
"""

import math
import re
from dataclasses import dataclass, field

from apps.parsers.core.models import Broken, ParsedFile, ParsedSample, ParseError
from apps.parsers.core.source_text import SourceText
from apps.parsers.iozone.banner import KIB, START, IozoneBanner
from apps.parsers.iozone.columns import HEADER, TableColumns, is_above_header, is_rest_of_header, read_header
from apps.parsers.iozone.failures import IozoneFailure, find_failure
from apps.parsers.iozone.run import DEFAULT_NOTE, IozoneDraft
from apps.parsers.iozone.table import TableReader
from apps.parsers.iozone.throughput import LIKE_ONE, SEEN, find_problem, read_phase

MATRIX = re.compile(r'^\s*"(Re-)?(Writer|Reader|Random read|Random write|Backward read|Record rewrite|Stride read'
                    r'|Fwrite|Fread|Pwrite|Pread|Pwritev|Preadv|writer)( CPU utilization report[^"]*| report)"\s*$')  # fmt: skip
THROUGHPUT = re.compile(r'^\s*"(Throughput|CPU utilization) report Y-axis is type of test X-axis is number of')
_SIZES = re.compile(r'\s*(?:"\d{1,15}"\s*)+').fullmatch
_ROW = re.compile(r'\s*"(\d{1,15})"((?:\s+\d{1,20})*)\s*').fullmatch
_REST = re.compile(r"\s*\d{1,20}(?:\s+\d{1,20})*\s*").fullmatch  # the rest of a row that a mail program broke
_LIKE_ROW = re.compile(r'\s*"\w{1,15}"(?:\s+"?\w{1,20}"?)*\s*').fullmatch  # with letters in its figures
_CPU_ROW = re.compile(r'\s*"\d{1,15}"(?:\s+\d{1,9}\.\d\d)*\s*').fullmatch
_FIGURES = re.compile(  # a test that was left out, for example by -i 1, may have no name
    r'\s*"(?: {0,30}([A-Z][A-Za-z -]{2,20}?)\s*| {1,30})"((?:\s+-?(?:\d{1,20}\.\d\d|nan|inf))+)\s*'
).fullmatch
_LIKE_FIGURES = re.compile(r'\s*"\s*[A-Z][A-Za-z -]{2,20}?\s*"\s+\S|\s*"(?:Record size =|Output is in) ').match
_RECORD = re.compile(r'\s*"Record size = (\d{1,15}) [kK][bB]ytes ?"').match
_UNIT = re.compile(r'\s*"Output is in ([^"]{1,20})"').match
_MATRICES = {
    ("", "Writer"): "write", ("Re-", "writer"): "rewrite", ("", "Reader"): "read", ("Re-", "Reader"): "reread",
    ("", "Random read"): "randread", ("", "Random write"): "randwrite", ("", "Backward read"): "backward_read",
    ("", "Record rewrite"): "record_rewrite", ("", "Stride read"): "stride_read", ("", "Fwrite"): "fwrite",
    ("Re-", "Fwrite"): "frewrite", ("", "Fread"): "fread", ("Re-", "Fread"): "freread",
    ("", "Pwrite"): "pwrite", ("", "Pread"): "pread",
}  # fmt: skip
_TESTS = {
    "Initial write": "write", "Rewrite": "rewrite", "Read": "read", "Re-read": "reread",
    "Reverse Read": "backward_read", "Stride read": "stride_read", "Random read": "randread",
    "Mixed workload": "mixed", "Random write": "randwrite", "Pwrite": "pwrite", "Pread": "pread",
    "Fwrite": "fwrite", "Fread": "fread",
}  # fmt: skip
_ROWS_ABOVE = 60
_UNITS = {"kbytes/sec": ("bandwidth", 1024.0), "ops/sec": ("iops", 1.0)}


@dataclass(slots=True)
class ReportMatrix:
    """One operation: (file size, record size, figure, line index) for each cell. The operation is "" where none fits."""

    operation: str
    last: int
    cells: list[tuple[int, int, str, int]] = field(default_factory=list)
    damaged: list[int] = field(default_factory=list)  # indices of its lines that cannot be read


def read_matrix(text: SourceText, index: int) -> ReportMatrix:
    """Read the matrix whose title stands in this line."""
    title = MATRIX.match(text.lines[index])
    assert title is not None
    is_cpu = "CPU" in title[3]
    matrix = ReportMatrix("" if is_cpu else _MATRICES.get((title[1] or "", title[2]), ""), index)
    if index + 1 >= len(text.lines) or not _SIZES(text.lines[index + 1]):
        matrix.damaged += range(index + 1, min(index + 2, len(text.lines)))
        return matrix
    matrix.last = index + 1
    while matrix.last + 1 < len(text.lines) and _SIZES(text.lines[matrix.last + 1]):
        matrix.last += 1  # a mail program broke it
    above = " ".join(text.lines[index + 1 : matrix.last + 1])
    _read_rows(matrix, text, [int(size) * KIB for size in re.findall(r"\d+", above)], is_cpu)
    return matrix


def _read_rows(matrix: ReportMatrix, text: SourceText, records: list[int], is_cpu: bool) -> None:
    """Read the rows below the record sizes; the rest of one that a mail program broke has no file size."""
    size = placed = 0  # file size of the row, and the number of its figures
    for at in range(matrix.last + 1, len(text.lines)):
        line = text.lines[at]
        row = _ROW(line)
        rest = _REST(line) if row is None and size else None
        if not (row or rest or (is_cpu and _CPU_ROW(line))):
            if not line.strip() and size and at + 1 < len(text.lines) and _ROW(text.lines[at + 1]):
                continue  # a blank line from the trailing blanks of a wrapped row
            if not _LIKE_ROW(line):
                return
            matrix.damaged.append(at)
        matrix.last = at
        if not (row or rest):
            continue
        size, placed = (int(row[1]) * KIB, 0) if row else (size, placed)
        figures = (row[2] if row else line).split()
        if rest and placed + len(figures) > len(records):
            matrix.damaged.append(at)
            continue
        if at + 1 == len(text.lines) and _is_cut(text, at):
            matrix.damaged.append(at)
            figures.pop()
        matrix.cells += [(size, record, figure, at) for record, figure in zip(records[placed:], figures, strict=False)]
        placed += len(figures)


def _is_cut(text: SourceText, index: int) -> bool:
    """Return whether the text ends in the middle of a figure: IOzone prints a blank behind each, as in the rows above."""
    rows = [line for line in text.lines[max(0, index - _ROWS_ABOVE) : index] if _ROW(line)]
    is_bare = text.lines[index][-1:].isdigit() and not text.text.endswith(("\n", "\r"))
    return is_bare and any(line.endswith(" ") for line in rows)


def make_matrix_samples(
    matrix: ReportMatrix, text: SourceText, unit: tuple[str, str, float, str]
) -> list[ParsedSample]:
    """Return the samples of a matrix; a cell of 0 was not run: iozone.c fills with it (store_value((off64_t)0))."""
    printed, metric, factor, note = unit
    return [
        ParsedSample(
            matrix.operation, metric, int(figure) * factor if 0 < int(figure) < 10**15 else None, 0, size, record,
            None, None, f"{figure} {printed}", text.number(at),
            missing_reason="" if 0 < int(figure) < 10**15 else "not run", note=note,
        )
        for size, record, figure, at in matrix.cells
    ]  # fmt: skip


@dataclass(slots=True)
class ThroughputReport:
    """For each test the figures of each number of processes, in IOzone's order."""

    last: int
    record: int | None = None
    unit: str = ""
    tests: list[tuple[str, list[str], int]] = field(default_factory=list)
    damaged: list[int] = field(default_factory=list)  # indices of its lines that cannot be read


def read_throughput(text: SourceText, index: int) -> ThroughputReport:
    """Read the throughput report whose title stands in this line."""
    report = ThroughputReport(index)
    for at in range(index + 1, len(text.lines)):
        line = text.lines[at]
        if record := _RECORD(line):
            report.record = int(record[1]) * KIB
        elif unit := _UNIT(line):
            report.unit = unit[1]
        elif figures := _FIGURES(line):
            report.tests.append((figures[1] or "", figures[2].split(), at))
        elif at == index + 1 and line.strip() == 'processes"':
            pass  # end of the title, which a mail program broke
        elif line.strip() and not _LIKE_FIGURES(line):
            break
        elif line.strip():
            report.damaged.append(at)
        if line.strip():
            report.last = at
    return report


def make_throughput_samples(
    report: ThroughputReport, text: SourceText, threads: list[int], size: int | None
) -> list[ParsedSample] | str:
    """Return the samples of a report, or why it can not be read. `threads` are the numbers of processes that the text states."""
    known = _UNITS.get(report.unit.lower())
    if known is None:
        return f"a throughput report in {report.unit or 'no unit'}"
    columns = {len(figures) for _, figures, _ in report.tests}
    if len(columns) != 1 or (len(threads) != (count := columns.pop()) and count > 1):
        return "a throughput report of several numbers of processes that the text does not name"
    metric, factor = known
    numbers: list[int | None] = [*threads] if len(threads) == count else [None]
    return [
        _make_throughput_sample(_TESTS[name], metric, figure, factor, report, number, size, text.number(at))
        for name, figures, at in report.tests
        if name in _TESTS
        for figure, number in zip(figures, numbers, strict=True)
    ]


def _make_throughput_sample(
    operation: str, metric: str, figure: str, factor: float, report: ThroughputReport, threads: int | None,
    size: int | None, line: int,
) -> ParsedSample:  # fmt: skip
    value = float(figure)
    is_there = math.isfinite(value) and 0 < value < 1e15
    return ParsedSample(
        operation, metric, value * factor if is_there else None, 0, size, report.record, threads, None,
        f"{figure} {report.unit}", line, missing_reason="" if is_there else "not run",
    )  # fmt: skip


NAME = "iozone"
TITLE = "IOzone"

_DAMAGED = "a line of IOzone's whose figures cannot be read"
_NO_FIGURES = "no figures of IOzone"
_ENDED = "no figures of IOzone, which ended before the first"
_PHASE = "Children see throughput for N initial writers = X kB/sec"
_MOST_BLANK = 2  # lines between labelled rows
_LOOSE = 12  # lines between a banner and its figures
_NEEDLES = (START, " throughput for ", "reclen", ' report"', "report Y-axis is type of test")
_SURE = re.compile(
    r"Iozone: Performance Test of File I/O|[kK]B\s+reclen\s|(?:Children see|Parent sees) throughput for +\d"
)


def looks_like(text: SourceText) -> float:
    """Return how sure it is that the text has figures of IOzone: 1 for a banner, table or block, 0.9 for a report, else 0."""
    whole = text.text
    if not any(needle in whole for needle in _NEEDLES):
        return 0.0
    if _SURE.search(whole):
        return 1.0
    has_report = any(MATRIX.match(line) or THROUGHPUT.match(line) for line in text.lines if '"' in line)
    return 0.9 if has_report else 0.0


def parse(text: SourceText) -> ParsedFile:
    """Parse every run in the text.

    Raises:
        ParseError: if there is none.
    """
    reader = _IozoneReader(text)
    reader.read()
    reader.report_without_figures()
    runs = tuple(run for draft in reader.drafts if (run := draft.make_run(text)))
    if not runs and all(broken.message == _ENDED for broken in reader.broken):
        first = next(iter(reader.broken), Broken(_NO_FIGURES))
        expected = 'a "kB reclen" table, "Children see throughput", or a -R report'
        raise ParseError(first.message, line=first.line, found=first.found, expected=expected)
    return ParsedFile(runs, tuple(dict.fromkeys(reader.warnings)), tuple(reader.broken))


@dataclass(slots=True)
class _IozoneReader:
    text: SourceText
    banner: IozoneBanner = field(default_factory=IozoneBanner)
    drafts: list[IozoneDraft] = field(default_factory=list)
    broken: list[Broken] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    failures: list[IozoneFailure] = field(default_factory=list)  # of a run that has no figures yet

    def read(self) -> None:
        lines = self.text.lines
        index = 0
        while index < len(lines):
            line = lines[index]
            if "reclen" in line and HEADER.search(line):
                index = self._read_table(index)
            elif "throughput for" in line and SEEN.search(line):
                index = self._read_phase(index)
            elif "Children see throughput for" in line or LIKE_ONE.match(line):
                self._break(_DAMAGED, index, _PHASE)
                index += 1
            elif '"' in line and MATRIX.match(line):
                index = self._read_matrix(index)
            elif '"' in line and THROUGHPUT.match(line):
                index = self._read_throughput_report(index)
            elif ' report"' in line:
                self._break(_DAMAGED, index, 'a title as "Writer report" on a line of its own')
                index += 1
            else:
                self._read_other(line, index)
                index += 1

    def _read_other(self, line: str, index: int) -> None:
        if not line or line.isspace() or line.lstrip()[0].isdigit():
            return
        if failure := find_failure(self.text.lines, index):
            self._note_failure(failure)
            return
        banner = IozoneBanner() if self._is_used(line) else self.banner
        if banner.read(line, index):
            self.banner = banner
        elif (command := banner if "command" not in banner.facts else IozoneBanner()).read_shell(line, index):
            self.banner = command  # the last command above the figures counts
        elif line.strip() == "iozone test complete." and self._get_current() is not None:
            self.drafts[-1].last = index

    def _is_used(self, line: str) -> bool:
        """Return whether a banner line that comes now belongs to a new run."""
        if START in line:
            self.report_without_figures()
            return True
        return self._get_current() is not None and "Each " not in line

    def _note_failure(self, failure: IozoneFailure) -> None:
        """Add a failure to the run whose figures stand above it, or to the one that is still to come."""
        draft = self._get_current()
        known = draft.failures if draft else self.failures
        if known and known[-1].last >= failure.first:  # a further line of it
            return
        known.append(failure)
        if draft:
            draft.last = max(draft.last, failure.last)
        elif self.banner.first is not None:
            self.banner.last = failure.last

    def report_without_figures(self) -> None:
        """Report a run of IOzone as broken of which there is the banner, and no figure."""
        first = self.banner.first
        if first is None or not self.banner.is_started or self._get_current() is not None:
            self.failures = []
            return
        number, last = self.text.number(first), self.banner.last or first
        excerpt = self.failures[0].text if self.failures else self.text.lines[last].strip()[:100]
        if not self.broken or (self.broken[-1].line or 0) < number:
            self.broken.append(Broken(_ENDED, number, excerpt, "a table, or a throughput"))
        self.failures = []

    def _begin_draft(self, kind: str, index: int) -> IozoneDraft:
        is_near = self.banner.last is not None and index - self.banner.last <= _LOOSE
        if not is_near or self._get_current() is not None:
            self.banner = IozoneBanner()
        self.drafts.append(IozoneDraft(kind, self.banner, index, index, failures=self.failures))
        self.failures = []
        return self.drafts[-1]

    def _break(self, message: str, index: int, expected: str) -> None:
        line = self.text.lines[index].strip()[:200]
        self.broken.append(Broken(message, self.text.number(index), line, expected))

    def _tell(self, damaged: list[int], expected: str) -> None:
        for index in damaged:
            self._break(_DAMAGED, index, expected)

    def _read_table(self, index: int) -> int:
        lines = self.text.lines
        above = lines[index - 1] if index else ""
        below = lines[index + 1] if index + 1 < len(lines) and is_rest_of_header(lines[index + 1]) else ""
        columns = read_header(above, lines[index], below)
        if columns is None:
            self._break("a table whose columns cannot be told apart", index, "kB reclen write rewrite read reread…")
            return index + 1
        following = index + (2 if below else 1)
        while True:
            draft = self._begin_draft("table", index - 1 if is_above_header(above) and index else index)
            table = TableReader(self.text, columns, draft, bool(below), self.broken)
            following = table.read(following)
            self._add_warning(draft, columns.words, columns.operations)
            if not table.is_at_repeat:
                behind = self._read_labelled(draft, columns, following)
                if behind == following:
                    return behind
                following = behind
            index, above = following, ""

    def _read_labelled(self, before: IozoneDraft, columns: TableColumns, index: int) -> int:
        """Read rows of other runs below the table's own, each with a name that somebody gave it."""
        lines, following = self.text.lines, index
        while index < len(lines) and index - following <= _MOST_BLANK:
            draft = IozoneDraft("table", before.banner, index, index)
            if TableReader(self.text, columns, draft, broken=self.broken).read_labelled(index):
                self.drafts.append(draft)
                self._add_warning(draft, (), ())
                following = index + 1
            elif lines[index].strip():
                break
            index += 1
        return following

    def _add_warning(self, draft: IozoneDraft, words: tuple[str, ...], operations: tuple[str, ...]) -> None:
        number = self.text.number(draft.first)
        if draft.samples and draft.samples[0].note == DEFAULT_NOTE:
            self.warnings.append(f"line {number}: {DEFAULT_NOTE}")
        wordless = [word for word, operation in zip(words, operations, strict=True) if not operation]
        if wordless:
            self.warnings.append(f"line {number}: not kept: {', '.join(wordless)}")

    def _read_phase(self, index: int) -> int:
        draft = self._get_current()
        phase, last, following = read_phase(self.text, index, self.banner)
        if problem := find_problem(phase, self.text.number(index)):
            self.broken.append(problem)
            return max(following, index + 1)
        is_other = draft is None or draft.kind != "throughput" or draft.mark != phase.mark
        if is_other or draft is None or not draft.add_phase(phase):
            draft = self._begin_draft("throughput", index)
            phase, last, following = read_phase(self.text, index, self.banner)
            draft.mark = phase.mark
            draft.add_phase(phase)
        self._tell(phase.damaged, "a throughput in kB/sec or ops/sec")
        draft.last = last
        return max(following, index + 1)

    def _get_current(self) -> IozoneDraft | None:
        """Return the run to which the following lines belong, None where a new one begins."""
        return self.drafts[-1] if self.drafts and self.drafts[-1].banner is self.banner else None

    def _read_matrix(self, index: int) -> int:
        matrix = read_matrix(self.text, index)
        draft = self._get_current() or self._begin_draft("report", index)
        if matrix.operation and matrix.cells:
            samples = make_matrix_samples(matrix, self.text, draft.unit())
            if not draft.add_report(samples):
                draft = self._begin_draft("report", index)
                draft.add_report(make_matrix_samples(matrix, self.text, draft.unit()))
            self._add_warning(draft, (), ())
        if matrix.operation:
            self._tell(matrix.damaged, 'record sizes or a file size in "…", then figures')
        draft.last = matrix.last
        return matrix.last + 1

    def _read_throughput_report(self, index: int) -> int:
        throughput = read_throughput(self.text, index)
        draft = self._get_current() or self._begin_draft("report", index)
        if throughput.tests and "Throughput" in self.text.lines[index]:
            self._take_throughput(throughput, draft, index)
            draft = self.drafts[-1]
        if "Throughput" in self.text.lines[index]:
            self._tell(throughput.damaged, "a test and its figures")
        draft.last = throughput.last
        return throughput.last + 1

    def _take_throughput(self, throughput: ThroughputReport, draft: IozoneDraft, index: int) -> None:
        samples = make_throughput_samples(throughput, self.text, draft.threads(), draft.file_size())
        if isinstance(samples, str):
            self._break(samples, index, "kBytes/sec or ops/sec, and the number of processes")
            return
        if not draft.add_throughput_report(samples):
            draft = self._begin_draft("report", index)
            samples = make_throughput_samples(throughput, self.text, draft.threads(), draft.file_size())
            draft.add_report(samples if isinstance(samples, list) else [])
        draft.record = throughput.record

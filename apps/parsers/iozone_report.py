"""IOzone's report for spreadsheets, `-R`, in both forms; see `iozone`."""

import math
import re
from dataclasses import dataclass, field

from apps.parsers.iozone_banner import KIB
from apps.parsers.shape import ParsedSample
from apps.parsers.source_text import SourceText

MATRIX = re.compile(r'^\s*"(Re-)?(Writer|Reader|Random read|Random write|Backward read|Record rewrite|Stride read'
                    r'|Fwrite|Fread|Pwrite|Pread|Pwritev|Preadv|writer)( CPU utilization report[^"]*| report)"\s*$')  # fmt: skip
THROUGHPUT = re.compile(r'^\s*"(Throughput|CPU utilization) report Y-axis is type of test X-axis is number of')
_SIZES = re.compile(r'\s*(?:"\d{1,15}"\s*)+').fullmatch
_ROW = re.compile(r'\s*"(\d{1,15})"((?:\s+\d{1,20})*)\s*').fullmatch
_REST = re.compile(r"\s*\d{1,20}(?:\s+\d{1,20})*\s*").fullmatch  # of a row that a mail program broke
_LIKE_ROW = re.compile(r'\s*"\w{1,15}"(?:\s+"?\w{1,20}"?)*\s*').fullmatch  # with letters in its figures
_CPU_ROW = re.compile(r'\s*"\d{1,15}"(?:\s+\d{1,9}\.\d\d)*\s*').fullmatch
_FIGURES = re.compile(  # a test that was left out, as by -i 1, may have no name
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
class Matrix:
    """One operation: (file size, record size, figure, index of its line) per cell. No operation where none fits."""

    operation: str
    last: int
    cells: list[tuple[int, int, str, int]] = field(default_factory=list)
    damaged: list[int] = field(default_factory=list)  # indices of its lines that cannot be read


def read_matrix(text: SourceText, index: int) -> Matrix:
    title = MATRIX.match(text.lines[index])
    assert title is not None
    is_cpu = "CPU" in title[3]
    matrix = Matrix("" if is_cpu else _MATRICES.get((title[1] or "", title[2]), ""), index)
    if index + 1 >= len(text.lines) or not _SIZES(text.lines[index + 1]):
        matrix.damaged += range(index + 1, min(index + 2, len(text.lines)))
        return matrix
    matrix.last = index + 1
    while matrix.last + 1 < len(text.lines) and _SIZES(text.lines[matrix.last + 1]):
        matrix.last += 1  # a mail program broke it
    above = " ".join(text.lines[index + 1 : matrix.last + 1])
    _read_rows(matrix, text, [int(size) * KIB for size in re.findall(r"\d+", above)], is_cpu)
    return matrix


def _read_rows(matrix: Matrix, text: SourceText, records: list[int], is_cpu: bool) -> None:
    """The rows below the record sizes; the rest of one that a mail program broke has no file size."""
    size = placed = 0  # of the row, and how many figures it has
    for at in range(matrix.last + 1, len(text.lines)):
        line = text.lines[at]
        row = _ROW(line)
        rest = _REST(line) if row is None and size else None
        if not (row or rest or (is_cpu and _CPU_ROW(line))):
            if not line.strip() and size and at + 1 < len(text.lines) and _ROW(text.lines[at + 1]):
                continue  # what was left of a row were its last blanks
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
    """Whether the text ends in the middle of a figure: IOzone prints a blank behind each, as the rows above have it."""
    rows = [line for line in text.lines[max(0, index - _ROWS_ABOVE) : index] if _ROW(line)]
    is_bare = text.lines[index][-1:].isdigit() and not text.text.endswith(("\n", "\r"))
    return is_bare and any(line.endswith(" ") for line in rows)


def matrix_samples(matrix: Matrix, text: SourceText, unit: tuple[str, str, float, str]) -> list[ParsedSample]:
    """A cell of 0 was not run: iozone.c fills with it (store_value((off64_t)0))."""
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
class Throughput:
    """Per test the figures of each number of processes, in IOzone's order."""

    last: int
    record: int | None = None
    unit: str = ""
    tests: list[tuple[str, list[str], int]] = field(default_factory=list)
    damaged: list[int] = field(default_factory=list)  # indices of its lines that cannot be read


def read_throughput(text: SourceText, index: int) -> Throughput:
    report = Throughput(index)
    for at in range(index + 1, len(text.lines)):
        line = text.lines[at]
        if record := _RECORD(line):
            report.record = int(record[1]) * KIB
        elif unit := _UNIT(line):
            report.unit = unit[1]
        elif figures := _FIGURES(line):
            report.tests.append((figures[1] or "", figures[2].split(), at))
        elif at == index + 1 and line.strip() == 'processes"':
            pass  # of the title, which a mail program broke
        elif line.strip() and not _LIKE_FIGURES(line):
            break
        elif line.strip():
            report.damaged.append(at)
        if line.strip():
            report.last = at
    return report


def throughput_samples(
    report: Throughput, text: SourceText, threads: list[int], size: int | None
) -> list[ParsedSample] | str:
    """What the report says, or why it cannot be said. `threads` holds the numbers of processes that the text names."""
    known = _UNITS.get(report.unit.lower())
    if known is None:
        return f"a throughput report in {report.unit or 'no unit'}"
    columns = {len(figures) for _, figures, _ in report.tests}
    if len(columns) != 1 or (len(threads) != (count := columns.pop()) and count > 1):
        return "a throughput report of several numbers of processes that the text does not name"
    metric, factor = known
    numbers: list[int | None] = [*threads] if len(threads) == count else [None]
    return [
        _sample(_TESTS[name], metric, figure, factor, report, number, size, text.number(at))
        for name, figures, at in report.tests
        if name in _TESTS
        for figure, number in zip(figures, numbers, strict=True)
    ]


def _sample(
    operation: str, metric: str, figure: str, factor: float, report: Throughput, threads: int | None,
    size: int | None, line: int,
) -> ParsedSample:  # fmt: skip
    value = float(figure)
    is_there = math.isfinite(value) and 0 < value < 1e15
    return ParsedSample(
        operation, metric, value * factor if is_there else None, 0, size, report.record, threads, None,
        f"{figure} {report.unit}", line, missing_reason="" if is_there else "not run",
    )  # fmt: skip

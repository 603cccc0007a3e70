"""IOzone's throughput mode, `-t`: one block of lines for each test; described in `format.py`."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from apps.parsers.core.models import Broken, ParsedSample
from apps.parsers.core.source_text import SourceText
from apps.parsers.iozone.banner import KIB, IozoneBanner

_NUMBER = r"(-?\d{1,20}(?:\.\d{1,6})?|-?nan|-?inf)"
_UNIT = r"([A-Za-z]{1,12})"
SEEN = re.compile(
    rf"(Children|Parent) sees? throughput for +(\d{{1,9}}) ([A-Za-z][A-Za-z -]{{1,40}}?)\s*=\s*{_NUMBER} {_UNIT}/sec"
)
_EACH = re.compile(rf"(Min|Max|Avg) throughput per (?:process|thread)\s*=\s*{_NUMBER} {_UNIT}/sec")
_XFER = re.compile(rf"Min xfer\s*=\s*{_NUMBER} {_UNIT}")
_CPU = re.compile(rf"CPU [uU]tilization: Wall time\s+{_NUMBER}\s+CPU time\s+{_NUMBER}\s+CPU utilization\s+{_NUMBER} ?%")
LIKE_ONE = re.compile(
    r"\s*(?:(?:Min|Max|Avg) throughput per |Min xfer|Parent sees throughput|CPU [uU]tilization: Wall)"
)
_MARKED = re.compile(
    r"\s*([A-Za-z0-9][\w.-]{0,62}):\s+(?:(?:Children|Parent) sees? |(?:Min|Max|Avg) |CPU )"
)  # lines of pdsh
_REST = re.compile(rf"(?:(?:CPU )?[uU]tilization\s+)?(?:= *)?(?:{_NUMBER} ?)?(?:{_UNIT}/sec|%)?").fullmatch
_CHILD = re.compile(r"Child\[\d+\] xfer count =")
OPERATIONS = {
    "initial writers": "write", "rewriters": "rewrite", "readers": "read", "re-readers": "reread",
    "reverse readers": "backward_read", "stride readers": "stride_read", "random readers": "randread",
    "mixed workload": "mixed", "random writers": "randwrite", "pwrite writers": "pwrite", "pread readers": "pread",
    "fwriters": "fwrite", "freaders": "fread",
}  # fmt: skip
_RATES = {"Children": "", "Parent": "_parent", "Min": "_min", "Max": "_max", "Avg": "_mean"}
_UNITS = {"kb": ("bandwidth", 1024.0), "ops": ("iops", 1.0)}
_NOTHING = "no process moved anything"
_EXPECTED = "Children see throughput for N initial writers, rewriters, readers, re-readers…"


@dataclass(slots=True)
class ThroughputPhase:
    """One test with one number of processes."""

    name: str
    threads: int
    rates: dict[str, tuple[str, str, int]] = field(default_factory=dict)  # Children, Min…: figure, unit, line
    xfer: tuple[str, str, int] | None = None
    cpu: float | None = None
    file_size: int | None = None
    record: int | None = None
    mark: str = ""  # the word with which its lines begin
    damaged: list[int] = field(default_factory=list)  # indices of its lines that cannot be read

    @property
    def operation(self) -> str:
        """Return the operation, "" where Spindle has no word."""
        return OPERATIONS.get(self.name.strip(), "")

    @property
    def children(self) -> str:
        """Return the throughput of all children together, as printed."""
        return self.rates.get("Children", ("",))[0]


def read_phase(text: SourceText, index: int, banner: IozoneBanner) -> tuple[ThroughputPhase, int, int]:
    """Read the test that begins at `index`; return it, the index of its last line, and the index from which to go on."""
    first = SEEN.search(text.lines[index])
    assert first is not None
    phase = ThroughputPhase(first[3], int(first[2]), mark=_find_mark(text.lines[index]))
    phase.file_size, phase.record = banner.each or (banner.size("file_size"), banner.size("block_size"))
    last = index
    while index < len(text.lines):
        line = text.lines[index]
        if line.strip() and not _CHILD.search(line):
            if _find_mark(line) not in ("", phase.mark):
                break
            if not _take_line(phase, line, text.number(index)):
                if not LIKE_ONE.match(line) or SEEN.search(line):
                    break
                if _take_line(phase, _join_rest(text.lines, index), text.number(index)):
                    index += 1
                else:
                    phase.damaged.append(index)
            elif line.count("=") + line.count("CPU time") > 1:
                phase.damaged.append(index)  # the next line stands behind it
        elif not line.strip() and not _is_continued(text, index):
            break
        last = index if line.strip() else last
        index += 1
    return phase, last, index


def _join_rest(lines: Sequence[str], index: int) -> str:
    """Return a line joined with the figure or unit below it, where a mail program broke it."""
    rest = lines[index + 1].strip() if index + 1 < len(lines) else ""
    return f"{lines[index].rstrip()} {rest}" if _REST(rest) else ""


def _find_mark(line: str) -> str:
    match = _MARKED.match(line) if ":" in line else None
    return match[1] if match else ""


def _is_continued(text: SourceText, index: int) -> bool:
    """Return whether the test goes on behind a blank line, as mails put one between its lines."""
    following = text.lines[index + 1] if index + 1 < len(text.lines) else ""
    return any(pattern.search(following) for pattern in (_EACH, _XFER, _CPU)) or "Parent sees" in following


def _take_line(phase: ThroughputPhase, line: str, number: int) -> bool:
    """Read one more line of this test; return whether it is one."""
    if match := SEEN.search(line):
        if match[1] in phase.rates or match[3] != phase.name or int(match[2]) != phase.threads:
            return False
        phase.rates[match[1]] = (match[4], match[5], number)
    elif match := _EACH.search(line):
        if match[1] in phase.rates:
            return False  # belongs to another test, whose first lines are lost
        phase.rates[match[1]] = (match[2], match[3], number)
    elif match := _XFER.search(line):
        if phase.xfer:
            return False
        phase.xfer = (match[1], match[2], number)
    elif match := _CPU.search(line):
        percent = _scale_finite(match[3], 1.0)
        phase.cpu = None if percent is None else round(percent / 100, 6)
    else:
        return False
    return True


def _scale_finite(figure: str, factor: float) -> float | None:
    value = float(figure)
    return value * factor if math.isfinite(value) and 0 <= value < 1e15 else None


def iterate_samples(phase: ThroughputPhase, record: int | None) -> Iterator[ParsedSample]:
    """Yield the samples of a test, except the parent's ops/sec and the smallest transfer in operations, which have no metric."""
    is_nothing = bool(phase.children) and _scale_finite(phase.children, 1.0) == 0

    def sample(metric: str, printed: str, value: float | None, line: int) -> ParsedSample:
        value = None if is_nothing else value
        reason = _NOTHING if is_nothing else "" if value is not None else "no number is printed"
        return ParsedSample(
            phase.operation, metric, value, 0, phase.file_size, phase.record or record, phase.threads, None, printed, line,
            missing_reason=reason,
            cpu=phase.cpu if metric in ("bandwidth", "iops") else None,
        )  # fmt: skip

    for name, (figure, unit, line) in phase.rates.items():
        metric, factor = _UNITS.get(unit.lower(), ("", 1.0))
        if metric and (metric, name) != ("iops", "Parent"):
            yield sample(metric + _RATES[name], f"{figure} {unit}/sec", _scale_finite(figure, factor), line)
    if phase.xfer and phase.xfer[1].lower() == "kb":
        yield sample("min_xfer", f"{phase.xfer[0]} {phase.xfer[1]}", _scale_finite(phase.xfer[0], KIB), phase.xfer[2])


def find_problem(phase: ThroughputPhase, line: int) -> Broken | None:
    """Return why a test can not be read, None where it can."""
    if not phase.operation:
        return Broken("a throughput test that IOzone does not name", line, phase.name, _EXPECTED)
    strange = {unit for _, unit, _ in phase.rates.values() if unit.lower() not in _UNITS}
    if strange or not 0 < phase.threads < 2**31:
        return Broken("a throughput test in an unknown unit", line, ", ".join(sorted(strange)), "kB/sec or ops/sec")
    return None

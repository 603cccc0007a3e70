"""Parser of hdparm's timings, `-t` and `-T`, with and without --direct: hdparm 3 to 9.65, and busybox's.

One real line, of 9.65:

    ` Timing O_DIRECT disk reads: 300 MB in  0.13 seconds = 2276.80 MB/sec`

    /dev/DEVICE:
     Timing [buffer-cache|cached|buffered disk|O_DIRECT cached|O_DIRECT disk] reads[ (offset N GB)]: N MB in S seconds = R MB/sec

Operations are `cached_read` for the cache and `read` for the disk; `offset` is where the disk is read from, in bytes. A
run is what stands under one device line; where that line is missing, the device comes from the command line.

- **Units**: "MB" is 1024 × 1024 and "kB" 1024 bytes in every version: it counts whole buffers of 2 MiB (TIMING_BUF_MB
  in hdparm.c 9.43) and prints total_MB / elapsed, or × 1024 as "kB/sec" below 1 MB/s. Busybox prints whole "kB/s" of
  1024 bytes, and truncates its seconds (print_timing in hdparm.c). The offset's "GB" is 0x40000000 bytes (time_device
  in hdparm.c, timings_offset).
- The rate is used as printed: it is computed from the time before that is rounded to 0.01 s. Where it does not agree
  with the MB and seconds beside it, the sample has a note and the file a warning.
- A timing below blank lines only is of the device above: somebody repeated the run. A command between two timings
  separates them. On Windows devices are `hdb`, without a directory.
- Mails break the line before the unit, and pages in Markdown have the rate in bold. Messages (`HDIO_DRIVE_CMD…`) stand
  between the lines, also between `reads:` and its figures where the cache cannot be flushed (flush_buffer_cache, before
  each timing): then the figures have that as a note. `read() hit EOF` in place of the figures means that nothing was
  measured.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from apps.parsers.core.models import Broken, ParsedFile, ParsedRun, ParsedSample, ParseError
from apps.parsers.core.source_text import SourceText

NAME = "hdparm"
TITLE = "hdparm -tT"

_TIMING = re.compile(
    r"Timing (O_DIRECT )?(buffer-cache|cached|buffered disk|disk) reads(?: \(offset (\d{1,9}) GB\))?: *((?:(?!Timing ).)*)"
)
_LIKE_TIMING = re.compile(r"\s*Timing (?:O_DIRECT|buffer|cached|disk)")
_CUT = "a timing whose figures are cut off or not as hdparm prints them"
_EXPECTED = "N MB in S seconds = R MB/sec"
_FIGURES = re.compile(
    r"(\d{1,9})\sMB\sin\s{1,8}(\d{1,6}\.\d{1,3})\sseconds\s?=\s{0,8}\*{0,3}(\d{1,9}(?:\.\d{1,3})?)\s(([kM]B)/s(?:ec)?)(?![a-z])"
)
_DEVICE = re.compile(
    r"\s*(/dev/[\w./:-]{1,200}?):\s*(?:$|Timing |\([^()]{1,80}\)\s*$)"
)  # may be followed by a remark in brackets
_BARE_DEVICE = re.compile(r"\s*((?:[hs]d[a-z]\d{0,2}|nvme\d{1,2}n\d(?:p\d{1,2})?)):\s*$")  # hdparm for Windows
_WORD = (  # an option, a device or a variable, an option's number
    r"(?:-[\w=-]{1,40}|[/~$\"'{*](?:[^\s;|&<>`()\[]|\[[\w-]{1,20}\]){0,200}|[hs]d[a-z]\d{0,2}|\d{1,12})"
)
_COMMAND = re.compile(rf"(?:^|[\s#$%>;&|\]`(/*])(hdparm\s+-[\w=-]{{1,40}}(?:\s+{_WORD}(?![^\s;|&<>`()\[])){{0,20}})")
_ASKS_FOR_TIMES = re.compile(r"\s-[A-Za-z0-9]{0,20}[tT]|\s--direct")
_DEVICE_WITHIN = re.compile(r"(?:^|\s)(/dev/[\w./-]{1,200}):\s{0,8}$")  # before a timing on the same line
_OF_SEVERAL = re.compile(r"[*?\[{$]")  # a pattern or variable in a command, which may stand for several devices
_NO_CAPTION = re.compile(
    r".{0,100}hdparm|Timing |/dev/\S|[`~]{3}|\S{0,64}[$#%>](?:\s|$)|\[.{1,80}\][$#]"
    r"|[\s#=*^_~+-]*$|(?:real|user|sys)\b|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\b"
)
_WORD_WITHIN = re.compile(r"[^\W\d_]{2}")
_AROUND = " \t#=*:-_>|`"
_LONGEST_CAPTION = 100
_PATH = re.compile(r"/dev/[\w./-]{1,200}")
_MESSAGE = re.compile(r"fail|error|EOF|returned|invalid|denied|too small|no such|not permitted|HDIO|BLK", re.IGNORECASE)
_UNFLUSHED = re.compile(r"\s*(?:BLKFLSBUF|HDIO_DRIVE_CMD(?:\([^()]{1,40}\))?)(?: \([^()]{1,60}\))? failed: ")
_FACTORS = {"MB": 1024.0**2, "kB": 1024.0}
_MOST_BACK = 4
_LONGEST_DEVICE = 220  # characters, including blanks behind it


def looks_like(text: SourceText) -> float:
    """Return 1 if the text has a timing of hdparm, else 0."""
    return 1.0 if " reads" in text.text and _TIMING.search(text.text) else 0.0


@dataclass(slots=True)
class _HdparmDraft:
    """A run in the making; `first` and `last` are indices of lines."""

    first: int
    last: int
    target: str = ""
    command: str = ""
    is_direct: bool = False
    offset: int = 0  # GiB
    problem: str = ""
    caption: str = ""
    samples: list[ParsedSample] = field(default_factory=list)

    def make_run(self, text: SourceText) -> ParsedRun:
        workload: dict[str, str | int | float] = {"command": self.command} if self.command else {}
        if self.is_direct:
            workload |= {"direct": 1, "sync": "direct"}
        if self.offset:
            workload["offset"] = self.offset << 30
        return ParsedRun(
            tool="hdparm", tool_version="", samples=tuple(self.samples), workload=workload, target=self.target,
            problem=self.problem, caption=self.caption, line=text.number(self.first), last_line=text.number(self.last),
        )  # fmt: skip


def parse(text: SourceText) -> ParsedFile:
    """Parse the timings of every device.

    Raises:
        ParseError: if there are none.
    """
    broken: list[Broken] = []
    warnings: list[str] = []
    drafts = [draft for draft in _iterate_drafts(text, broken, warnings) if draft.samples]
    if not drafts and not broken:
        raise ParseError(
            "no timing of hdparm", expected="Timing buffered disk reads: 300 MB in 3.01 seconds = 99.67 MB/sec"
        )
    return ParsedFile(tuple(draft.make_run(text) for draft in drafts), tuple(warnings), tuple(broken))


def _iterate_drafts(text: SourceText, broken: list[Broken], warnings: list[str]) -> Iterator[_HdparmDraft]:
    current: _HdparmDraft | None = None
    for index, line in enumerate(text.lines):
        if device := _find_device(text.lines, index):
            if current:
                yield current
            current = _begin_draft(text.lines, index, device, current)
        timings = list(_TIMING.finditer(line)) if " reads" in line else []
        if current and current.samples and not timings and "hdparm" in line and _read_command(line):
            yield current
            current = None
        has_device = "/dev/" in line
        for timing in timings:
            operation = "cached_read" if "cache" in timing[2] else "read"
            start = timing.start()
            within = _DEVICE_WITHIN.search(line, max(0, start - _LONGEST_DEVICE), start) if has_device else None
            if within and (current is None or within[1] != current.target):
                if current:
                    yield current
                current = _begin_draft(text.lines, index, within[1], current)
            if current is None or index - current.last > _MOST_BACK or _is_other(current, operation):
                if current:
                    yield current
                current = _begin_without_device(text.lines, index, current)
            current.is_direct = current.is_direct or bool(timing[1])
            current.offset = int(timing[3] or current.offset)
            current.last = _take_timing(current, operation, timing, text, index, broken, warnings)
        if "Timing " in line and _LIKE_TIMING.match(line) and not timings:
            broken.append(Broken(_CUT, text.number(index), line.strip()[:200], _EXPECTED))
    if current:
        yield current


def _find_device(lines: list[str], index: int) -> str:
    line = lines[index]
    if "/dev/" in line:
        match = _DEVICE.match(line)
    elif ":" in line and index + 1 < len(lines) and "Timing " in lines[index + 1]:
        match = _BARE_DEVICE.match(line)
    else:
        return ""
    return match[1] if match else ""


def _begin_draft(lines: list[str], index: int, device: str, before: _HdparmDraft | None) -> _HdparmDraft:
    """Begin the run under a device line. A command may name several devices, or be repeated."""
    floor = before.last + 1 if before else 0
    command = _find_command_above(lines, index)
    if not command and before and not "".join(lines[floor:index]).strip():
        command_before = before.command
        command = command_before if device in command_before.split() or _OF_SEVERAL.search(command_before) else ""
    return _HdparmDraft(index, index, device, command, caption=_find_caption(lines, index, floor))


def _find_caption(lines: list[str], index: int, floor: int) -> str:
    """Return the words directly above, as people write them over each of their results; "" for anything else."""
    above = next((line.strip() for line in reversed(lines[max(floor, index - _MOST_BACK) : index]) if line.strip()), "")
    is_none = len(above) > _LONGEST_CAPTION or _NO_CAPTION.match(above) or _MESSAGE.search(above)
    return "" if is_none or not _WORD_WITHIN.search(above) else above.strip(_AROUND)


def _is_other(draft: _HdparmDraft, operation: str) -> bool:
    """Return whether a timing belongs to another run: hdparm does each timing once, and that of the cache first."""
    is_behind = operation == "cached_read" and bool(draft.samples) and not draft.target
    return is_behind or any(sample.operation == operation for sample in draft.samples)


def _begin_without_device(lines: list[str], index: int, before: _HdparmDraft | None) -> _HdparmDraft:
    """Begin a run without a device line: the device is that of the command line, if it names one, or of the same run repeated."""
    label, within, _ = lines[index][: 2 * _LONGEST_CAPTION].partition("Timing ")
    label = label.strip(_AROUND)[:_LONGEST_CAPTION] if within else ""
    if before and before.last < index and not "".join(lines[before.last + 1 : index]).strip():
        return _HdparmDraft(index, index, before.target, before.command, caption=label)
    command = _find_command_above(lines, index)
    paths = _PATH.findall(command)
    caption = label or _find_caption(lines, index, before.last + 1 if before else 0)
    return _HdparmDraft(index, index, paths[0] if len(paths) == 1 else "", command, caption=caption)


def _find_command_above(lines: list[str], index: int) -> str:
    for line in reversed(lines[max(0, index - _MOST_BACK) : index]):
        if _TIMING.search(line):
            return ""
        if "hdparm" in line and _COMMAND.search(line[:1000]):
            return _read_command(line)
    return ""


def _read_command(line: str) -> str:
    """Return the hdparm command in a line if it requests timings, else ""."""
    match = _COMMAND.search(line[:1000])
    return match[1].strip().rstrip(":,.*") if match and _ASKS_FOR_TIMES.search(match[1]) else ""


def _take_timing(
    draft: _HdparmDraft, operation: str, timing: re.Match[str], text: SourceText, index: int, broken: list[Broken],
    warnings: list[str],
) -> int:  # fmt: skip
    """Add the sample of one line; return the index of its last line."""
    lines = text.lines
    last, rest = index, timing[4]
    figures = _FIGURES.search(rest)
    more = lines[index + 1] if index + 1 < len(lines) else ""
    if (
        figures is None and "Timing " not in more and not _DEVICE.match(more)
    ):  # unless the next line begins a timing of its own
        figures = _FIGURES.search(f"{rest.rstrip()} {more.lstrip()}")
        last += figures is not None
    unflushed = ""
    if figures is None and _UNFLUSHED.match(rest):
        unflushed, (figures, last) = rest.strip()[:150], _find_figures_below(lines, index)
    number = text.number(last if unflushed else index)
    if figures is None:
        _take_failure(draft, operation, rest.strip(), number, broken)
        return last
    printed = f"{figures[3]} {figures[4]}"
    value = float(figures[3]) * _FACTORS[figures[5]]
    note = (
        ""
        if _agrees(figures, value)
        else f"printed {printed}, but {figures[1]} MB in {figures[2]} seconds are not that"
    )
    note = note or unflushed
    if note:
        warnings.append(f"line {number}: {note}")
    draft.samples.append(
        ParsedSample(
            operation, "bandwidth", value or None, printed=printed, line=number, note=note,
            missing_reason="" if value else "printed as 0",
        )
    )  # fmt: skip
    return last


def _find_figures_below(lines: list[str], index: int) -> tuple[re.Match[str] | None, int]:
    """Return the match of the figures below messages about flushing, and the index of their line."""
    last = index + 1
    while last < min(len(lines), index + _MOST_BACK) and _UNFLUSHED.match(lines[last]):
        last += 1
    figures = _FIGURES.match(lines[last].lstrip()) if last < len(lines) else None
    return figures, last if figures else index


def _agrees(figures: re.Match[str], value: float) -> bool:
    """Return whether a rate agrees with size and time, given the rounding of both: busybox truncates both, hdparm rounds."""
    size, seconds = int(figures[1]) * _FACTORS["MB"], float(figures[2])
    is_rounded = "." in figures[3]
    slack, longer = _FACTORS[figures[5]] * (0.006 if is_rounded else 1.0), 0.006 if is_rounded else 0.011
    return size / (seconds + longer) - slack <= value <= (size / max(seconds - 0.006, 1e-9)) + slack


def _take_failure(draft: _HdparmDraft, operation: str, rest: str, number: int, broken: list[Broken]) -> None:
    if not rest or rest[0].isdigit() or rest.startswith("^C"):
        broken.append(Broken(_CUT, number, rest[:200], _EXPECTED))
        return
    if not _MESSAGE.search(rest):
        return  # a remark that somebody wrote
    draft.problem = rest[:200]
    draft.samples.append(
        ParsedSample(operation, "bandwidth", None, line=number, missing_reason=f"failed: {rest[:150]}")
    )

r"""Parser of `time cp`: a copy that the shell or time(1) timed. bash, ksh, zsh, tcsh, fish; POSIX, BSD and GNU time.

One real line each, of bash and zsh:

    `real\\t0m0.512s`  behind  `$ time cp big /mnt/raid/`
    `cp big /mnt/raid/  0.00s user 0.42s system 98% cpu 0.430 total`

The forms of all of them are in `core/shell_times.py`. fish prints below a line of underscores; below it stand `usr time`
and `sys time`, whose first figure is that of both the shell and cp.

Each copy is a run with `elapsed` and, where the size of the copied file is in the text, `bandwidth`. The size comes
from a line of `ls -l` or from a dd that wrote the file, for the one file that the command copies; never from `ls -lh`,
which rounds. User and system time give the CPU as a fraction of one core. A command without times is no result. The
decimal mark is a point or a comma, as the locale has it. Data may still be in the page cache when cp ends, unless the
command says `sync`.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from apps.parsers.core.models import Broken, ParsedFile, ParsedRun, ParsedSample, ParseError
from apps.parsers.core.prompts import find_prompt_host
from apps.parsers.core.shell_times import ZSH, ShellTimes
from apps.parsers.core.source_text import SourceText

LISTED = re.compile(
    r"\s*(?:\d{1,20}\s{1,20}){0,2}-[rwxsStTlL-]{9}[.+@]?\s+\d+\s+\S+\s+\S+\s+(\d{1,18})\s+\S.*\s(\S+)\s*$"
)
_DD = re.compile(r"\bdd\s")
_WRITTEN = re.compile(r"\sof=(\S+)")
_BYTES = re.compile(r"(\d{1,18}) bytes ")
_NEAR = 40
_LONGEST_LISTING = 1000


def read_paths(command: str) -> tuple[list[str], str]:
    """Return the source paths and the target of a cp command."""
    words = re.split(r"\bcp\s+", command, maxsplit=1)[-1]
    words = re.split(r"[;&|)]|\s#", words, maxsplit=1)[0]
    named = [word.strip("\"'") for word in words.split() if not word.startswith("-")]
    return (named[:-1], named[-1]) if len(named) > 1 else ([], "")


def find_file_sizes(lines: Sequence[str]) -> list[tuple[int, str, int]]:
    """Return (line index, file name, bytes) wherever a listing or a dd states the size of a file."""
    sizes = []
    for index, line in enumerate(lines):
        if ("-r" in line or line.lstrip()[:1] == "-") and (listed := LISTED.match(line[:_LONGEST_LISTING])):
            sizes.append((index, _get_name(listed[2]), int(listed[1])))
        elif "of=" in line and _DD.search(line := line[:_LONGEST_LISTING]) and (written := _WRITTEN.search(line)):
            written_sizes = [int(match[1]) for each in lines[index + 1 : index + 4] if (match := _BYTES.match(each))]
            sizes += [(index, _get_name(written[1]), size) for size in written_sizes[:1]]
    return sizes


def find_size(source: str, file_sizes: Sequence[tuple[int, str, int]], first: int, last: int) -> int | None:
    """Return the size of the copied file in bytes if the lines near the copy state exactly one, else None."""
    name = _get_name(source)
    if not name or any(letter in name for letter in "*?[$"):
        return None
    start, end = bisect_left(file_sizes, (first - _NEAR,)), bisect_left(file_sizes, (last + _NEAR,))
    sizes = {size for _, of, size in file_sizes[start:end] if of == name}
    return sizes.pop() if len(sizes) == 1 else None


def _get_name(path: str) -> str:
    return path.rsplit("/", 1)[-1]


NAME = "time cp"
TITLE = "time cp"

_TIME = re.compile(r"(?:^|[\s#$%>;&|(\\`])((?:/usr/bin/|/bin/)?time\s)")
_CP = re.compile(r"(?:^|[\s(;&|'\"])((?:/\S{0,200}/)?cp\s+\S)")
_VERBOSE = re.compile(r'\s*Command being timed: "(.*\bcp\s+\S.*)"')
_UNREAD = re.compile(  # a line that should have a wall time
    r"\s*(?:real\s+(?:\d{1,6}[hm] ){0,2}\S*\d\S*\s*(?:$|[#(<])|\S+ real\s+\S+ user\s|\S+user \S+system \S+elapsed|Executed in\s)"
)
_UNREAD_CPU = re.compile(r"\s*(?:(?:user|sys)\s+\S*\d\S*\s*$|(?:usr|sys) time\s)")
_SKIPPED = re.compile(
    r"\s*(?:`{3}\w{0,20}\s*)?$|_{20,80}\s*$|\s*(?:(?:cp|sudo|Password|Command exited)\b|\[sudo\])|\s*\[?(?:\.{3}|…)\]?\s*$"
    r"|\s*(?:\^T\s{0,8})?load: [\d.,]{1,12} {1,4}cmd: "  # Ctrl-T on BSD and macOS
)
_LISTED = re.compile(  # lines of cp -v, old and new, and of BSD's, which prints names without quotes
    r"\s*(?:(?:['`‘\"][^\n]{1,4096}['’\"]|\S+) -> \S|(?:removed|created directory) ['`‘])"
)
_OF_DD = re.compile(r"\d{1,18}\+\d{1,18} records (?:in|out)\s*$|\d{1,20} bytes (?:\([^()]{1,60}\) copied|transferred)")
_BEFORE = (  # commands that may stand before the copy on its line, and what they print
    (re.compile(r"(?:^|[\s(;&|])dd\s"), _OF_DD),
    (re.compile(r"(?:^|[\s(;&|])(?:ls|ll)\s"), LISTED),
)
_NO_CPU = "a time in the processor that cannot be read"
_LONGEST = 1000
_MOST_AFTER = 30
_MOST_BLANK = 2
_NS = 1e9
FileSizes = list[tuple[int, str, int]]  # see `find_file_sizes`


@dataclass(slots=True)
class CopyTiming(ShellTimes):
    """The times of one copy, and what went wrong with it."""

    failure: str = ""
    unread: str = ""  # a line with a time that can not be read


@dataclass(frozen=True, slots=True)
class TimedCopy:
    """A cp command and its times."""

    command: str
    first: int
    timing: CopyTiming
    host: str = ""  # from the prompt before it


def looks_like(text: SourceText) -> float:
    """Return 0.95 if the text has a cp command with its time, else 0."""
    whole = text.text
    if "cp " not in whole or not any(
        word in whole for word in ("real", "elapsed", " total", "Elapsed", "Executed in", "u ")
    ):
        return 0.0
    broken: list[Broken] = []
    return 0.95 if next(_iterate_copies(text, broken), None) or broken else 0.0


def parse(text: SourceText) -> ParsedFile:
    """Parse every timed copy in the text.

    Raises:
        ParseError: if there is none.
    """
    broken: list[Broken] = []
    sizes = find_file_sizes(text.lines)
    runs = tuple(_make_run(copy, text, sizes) for copy in _iterate_copies(text, broken))
    if not runs and not broken:
        raise ParseError("no cp with its time", expected="time cp FROM TO, then real 0m0.512s")
    return ParsedFile(runs, broken=tuple(broken))


def _iterate_copies(text: SourceText, broken: list[Broken]) -> Iterator[TimedCopy]:
    lines = text.lines
    for index, line in enumerate(lines):
        if "cp " not in line or len(line) > _LONGEST or _LISTED.match(line):
            continue
        timing = CopyTiming()
        if (
            "% cpu " in line
            and (zsh := ZSH.search(line))
            and (command_match := _CP.search(line, 0, zsh.start() + 1))
            and timing.take_zsh(line, index)
        ):
            yield TimedCopy(line[command_match.start(1) : zsh.start()].strip(), index, timing)
        elif verbose := _VERBOSE.match(line):
            timing.take_verbose(lines, index)
            if timing.real is not None:
                yield TimedCopy(verbose[1], index, timing)
            else:
                broken.append(_make_unreadable(text, index, line))
        elif command := _find_command(line):
            printed = [of for typed, of in _BEFORE if typed.search(line, 0, line.find(command))]
            timing_below = _read_times(lines, index, printed)
            if timing_below.real is not None:
                yield TimedCopy(command, index, timing_below, find_prompt_host(line, line.find(command)))
                if timing_below.unread:
                    broken.append(
                        Broken(
                            _NO_CPU,
                            text.number(timing_below.last + 1),
                            timing_below.unread.strip()[:200],
                            "user 0m0.512s",
                        )
                    )
            elif timing_below.unread or timing_below.user is not None or timing_below.sys is not None:
                broken.append(_make_unreadable(text, timing_below.line or index, timing_below.unread or line))
        elif "s user " in line and "% cpu " in line and _CP.search(line):
            broken.append(_make_unreadable(text, index, line))


def _make_unreadable(text: SourceText, index: int, line: str) -> Broken:
    message = "a timed copy without a wall time that can be read"
    return Broken(message, text.number(index), line.strip()[:200], "real 0m0.512s")


def _find_command(line: str) -> str:
    """Return the command of a line that times a cp, without its prompt; "" for any other line."""
    match = _TIME.search(line) if "time" in line else None
    if match is None or _CP.search(line, match.end() - 1) is None:
        return ""
    return line[match.start(1) :].strip().rstrip("`")


def _read_times(lines: list[str], index: int, printed: Sequence[re.Pattern[str]] = ()) -> CopyTiming:
    """Read the times that follow a command, behind the messages of cp and of what was typed before it (`printed`)."""
    timing, blank, left = CopyTiming(last=index), 0, _MOST_AFTER
    for at in range(index + 1, len(lines)):
        line = lines[at]
        if " " in line and (_LISTED.match(line) or any(of.match(line) for of in printed)):
            continue
        left -= 1
        if not left:
            break
        if line.startswith(("cp: ", "Command exited with non-zero")) and timing.real is None:
            timing.failure = timing.failure or line.strip()[:200]
        blank = 0 if line.strip() else blank + 1
        if not timing.take(line, at) and (blank > _MOST_BLANK or not _SKIPPED.match(line)):
            if timing.real is None and _UNREAD.match(line):
                timing.unread, timing.line = line, at
            elif timing.real is not None and _UNREAD_CPU.match(line):
                timing.unread = line
            break
    return timing


def _make_run(copy: TimedCopy, text: SourceText, sizes: FileSizes) -> ParsedRun:
    target = read_paths(copy.command)[1]
    return ParsedRun(
        tool="cp", tool_version="", samples=_make_samples(copy, text, sizes), workload={"command": copy.command}, host=copy.host, target=target,
        problem=copy.timing.failure, line=text.number(copy.first), last_line=text.number(copy.timing.last),
    )  # fmt: skip


def _make_samples(copy: TimedCopy, text: SourceText, sizes: FileSizes) -> tuple[ParsedSample, ...]:
    timing, sources = copy.timing, read_paths(copy.command)[0]
    line, seconds = text.number(timing.line), timing.real or 0.0
    if timing.failure:
        reason = f"failed: {timing.failure[:150]}"
        return (ParsedSample("copy", "elapsed", None, printed=timing.printed, line=line, missing_reason=reason),)
    size = find_size(sources[0], sizes, copy.first, copy.timing.last) if len(sources) == 1 else None
    elapsed = ParsedSample(
        "copy",
        "elapsed",
        round(seconds * _NS, 3),
        file_size=size,
        printed=timing.printed,
        line=line,
        cpu=_compute_cpu(timing),
    )
    if not size or seconds <= 0:
        return (elapsed,)
    bandwidth = ParsedSample(
        "copy", "bandwidth", size / seconds, file_size=size, printed=f"{size} bytes, {timing.printed}", line=line,
        quality="approximate" if timing.is_rough() else "exact",
    )  # fmt: skip
    return (elapsed, bandwidth)


def _compute_cpu(timing: CopyTiming) -> float | None:
    """Return the CPU as a fraction of one core, None where the times are too short for their decimals."""
    if timing.real is None or timing.user is None or timing.sys is None or timing.real < 1:
        return None
    return round((timing.user + timing.sys) / timing.real, 4)

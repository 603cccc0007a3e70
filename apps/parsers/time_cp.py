"""`time cp`: a copy that the shell or time(1) timed. bash, ksh, zsh, tcsh, fish; POSIX, BSD and GNU time.

One real line each, of bash and zsh:

    `real\\t0m0.512s`  behind  `$ time cp big /mnt/raid/`
    `cp big /mnt/raid/  0.00s user 0.42s system 98% cpu 0.430 total`

    real 0m0.512s | real 0m 0.51s (busybox) | real 0.51 | 0.51 real 0.00 user 0.42 sys | 0.00user 0.42system 0:00.51elapsed 82%CPU …
    0.002u 0.421s 0:00.51 82.3% … | Elapsed (wall clock) time (h:mm:ss or m:ss): 0:00.51 | Executed in 512.10 millis …
    (fish, below a line of underscores; below it `usr time` and `sys time`, whose first figure is that of both the shell and cp)

Each copy is a run with `elapsed` and, where the size of what was copied is in the text, `bandwidth`. The size is that of
an `ls -l` line, or of a dd that wrote the file, for the one file that the command copies; never of `ls -lh`, which
rounds. User and system time give the CPU as a fraction of one core. A command without times is no result. Decimal point
or comma, as the locale has it. Buffered data is not yet on disk when cp ends, unless the command says `sync`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from apps.parsers.prompts import host_before
from apps.parsers.shape import Broken, ParsedFile, ParsedRun, ParsedSample, ParseError
from apps.parsers.source_text import SourceText
from apps.parsers.time_cp_files import LISTED, paths, said_sizes, size_of

NAME = "time cp"
TITLE = "time cp"

_N = r"(\d{1,9}(?:[.,]\d{1,9})?)"
_CLOCK = r"((?:\d{1,6}:){1,2}\d{1,2}(?:[.,]\d{1,9})?)"
_TIME = re.compile(r"(?:^|[\s#$%>;&|(\\`])((?:/usr/bin/|/bin/)?time\s)")
_CP = re.compile(r"(?:^|[\s(;&|'\"])((?:/\S{0,200}/)?cp\s+\S)")
_ZSH = re.compile(rf"\s{_N}s user {_N}s system [\d.,]{{1,8}}% cpu (?:{_CLOCK}|{_N}) total")
_VERBOSE = re.compile(r'\s*Command being timed: "(.*\bcp\s+\S.*)"')
_MINUTES = r"(?:(?:(\d{1,5})h ?)?(\d{1,6})m ?(?=\S{1,20}s)|(?=\S{0,20}(?:[.,]|s)))(\d{1,9}(?:[.,]\d{1,9})?)s?"  # 1m3.4 is cut off, and 1 alone
_LINES = {name: re.compile(rf"\s*{name}\s+{_MINUTES}\s*(?:#.*)?$") for name in ("real", "user", "sys")}
_BSD = re.compile(rf"\s*{_N} real\s+{_N} user\s+{_N} sys")
_GNU = re.compile(rf"\s*{_N}user {_N}system {_CLOCK}elapsed")
_TCSH = re.compile(rf"\s*{_N}u {_N}s {_CLOCK} ")
_FISH_UNIT = "(millis|secs|mins|hours|micros)"
_FISH = re.compile(rf"\s*Executed in\s+{_N} {_FISH_UNIT}")
_FISH_CPU = re.compile(rf"\s*(usr|sys) time\s+{_N} {_FISH_UNIT}")
_WALL = re.compile(
    r"\s*Elapsed \(wall clock\) time \(h:mm:ss or m:ss\): (\d{1,6}:\d\d(?:[.,]\d{1,9}|:\d\d(?:[.,]\d{1,9})?))\s*$"
)
_WALL_OF_BUSYBOX = re.compile(  # 1h 02m 03s, or 0m 0.51s
    r"\s*Elapsed \(wall clock\) time \(h:mm:ss or m:ss\): ((?:\d{1,6}h )?\d{1,6}m \d{1,2}(?:[.,]\d{1,9})?)s\s*$"
)
_VERBOSE_CPU = re.compile(rf"\s*(User|System) time \(seconds\): {_N}")
_FISH_UNITS = {"micros": 1e-6, "millis": 1e-3, "secs": 1.0, "mins": 60.0, "hours": 3600.0}
_UNREAD = re.compile(  # where a wall time stands that is none
    r"\s*(?:real\s+(?:\d{1,6}[hm] ){0,2}\S*\d\S*\s*(?:$|[#(<])|\S+ real\s+\S+ user\s|\S+user \S+system \S+elapsed|Executed in\s)"
)
_UNREAD_CPU = re.compile(r"\s*(?:(?:user|sys)\s+\S*\d\S*\s*$|(?:usr|sys) time\s)")
_SKIPPED = re.compile(
    r"\s*(?:`{3}\w{0,20}\s*)?$|_{20,80}\s*$|\s*(?:(?:cp|sudo|Password|Command exited)\b|\[sudo\])|\s*\[?(?:\.{3}|…)\]?\s*$"
)
_LISTED = re.compile(  # by cp -v, old and new, and BSD's, which has no marks around names
    r"\s*(?:(?:['`‘\"][^\n]{1,4096}['’\"]|\S+) -> \S|(?:removed|created directory) ['`‘])"
)
_OF_DD = re.compile(r"\d{1,18}\+\d{1,18} records (?:in|out)\s*$|\d{1,20} bytes (?:\([^()]{1,60}\) copied|transferred)")
_BEFORE = (  # what may be typed before the copy, on its line, and what that prints
    (re.compile(r"(?:^|[\s(;&|])dd\s"), _OF_DD),
    (re.compile(r"(?:^|[\s(;&|])(?:ls|ll)\s"), LISTED),
)
_NO_CPU = "a time in the processor that cannot be read"
_LONGEST = 1000
_MOST_AFTER = 30
_MOST_BLANK = 2
_ROUGH = 0.01
_NS = 1e9
Said = list[tuple[int, str, int]]  # sizes of files: `said_sizes`


@dataclass(slots=True)
class Timing:
    real: float | None = None
    user: float | None = None
    sys: float | None = None
    printed: str = ""
    decimals: int = 0  # of the wall time
    failure: str = ""
    line: int = 0  # index of the line that says the wall time
    last: int = 0
    unread: str = ""  # the line of a wall time that is none


@dataclass(frozen=True, slots=True)
class Copy:
    command: str
    first: int
    timing: Timing
    host: str = ""  # of the prompt before it


def looks_like(text: SourceText) -> float:
    whole = text.text
    if "cp " not in whole or not any(
        word in whole for word in ("real", "elapsed", " total", "Elapsed", "Executed in", "u ")
    ):
        return 0.0
    broken: list[Broken] = []
    return 0.95 if next(_copies(text, broken), None) or broken else 0.0


def parse(text: SourceText) -> ParsedFile:
    """Every timed copy. `ParseError` where there is none."""
    broken: list[Broken] = []
    said = said_sizes(text.lines)
    runs = tuple(_run(copy, text, said) for copy in _copies(text, broken))
    if not runs and not broken:
        raise ParseError("no cp with its time", expected="time cp FROM TO, then real 0m0.512s")
    return ParsedFile(runs, broken=tuple(broken))


def _copies(text: SourceText, broken: list[Broken]) -> Iterator[Copy]:
    lines = text.lines
    for index, line in enumerate(lines):
        if "cp " not in line or len(line) > _LONGEST or _LISTED.match(line):
            continue
        if (zsh := _ZSH.search(line)) and (shown := _CP.search(line, 0, zsh.start() + 1)):
            wall = zsh[3] or zsh[4]
            seconds = _clock(wall)
            timing = Timing(
                seconds, _number(zsh[1]), _number(zsh[2]), f"{wall} total", _decimals(wall), "", index, index
            )
            yield Copy(line[shown.start(1) : zsh.start()].strip(), index, timing)
        elif verbose := _VERBOSE.match(line):
            if (timing := _verbose(lines, index)).real is not None:
                yield Copy(verbose[1], index, timing)
            else:
                broken.append(_without_wall(text, index, line))
        elif command := _timed(line):
            printed = [of for typed, of in _BEFORE if typed.search(line, 0, line.find(command))]
            found = _behind(lines, index, printed)
            if found.real is not None:
                yield Copy(command, index, found, host_before(line, line.find(command)))
                if found.unread:
                    broken.append(
                        Broken(_NO_CPU, text.number(found.last + 1), found.unread.strip()[:200], "user 0m0.512s")
                    )
            elif found.unread or found.user is not None or found.sys is not None:
                broken.append(_without_wall(text, found.line or index, found.unread or line))
        elif "s user " in line and "% cpu " in line and _CP.search(line):
            broken.append(_without_wall(text, index, line))


def _without_wall(text: SourceText, index: int, found: str) -> Broken:
    message = "a timed copy without a wall time that can be read"
    return Broken(message, text.number(index), found.strip()[:200], "real 0m0.512s")


def _timed(line: str) -> str:
    """The command of a line that times a cp, without its prompt; "" for any other line."""
    found = _TIME.search(line) if "time" in line else None
    if found is None or _CP.search(line, found.end() - 1) is None:
        return ""
    return line[found.start(1) :].strip().rstrip("`")


def _behind(lines: list[str], index: int, printed: Sequence[re.Pattern[str]] = ()) -> Timing:
    """The times that follow a command, behind what cp itself had to say, and what was typed before it (`printed`)."""
    timing, blank, left = Timing(last=index), 0, _MOST_AFTER
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
        if not _take(timing, line, at) and (blank > _MOST_BLANK or not _SKIPPED.match(line)):
            if timing.real is None and _UNREAD.match(line):
                timing.unread, timing.line = line, at
            elif timing.real is not None and _UNREAD_CPU.match(line):
                timing.unread = line
            break
    return timing


def _take(timing: Timing, line: str, index: int) -> bool:
    """Whether the line says times; a second wall time is that of the next command."""
    for name, pattern in _LINES.items():
        if match := pattern.match(line):
            if getattr(timing, name) is not None:
                return False
            setattr(timing, name, int(match[1] or 0) * 3600 + int(match[2] or 0) * 60 + _number(match[3]))
            return _note(timing, line, index, match[3] if name == "real" else "")
    if timing.real is not None:
        return _take_fish_cpu(timing, line, index)
    if match := _BSD.match(line):
        timing.real, timing.user, timing.sys = (_number(text) for text in match.groups())
        return _note(timing, line, index, match[1])
    if match := _GNU.match(line) or _TCSH.match(line):
        timing.user, timing.sys, timing.real = _number(match[1]), _number(match[2]), _clock(match[3])
        return _note(timing, line, index, match[3])
    if match := _FISH.match(line):
        timing.real = _number(match[1]) * _FISH_UNITS[match[2]]
        return _note(timing, line, index, match[1]) and bool(_finer(timing, match[2]))
    return False


def _take_fish_cpu(timing: Timing, line: str, index: int) -> bool:
    match = _FISH_CPU.match(line)
    name = "user" if match and match[1] == "usr" else "sys"
    if match is None or getattr(timing, name) is not None:
        return False
    setattr(timing, name, _number(match[2]) * _FISH_UNITS[match[3]])
    return _note(timing, line, index, "")


def _finer(timing: Timing, unit: str) -> Timing:
    """fish's millis and micros have their decimals behind a smaller unit."""
    timing.decimals += {"millis": 3, "micros": 6}.get(unit, 0)
    return timing


def _note(timing: Timing, line: str, index: int, wall: str) -> bool:
    """Keep where it stands; `wall` is the wall time's text where the line says it."""
    timing.last = index
    if wall:
        timing.line, timing.decimals = index, _decimals(wall)
        timing.printed = " ".join(line.partition("#")[0].split())[:80]
    return True


def _decimals(text: str) -> int:
    return len(text.replace(",", ".").partition(".")[2])


def _verbose(lines: list[str], index: int) -> Timing:
    """GNU time -v: two dozen lines with one figure each."""
    timing = Timing(last=index)
    for at in range(index + 1, min(len(lines), index + _MOST_AFTER)):
        if ": " not in lines[at]:
            break
        if match := _WALL.match(lines[at]) or _WALL_OF_BUSYBOX.match(lines[at]):
            wall = match[1].replace("h ", ":").replace("m ", ":")
            timing.real = _clock(wall)
            timing.line, timing.printed, timing.decimals = at, f"{match[1]} elapsed", _decimals(wall)
        elif match := _VERBOSE_CPU.match(lines[at]):
            setattr(timing, "user" if match[1] == "User" else "sys", _number(match[2]))
        timing.last = at
    return timing


def _number(text: str) -> float:
    return float(text.replace(",", "."))


def _clock(text: str) -> float:
    """h:mm:ss or m:ss."""
    seconds = 0.0
    for part in text.split(":"):
        seconds = seconds * 60 + _number(part)
    return seconds


def _run(copy: Copy, text: SourceText, said: Said) -> ParsedRun:
    target = paths(copy.command)[1]
    return ParsedRun(
        tool="cp", tool_version="", samples=_samples(copy, text, said), workload={"command": copy.command}, host=copy.host, target=target,
        problem=copy.timing.failure, line=text.number(copy.first), last_line=text.number(copy.timing.last),
    )  # fmt: skip


def _samples(copy: Copy, text: SourceText, said: Said) -> tuple[ParsedSample, ...]:
    timing, sources = copy.timing, paths(copy.command)[0]
    line, seconds = text.number(timing.line), timing.real or 0.0
    if timing.failure:
        reason = f"failed: {timing.failure[:150]}"
        return (ParsedSample("copy", "elapsed", None, printed=timing.printed, line=line, missing_reason=reason),)
    size = size_of(sources[0], said, copy.first, copy.timing.last) if len(sources) == 1 else None
    elapsed = ParsedSample(
        "copy", "elapsed", round(seconds * _NS, 3), file_size=size, printed=timing.printed, line=line, cpu=_cpu(timing)
    )
    if not size or seconds <= 0:
        return (elapsed,)
    is_rough = 0.5 * 10.0**-timing.decimals > _ROUGH * seconds
    bandwidth = ParsedSample(
        "copy", "bandwidth", size / seconds, file_size=size, printed=f"{size} bytes, {timing.printed}", line=line,
        quality="approximate" if is_rough else "exact",
    )  # fmt: skip
    return (elapsed, bandwidth)


def _cpu(timing: Timing) -> float | None:
    """As a fraction of one core, where the times are long enough for their decimals to say it."""
    if timing.real is None or timing.user is None or timing.sys is None or timing.real < 1:
        return None
    return round((timing.user + timing.sys) / timing.real, 4)

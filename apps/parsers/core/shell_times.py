r"""The times that a shell or time(1) prints below a command: bash, ksh, zsh, tcsh, fish; POSIX, BSD, GNU time and busybox.

    real\t0m0.512s | real 0m 0.51s (busybox) | real 0.51 | 0.51 real 0.00 user 0.42 sys | 0.00user 0.42system 0:00.51elapsed 82%CPU …
    0.002u 0.421s 0:00.51 82.3% … | Elapsed (wall clock) time (h:mm:ss or m:ss): 0:00.51 | Executed in 512.10 millis …
    cp big /mnt/raid/  0.00s user 0.42s system 98% cpu 0.430 total                                    (zsh, behind the command)

The decimal mark is a point or a comma, as the locale has it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_N = r"(\d{1,9}(?:[.,]\d{1,9})?)"
_CLOCK = r"((?:\d{1,6}:){1,2}\d{1,2}(?:[.,]\d{1,9})?)"
ZSH = re.compile(rf"\s{_N}s user {_N}s system [\d.,]{{1,8}}% cpu (?:{_CLOCK}|{_N}) total")
_MINUTES = r"(?:(?:(\d{1,5})h ?)?(\d{1,6})m ?(?=\S{1,20}s)|(?=\S{0,20}(?:[.,]|s)))(\d{1,9}(?:[.,]\d{1,9})?)s?"  # 1m3.4 is cut off, and 1 alone
_LINES = {name: re.compile(rf"\s*{name}\s+{_MINUTES}\s*(?:#.*)?$") for name in ("real", "user", "sys")}
_BSD = re.compile(
    rf"\s*(?:(\d{{1,5}})h)?(?:(\d{{1,6}})m)?{_N}s? real\s+{_N}s? user\s+{_N}s? sys"
)  # with units: time -h
_GNU = re.compile(rf"\s*{_N}user {_N}system {_CLOCK}elapsed")
_TCSH = re.compile(rf"\s*{_N}u {_N}s {_CLOCK} ")
_FISH_UNIT = "(millis|secs|mins|hours|micros)"
_FISH = re.compile(rf"\s*Executed in\s+{_N} {_FISH_UNIT}")
_FISH_CPU = re.compile(rf"\s*(usr|sys) time\s+{_N} {_FISH_UNIT}")
_FISH_UNITS = {"micros": 1e-6, "millis": 1e-3, "secs": 1.0, "mins": 60.0, "hours": 3600.0}
_WALL = re.compile(
    r"\s*Elapsed \(wall clock\) time \(h:mm:ss or m:ss\): (\d{1,6}:\d\d(?:[.,]\d{1,9}|:\d\d(?:[.,]\d{1,9})?))\s*$"
)
_WALL_OF_BUSYBOX = re.compile(  # 1h 02m 03s, or 0m 0.51s
    r"\s*Elapsed \(wall clock\) time \(h:mm:ss or m:ss\): ((?:\d{1,6}h )?\d{1,6}m \d{1,2}(?:[.,]\d{1,9})?)s\s*$"
)
_VERBOSE_CPU = re.compile(rf"\s*(User|System) time \(seconds\): {_N}")
_MOST_VERBOSE = 30  # lines of time -v


@dataclass(slots=True)
class ShellTimes:
    """Times in seconds, as far as they were printed."""

    real: float | None = None
    user: float | None = None
    sys: float | None = None
    printed: str = ""
    wall: str = ""  # the wall time as printed, without the words around it
    decimals: int = 0  # printed decimals of the wall time
    line: int = 0  # index of the line with the wall time
    last: int = 0

    def take(self, line: str, index: int) -> bool:
        """Read the times of a line, if it has any; return whether it does. A second wall time belongs to the next command."""
        for name, pattern in _LINES.items():
            if match := pattern.match(line):
                if getattr(self, name) is not None:
                    return False
                setattr(self, name, int(match[1] or 0) * 3600 + int(match[2] or 0) * 60 + parse_number(match[3]))
                wall = line[match.start(1) if match[1] else match.start(2) if match[2] else match.start(3) :]
                return self._note_line(line, index, match[3], wall) if name == "real" else self._note_line(line, index)
        if self.real is not None:
            return self._take_fish_cpu(line, index)
        if match := _BSD.match(line):
            hours, minutes, seconds, user, kernel = match.groups(default="0")
            self.real = int(hours) * 3600 + int(minutes) * 60 + parse_number(seconds)
            self.user, self.sys = parse_number(user), parse_number(kernel)
            return self._note_line(line, index, seconds, line[: line.index("real")])
        if match := _GNU.match(line) or _TCSH.match(line):
            self.user, self.sys, self.real = parse_number(match[1]), parse_number(match[2]), parse_clock(match[3])
            return self._note_line(line, index, match[3], match[3])
        if match := _FISH.match(line):
            self.real = parse_number(match[1]) * _FISH_UNITS[match[2]]
            self._note_line(line, index, match[1], f"{match[1]} {match[2]}")
            self.decimals += {"millis": 3, "micros": 6}.get(match[2], 0)  # fractions of a second
            return True
        return False

    def take_zsh(self, line: str, index: int) -> bool:
        """Read zsh's times, which stand behind the command; return whether the line has them."""
        match = ZSH.search(line)
        if match is None or self.real is not None:
            return False
        wall = match[3] or match[4]
        self.real, self.user, self.sys = parse_clock(wall), parse_number(match[1]), parse_number(match[2])
        self.printed, self.wall, self.decimals = f"{wall} total", wall, count_decimals(wall)
        self.line = self.last = index
        return True

    def take_verbose(self, lines: Sequence[str], index: int) -> None:
        """Read the output of GNU time -v that begins in this line: two dozen lines with one figure each."""
        self.last = index
        for at in range(index + 1, min(len(lines), index + _MOST_VERBOSE)):
            if ": " not in lines[at]:
                break
            if match := _WALL.match(lines[at]) or _WALL_OF_BUSYBOX.match(lines[at]):
                wall = match[1].replace("h ", ":").replace("m ", ":")
                self.real, self.wall, self.decimals = parse_clock(wall), match[1], count_decimals(wall)
                self.line, self.printed = at, f"{match[1]} elapsed"
            elif match := _VERBOSE_CPU.match(lines[at]):
                setattr(self, "user" if match[1] == "User" else "sys", parse_number(match[2]))
            self.last = at

    def is_rough(self, share: float = 0.01) -> bool:
        """Return whether the printed decimals leave more than this share of the wall time open."""
        return self.real is not None and 0.5 * 10.0**-self.decimals > share * self.real

    def _take_fish_cpu(self, line: str, index: int) -> bool:
        match = _FISH_CPU.match(line)
        name = "user" if match and match[1] == "usr" else "sys"
        if match is None or getattr(self, name) is not None:
            return False
        setattr(self, name, parse_number(match[2]) * _FISH_UNITS[match[3]])
        return self._note_line(line, index)

    def _note_line(self, line: str, index: int, digits: str = "", wall: str = "") -> bool:
        """Note where the times stand; `digits` are those of the wall time if the line has it. Always returns True."""
        self.last = index
        if digits:
            self.line, self.decimals = index, count_decimals(digits)
            self.wall = wall.partition("#")[0].strip()
            self.printed = " ".join(line.partition("#")[0].split())[:80]
        return True


def count_decimals(text: str) -> int:
    """Return the number of digits behind the decimal mark."""
    return len(text.replace(",", ".").partition(".")[2])


def parse_number(text: str) -> float:
    """Parse a number whose decimal mark is a point or a comma."""
    return float(text.replace(",", "."))


def parse_clock(text: str) -> float:
    """Parse h:mm:ss, m:ss or seconds into seconds."""
    seconds = 0.0
    for part in text.split(":"):
        seconds = seconds * 60 + parse_number(part)
    return seconds

"""ioping's words for sizes, times and counts, and its command line.

Units (ioping.c, `size_suffix`, `time_suffix`, `int_suffix`): sizes are 1024-based in all versions, whatever they are
called: `bytes` and `mb/s` (0.4 to 0.6), `kb` (0.7), `KiB` (since 0.8). Counts are 1000-based (`12.2 k`).
"""

import re
import shlex
from getopt import GetoptError, gnu_getopt

from apps.parsers.core.numbers import INT8, read_non_negative

_QUANTITY = re.compile(r"\s*([\d.]{1,40}) ?([A-Za-z]{0,7})(?:/s)?\s*")
_SIZES = {"": 0, "b": 0, "byte": 0, "bytes": 0, "k": 1, "kb": 1, "kib": 1, "m": 2, "mb": 2, "mib": 2,
          "g": 3, "gb": 3, "gib": 3, "t": 4, "tb": 4, "tib": 4, "p": 5, "pb": 5, "pib": 5}  # fmt: skip
_COUNTS = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_TIMES = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000, "min": 60_000_000_000,
          "hour": 3_600_000_000_000, "day": 86_400_000_000_000}  # fmt: skip
_COMMAND = re.compile(
    r"(?:^\s*|[$#>%] {0,8}|`)(?:sudo |time )?(?:(?:sudo|time|taskset|ionice|nice|numactl|timeout) (?:[\w=,.:-]{1,40} ){0,4})?"
    r"((?:[\w.~/-]{0,80}/)?ioping -?[^|;&`]+)"
)
_BY_SHELL = re.compile(r"[$~*?\[{<]")  # expanded by the shell, so that ioping got another text
_SHORT = "hvkqBIJRLDCNHYyAUWGEs:S:o:c:w:i:b:l:r:a:t:T:p:P:e:"
_LONG = {
    "linear": "L", "direct": "D", "cached": "C", "sync": "Y", "dsync": "y", "write": "W", "read-write": "G",
    "size": "s", "work-size": "S", "batch": "B", "quiet": "q", "json": "J", "rapid": "R", "async": "A",
    "count": "c", "interval": "i", "work-time": "w", "print-count": "p", "print-interval": "P",
}  # fmt: skip


def find_command(line: str) -> re.Match[str] | None:
    """Return the match of an ioping command, which is its first group; None where there is none."""
    return _COMMAND.search(line) if "ioping " in line else None


def _scale(text: str, factors: dict[str, float] | dict[str, int], fold: bool = False) -> float | None:
    match = _QUANTITY.fullmatch(text)
    factor = factors.get(match[2].lower() if fold else match[2]) if match else None
    value = read_non_negative(match[1]) if match else None
    return None if factor is None or value is None else value * factor


def parse_size(text: str) -> float | None:
    """Return bytes, or bytes per second with `/s`; None where it is no size."""
    return _scale(text, {name: 1024**power for name, power in _SIZES.items()}, fold=True)


def parse_count(text: str) -> float | None:
    """Return a number with its suffix, None where it is none."""
    value = _scale(text, _COUNTS)
    return None if value is None else round(value, 6)


def parse_time(text: str) -> float | None:
    """Return nanoseconds, None where it is no time."""
    value = _scale(text, _TIMES)
    return None if value is None else round(value, 6)


def parse_whole_size(text: str) -> int | None:
    """Return a whole number of bytes, None where it is none."""
    value = parse_size(text)
    return int(value) if value is not None and value <= INT8 and value == int(value) else None


def read_options(command: str) -> dict[str, str] | None:
    """Return ioping's own options in a command line as shown, by their letter; None where it is no such line."""
    split = _split_command(command)
    return {name[1:]: value for name, value in split[0]} if split else None


def may_belong_to(command: str, target: str) -> bool:
    """Return whether the command line may have this target: it names the same one, as ioping prints it as given, or none."""
    split = _split_command(command)
    named = split[1] if split else []
    return not (target and named) or target in named or any(_BY_SHELL.search(word) for word in named)


def _split_command(command: str) -> tuple[list[tuple[str, str]], list[str]] | None:
    try:
        words = shlex.split(command)
        return gnu_getopt([_shorten(word) for word in words[1:]], _SHORT)
    except (GetoptError, ValueError):
        return None


def _shorten(word: str) -> str:
    name, _, value = word.lstrip("-").partition("=")
    return f"-{_LONG[name]}{value}" if word.startswith("-") and name in _LONG else word


def read_workload(command: str) -> dict[str, str | int | float]:
    """Return what the command line asks for, in fio's words."""
    given = read_options(command)
    workload: dict[str, str | int | float] = {"command": command[:1000]}
    if given is None:
        return workload
    for letter, name in (("s", "block_size"), ("S", "file_size")):
        if (size := parse_whole_size(given.get(letter, ""))) and given.get(letter):
            workload[name] = size
    if "D" in given:
        workload["direct"] = 1
    if "Y" in given or "y" in given:
        workload["sync"] = "sync" if "Y" in given else "dsync"
    if "A" in given:
        workload["ioengine"] = "libaio"
    return workload

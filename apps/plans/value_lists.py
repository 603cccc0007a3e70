"""Lists and ranges of option values as people type them: `4k,64k,1m`, `1,2,4..256`, `1x,2x,4x RAM`. Pure.

A range continues the step before it: `1,2,4..256` doubles, `1,10..1000` goes on by tens, `1,3..9` adds two. With one
value before it, it doubles.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from apps.core.quantities import parse_size

RATIOS = frozenset([2**power for power in range(1, 31)] + [10**power for power in range(1, 10)])
MOST_VALUES = 60  # columns that a plan may have
TIMES_RAM = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*[x×*]\s*(?:RAM)?", re.IGNORECASE)
PERCENT_OF_RAM = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*%\s*(?:of\s+)?(?:RAM)?", re.IGNORECASE)
RANGE = re.compile(r"\s*\.\.\s*|\s*…\s*")


class ValueListError(ValueError):
    """A text is no list of values: what was found and what was expected."""

    def __init__(self, found: str, expected: str) -> None:
        super().__init__(f"found {found!r}, expected {expected}")
        self.found, self.expected = found, expected


@dataclass(frozen=True)
class FileSize:
    """The size of a test file: bytes, or a multiple of the RAM of the host that the file lies on."""

    bytes: int | None = None
    ram_multiple: float | None = None


def parse_numbers(text: str) -> list[int]:
    """Return the whole numbers of a list such as `1,2,4..256`. Raises `ValueListError`."""
    return _expand(text, _whole)


def parse_sizes(text: str) -> list[int]:
    """Return the bytes of a list of sizes such as `4k..1m`. Raises `ValueListError`."""
    return _expand(text, _bytes)


def parse_file_sizes(text: str) -> list[FileSize]:
    """Return file sizes: all bytes (`1g,4g`), or all multiples of RAM (`0.25x,1x,4x RAM`, `25%,100% RAM`).

    Raises:
        ValueListError: It is neither.
    """
    if not re.search(r"x|×|\*|%|RAM", text, re.IGNORECASE):
        return [FileSize(bytes=size) for size in parse_sizes(text)]
    return [FileSize(ram_multiple=multiple) for multiple in _multiples(text)]


def _multiples(text: str) -> list[float]:
    values = []
    for part in _parts(text):
        percent, times = PERCENT_OF_RAM.fullmatch(part), TIMES_RAM.fullmatch(part)
        if percent:
            values.append(float(percent[1]) / 100)
        elif times:
            values.append(float(times[1]))
        else:
            raise ValueListError(part, "a multiple of RAM such as 2x RAM or 50% RAM")
    return values


def _expand(text: str, read: Callable[[str], int]) -> list[int]:
    values: list[int] = []
    for part in _parts(text):
        first, *rest = RANGE.split(part)
        if len(rest) > 1:
            raise ValueListError(part, "one range such as 4..256")
        values.append(read(first))
        if rest:
            values += _continued(values, read(rest[0]), part)
        if len(values) > MOST_VALUES:
            raise ValueListError(text, f"at most {MOST_VALUES} values")
    return list(dict.fromkeys(values))


def _continued(values: list[int], last: int, part: str) -> list[int]:
    """Return the values that a range adds after its first one, up to its last one."""
    here, before = values[-1], values[-2] if len(values) > 1 else None
    if last < here:
        raise ValueListError(part, "a range that rises")
    if here < 1:
        raise ValueListError(part, "a range that begins above 0")
    ratio = 2 if before is None else _ratio(before, here)
    step = 0 if before is None or ratio else here - before
    if not ratio and step < 1:
        raise ValueListError(part, "a range that rises")
    added: list[int] = []
    value = here
    while len(added) <= MOST_VALUES:
        value = value * ratio if ratio else value + step
        if value >= last:
            break
        added.append(value)
    return [*added, last] if last > here else added


def _ratio(before: int, here: int) -> int:
    """Return the factor between two values where it is a power of two or ten, as people step sizes and depths; else 0."""
    ratio = here // before if 0 < before < here and here % before == 0 else 0
    return ratio if ratio in RATIOS else 0


def _parts(text: str) -> list[str]:
    parts = [part.strip() for part in re.split(r"[,;]", text) if part.strip()]
    if not parts:
        raise ValueListError(text, "one value or more, separated by commas")
    return parts


def _whole(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise ValueListError(text, "a whole number")
    return int(text)


def _bytes(text: str) -> int:
    try:
        return parse_size(text)
    except ValueError:
        raise ValueListError(text, "a size such as 4k, 1m or 100 MiB, where k is 1024 bytes") from None

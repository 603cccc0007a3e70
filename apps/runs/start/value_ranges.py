"""Lists and ranges of values as people type them: `4k,64k,1m`, `1,2,4..256`, `10..50 step 10`. Pure.

A range continues the step before it: `1,2,4..256` doubles, `1,10..1000` goes on by tens, `1,3..9` adds two. With one
value before it, it doubles. It may say its own step: `10..50 step 10` adds ten, `1..1000 step x10` goes on by tens.
"""

import re
from collections.abc import Callable
from typing import Any

RATIOS = frozenset([2**power for power in range(1, 31)] + [10**power for power in range(1, 10)])
MOST_VALUES = 60  # of one list
COMMA, SEMICOLON = "[,;]", ";"  # what separates values; a semicolon alone where commas are part of a value
RANGE = re.compile(r"\s*\.\.\s*|\s*…\s*")
STEP = re.compile(r"(.*\S)\s+step\s+(\S.*)", re.IGNORECASE | re.DOTALL)
FACTOR = re.compile(r"[x×*]\s*([0-9]{1,6})")
DECIMALS = 6  # of numbers that are not whole
Read = Callable[[str], Any]


class ValueListError(ValueError):
    """A text is no list of values: what was found and what was expected."""

    def __init__(self, found: str, expected: str) -> None:
        super().__init__(f"found {found!r}, expected {expected}")
        self.found, self.expected = found, expected


def split_values(text: str, separator: str = COMMA) -> list[str]:
    """Return the values of a list as they were typed, without blanks around them. Raises `ValueListError` for none."""
    parts = [part.strip() for part in re.split(separator, text) if part.strip()]
    if not parts:
        between = "semicolons" if separator == SEMICOLON else "commas"
        raise ValueListError(text[:80], f"one value or more, separated by {between}")
    return parts


def expand_ranges(text: str, read: Read, read_step: Read | None = None) -> list[Any]:
    """Return the numbers of a list with ranges, each once, in the order in which they were typed.

    Args:
        text: As somebody typed it.
        read: Makes a number of a text; raises `ValueListError` about that text.
        read_step: The same for a step, which need not be a value itself; without it as `read`.

    Raises:
        ValueListError: It is no such list, or longer than `MOST_VALUES`.
    """
    values: list[Any] = []
    for part in split_values(text):
        first, *rest = RANGE.split(part)
        if len(rest) > 1:
            raise ValueListError(part, "one range such as 4..256")
        values.append(read(first))
        if rest:
            values += _continue_range(values, rest[0], part, read, read_step or read)
        if len(values) > MOST_VALUES:
            raise ValueListError(text[:80], f"at most {MOST_VALUES} values")
    return list(dict.fromkeys(values))


def _continue_range(values: list[Any], rest: str, part: str, read: Read, read_step: Read) -> list[Any]:
    """Return the numbers that a range adds after its first one, up to its last one."""
    typed = STEP.fullmatch(rest)
    here, last = values[-1], read(typed[1] if typed else rest)
    if last < here:
        raise ValueListError(part, "a range that rises")
    ratio, step = _read_step(typed[2], part, read_step) if typed else _usual_step(values, part)
    if ratio and here <= 0:
        raise ValueListError(part, "a range that begins above 0, or one with a step: 0..100 step 10")
    added: list[Any] = []
    value = here
    while len(added) <= MOST_VALUES:
        value = value * ratio if ratio else value + step
        value = round(value, DECIMALS) if isinstance(value, float) else value
        if value >= last:
            break
        added.append(value)
    return [*added, last] if last > here else added


def _read_step(text: str, part: str, read_step: Read) -> tuple[int, Any]:
    """Return the factor and the summand of a typed step, one of which is 0."""
    if match := FACTOR.fullmatch(text.strip()):
        ratio = int(match[1])
        if ratio < 2:
            raise ValueListError(part, "a factor of 2 or more: step x10")
        return ratio, 0
    step = read_step(text)
    if step <= 0:
        raise ValueListError(part, "a step above 0, such as step 10 or step x10")
    return 0, step


def _usual_step(values: list[Any], part: str) -> tuple[int, Any]:
    """Return the factor and the summand that go on as the values before did, one of which is 0."""
    if len(values) < 2:
        return 2, 0
    before, here = values[-2], values[-1]
    if ratio := _ratio(before, here):
        return ratio, 0
    if here <= before:
        raise ValueListError(part, "a range that rises")
    return 0, here - before


def _ratio(before: Any, here: Any) -> int:
    """Return the factor between two values where it is a power of two or ten, as people step sizes and depths; else 0."""
    ratio = int(here // before) if 0 < before < here and here % before == 0 else 0
    return ratio if ratio in RATIOS else 0

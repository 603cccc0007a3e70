"""Sentences with quantities, whose numbers stay in base units and are written later, and sizes as people type them.

`f"{quantity(4e8, 'B/s')} > the link"` keeps the number with its unit. `written` turns it into `400 MB/s > the link`, or
`381 MiB/s …` in base 1024, and `parts_of` adds the exact value in both bases. So a rule stays pure, and a stored sentence can be
read in either base.

In a typed size (`4k`, `1m`, `100 MiB`, `8192`) k is 1024, as fio has it, and the base is never guessed: kB and MB are refused.
"""

import re
from collections.abc import Iterable
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache

from apps.core import units
from apps.core.units import Number

_KEPT = re.compile(
    r"⟦(-?\d{1,25}(?:\.\d{1,25})?(?:e[+-]?\d{1,3})?) (B/s|B|1/s|ns|fraction|-) (short|fine|size|mega)⟧", re.ASCII
)
_NO_UNIT = "-"
_MEGA = {
    1000: (1e6, "MB/s", 0),
    1024: (2.0**20, "MiB/s", 1),
}  # megabytes of links are whole; in the other base they are not


class Form(StrEnum):
    SHORT = "short"  # three digits
    FINE = "fine"  # four: comparisons may turn on the fourth (3.077 and 3.082 GB/s)
    SIZE = "size"  # of files, blocks and memory: whole in the base that divides it, which is its name
    MEGA = "mega"  # `7 200 MB/s`, never GB/s: so that sums can be checked by eye


def quantity(value: Number, unit: str = "", form: Form = Form.SHORT) -> str:
    """Return a marker for a finite number in base units inside a sentence, to be replaced by `written` or `parts_of`."""
    return (
        f"⟦{value if isinstance(value, int) else float(value)!r} {unit or _NO_UNIT} {form}⟧"  # NumPy's floats say more
    )


def written(text: str, base: int = 1000) -> str:
    """Return the sentence with its markers written as numbers in the reader's units."""
    return _KEPT.sub(lambda match: _text(*match.groups(), base), text) if "⟦" in text else text


def all_written(texts: Iterable[str], base: int = 1000) -> tuple[str, ...]:
    """Return the written sentences without duplicates."""
    return tuple(dict.fromkeys(written(text, base) for text in texts))


def parts_of(text: str, base: int = 1000) -> list[tuple[str, str]]:
    """Return the sentence as (words, exact) pieces: a number with its exact value in both bases, other words with an empty string."""
    parts, at = [], 0
    for match in _KEPT.finditer(text):
        parts += [(text[at : match.start()], ""), (_text(*match.groups(), base), _exact(match[1], match[2]))]
        at = match.end()
    return [part for part in [*parts, (text[at:], "")] if part[0]]


@lru_cache(maxsize=4096)  # the same few numbers stand in many sentences
def _text(text: str, unit: str, form: str, base: int) -> str:
    value, unit = _value(text), unit.strip(_NO_UNIT)
    if form == Form.MEGA:
        factor, label, decimals = _MEGA[base]
        return f"{units.plain(round(value / factor, decimals))}{units.NO_BREAK}{label}"
    if form == Form.SIZE:
        return units.size(value, base)
    if form == Form.FINE:
        step = units.unit_for([value], unit, base)
        return f"{units.significant(value / step.factor, 4)}{units.NO_BREAK}{step.label}".rstrip(units.NO_BREAK)
    return units.human(value, unit, base)


@lru_cache(maxsize=4096)
def _exact(text: str, unit: str) -> str:
    return units.in_both_bases(_value(text), unit.strip(_NO_UNIT))


def _value(text: str) -> Number:
    return int(text) if text.lstrip("-").isdecimal() else float(text)


_FACTORS = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4}
_SIZE = re.compile(r"(\d{1,20}(?:\.\d{1,20})?)\s*(?:([kmgt])(i?b)?|b)?", re.IGNORECASE | re.ASCII)
_EXPECTED_SIZE = "a size such as 4k, 1m or 100 MiB, where k is 1024 bytes"


class SizeError(ValueError):
    """A text that is no size; `found` and `expected` say why."""

    def __init__(self, text: str, why: str = "") -> None:
        super().__init__(f"found {text!r}{f', {why}' if why else ''}{';' if why else ','} expected {_EXPECTED_SIZE}")
        self.found = text
        self.expected = f"{_EXPECTED_SIZE} (this is {why.removeprefix('which is ')})" if why else _EXPECTED_SIZE


def parse_size(text: str) -> int:
    """Return the bytes of a size such as `4k`, `1m` or `100 MiB`.

    Raises:
        SizeError: It is no such size; the message tells what was found and expected.
    """
    match = _SIZE.fullmatch(text.strip())
    if not match:
        raise SizeError(text)
    number, letter, suffix = match.groups()
    if suffix and suffix.lower() == "b":
        raise SizeError(text, "which is 1000 to some and 1024 to others")
    size = Fraction(number) * _FACTORS[(letter or "").lower()]
    if size.denominator != 1:
        raise SizeError(text, "which is no whole number of bytes")
    return int(size)


def spell_size(size: int) -> str:
    """Return the shortest spelling that `parse_size` reads as the same size: `65536` → `64k`."""
    for letter in ("t", "g", "m", "k"):
        if size and size % _FACTORS[letter] == 0:
            return f"{size // _FACTORS[letter]}{letter}"
    return str(size)

"""Sentences with quantities in them: the arithmetic is made once, its numbers are written late, in the base of who reads.

`f"{quantity(4e8, 'B/s')} > the link"` keeps the number with its unit. `written` gives `400 MB/s > the link`, or `381 MiB/s …` in base 1024, and
`parts_of` its exact value too, in both bases, for those who point at it. So a rule stays pure, and a stored sentence can be read in either base.
"""

import re
from collections.abc import Iterable
from enum import StrEnum
from functools import lru_cache

from apps.lib import units
from apps.lib.units import Number

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
    """A finite number in a sentence, in base units, to be written by `written`, or in pieces by `parts_of`."""
    return (
        f"⟦{value if isinstance(value, int) else float(value)!r} {unit or _NO_UNIT} {form}⟧"  # NumPy's floats say more
    )


def written(text: str, base: int = 1000) -> str:
    """The sentence with its numbers in people's units. A sentence without any stays as it is."""
    return _KEPT.sub(lambda found: _text(*found.groups(), base), text) if "⟦" in text else text


def all_written(texts: Iterable[str], base: int = 1000) -> tuple[str, ...]:
    """Each sentence once: values that are alike when rounded make the same one."""
    return tuple(dict.fromkeys(written(text, base) for text in texts))


def parts_of(text: str, base: int = 1000) -> list[tuple[str, str]]:
    """The sentence in pieces, (words, exact): the words of a number with its exact value in both bases, other words with nothing."""
    found, at = [], 0
    for kept in _KEPT.finditer(text):
        found += [(text[at : kept.start()], ""), (_text(*kept.groups(), base), _exact(kept[1], kept[2]))]
        at = kept.end()
    return [part for part in [*found, (text[at:], "")] if part[0]]


@lru_cache(maxsize=4096)  # the same few numbers stand in many sentences
def _text(kept: str, unit: str, form: str, base: int) -> str:
    value, unit = _value(kept), unit.strip(_NO_UNIT)
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
def _exact(kept: str, unit: str) -> str:
    return units.in_both_bases(_value(kept), unit.strip(_NO_UNIT))


def _value(kept: str) -> Number:
    return int(kept) if kept.lstrip("-").isdecimal() else float(kept)

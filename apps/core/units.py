"""Values in people's units. Inside the program everything is in base units: `B/s`, `B`, `1/s`, `ns`, `fraction`.

`human(181715456, "B/s")` → `182 MB/s`; with `base=1024` → `173 MiB/s`. The base is never left to guess: MB is 1000, MiB is
1024. `exact(181715456, "B/s")` → `181 715 456 B/s`, shown on hover. `unit_for(values, unit)` gives a whole column one unit.
Numbers are written the English way, with a narrow no-break space between thousands.
"""

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from statistics import median

THIN = "\u202f"
NO_BREAK = "\u00a0"
NO_VALUE = "–"
BASES = (1000, 1024)
_ABOUT = ((60, 5), (600, 10), (36_000, 60))  # seconds below which an estimate is told in such steps
MOST_WHOLE = 10_000  # a size of more digits is easier to read rounded
Number = int | float


@dataclass(frozen=True)
class ColumnUnit:
    """A unit that many values share: `value / factor` is the number to print under `label`."""

    factor: float
    label: str

    def text(self, value: Number | None) -> str:
        """Return the number without unit in 3 significant digits; the column's header shows the label."""
        return NO_VALUE if value is None else significant(value / self.factor)


def _powers(base: int, suffix: str) -> tuple[ColumnUnit, ...]:
    prefixes = ("", "k", "M", "G", "T", "P") if base == 1000 else ("", "Ki", "Mi", "Gi", "Ti", "Pi")
    return tuple(ColumnUnit(float(base**power), f"{prefix}{suffix}") for power, prefix in enumerate(prefixes))


_LADDERS: dict[tuple[str, int], tuple[ColumnUnit, ...]] = {
    **{("B", base): _powers(base, "B") for base in BASES},
    **{("B/s", base): _powers(base, "B/s") for base in BASES},
}
_SAME_IN_ANY_BASE: dict[str, tuple[ColumnUnit, ...]] = {
    "1/s": (ColumnUnit(1, "/s"), ColumnUnit(1e3, "k/s"), ColumnUnit(1e6, "M/s"), ColumnUnit(1e9, "G/s")),
    "ns": (ColumnUnit(1, "ns"), ColumnUnit(1e3, "µs"), ColumnUnit(1e6, "ms"), ColumnUnit(1e9, "s")),
    "fraction": (ColumnUnit(0.01, "%"),),
    "": (ColumnUnit(1, ""),),
}
_NOUGHTS = re.compile(r"\.0+(?=\s)|(?<=\.\d)0+(?=\s)")
UNITS = ("B/s", "B", "1/s", "ns", "fraction", "")


def _ladder(unit: str, base: int) -> tuple[ColumnUnit, ...]:
    if base not in BASES:
        raise ValueError(f"Unknown base {base!r}, expected one of: 1000, 1024")
    ladder = _SAME_IN_ANY_BASE.get(unit) or _LADDERS.get((unit, base))
    if ladder is None:
        raise ValueError(f"Unknown unit {unit!r}, expected one of: {', '.join(u or 'none' for u in UNITS)}")
    return ladder


def _fitting(ladder: tuple[ColumnUnit, ...], size: float) -> ColumnUnit:
    """Return the largest step that leaves at least 1 before the point after rounding to 3 digits (999.9 k is 1.00 M)."""
    fitting = [step for step in ladder if step.factor <= size * 1.0005]
    return fitting[-1] if fitting else ladder[0]


def unit_for(values: Iterable[Number | None], unit: str, base: int = 1000) -> ColumnUnit:
    """Return one unit for a whole column, by its median: `unit_for([1e8, 3e8], "B/s")` → factor 1e6, label `MB/s`."""
    ladder = _ladder(unit, base)
    sizes = [abs(value) for value in values if value and math.isfinite(value)]
    return _fitting(ladder, median(sizes)) if sizes else ladder[0]


def significant(value: Number, digits: int = 3) -> str:
    """Return at least `digits` significant digits.

    Digits before the point are never replaced by zeros (12 345 stays 12 345).
    """
    if digits == 3 and 0.001 < value < 999:  # most numbers of most tables, at a fifth of the price
        return f"{value:#.3g}".rstrip(".")
    if digits == 3 and 1000 <= value < 1e15:
        return f"{value:,.0f}".replace(",", THIN)
    if not math.isfinite(value):
        return str(value)
    if value == 0:
        return "0"
    power = int(f"{value:.{digits - 1}e}".partition("e")[2])  # of the first digit, once it is rounded
    decimals = max(0, digits - 1 - power)
    if decimals > 9:
        return f"{value:.{digits - 1}e}"
    return f"{value:,.{decimals}f}".replace(",", THIN).replace("-", "−")


def human(value: Number | None, unit: str = "", base: int = 1000) -> str:
    """Return a value in people's units: `182 MB/s`, `1.00 GiB`, `12.3 µs`, `185 k/s`, `73.5 %`; an en dash for None."""
    if value is None:
        return NO_VALUE
    step = _fitting(_ladder(unit, base), abs(value))
    number = plain(int(value)) if unit == "B" and step.factor == 1 else significant(value / step.factor)
    return f"{number}{NO_BREAK}{step.label}" if step.label else number


@lru_cache(maxsize=4096)  # the same few sizes stand on every page
def bounds(low: float | None, high: float | None, text: Callable[[float], str]) -> str:
    """Return `72.7 – 80.9` for a range, `≥ 72.7` or `≤ 80.9` for one bound, an empty string for none.

    `text` formats a number.
    """
    if low is not None and high is not None:
        return f"{text(low)} – {text(high)}"
    if low is not None:
        return f"≥ {text(low)}"
    return f"≤ {text(high)}" if high is not None else ""


def size(value: Number | None, rounded_in: int = 1024) -> str:
    """Return bytes of memory, files and blocks: whole in the base that divides them (`1 GiB`, `250 GB`), else rounded.

    The base that divides a size is its common name, whoever reads; other sizes are rounded in the base `rounded_in`.
    """
    if value is None:
        return NO_VALUE
    for base in BASES[::-1]:
        for step in reversed(_ladder("B", base)[1:]):
            if value % step.factor == 0 and 1 <= abs(value) / step.factor <= MOST_WHOLE:
                return f"{plain(int(value // step.factor))}{NO_BREAK}{step.label}"
    return human(value, "B", rounded_in)


def capacity(value: Number | None) -> str:
    """Return a disk's or array's size as makers print it, in powers of 1000: `250 GB`, `1.92 TB`."""
    return _NOUGHTS.sub("", human(value, "B"))


def bit_rate(value: Number | None) -> str:
    """Return a link's bits per second as it is sold: `10 Gb/s`, `2.5 Gb/s`."""
    if value is None:
        return NO_VALUE
    prefix, factor = next((p for p in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)) if value >= p[1]), ("", 1))
    return f"{plain(round(value / factor, 3))}{NO_BREAK}{prefix}b/s"


def moment(at: datetime | None) -> str:
    """Return a point in time as pages write it, in UTC and to the minute: `2026-11-26 22:31 UTC`."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if at else NO_VALUE


def elapsed(seconds: Number | None) -> str:
    """Return a duration in its two largest parts: `95.2` → `1 min 35 s`."""
    if seconds is None:
        return NO_VALUE
    hours, rest = divmod(round(float(seconds)), 3600)
    minutes, left = divmod(rest, 60)
    parts = [f"{number}{NO_BREAK}{unit}" for number, unit in ((hours, "h"), (minutes, "min"), (left, "s")) if number]
    return " ".join(parts[:2]) or f"0{NO_BREAK}s"


def about(seconds: Number | None) -> str:
    """Return an estimated duration, no finer than an estimate is: `2 min 30 s`, `34 min`, `5 h 20 min`."""
    if seconds is None:
        return NO_VALUE
    value = float(seconds)
    step = next((step for most, step in _ABOUT if value < most), 600)
    return elapsed(max(round(value / step), 1) * step if value > 0 else 0)


def plain(value: Number) -> str:
    """Return a number in full, with thin spaces between thousands."""
    text = f"{value:,}" if value % 1 else f"{int(value):,}"
    return text.replace(",", THIN) if value >= 1 else text.replace(",", THIN).replace("-", "−")


def multiple(value: float) -> str:
    """Return a multiple of something with two decimals, or where those are 0 with one digit: `1.95`, `0.0007`."""
    return plain(round(value, 2)) if value >= 0.01 or not value else f"{Decimal(f'{value:.1g}'):f}"


def exact(value: Number | None, unit: str = "") -> str:
    """Return the stored value in its base unit with all digits: `181 715 456 B/s`."""
    return NO_VALUE if value is None else f"{plain(value)}{suffix(unit)}"


def twelve_digits(value: float) -> str:
    """Return twelve digits, which is more than any tool measures; in full what these cannot show without an exponent."""
    return exact(float(f"{value:.12g}") if 1e-4 <= value < 1e12 else value)


def suffix(unit: str) -> str:
    """Return the unit that follows an exact value (` B/s`), empty for a fraction or a bare number."""
    return f"{NO_BREAK}{unit}" if unit and unit != "fraction" else ""


def in_both_bases(value: Number | None, unit: str = "") -> str:
    """Return an exact value with bytes in both bases: `122 480 000 B/s = 122.5 MB/s = 116.8 MiB/s`."""
    result = exact(value, unit)
    if value is None or unit not in ("B", "B/s") or abs(value) < BASES[0]:
        return result
    steps = (_fitting(_ladder(unit, base), abs(value)) for base in BASES)
    return " = ".join([result, *(f"{significant(value / step.factor, 4)}{NO_BREAK}{step.label}" for step in steps)])


def machine(value: Number | None) -> str:
    """Return a number for CSV and scripts: a plain point, no separators, nothing rounded; empty for None."""
    if value is None:
        return ""
    is_whole = isinstance(value, int) or (value.is_integer() and abs(value) < 2**53)
    return str(int(value)) if is_whole else repr(float(value))


_PREFIXES = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50}
_SPELLINGS = {
    "B": (("B", "byte", "bytes"), "250 GB or 4 MiB"),
    "B/s": (("B/s",), "200 MB/s or 190 MiB/s"),
    "bit/s": (("b/s", "bit/s", "bps"), "2 Gb/s or 100 Mb/s"),
}
_FACTORS = {
    unit: {f"{prefix}{word}": factor for prefix, factor in (_PREFIXES | _BINARY).items() for word in words}
    for unit, (words, _) in _SPELLINGS.items()
}
_TYPED = re.compile(r"([0-9]{1,20}(?:\.[0-9]{1,20})?)([A-Za-z/]*)")
_BLANKS = re.compile(r"\s+")


class AmbiguousError(ValueError):
    """What was typed means two things, or nothing; says what was found and what was expected."""


def parse(text: str, unit: str = "") -> int:
    """Parse what people type into base units: `250 GB` → 250000000000 for `B`, `2 Gb/s` → 2000000000 for `bit/s`.

    Nothing is guessed: a missing unit, a comma, `K` and `KB` (1000 to some, 1024 to others) and bits for bytes are
    refused.

    Raises:
        AmbiguousError: The text is ambiguous, or no whole number of the base unit.
    """
    expected = _SPELLINGS[unit][1] if unit else "a whole number such as 7200"
    match = _TYPED.fullmatch(_BLANKS.sub("", text))
    if not match:
        why = "; write a point before decimals and nothing between thousands" if "," in text else ""
        raise AmbiguousError(f"found {text!r}, expected {expected}{why}")
    number, word = match.groups()
    factor = _FACTORS[unit].get(word) if unit else (1 if not word else None)
    if factor is None:
        raise AmbiguousError(f"found {text!r}, expected {expected}{_why(word, unit)}")
    value = Fraction(number) * factor
    if value.denominator != 1:
        raise AmbiguousError(f"found {text!r}, which is no whole number of {unit or 'units'}, expected {expected}")
    return int(value)


def _why(word: str, unit: str) -> str:
    """Return what is wrong with a unit, as the end of a sentence, or an empty string."""
    if not unit:
        return "; it has no unit"
    if not word:
        return "; the unit is missing"
    if unit.startswith("B") and word.endswith(("b", "bit", "b/s", "bit/s", "bps")):
        return "; b stands for bits, B for bytes"
    if unit == "bit/s" and "B" in word:
        return "; B stands for bytes, b for bits"
    if word[0] in "KkMmGgTtPp" and unit == "B":
        return f"; {word} is 1000-based to some and 1024-based to others"
    return ""


def typed(value: int | None, unit: str = "") -> str:
    """Return the shortest spelling that `parse` reads as the same value: `typed(262144, "B")` → `256 KiB`; empty for None."""
    if value is None or not unit:
        return "" if value is None else str(value)
    word = _SPELLINGS[unit][0][0]
    prefixes = _PREFIXES if unit == "bit/s" else _PREFIXES | _BINARY
    spelled = [
        f"{value // factor} {prefix}{word}"
        for prefix, factor in prefixes.items()
        if value % factor == 0 and (value or factor == 1)
    ]
    return min(spelled, key=lambda text: (len(text.split()[0]), len(text)))

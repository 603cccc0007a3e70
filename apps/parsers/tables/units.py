"""The units that a table's numbers can have, each with its base stated: `KB/s (1024)` is not `KB/s (1000)`.

`UNITS["MB/s (1024)"]` is TableUnit("B/s", 1048576). `get_meanings("MB/s")` is ("MB/s (1000)", "MB/s (1024)"): what a
printed unit can stand for; one meaning needs no choice. KiB, MiB … are 1024 by IEC 80000-13, bits per second are
counted in 1000s. `Gb/s` is printed for bits and for bytes. `MB/s (1000 × 1024)` is a thousand of a tool's KB/s of 1024.
French octets (`Mo/s`) and Cyrillic letters (`МБ/с`, `Мбит/с`, `мс`) are read, too.
"""

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class TableUnit:
    """A unit: what it measures, and its size in base units."""

    base: str  # B/s, B, 1/s, ns, fraction; empty for a plain count
    factor: Decimal


def _make_byte_units() -> dict[str, TableUnit]:
    units = {}
    for suffix, base in (("B/s", "B/s"), ("B", "B")):
        units[suffix] = TableUnit(base, Decimal(1))
        for power, prefix in enumerate("KMGT", 1):
            units |= {f"{prefix}{suffix} ({size})": TableUnit(base, Decimal(size) ** power) for size in (1000, 1024)}
    units["MB/s (1000 × 1024)"] = TableUnit("B/s", Decimal(1_024_000))
    for power, prefix in enumerate(("", "K", "M", "G", "T")):
        units[f"{prefix}bit/s"] = TableUnit("B/s", Decimal(1000) ** power / 8)
    return units


UNITS: dict[str, TableUnit] = {
    **_make_byte_units(),
    "1/s": TableUnit("1/s", Decimal(1)), "K/s of operations": TableUnit("1/s", Decimal(1000)),
    "M/s of operations": TableUnit("1/s", Decimal(1000) ** 2),
    "ns": TableUnit("ns", Decimal(1)), "us": TableUnit("ns", Decimal(10) ** 3), "ms": TableUnit("ns", Decimal(10) ** 6),
    "s": TableUnit("ns", Decimal(10) ** 9), "min": TableUnit("ns", Decimal(60) * 10**9),
    "%": TableUnit("fraction", Decimal("0.01")), "fraction": TableUnit("fraction", Decimal(1)), "count": TableUnit("", Decimal(1)),
}  # fmt: skip

_SAME = {
    "iops": "1/s", "io/s": "1/s", "ios/s": "1/s", "ops/s": "1/s", "/s": "1/s", "1/s": "1/s", "req/s": "1/s",
    "seeks/s": "1/s", "files/s": "1/s", "kiops": "K/s of operations", "k iops": "K/s of operations", "miops": "M/s of operations",
    "m iops": "M/s of operations", "ns": "ns", "us": "us", "µs": "us", "μs": "us",
    "usec": "us", "ms": "ms", "msec": "ms", "s": "s", "seconds": "s", "min": "min", "%": "%", "percent": "%",
    "fraction": "fraction", "count": "count",
}  # fmt: skip
_COUNTS = {"k": "K/s of operations", "K": "K/s of operations", "M": "M/s of operations"}
_LONGEST = 40
_SECOND = r"(?:seconds?|secs?|sek(?:unden?)?|seg(?:undos?)?|second[oie]|seconde?|秒|s)"
_PER_SECOND = re.compile(rf"\s*(?:/|\bper\b|\bpro\b|\bpar\b|p(?=s$|sec$))\s*{_SECOND}\.?$", re.IGNORECASE)
_BYTES = re.compile(r"([KMGTkmgt]?)(i?)\s*(bytes?|Bytes?|BYTES?|octets?|Octets?|bits?|Bits?|B|b)?")
_OCTETS = re.compile(r"([KMGTkmgt]i?)o(?=\s?/|$)")
_CYRILLIC = {
    "байт": "byte", "бит": "bit", "мкс": "us", "мс": "ms", "нс": "ns", "сек": "s", "оп": "ops", "с": "s", "и": "i", "Б": "B", "б": "b",
    **dict(zip("КМГТкмгт", "KMGTkmgt", strict=True)),
}  # fmt: skip
_CYRILLIC_WORDS = re.compile("|".join(_CYRILLIC))
_GLUED = re.compile(r"([KMGTkmgt])(B|b|bit|byte)s")


@lru_cache(maxsize=1024)
def get_meanings(printed: str) -> tuple[str, ...]:
    """Return the names in UNITS for which a printed unit can stand; () for what is no unit."""
    if printed in UNITS:
        return (printed,)
    if len(printed) > _LONGEST:
        return ()
    text = _transliterate(printed.strip().strip("()[]").strip())
    rate = _PER_SECOND.sub("", text)
    if rate != text and f"{rate.lower()}/s" in _SAME:
        return (_SAME[f"{rate.lower()}/s"],)
    if text.lower() in _SAME:
        return (_SAME[text.lower()],)
    glued = _GLUED.fullmatch(text)
    if glued:
        return _list_byte_units(glued[1], "", glued[2], "/s")
    match = _BYTES.fullmatch(rate.strip())
    if not match or not any(match.groups()):
        return ()
    return _list_byte_units(match[1], match[2], match[3] or "", "/s" if rate != text else "")


def _transliterate(text: str) -> str:
    if not text.isascii():
        text = _CYRILLIC_WORDS.sub(lambda word: _CYRILLIC[word[0]], text)
    return _OCTETS.sub(r"\1B", text)


def read_counted_unit(printed: str) -> str:
    """Return the unit of operations per second in `27K` or `27K IOPS`, "" where it is none."""
    return _COUNTS.get(printed.removesuffix("IOPS").removesuffix("iops").rstrip(), "")


def _list_byte_units(prefix: str, binary: str, word: str, per: str) -> tuple[str, ...]:
    prefix, lower = prefix.upper(), word.lower()
    if binary and not prefix:
        return ()
    if lower.startswith("bit") or (word == "b" and not per):
        return (f"{prefix}bit/s",) if per else ()
    bits = (f"{prefix}bit/s",) if word == "b" else ()
    if not prefix:
        return (*bits, f"B{per}") if word else ()
    if binary:
        return (*bits, f"{prefix}B{per} (1024)")
    return (*bits, f"{prefix}B{per} (1000)", f"{prefix}B{per} (1024)")


_IN_WORDS = re.compile(
    rf"(?<![^\W_])(?:[KMGTkmgt]i?\s?(?:[Bb]ytes?|[Bb]its?|[Oo]ctets?|B|b|o)?\s?(?:/|\s(?:per|pro|par)\s|p)\s?(?i:{_SECOND})|[KMGTkmgt](?:[Bb])s"
    r"|[КМГТкмгт]и?\s?(?:[Бб]айт|[Бб]ит|[Бб])(?:\s?/\s?(?:сек|с))?|[Бб]айт/с|оп/с|(?:мк|м|н)с"
    r"|(?:[Bb]ytes?|B)\s?/\s?s(?:ec)?|[Kk]?IOPS|iops|(?:ops|IOs?|seeks|files|req)?/s(?:ec)?|[KMGT]i?B|bytes|[um]sec|[µμunm]s|seconds)"
    r"(?![^\W_])|%"
)


@lru_cache(maxsize=1024)
def find_unit(heading: str) -> str:
    """Return the unit in a heading or caption as printed, `MB/s` for `Write (MB/s)`; "" where there is none."""
    match = _IN_WORDS.search(heading[:300])
    return match[0].strip() if match else ""

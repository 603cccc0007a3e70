"""The units that a table's numbers can have, each with its base said: `KB/s (1024)` is not `KB/s (1000)`.

`UNITS["MB/s (1024)"]` → Unit("B/s", 1048576). `meanings("MB/s")` → ("MB/s (1000)", "MB/s (1024)"): what a printed unit
can stand for; one meaning needs no choice. KiB, MiB… are 1024 by IEC 80000-13, bits per second are counted in 1000s.
`Gb/s` is printed for bits and for bytes. `MB/s (1000 × 1024)` is a thousand of the tool's KB/s of 1024.
French octets (`Mo/s`) and Cyrillic letters (`МБ/с`, `Мбит/с`, `мс`) stand for the same.
"""

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Unit:
    base: str  # B/s, B, 1/s, ns, fraction; empty for a plain count
    factor: Decimal


def _byte_units() -> dict[str, Unit]:
    units = {}
    for suffix, base in (("B/s", "B/s"), ("B", "B")):
        units[suffix] = Unit(base, Decimal(1))
        for power, prefix in enumerate("KMGT", 1):
            units |= {f"{prefix}{suffix} ({one})": Unit(base, Decimal(one) ** power) for one in (1000, 1024)}
    units["MB/s (1000 × 1024)"] = Unit("B/s", Decimal(1_024_000))
    for power, prefix in enumerate(("", "K", "M", "G", "T")):
        units[f"{prefix}bit/s"] = Unit("B/s", Decimal(1000) ** power / 8)
    return units


UNITS: dict[str, Unit] = {
    **_byte_units(),
    "1/s": Unit("1/s", Decimal(1)), "K/s of operations": Unit("1/s", Decimal(1000)),
    "M/s of operations": Unit("1/s", Decimal(1000) ** 2),
    "ns": Unit("ns", Decimal(1)), "us": Unit("ns", Decimal(10) ** 3), "ms": Unit("ns", Decimal(10) ** 6),
    "s": Unit("ns", Decimal(10) ** 9), "min": Unit("ns", Decimal(60) * 10**9),
    "%": Unit("fraction", Decimal("0.01")), "fraction": Unit("fraction", Decimal(1)), "count": Unit("", Decimal(1)),
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
def meanings(printed: str) -> tuple[str, ...]:
    """The names in UNITS that a printed unit can stand for; () for what is no unit."""
    if printed in UNITS:
        return (printed,)
    if len(printed) > _LONGEST:
        return ()
    text = _in_latin(printed.strip().strip("()[]").strip())
    rate = _PER_SECOND.sub("", text)
    if rate != text and f"{rate.lower()}/s" in _SAME:
        return (_SAME[f"{rate.lower()}/s"],)
    if text.lower() in _SAME:
        return (_SAME[text.lower()],)
    glued = _GLUED.fullmatch(text)
    if glued:
        return _of_bytes(glued[1], "", glued[2], "/s")
    match = _BYTES.fullmatch(rate.strip())
    if not match or not any(match.groups()):
        return ()
    return _of_bytes(match[1], match[2], match[3] or "", "/s" if rate != text else "")


def _in_latin(text: str) -> str:
    if not text.isascii():
        text = _CYRILLIC_WORDS.sub(lambda word: _CYRILLIC[word[0]], text)
    return _OCTETS.sub(r"\1B", text)


def counted(printed: str) -> str:
    """What `27K` and `27K IOPS` say of a number of operations in a second, '' for what is no such number."""
    return _COUNTS.get(printed.removesuffix("IOPS").removesuffix("iops").rstrip(), "")


def _of_bytes(prefix: str, binary: str, word: str, per: str) -> tuple[str, ...]:
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
def found_in(heading: str) -> str:
    """The unit that stands in a heading or caption, as printed: `Write (MB/s)` → `MB/s`; '' where there is none."""
    match = _IN_WORDS.search(heading[:300])
    return match[0].strip() if match else ""

"""What a unit in a report's prose may mean, in base units.

`MB` may be 1000², 1024², or 1000 × 1024 bytes (a report that divides its tool's Kbyte by 1000); `Gb` may be a gigabit
or, on more than one page, a gigabyte.
"""

import re

from apps.comparison.claims.checks.definition import Meaning

_UNIT = re.compile(r"([kKMGTP]?)(i?)(bytes?|bits?|[bB])(ps|/s|/sec|s)?", re.ASCII)
_PREFIXES = "KMGTP"
_PLAIN = {
    "/s": 1.0, "1/s": 1.0, "IOPS": 1.0, "ns": 1.0, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9, "%": 0.01, "": 1.0,
}  # fmt: skip


def meanings_of(unit: str) -> list[Meaning]:
    """Return every usual meaning of a unit, the plainest first; none for an unknown unit."""
    if unit in _PLAIN:
        return [Meaning(unit or "a plain number", _PLAIN[unit])]
    match = _UNIT.fullmatch(unit)
    if not match:
        return []
    letter, is_binary, word = match[1].upper(), bool(match[2]), match[3]
    power = _PREFIXES.index(letter) + 1 if letter else 0
    in_bytes = _of_bytes(letter, power, is_binary)
    if not word.startswith("b") or word.startswith("byte"):
        return in_bytes
    bits = Meaning(f"{letter}bit", 1000.0**power / 8)
    return [bits] if word.startswith("bit") else [bits, *in_bytes]


def _of_bytes(letter: str, power: int, is_binary: bool) -> list[Meaning]:
    binary = Meaning(f"{letter}iB", 1024.0**power)
    if is_binary:
        return [binary]
    if not power:
        return [Meaning("byte", 1.0)]
    decimal, name = Meaning(f"{letter}B", 1000.0**power), f"{letter}B of {1000 ** (power - 1):,} KiB"
    mixed = Meaning(name.replace(",", " "), 1000.0 ** (power - 1) * 1024)
    return [decimal, binary, mixed] if power > 1 else [decimal, binary]

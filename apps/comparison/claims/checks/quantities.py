"""Parsing and spelling of quantities in a claim's form: `120 MB/s`, `2000 MiB`, `7200 s`, `12 %`, `1.5`."""

import math
import re

from apps.comparison.claims.checks.definition import Stated, Unit
from apps.comparison.claims.checks.unit_meanings import meanings_of
from apps.core.units import machine

EXPECTED = "a number, with a unit where it has one: 120 MB/s, 2000 MiB, 5000 /s, 7200 s, 12 %, 1.5"
_NUMBER = re.compile(r"\s*([-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*(\S*)\s*", re.ASCII)
_TIMES = {"ns", "us", "µs", "ms", "s"}
_WRITTEN = {
    "B/s": (("GB/s", 1e9), ("GiB/s", 2.0**30), ("MB/s", 1e6), ("MiB/s", 2.0**20), ("kB/s", 1e3)),
    "B": (("GiB", 2.0**30), ("GB", 1e9), ("MiB", 2.0**20), ("MB", 1e6), ("KiB", 1024.0)),
    "1/s": (("/s", 1.0),),
    "ns": (("s", 1e9), ("ms", 1e6), ("µs", 1e3)),
    "fraction": (("%", 0.01),),
}
_BASES = {"B/s": "B/s", "B": "B", "1/s": "/s", "ns": "ns", "fraction": "fraction"}


def number_of(text: str) -> float:
    """Parse a number.

    Raises:
        ValueError: The text is no number; the message says what was found and expected.
    """
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"found {text!r}, expected a number such as 1.5")
    return value


def quantity_of(text: str, name: str = "", line: str = "") -> Stated:
    """Parse a quantity into base units; MB is 1000² bytes here, MiB 1024²."""
    match = _NUMBER.fullmatch(text)
    unit = match[2] if match else ""
    if unit == "fraction":
        return Stated(_plain(float(match[1])), "fraction", name, line) if match else Stated(0)
    meanings = meanings_of(unit)
    if not match or not meanings:
        raise ValueError(f"found {text!r}, expected {EXPECTED}")
    base = _base(unit)
    return Stated(_plain(float(match[1]) * meanings[0].factor), base, name, line)


def _base(unit: str) -> Unit:
    if not unit:
        return ""
    if unit == "%":
        return "fraction"
    if unit in _TIMES:
        return "ns"
    if unit in ("/s", "1/s", "IOPS"):
        return "1/s"
    return "B/s" if unit.endswith(("/s", "/sec", "ps", "bs", "bits")) and unit != "bits" else "B"


def _plain(value: float) -> float:
    """Return a whole number of bytes as an int, so that it is written as one."""
    return int(value) if float(value).is_integer() else value


def spelled(stated: Stated) -> str:
    """Return the shortest spelling that parses to the same number."""
    for unit, factor in _WRITTEN.get(stated.unit, ()):
        text = f"{machine(float(f'{stated.value / factor:.12g}'))} {unit}"
        is_small = abs(stated.value) < factor and unit != "%"  # 750 MB/s, not 0.75 GB/s
        if not is_small and len(text) <= len(unit) + 7 and quantity_of(text).value == stated.value:
            return text
    return f"{machine(stated.value)} {_BASES.get(stated.unit, '')}".strip()

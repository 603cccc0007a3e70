"""Sizes as people type them for fio: `4k`, `1m`, `100 MiB`, `8192`. The base is never left to guess: kB and MB are
refused."""

import re

FACTORS = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4}
SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(?:([kmgt])(i?b)?|b)?", re.IGNORECASE)


def parse_size(text: str) -> int:
    """Bytes. ValueError with what was found and what was expected."""
    expected = "expected a size such as 4k, 1m or 100 MiB, where k is 1024 bytes"
    found = SIZE.fullmatch(text.strip())
    if not found:
        raise ValueError(f"found {text!r}, {expected}")
    number, letter, suffix = found.groups()
    if suffix and suffix.lower() == "b":
        raise ValueError(f"found {text!r}, which is 1000 to some and 1024 to others; {expected}")
    size = float(number) * FACTORS[(letter or "").lower()]
    if not size.is_integer():
        raise ValueError(f"found {text!r}, which is no whole number of bytes; {expected}")
    return int(size)


def spelled(size: int) -> str:
    """The shortest spelling that reads back as the same size: `65536` → `64k`."""
    for letter in ("t", "g", "m", "k"):
        if size and size % FACTORS[letter] == 0:
            return f"{size // FACTORS[letter]}{letter}"
    return str(size)

"""Detection of damaged lines in a Vdbench report: they have as many words as there are columns, but not all are figures.

16:24:33.011           2      1o3.0     0.10    1024  52.43 …
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from apps.parsers.core.numbers import read_number

_LONGEST = 1200
_LEAST_VALID = 2 / 3  # share of the words that have to be figures
TELLING = {"read pct", "read rate", "write rate"}  # decide what a run did, so that no row is read without them
_TIME = re.compile(r"\d\d:\d\d:\d\d\.\d{3}")
_LABEL = re.compile(r"\d{1,9}|(?:avg|std|max)_\d{1,9}(?:-\d{1,9})?")


@dataclass(frozen=True, slots=True)
class DamagedRow:
    """A damaged row; `whole` is the line if the rest of it can be read."""

    printed: str
    expected: str
    whole: str


def find_damaged_row(line: str, columns: Sequence[str]) -> DamagedRow | None:
    """Return what is damaged in a row, None where it is valid or no row."""
    words = line.split() if len(line) <= _LONGEST and line[:16].count(":") >= 2 else []
    if len(words) != len(columns) + 2:
        return None
    time, label, *values = words
    strange = {
        name: word for name, word in zip(columns, values, strict=True) if read_number(word) is None and word != "NaN"
    }
    if time.count(":") < 2 or len(values) - len(strange) < _LEAST_VALID * len(values):
        return None
    if not (_TIME.fullmatch(time) and _LABEL.fullmatch(label)):
        return DamagedRow(f"{time} {label}"[:60], "a time and the number of an interval", "")
    if not strange:
        return None
    return DamagedRow(", ".join(strange.values())[:60], "a number", "" if TELLING & set(strange) else line)

"""The columns of a Vdbench report, read from its two title lines.

Raw devices: `i/o rate`, `MB/sec 1024**2`, `bytes i/o` …, one word over the other. File systems: a group over two words
(`.ReqstdOps.` over `rate resp`), except for `read pct`, `mb/sec total` and `xfer size` (FwdStats.java).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.parsers.core.numbers import is_close, read_non_negative

MIB = 1024**2
_HEADLESS = {  # Report.java of 5.04.07 and of the open source 5.04; 9: 5.00 to 5.02
    13: ("i/o rate", "MB/sec 1024**2", "bytes i/o", "read pct", "resp time", "read resp", "write resp", "read max",
         "write max", "resp stddev", "queue depth", "cpu% sys+u", "cpu% sys"),
    12: ("i/o rate", "MB/sec 1024**2", "bytes i/o", "read pct", "resp time", "read resp", "write resp", "resp max",
         "resp stddev", "queue depth", "cpu% sys+u", "cpu% sys"),
    9: ("i/o rate", "MB/sec 1024**2", "bytes i/o", "read pct", "resp time", "resp max", "resp stddev", "cpu% sys+u",
        "cpu% sys"),
}  # fmt: skip
_OF_DEVICES = {"i/o rate", "read pct", "resp time"}
_OF_FILES = {"ReqstdOps rate", "ReqstdOps resp", "read rate", "read resp", "write rate", "write resp"}
_ALONE = {("read", "pct"), ("mb/sec", "total"), ("xfer", "size")}


@dataclass(frozen=True, slots=True)
class VdbenchColumns:
    """The names of a report's columns."""

    names: tuple[str, ...]

    @property
    def is_files(self) -> bool:
        """Return whether the report is of file systems."""
        return "ReqstdOps rate" in self.names

    @property
    def megabyte(self) -> int:
        """Return the bytes of the report's MB."""
        return 1000**2 if "MB/sec 1000**2" in self.names else MIB


def read_columns(above: str, below: str) -> VdbenchColumns | None:
    """Return the columns of two title lines, None where some that are needed are missing."""
    upper = above.split()[3:]
    upper = upper[1:] if upper and upper[0].strip(".").lower() == "interval" else upper
    lower = below.split()
    if any("ReqstdOps" in word for word in upper):
        columns = _join_groups([word.strip(".") for word in upper if word.strip(".") != "Interval"], lower)
    else:
        columns = VdbenchColumns(
            tuple(f"{upper_word} {lower_word}" for upper_word, lower_word in zip(upper, lower, strict=False))
        )
    needed = _OF_FILES if columns.is_files else _OF_DEVICES
    return columns if needed <= set(columns.names) and len(set(columns.names)) == len(columns.names) else None


def _join_groups(upper: Sequence[str], lower: Sequence[str]) -> VdbenchColumns:
    names: list[str] = []
    words = list(lower)
    for group in upper:
        taken = 1 if words and (group, words[0]) in _ALONE else 2
        names += [f"{group} {word}" for word in words[:taken]]
        words = words[taken:]
    return VdbenchColumns(tuple(names))


def recognise_columns(values: Sequence[str]) -> VdbenchColumns | None:
    """Return the columns of values without a title, None unless their arithmetic agrees."""
    names = _HEADLESS.get(len(values))
    numbers = [read_non_negative(value) for value in values[:4]]
    if names is None or None in numbers:
        return None
    rate, megabytes, size, percent = (number or 0.0 for number in numbers)
    is_right = is_close(rate * size / MIB, megabytes) and percent <= 100 and megabytes > 0
    return VdbenchColumns(names) if is_right else None

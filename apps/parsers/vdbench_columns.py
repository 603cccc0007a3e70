"""Which columns a Vdbench report has, from its two title lines.

Raw devices: `i/o rate`, `MB/sec 1024**2`, `bytes i/o`… one word over the other. File systems: a group over two words
(`.ReqstdOps.` over `rate resp`), but one for `read pct`, `mb/sec total` and `xfer size` (FwdStats.java).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.parsers.finite import close, positive

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
class Columns:
    names: tuple[str, ...]

    @property
    def is_files(self) -> bool:
        return "ReqstdOps rate" in self.names

    @property
    def megabyte(self) -> int:
        return 1000**2 if "MB/sec 1000**2" in self.names else MIB


def read_columns(above: str, below: str) -> Columns | None:
    upper = above.split()[3:]
    upper = upper[1:] if upper and upper[0].strip(".").lower() == "interval" else upper
    lower = below.split()
    if any("ReqstdOps" in word for word in upper):
        found = _groups([word.strip(".") for word in upper if word.strip(".") != "Interval"], lower)
    else:
        found = Columns(tuple(f"{one} {other}" for one, other in zip(upper, lower, strict=False)))
    needed = _OF_FILES if found.is_files else _OF_DEVICES
    return found if needed <= set(found.names) and len(set(found.names)) == len(found.names) else None


def _groups(upper: Sequence[str], lower: Sequence[str]) -> Columns:
    names: list[str] = []
    words = list(lower)
    for group in upper:
        taken = 1 if words and (group, words[0]) in _ALONE else 2
        names += [f"{group} {word}" for word in words[:taken]]
        words = words[taken:]
    return Columns(tuple(names))


def recognised(values: Sequence[str]) -> Columns | None:
    """Columns without a title: only where their arithmetic agrees."""
    names = _HEADLESS.get(len(values))
    numbers = [positive(value) for value in values[:4]]
    if names is None or None in numbers:
        return None
    rate, megabytes, size, percent = (number or 0.0 for number in numbers)
    is_right = close(rate * size / MIB, megabytes) and percent <= 100 and megabytes > 0
    return Columns(names) if is_right else None

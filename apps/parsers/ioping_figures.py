"""The figures of ioping's statistics block, with the tool's own text and the line of each."""

import re
from collections.abc import Callable, Iterator

from apps.parsers import ioping_units
from apps.parsers.ioping_samples import LATENCIES, Figure

_EDGE = r"(?<![^\s,(])"  # of a figure: digits behind a letter are the end of another one
_DONE = re.compile(rf"{_EDGE}([\d.]{{1,20}}(?: [kMGT])?) requests completed in ")
_FIGURES = {
    "iops": re.compile(rf"{_EDGE}([\d.]{{1,20}}(?: [kMGT])?) iops"),
    "bandwidth": re.compile(rf"{_EDGE}([\d.]{{1,20}} [A-Za-z]{{1,3}}/s)"),
    "io_bytes": re.compile(r", ([\d.]{1,20} [KMGTP]?i?B)(?: (?:read|written))?, "),
}
DONE_LINE = re.compile(
    r"\s*[\d.]{1,20}(?: [kMGT])? requests completed in [\d.]{1,20} [a-z]{1,4}, .*\d(?: [kMGT])? iops\b"
)
LATENCY_LINE = re.compile(r"min/avg/max/mdev = *" + " ?/ ?".join(["([\\d.]{1,20})(?: ([a-z]{1,4}))?(?![^\\s/])"] * 4))
_COUNTED = re.compile(r"\s*[\d.]{1,20}(?: [kMGT])? requests completed in [\d.]{1,20} [a-z]{1,4}(?:,|\s*$)")
_DRESS = "#> "  # before a line that somebody quoted
_MIXED = re.compile(r"[A-Za-z][\d.]{0,20}\d|\d\.?[A-Za-z]")


def figures_of(told: str, place: Callable[[str], int]) -> tuple[float | None, dict[str, Figure]]:
    done = _DONE.search(told)
    rates = told[done.start() :].partition("generated ")[0].partition("min/avg")[0] if done else ""
    found = rates_of(rates, place)
    if match := LATENCY_LINE.search(told):
        found |= dict(zip(LATENCIES, _latencies(match, place), strict=True))
    return ioping_units.count(done[1]) if done else None, found


def is_damaged(line: str) -> bool:
    """Whether a line that counts requests has a letter where a figure should be; each part of it begins with one."""
    if " requests completed in " not in line:
        return False
    line = line.lstrip(_DRESS)
    parts = [part.strip() for part in line.split(",")]
    return not _COUNTED.match(line) or bool(_MIXED.search(line)) or not all(part[:1].isdigit() for part in parts)


def rates_of(rates: str, place: Callable[[str], int]) -> dict[str, Figure]:
    found: dict[str, Figure] = {}
    for metric, pattern in _FIGURES.items():
        if match := pattern.search(rates):
            read = ioping_units.count if metric == "iops" else ioping_units.size
            found[metric] = Figure(read(match[1]), match[0].strip(", "), place(match[1]))
    return found


def _latencies(match: re.Match[str], place: Callable[[str], int]) -> Iterator[Figure]:
    units = match.group(2, 4, 6, 8)
    for value, unit in zip(match.group(1, 3, 5, 7), units, strict=True):
        printed = f"{value} {unit or units[-1] or ''}".strip()
        yield Figure(ioping_units.time(printed), printed, place("min/avg"))


def block_size_of(size: str, told: str) -> int | None:
    """From the requests; else the bytes shared out, where both are printed whole."""
    if size:
        return ioping_units.whole_size(size)
    done, moved = _DONE.search(told), _FIGURES["io_bytes"].search(told)
    if done is None or moved is None or not done[1].isdecimal() or "." in moved[1]:
        return None
    total, counted = ioping_units.whole_size(moved[1]), int(done[1])
    return total // counted if total and counted and total % counted == 0 else None

"""The figures of ioping's statistics block, with the tool's own text and the line of each."""

import re
from collections.abc import Callable, Iterator

from apps.parsers.ioping import units as ioping_units
from apps.parsers.ioping.samples import LATENCIES, PrintedFigure

_EDGE = r"(?<![^\s,(])"  # begins a figure; digits behind a letter are the end of a damaged one
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
_DRESS = "#> "  # marks before a quoted line
_MIXED = re.compile(r"[A-Za-z][\d.]{0,20}\d|\d\.?[A-Za-z]")


def read_figures(statistics: str, place: Callable[[str], int]) -> tuple[float | None, dict[str, PrintedFigure]]:
    """Return how many requests were counted, and the figures by metric; `place` returns the line of a printed text."""
    done = _DONE.search(statistics)
    rates = statistics[done.start() :].partition("generated ")[0].partition("min/avg")[0] if done else ""
    figures = read_rates(rates, place)
    if match := LATENCY_LINE.search(statistics):
        figures |= dict(zip(LATENCIES, _read_latencies(match, place), strict=True))
    return ioping_units.parse_count(done[1]) if done else None, figures


def is_damaged(line: str) -> bool:
    """Return whether a line that counts requests has a letter where a figure should be; each part of it begins with one."""
    if " requests completed in " not in line:
        return False
    line = line.lstrip(_DRESS)
    parts = [part.strip() for part in line.split(",")]
    return not _COUNTED.match(line) or bool(_MIXED.search(line)) or not all(part[:1].isdigit() for part in parts)


def read_rates(rates: str, place: Callable[[str], int]) -> dict[str, PrintedFigure]:
    """Return the rates in a text by metric."""
    figures: dict[str, PrintedFigure] = {}
    for metric, pattern in _FIGURES.items():
        if match := pattern.search(rates):
            read = ioping_units.parse_count if metric == "iops" else ioping_units.parse_size
            figures[metric] = PrintedFigure(read(match[1]), match[0].strip(", "), place(match[1]))
    return figures


def _read_latencies(match: re.Match[str], place: Callable[[str], int]) -> Iterator[PrintedFigure]:
    units = match.group(2, 4, 6, 8)
    for value, unit in zip(match.group(1, 3, 5, 7), units, strict=True):
        printed = f"{value} {unit or units[-1] or ''}".strip()
        yield PrintedFigure(ioping_units.parse_time(printed), printed, place("min/avg"))


def find_block_size(size: str, statistics: str) -> int | None:
    """Return the block size of the requests, else total bytes ÷ requests where both are printed whole; None where unknown."""
    if size:
        return ioping_units.parse_whole_size(size)
    done, moved = _DONE.search(statistics), _FIGURES["io_bytes"].search(statistics)
    if done is None or moved is None or not done[1].isdecimal() or "." in moved[1]:
        return None
    total, counted = ioping_units.parse_whole_size(moved[1]), int(done[1])
    return total // counted if total and counted and total % counted == 0 else None

"""ioping's raw statistics (`-p`, `-P`, `-B`): lines of whole numbers, without any word.

    99 10970974 9024 36961531 90437 110818 358872 30756 100 12516420

Columns: count, time, requests/s, bytes/s, min, avg, max, mdev; since 1.0 also all requests and all time (ioping.1, "RAW
STATISTICS"). Times are µs in 0.7 to 0.9 and ns since 1.0. Which it is shows the line itself, because requests/s must be
count ÷ time; a line for which neither holds is not ioping's. 0.4 to 0.6 print four numbers, which are not read.

Periods are placed by all time; where that column is missing, by the time in requests, which is all that is printed.
Neither direction nor target are printed: lines that stand alone are read only below a command line.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from apps.parsers.core.models import Broken, ParsedRun, ParsedSeries
from apps.parsers.core.numbers import is_close
from apps.parsers.core.source_text import SourceText
from apps.parsers.ioping import units as ioping_units
from apps.parsers.ioping.samples import (
    LATENCIES,
    PERIODS,
    UNITS,
    PrintedFigure,
    choose_operation,
    compute_sums,
    make_missing,
    make_samples,
)

_LINE = re.compile(r"\d{1,18}(?: \d{1,18}){7}(?: \d{1,18} \d{1,18})?\s*", re.ASCII)
_LOOKED_AT = 200
_METRICS = ("iops", "bandwidth", *LATENCIES)


@dataclass(frozen=True, slots=True)
class RawLine:
    """A line of raw statistics."""

    count: int
    time: float  # ns in requests
    wall: float  # ns with the pauses, where that is printed
    figures: tuple[float, ...]  # in the order of _METRICS
    printed: tuple[str, ...]
    unit: str  # of the printed times

    @property
    def block_size(self) -> int:
        """Return the bytes of a request, rounded to sectors."""
        return round(self.figures[1] * self.time / 1e9 / self.count / 512) * 512


def looks_like(text: SourceText) -> float:
    """Return 0.9 if the text has raw lines and names ioping, 0.3 for raw lines alone, else 0."""
    own = sum(1 for line in text.lines[:_LOOKED_AT] if read_raw(line))
    return 0.9 if own and "ioping" in text.text else 0.3 if own else 0.0


def read_raw(line: str) -> RawLine | None:
    """Return a raw line whose numbers agree with each other, None for any other line."""
    if len(line) > 220 or not line[:1].isdigit() or not _LINE.fullmatch(line):
        return None
    words = line.split()
    count, time, iops, speed, least, mean, most, spread = map(int, words[:8])
    if not count or not time or not least <= mean <= most or abs(count * mean - time) > count:
        return None
    scale = 1000 if len(words) == 8 else 1  # eight columns of ns would be ten that were cut off
    if abs(iops - 1e9 * count / (time * scale)) <= 1 or is_close(iops, 1e9 * count / (time * scale), 1e-3):
        figures = (iops, speed, *(value * scale for value in (least, mean, most, spread)))
        wall = int(words[9]) if len(words) == 10 else time * scale
        return RawLine(
            count, time * scale, wall, tuple(map(float, figures)), tuple(words[2:8]), "ns" if scale == 1 else "us"
        )
    return None


def make_raw_run(lines: Sequence[RawLine], command: str, place: tuple[int, int]) -> ParsedRun | Broken:
    """Return the run of raw lines below a command, a `Broken` where there is no command."""
    options = ioping_units.read_options(command) if command else None
    if options is None:
        return Broken("raw statistics do not say whether they count reads or writes", place[0],
                      " ".join(lines[0].printed), "ioping's command line above them")  # fmt: skip
    direction = "mixed" if "G" in options else "write" if "W" in options else "read"
    name, note = choose_operation(direction, options)
    total, periods = _split_total(lines)
    block_size = lines[0].block_size or None
    figures = {} if total is None else _make_figures(total, place[1])
    samples = make_samples(name, figures, None, block_size, note) or [make_missing(name, place[1], block_size, PERIODS)]
    return ParsedRun(
        tool="ioping", tool_version="", samples=tuple(samples), series=make_raw_series(periods, name),
        workload=ioping_units.read_workload(command), target=command.split()[-1], line=place[0], last_line=place[1],
    )  # fmt: skip


def _split_total(lines: Sequence[RawLine]) -> tuple[RawLine | None, Sequence[RawLine]]:
    """Return the statistics of the whole run, if there are any, and those of its periods."""
    *periods, last = lines
    if not periods:
        return last, ()
    is_total = (
        sum(period.count for period in periods) <= last.count and sum(period.time for period in periods) <= last.time
    )
    return (last, periods) if is_total else (None, lines)


def _make_figures(total: RawLine, line: int) -> dict[str, PrintedFigure]:
    pairs = zip(total.figures, total.printed, strict=True)
    return {
        metric: PrintedFigure(value, f"{printed} {UNITS.get(metric, total.unit)}", line)
        for metric, (value, printed) in zip(_METRICS, pairs, strict=True)
    }


def make_raw_series(periods: Sequence[RawLine], name: str) -> tuple[ParsedSeries, ...]:
    """Return the periods as series."""
    if not periods:
        return ()
    ends = compute_sums([period.wall for period in periods])
    return tuple(
        ParsedSeries(name, metric, 0, "report", ends, tuple(period.figures[place] for period in periods))
        for place, metric in enumerate(_METRICS[:4])
        if metric != "latency_min"
    )

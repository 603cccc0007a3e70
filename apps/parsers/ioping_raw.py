"""ioping's raw statistics (`-p`, `-P`, `-B`): lines of whole numbers, without any word.

    99 10970974 9024 36961531 90437 110818 358872 30756 100 12516420

Count, time, requests/s, bytes/s, min, avg, max, mdev; since 1.0 also all requests and all time (ioping.1, "RAW
STATISTICS"). Times are µs in 0.7 to 0.9 and ns since 1.0: which, is told by the line itself, where requests/s must be
count ÷ time. A line for which neither holds is none of ioping's. 0.4 to 0.6 print four numbers; those are not read.

Periods are placed by all time; where that column is missing, by the time in requests, which is all that is printed.
Neither reads or writes nor the target are printed: lines that stand alone are read only below a command line.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from apps.parsers import ioping_units
from apps.parsers.finite import close
from apps.parsers.ioping_samples import LATENCIES, PERIODS, UNITS, Figure, missing, operation, samples, sums
from apps.parsers.shape import Broken, ParsedRun, ParsedSeries
from apps.parsers.source_text import SourceText

_LINE = re.compile(r"\d{1,18}(?: \d{1,18}){7}(?: \d{1,18} \d{1,18})?\s*", re.ASCII)
_LOOKED_AT = 200
_METRICS = ("iops", "bandwidth", *LATENCIES)


@dataclass(frozen=True, slots=True)
class Raw:
    count: int
    time: float  # ns, as all times here; in requests
    wall: float  # with the pauses, where that is printed
    figures: tuple[float, ...]  # in the order of _METRICS
    printed: tuple[str, ...]
    unit: str  # of the times as printed

    @property
    def block_size(self) -> int:
        return round(self.figures[1] * self.time / 1e9 / self.count / 512) * 512


def looks_like(text: SourceText) -> float:
    own = sum(1 for line in text.lines[:_LOOKED_AT] if read(line))
    return 0.9 if own and "ioping" in text.text else 0.3 if own else 0.0


def read(line: str) -> Raw | None:
    """A raw line whose numbers agree with each other."""
    if len(line) > 220 or not line[:1].isdigit() or not _LINE.fullmatch(line):
        return None
    words = line.split()
    count, time, iops, speed, least, mean, most, spread = map(int, words[:8])
    if not count or not time or not least <= mean <= most or abs(count * mean - time) > count:
        return None
    scale = 1000 if len(words) == 8 else 1  # eight columns of ns are ten that were cut off
    if abs(iops - 1e9 * count / (time * scale)) <= 1 or close(iops, 1e9 * count / (time * scale), 1e-3):
        figures = (iops, speed, *(value * scale for value in (least, mean, most, spread)))
        wall = int(words[9]) if len(words) == 10 else time * scale
        return Raw(
            count, time * scale, wall, tuple(map(float, figures)), tuple(words[2:8]), "ns" if scale == 1 else "us"
        )
    return None


def run(lines: Sequence[Raw], command: str, place: tuple[int, int]) -> ParsedRun | Broken:
    options = ioping_units.options(command) if command else None
    if options is None:
        return Broken("raw statistics do not say whether they count reads or writes", place[0],
                      " ".join(lines[0].printed), "ioping's command line above them")  # fmt: skip
    direction = "mixed" if "G" in options else "write" if "W" in options else "read"
    name, note = operation(direction, options)
    total, periods = _split(lines)
    block_size = lines[0].block_size or None
    figures = {} if total is None else _figures(total, place[1])
    found = samples(name, figures, None, block_size, note) or [missing(name, place[1], block_size, PERIODS)]
    return ParsedRun(
        tool="ioping", tool_version="", samples=tuple(found), series=series(periods, name),
        workload=ioping_units.workload(command), target=command.split()[-1], line=place[0], last_line=place[1],
    )  # fmt: skip


def _split(lines: Sequence[Raw]) -> tuple[Raw | None, Sequence[Raw]]:
    """The statistics of the whole run, and those of its periods."""
    *periods, last = lines
    if not periods:
        return last, ()
    is_total = sum(one.count for one in periods) <= last.count and sum(one.time for one in periods) <= last.time
    return (last, periods) if is_total else (None, lines)


def _figures(total: Raw, line: int) -> dict[str, Figure]:
    pairs = zip(total.figures, total.printed, strict=True)
    return {
        metric: Figure(value, f"{printed} {UNITS.get(metric, total.unit)}", line)
        for metric, (value, printed) in zip(_METRICS, pairs, strict=True)
    }


def series(periods: Sequence[Raw], name: str) -> tuple[ParsedSeries, ...]:
    if not periods:
        return ()
    ends = sums([one.wall for one in periods])
    return tuple(
        ParsedSeries(name, metric, 0, "report", ends, tuple(one.figures[place] for one in periods))
        for place, metric in enumerate(_METRICS[:4])
        if metric != "latency_min"
    )

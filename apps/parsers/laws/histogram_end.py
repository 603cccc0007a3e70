"""The last bin of a histogram counts everything that is longer: a percentile in it is a lower bound.

fio prints the middle of the bin (`plat_idx_to_val` in stat.c). Its table has 64 bins to a power of two and ends at 2³⁴
ns (17.2 s) since 2.99, at 2²⁴ µs (16.8 s) before; a report in ms or µs rounds the figure. sysbench 1.0 counts up to
100 s.
"""

import re
from collections.abc import Iterator

from apps.parsers.fio.bins import get_last_bin
from apps.parsers.laws.law import SHARES, Contradiction, JobFigures, Law, LawEffect, write_figure

_KINDS = ("clat", "latency")
_VERSION = re.compile(r"(\d{1,4})\.(\d{1,4})")
_FIRST_OF_NS = (2, 99)
_SYSBENCH_NS = 100_000_000_000


def find_ends(tool: str, version: str) -> list[tuple[float, float, float]]:
    """Return the last bins that a tool's histogram may have: the bounds of the bin and what is printed for it, in ns."""
    if tool == "sysbench":
        return [(_SYSBENCH_NS * 0.99999, _SYSBENCH_NS * 1.00001, _SYSBENCH_NS)]
    if tool != "fio":
        return []
    numbers = _VERSION.match(version)
    known = numbers and (int(numbers[1]), int(numbers[2]))
    ends = [get_last_bin(in_us=False), get_last_bin(in_us=True)]
    return ends if not known else ends[:1] if known >= _FIRST_OF_NS else ends[1:]


def _check(figures: JobFigures) -> Iterator[Contradiction]:
    ends = find_ends(figures.run.tool, figures.run.tool_version)
    for kind in _KINDS if ends else ():
        for metric, _, value in figures.percentiles(kind):
            for first, end, middle in ends:
                if first <= value <= end:
                    yield _bound(figures, kind, metric, middle)
                    break


def _bound(figures: JobFigures, kind: str, metric: str, middle: float) -> Contradiction:
    largest = figures.value(f"{kind}_max")
    high = largest if largest is not None and largest > middle else None
    reason = f"the last bin of the histogram: at least {write_figure(metric, middle)}, everything longer is in it"
    return Contradiction((metric,), reason, LawEffect.BOUNDED, low=middle, high=high)


LAW = Law(
    name="histogram_end",
    reason="the last bin of a histogram has no upper end: a percentile in it becomes a lower bound, and the largest "
    "value its upper one",
    check=_check,
    metrics=frozenset(f"{kind}_{word}" for kind in _KINDS for word in SHARES),
)

"""The arithmetic of one cell.

Values are sorted first, so that the same data give the same digits whatever order they came in. Ratios between cells:
`ratios.py`; two modes in one cell: `modes.py`.

Means and deviations are those of Python's `statistics`, which round once: naive sums, and NumPy's, lose digits of NIST's
certified figures.
"""

import math
import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from apps.core.student_t import student
from apps.parsers.fio.bins import LAST_BIN, Bins, compute_percentile, merge_bins

if TYPE_CHECKING:
    from numpy.typing import NDArray

ENOUGH = 3  # values, for an interval
OUTLIER = 3.5  # modified z-score, from Iglewicz and Hoaglin, How to Detect and Handle Outliers (1993)
ENOUGH_FOR_OUTLIERS = 5  # of three normal values, one set in three would have a mark


@dataclass(frozen=True)
class Summary:
    """n values in base units; the interval is Student's, 95 %, and only there for n ≥ 3."""

    n: int = 0
    mean: float | None = None
    median: float | None = None
    stdev: float | None = None
    minimum: float | None = None
    maximum: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None


def summary(values: Sequence[float]) -> Summary:
    ordered = sorted(values)
    n = len(ordered)
    if not n:
        return Summary()
    mean = statistics.fmean(ordered)
    stdev = statistics.stdev(ordered) if n > 1 else None
    low = high = None
    if n >= ENOUGH and stdev is not None:
        half = student(n - 1) * stdev / math.sqrt(n)
        low, high = mean - half, mean + half
    return Summary(n, mean, statistics.median(ordered), stdev, ordered[0], ordered[-1], low, high)


def outliers(cells: Sequence[Sequence[float]]) -> list[list[int]]:
    """Return for each cell the places of outliers, which are to be marked and never dropped.

    They are more than 3.5 scaled median absolute deviations from the median (Iglewicz and Hoaglin 1993); where more
    than half of the values are equal, mean absolute deviations. All cells at once: SciPy takes 60 ms for 320 of them
    one by one, 0.4 ms together.
    """
    places_found: list[list[int]] = [[] for _ in cells]
    by_size: dict[int, list[int]] = defaultdict(list)
    for place, values in enumerate(cells):
        if len(values) >= ENOUGH_FOR_OUTLIERS:
            by_size[len(values)].append(place)
    for places in by_size.values():
        for place, far in zip(places, _far([cells[place] for place in places]), strict=True):
            places_found[place] = far.nonzero()[0].tolist()
    return places_found


def _far(cells: Sequence[Sequence[float]]) -> "NDArray[Any]":
    """Return an array that is true for outliers, with a row for each cell; all cells are of one size."""
    import numpy as np
    from scipy import stats  # lazily: it takes more than half a second to import

    rows = np.asarray(cells, dtype=float)
    distances = np.abs(rows - np.median(rows, axis=1, keepdims=True))
    scales = stats.median_abs_deviation(rows, axis=1, scale="normal")[:, None]
    scales = np.where(scales > 0, scales, distances.mean(axis=1, keepdims=True) * math.sqrt(math.pi / 2))
    far: NDArray[Any] = (distances > OUTLIER * scales) & (scales > 0)
    return far


def merged_percentile(histograms: Sequence[Bins], percent: float) -> float | None:
    """Return the percentile of all I/Os together, from merged bins of [ns, count], by fio's own rule.

    Percentiles themselves are never averaged. None where nothing was counted, or where it lies in the last bin of fio's
    table, which counts everything that is longer.
    """
    value = compute_percentile(merge_bins(*histograms), percent)
    return None if value is None or value == LAST_BIN else float(value)

"""Quartiles for box plots. Tukey's whiskers; nothing is dropped: what lies beyond them is kept as `beyond`."""

import statistics
from collections.abc import Sequence

from apps.comparison.drawing.chart import Box

REACH = 1.5  # times the box's height


def box_of(values: Sequence[float]) -> Box | None:
    """Quartiles between neighbouring values in proportion (type 7 of Hyndman and Fan, NumPy's own)."""
    import numpy as np

    if not values:
        return None
    ordered = sorted(values)
    q1, median, q3 = (float(one) for one in np.quantile(ordered, (0.25, 0.5, 0.75)))
    reach = REACH * (q3 - q1)
    inside = [value for value in ordered if q1 - reach <= value <= q3 + reach]
    beyond = tuple(value for value in ordered if not q1 - reach <= value <= q3 + reach)
    return Box(inside[0], q1, median, q3, inside[-1], statistics.fmean(ordered), beyond)

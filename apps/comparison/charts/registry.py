"""The kinds of charts that a comparison offers, the default one, and the scales of its axis."""

from apps.comparison.cells import Comparison
from apps.comparison.charts.chart import ChartKind
from apps.comparison.charts.kinds import KINDS
from apps.comparison.labels import TIME

NAMES = {kind: drawn.label for kind, drawn in KINDS.items() if drawn.label}
SCALES = {"even": "equal steps", "linear": "true, linear", "log": "true, logarithmic"}


def usual(comparison: Comparison) -> ChartKind:
    return ChartKind.LINE if is_ordered(comparison) else ChartKind.BAR


def why_not(comparison: Comparison, kind: ChartKind) -> str:
    """Return what a chart of this kind would need, or an empty text where it can be drawn."""
    return KINDS[kind].why_not(comparison)


def why_not_along(comparison: Comparison, scale: str) -> str:
    if scale == "even":
        return ""
    if comparison.x == TIME or not is_ordered(comparison):
        return "a true axis needs numbers along it"
    if scale == "log" and min(numbers(comparison)) <= 0:
        return "a logarithmic axis has no place for 0"
    return ""


def is_ordered(comparison: Comparison) -> bool:
    known = [x for x in comparison.xs if x is not None]
    return len(known) > 1 and (comparison.x == TIME or len(numbers(comparison)) == len(known))


def numbers(comparison: Comparison) -> list[float]:
    return [float(x) for x in comparison.xs if isinstance(x, int | float) and not isinstance(x, bool)]

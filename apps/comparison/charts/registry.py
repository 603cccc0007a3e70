"""The kinds of charts that a comparison offers, the default one, and the scales of its axis."""

from apps.comparison.cells import Comparison
from apps.comparison.charts.chart import ChartKind
from apps.comparison.charts.kinds import KINDS
from apps.comparison.labels import IN_BYTES, TIME
from apps.comparison.readings import FILE_SIZE_OVER_RAM

NAMES = {kind: drawn.label for kind, drawn in KINDS.items() if drawn.label}
SCALES = {"even": "equal steps", "linear": "true, linear", "log": "true, logarithmic"}
SIZES = frozenset({*IN_BYTES, FILE_SIZE_OVER_RAM})  # axes along which distances mean something


def usual(comparison: Comparison) -> ChartKind:
    return ChartKind.LINE if is_ordered(comparison) else ChartKind.BAR


def why_not(comparison: Comparison, kind: ChartKind) -> str:
    """Return what a chart of this kind would need, or an empty text where it can be drawn."""
    return KINDS[kind].why_not(comparison)


def scale_along(comparison: Comparison, kind: ChartKind) -> str:
    """Return the scale of x: as asked for lines, true along sizes where nothing is asked, else equal steps."""
    asked = comparison.question.axis
    if kind is not ChartKind.LINE or why_not_along(comparison, asked):
        return "even"
    if asked or comparison.x not in SIZES or why_not_along(comparison, "linear"):
        return asked or "even"
    return "linear" if why_not_along(comparison, "log") else "log"


def why_not_along(comparison: Comparison, scale: str) -> str:
    if scale in ("", "even"):
        return ""
    known = [x for x in comparison.xs if x is not None]
    if comparison.x == TIME or not known or len(numbers(comparison)) < len(known):
        return "a true axis needs numbers along it"
    if scale == "log" and min(numbers(comparison)) <= 0:
        return "a logarithmic axis has no place for 0"
    return ""


def is_ordered(comparison: Comparison) -> bool:
    known = [x for x in comparison.xs if x is not None]
    return len(known) > 1 and (comparison.x == TIME or len(numbers(comparison)) == len(known))


def numbers(comparison: Comparison) -> list[float]:
    return [float(x) for x in comparison.xs if isinstance(x, int | float) and not isinstance(x, bool)]

"""The kinds of charts, what each needs, and the default kind of a comparison."""

from apps.comparison.cells import Comparison
from apps.comparison.charts.chart import ChartKind
from apps.comparison.labels import IN_BYTES, TIME
from apps.comparison.readings import FILE_SIZE_OVER_RAM, POINT

NAMES = {
    ChartKind.LINE: "Lines",
    ChartKind.BAR: "Bars",
    ChartKind.PAIRED: "Paired bars",
    ChartKind.BOX: "Box plot",
    ChartKind.HEAT: "Heat map",
    ChartKind.MATRIX: "Matrix with holes",
}
SCALES = {"even": "equal steps", "linear": "true, linear", "log": "true, logarithmic"}
SIZES = frozenset({*IN_BYTES, FILE_SIZE_OVER_RAM})  # axes along which distances mean something


def usual(comparison: Comparison) -> ChartKind:
    return ChartKind.LINE if is_ordered(comparison) else ChartKind.BAR


def why_not(comparison: Comparison, kind: ChartKind) -> str:
    """Return what a chart of this kind would need, or an empty text where it can be drawn."""
    if kind is ChartKind.HEAT and not (comparison.x in POINT and _series_are_points(comparison)):
        return "a heat map needs sizes (or counts) on both axes, such as file size along and series by block size"
    if kind is ChartKind.PAIRED and len(comparison.drawn) != 2:
        return f"paired bars need two series, and there {_are(len(comparison.drawn))}"
    if kind is ChartKind.LINE and len(comparison.xs) < 2:
        return "lines need at least two places along the axis"
    return ""


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


def _series_are_points(comparison: Comparison) -> bool:
    by = comparison.question.series
    return len(by) == 1 and by[0] in POINT and by[0] != comparison.x


def _are(count: int) -> str:
    return "is one" if count == 1 else f"are {count}"

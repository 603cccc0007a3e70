"""Which charts a comparison can be, and which it is where nobody chose."""

from apps.comparison.cells import Comparison
from apps.comparison.drawing.chart import Kind
from apps.comparison.readings import POINT
from apps.comparison.words import TIME

NAMES = {
    Kind.LINE: "Lines",
    Kind.BAR: "Bars",
    Kind.PAIRED: "Paired bars",
    Kind.BOX: "Box plot",
    Kind.HEAT: "Heat map",
    Kind.MATRIX: "Matrix with holes",
}
SCALES = {"even": "equal steps", "linear": "true, linear", "log": "true, logarithmic"}


def usual(comparison: Comparison) -> Kind:
    return Kind.LINE if is_ordered(comparison) else Kind.BAR


def why_not(comparison: Comparison, kind: Kind) -> str:
    """Empty where the comparison can be drawn so; else what it would need."""
    if kind is Kind.HEAT and not (comparison.x in POINT and _series_are_points(comparison)):
        return "a heat map needs sizes (or counts) on both axes, such as file size along and series by block size"
    if kind is Kind.PAIRED and len(comparison.series) != 2:
        return f"paired bars need two series, and there {_are(len(comparison.series))}"
    if kind is Kind.LINE and len(comparison.xs) < 2:
        return "lines need at least two places along the axis"
    return ""


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


def _series_are_points(comparison: Comparison) -> bool:
    by = comparison.question.series
    return len(by) == 1 and by[0] in POINT and by[0] != comparison.x


def _are(count: int) -> str:
    return "is one" if count == 1 else f"are {count}"

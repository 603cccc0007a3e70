"""What the chart draws, as plain data: the same numbers as the table, in the table's unit."""

from typing import Any

from apps.comparison.cells import Cell, Comparison
from apps.comparison.grid import Grid
from apps.comparison.words import TIME

# The rule whose cells are drawn hollow: they may show memory.
HOLLOW = "ram_cache"


def chart_data(comparison: Comparison, grid: Grid) -> dict[str, Any]:
    """`labels` along x (equal steps, so that sizes far apart stay readable), and per series its points or nulls."""
    hollow = {key for caveat in comparison.caveats if caveat.rule == HOLLOW for key in caveat.cells}
    cells = {(cell.x, cell.series): cell for cell in comparison.cells}
    factor = grid.unit.factor
    return {
        "title": grid.title,
        "kind": "line" if _is_ordered(comparison) else "bar",
        "scale": comparison.question.scale,
        "labels": _labels(comparison, grid),
        "x": grid.x_label,
        "y": f"{comparison.metric.label} ({grid.unit.label})" if grid.unit.label else comparison.metric.label,
        "unit": grid.unit.label,
        "series": [
            {
                "label": name,
                "points": [_point(cells[x, name], factor) for x in comparison.xs],
                "hollow": [(x, name) in hollow for x in comparison.xs],
            }
            for name in comparison.series
        ],
    }


def _labels(comparison: Comparison, grid: Grid) -> list[str]:
    """Rounded as in the table, unless two places would then look like one."""
    labels = [row.x for row in grid.rows]
    return labels if len(set(labels)) == len(labels) else [row.exact_x for row in grid.rows]


def _is_ordered(comparison: Comparison) -> bool:
    known = [x for x in comparison.xs if x is not None]
    return len(known) > 1 and all(
        comparison.x == TIME or (isinstance(x, int | float) and not isinstance(x, bool)) for x in known
    )


def _point(cell: Cell, factor: float) -> dict[str, Any] | None:
    if cell.figure is None:
        return _range(cell, factor)
    point: dict[str, Any] = {"y": cell.figure / factor, "n": cell.n}
    if "approximate" in cell.quality:
        point["approximate"] = True
    if cell.modes:
        point["modes"] = [mode.value / factor for mode in cell.modes]
    if cell.outliers:
        point["outliers"] = [outlier.value / factor for outlier in cell.outliers]
    if cell.ci_low is not None and cell.ci_high is not None:
        point |= {"yMin": cell.ci_low / factor, "yMax": cell.ci_high / factor}
    return point


def _range(cell: Cell, factor: float) -> dict[str, Any] | None:
    """Two bounds are drawn as a bar between them, without a mark in its middle; one bound as an arrowhead at it."""
    if cell.low is None or cell.high is None:
        bounds = (("low", cell.low), ("high", cell.high))
        return next(({"y": at / factor, "n": 0, "bound": name} for name, at in bounds if at is not None), None)
    low, high = cell.low / factor, cell.high / factor
    return {"y": (low + high) / 2, "yMin": low, "yMax": high, "n": 0, "range": True}

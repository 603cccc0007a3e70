"""Cells as tiles: the value in words, and where its colour lies between the smallest and the largest."""

import math

from apps.comparison.cells import Comparison
from apps.comparison.drawing.chart import Tile
from apps.comparison.drawing.palette import ink_on, shade_colour
from apps.comparison.grid import Grid


def tiles_of(comparison: Comparison, table: Grid, is_log: bool) -> tuple[Tile, ...]:
    """One for every x and series, also where nothing was measured: a hole says why."""
    values = [cell.figure for cell in comparison.cells if cell.figure is not None]
    columns = {x: column for column, x in enumerate(comparison.xs)}
    rows = {name: row for row, name in enumerate(comparison.series)}
    texts = [figure.value or figure.reason for row in table.rows for figure in row.figures]
    return tuple(
        _tile(columns[cell.x], rows[cell.series], text, cell.figure, values, is_log)
        for cell, text in zip(comparison.cells, texts, strict=True)
    )


def _tile(column: int, row: int, text: str, value: float | None, values: list[float], is_log: bool) -> Tile:
    if value is None:
        return Tile(column, row, text)
    shade = share(value, min(values), max(values), is_log)
    fill = shade_colour(shade)
    return Tile(column, row, text, value, shade, fill, ink_on(fill))


def share(value: float, least: float, most: float, is_log: bool) -> float:
    """0 for the least, 1 for the most; all one where nothing differs."""
    if most <= least:
        return 1.0
    if is_log and least > 0:
        return math.log(value / least) / math.log(most / least)
    return (value - least) / (most - least)

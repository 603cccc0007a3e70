"""A chart for the page's script: numbers as they stand on the axes, nothing left to compute there."""

from typing import Any

from apps.comparison.drawing.chart import Axis, Box, Chart, Form, Point, Series
from apps.comparison.drawing.palette import RAMP


def as_json(chart: Chart) -> dict[str, Any]:
    """`labels` along an even x; per series its points, None where nothing was measured. `tiles` instead of points in
    a heat map. Lines and regions stand at places on x, or at numbers on y. A legend names the first `named` series and
    ends with `unnamed`, where there are more.
    """
    return {
        "kind": chart.kind.value,
        "title": chart.title,
        "description": chart.description,
        "caption": chart.caption,
        "unit": chart.value_axis.unit.label,
        "baseUnit": chart.value_axis.base_unit,
        "x": _axis(chart.x),
        "y": _axis(chart.y),
        "z": _axis(chart.z) if chart.z else None,
        "series": [_series(chart, one) for one in chart.series],
        "named": chart.named,
        "unnamed": chart.unnamed,
        "lines": [_line(chart, one.axis, one.at) | {"label": one.label, "what": one.what, "tone": one.tone}
                  for one in chart.lines],
        "regions": [{"low": _place(chart, one.low), "high": _place(chart, one.high), "label": one.label,
                     "what": one.what} for one in chart.regions],
        "tiles": [_tile(chart, index) for index in range(len(chart.tiles))],
        "ramp": list(RAMP) if chart.tiles else [],
    }  # fmt: skip


def _axis(axis: Axis) -> dict[str, Any]:
    limits = {name: axis.number(limit) for name in ("low", "high") if (limit := getattr(axis, name)) is not None}
    return {
        "title": axis.title, "scale": axis.scale, "unit": axis.unit.label, "baseUnit": axis.base_unit,
        "labels": list(axis.labels), **limits,
    }  # fmt: skip


def _place(chart: Chart, place: float | None) -> float | None:
    if place is None or chart.x.scale in ("even", "nines"):
        return place
    return chart.x.number(place)


def _line(chart: Chart, axis: str, at: float) -> dict[str, Any]:
    return {"axis": axis, "at": _place(chart, at) if axis == "x" else chart.y.number(at)}


def _series(chart: Chart, one: Series) -> dict[str, Any]:
    points = [_point(chart, point) for point in one.points]
    reasons = {index: point.reason for index, point in enumerate(one.points) if point.form is Form.MISSING}
    return {
        "label": one.label, "tone": one.tone, "baseline": one.is_baseline, "points": points, "reasons": reasons,
    }  # fmt: skip


def _point(chart: Chart, point: Point) -> dict[str, Any] | None:
    """Two bounds are drawn as a bar between them, without a mark in its middle; one bound as an arrowhead at it."""
    if point.form is Form.MISSING:
        return None
    number = chart.y.number
    at = {} if chart.x.scale == "even" else {"x": _place(chart, point.place), "at": point.label}
    if point.form is Form.RANGE and point.low is not None and point.high is not None:
        low, high = number(point.low), number(point.high)
        found: dict[str, Any] = {"y": (low + high) / 2, "yMin": low, "yMax": high, "n": point.n, "range": True}
    elif point.form is not Form.VALUE:
        bound = point.low if point.form is Form.AT_LEAST else point.high
        found = {"y": number(bound or 0.0), "n": point.n, "bound": point.form.value}
    else:
        found = _figure(chart, point)
    return at | found | ({"hollow": True} if point.is_hollow else {}) | ({"note": point.note} if point.note else {})


def _figure(chart: Chart, point: Point) -> dict[str, Any]:
    number = chart.y.number
    found: dict[str, Any] = {"y": number(point.value or 0.0), "n": point.n}
    if point.low is not None and point.high is not None:
        found |= {"yMin": number(point.low), "yMax": number(point.high)}
    if point.is_approximate:
        found["approximate"] = True
    for name in ("modes", "outliers", "values"):
        if several := getattr(point, name):
            found[name] = [number(one) for one in several]
    if point.box:
        found["box"] = _box(chart.y, point.box)
    return found


def _box(axis: Axis, box: Box) -> dict[str, Any]:
    names = ("low", "q1", "median", "q3", "high", "mean")
    return {name: axis.number(getattr(box, name)) for name in names} | {
        "beyond": [axis.number(one) for one in box.beyond]
    }


def _tile(chart: Chart, index: int) -> dict[str, Any]:
    tile = chart.tiles[index]
    value = None if tile.value is None or chart.z is None else chart.z.number(tile.value)
    return {
        "x": tile.column, "y": tile.row, "v": value, "text": tile.text, "fill": tile.fill, "ink": tile.ink,
    }  # fmt: skip

"""A chart as JSON for the page's script, with numbers in the units of the axes."""

from typing import Any

from apps.comparison.charts.chart import Axis, BoxPlot, Chart, ChartPoint, ChartSeries, ValueForm
from apps.comparison.charts.palette import RAMP


def as_json(chart: Chart) -> dict[str, Any]:
    """Return the chart as the page's script reads it.

    `labels` are along an even x; each series has its points, None where nothing was measured; a heat map has `tiles`
    instead. Lines and regions stand at places on x, or at numbers on y. A legend names the first `named` series and
    ends with `unnamed`, where there are more.
    """
    return {
        "kind": chart.kind.value,
        "title": chart.title,
        "description": chart.description,
        "caption": chart.caption,
        "caveats": list(chart.caveats),
        "unit": chart.value_axis.unit.label,
        "baseUnit": chart.value_axis.base_unit,
        "x": _axis(chart.x),
        "y": _axis(chart.y),
        "z": _axis(chart.z) if chart.z else None,
        "series": [_series(chart, series) for series in chart.series],
        "named": chart.named,
        "unnamed": chart.unnamed,
        "lines": [_line(chart, line.axis, line.at) | {"label": line.label, "what": line.what, "tone": line.tone}
                  for line in chart.lines],
        "regions": [{"low": _place(chart, region.low), "high": _place(chart, region.high), "label": region.label,
                     "what": region.what} for region in chart.regions],
        "tiles": [_tile(chart, index) for index in range(len(chart.tiles))],
        "ramp": list(RAMP) if chart.tiles else [],
    }  # fmt: skip


def _axis(axis: Axis) -> dict[str, Any]:
    limits = {name: axis.number(limit) for name in ("low", "high") if (limit := getattr(axis, name)) is not None}
    return {
        "title": axis.title, "scale": axis.scale, "unit": axis.unit.label, "baseUnit": axis.base_unit,
        "labels": list(axis.labels), **_places(axis), **limits,
    }  # fmt: skip


def _places(axis: Axis) -> dict[str, Any]:
    """Return where the labels of a true axis stand, in its unit; what has no number stands apart, beyond all others."""
    if axis.scale not in ("linear", "log") or not axis.places:
        return {}
    at = [axis.apart if place is None else place for place in axis.places]
    return {"places": [None if place is None else axis.number(place) for place in at],
            "apart": None if axis.apart is None else axis.number(axis.apart)}  # fmt: skip


def _place(chart: Chart, place: float | None) -> float | None:
    if place is None or chart.x.scale in ("even", "nines"):
        return place
    return chart.x.number(place)


def _line(chart: Chart, axis: str, at: float) -> dict[str, Any]:
    return {"axis": axis, "at": _place(chart, at) if axis == "x" else chart.y.number(at)}


def _series(chart: Chart, series: ChartSeries) -> dict[str, Any]:
    points = [_point(chart, point) for point in series.points]
    reasons = {index: point.reason for index, point in enumerate(series.points) if point.form is ValueForm.MISSING}
    return {
        "label": series.label, "tone": series.tone, "baseline": series.is_baseline, "points": points, "reasons": reasons,
    }  # fmt: skip


def _point(chart: Chart, point: ChartPoint) -> dict[str, Any] | None:
    """Return a point; two bounds are a bar without a mark in its middle, one bound is an arrowhead."""
    if point.form is ValueForm.MISSING:
        return None
    number = chart.y.number
    at = {} if chart.x.scale == "even" else {"x": _place(chart, point.place), "at": point.label}
    if point.form is ValueForm.RANGE and point.low is not None and point.high is not None:
        low, high = number(point.low), number(point.high)
        data: dict[str, Any] = {"y": (low + high) / 2, "yMin": low, "yMax": high, "n": point.n, "range": True}
    elif point.form is not ValueForm.VALUE:
        bound = point.low if point.form is ValueForm.AT_LEAST else point.high
        data = {"y": number(bound or 0.0), "n": point.n, "bound": point.form.value}
    else:
        data = _figure(chart, point)
    more = {"hollow": point.is_hollow, "note": point.note, "warning": point.warning, "apart": point.is_apart}
    return at | data | {name: value for name, value in more.items() if value}


def _figure(chart: Chart, point: ChartPoint) -> dict[str, Any]:
    number = chart.y.number
    data: dict[str, Any] = {"y": number(point.value or 0.0), "n": point.n}
    if point.low is not None and point.high is not None:
        data |= {"yMin": number(point.low), "yMax": number(point.high)}
    if point.is_approximate:
        data["approximate"] = True
    for name in ("modes", "outliers", "values"):
        if several := getattr(point, name):
            data[name] = [number(value) for value in several]
    if point.box:
        data["box"] = _box(chart.y, point.box)
    return data


def _box(axis: Axis, box: BoxPlot) -> dict[str, Any]:
    names = ("low", "q1", "median", "q3", "high", "mean")
    return {name: axis.number(getattr(box, name)) for name in names} | {
        "beyond": [axis.number(value) for value in box.beyond]
    }


def _tile(chart: Chart, index: int) -> dict[str, Any]:
    tile = chart.tiles[index]
    value = None if tile.value is None or chart.z is None else chart.z.number(tile.value)
    return {
        "x": tile.column, "y": tile.row, "v": value, "text": tile.text, "fill": tile.fill, "ink": tile.ink,
    }  # fmt: skip

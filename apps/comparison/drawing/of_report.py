"""A report's chart, drawn again from the study's samples, with the axes, limits and series that the report gave it."""

from dataclasses import replace

from apps.comparison.drawing.chart import Axis, Chart, Form, Kind, Point, Series, Tile
from apps.comparison.drawing.description import WHAT
from apps.comparison.drawing.palette import ink_on, shade_colour
from apps.comparison.drawing.tiles import share
from apps.lib.units import ColumnUnit, significant
from apps.studies.tables.charts import AxisForm, ChartForm, Drawn, Place, SeriesForm
from apps.studies.tables.found import Found, Samples

NO_SAMPLE = "no sample"


def chart_of_report(form: ChartForm, samples: Samples) -> Chart:
    """ValueError for a form that is no chart of samples."""
    if form.drawn is None or form.is_topology:
        raise ValueError(f"{form.name} is not drawn from samples")
    drawn = form.drawn
    x = Axis(drawn.x_title, "even", labels=tuple(place.label for place in drawn.places))
    y = _axis(drawn.y)
    if drawn.kind == Kind.HEAT:
        rows = Axis("test", "even", labels=tuple(one.label for one in drawn.series))
        chart = Chart(Kind.HEAT, form.title, x, rows, (), z=y, tiles=_tiles(drawn, samples, y))
    else:
        series = tuple(_series(drawn, one, tone, samples) for tone, one in enumerate(drawn.series))
        chart = Chart(Kind(drawn.kind), form.title, x, y, series, caption=_caption(drawn, series))
    return replace(chart, description=_described(chart))


def _axis(form: AxisForm) -> Axis:
    low, high = (None if one is None else one * form.factor for one in (form.low, form.high))
    return Axis(form.title, form.scale, ColumnUnit(form.factor, form.unit), base_unit="B/s", low=low, high=high)


def _found(drawn: Drawn, place: Place, series: SeriesForm, samples: Samples) -> Found | None:
    return samples.at({**drawn.pick, **place.pick, **series.pick, **place.by_series.get(series.label, {})})


def _series(drawn: Drawn, form: SeriesForm, tone: int, samples: Samples) -> Series:
    points = tuple(
        _point(
            _found(drawn, place, form, samples), float(number), place.label, place.absent.get(form.label) or form.absent
        )
        for number, place in enumerate(drawn.places)
    )
    return Series(form.label, points, tone)


def _point(found: Found | None, place: float, label: str, absent: str) -> Point:
    if found is None:
        return Point(place, label, form=Form.MISSING, reason=absent or NO_SAMPLE)
    if found.value is not None:
        return Point(place, label, found.value, n=1, is_approximate=found.quality == "approximate")
    return Point(place, label, low=found.low, high=found.high, n=1, form=_form(found), reason=found.missing_reason)


def _form(found: Found) -> Form:
    if found.low is not None and found.high is not None:
        return Form.RANGE
    if found.low is not None:
        return Form.AT_LEAST
    return Form.AT_MOST if found.high is not None else Form.MISSING


def _tiles(drawn: Drawn, samples: Samples, axis: Axis) -> tuple[Tile, ...]:
    cells = {
        (column, row): _found(drawn, place, one, samples)
        for row, one in enumerate(drawn.series)
        for column, place in enumerate(drawn.places)
    }
    values = [found.value for found in cells.values() if found and found.value is not None]
    return tuple(_tile(at, found, values, axis) for at, found in cells.items())


def _tile(at: tuple[int, int], found: Found | None, values: list[float], axis: Axis) -> Tile:
    if found is None or found.value is None:
        return Tile(*at, text=found.missing_reason if found else NO_SAMPLE)
    shade = share(found.value, min(values), max(values), axis.is_log)
    fill = shade_colour(shade)
    return Tile(*at, significant(axis.number(found.value)), found.value, shade, fill, ink_on(fill))


def _caption(drawn: Drawn, series: tuple[Series, ...]) -> str:
    points = [point for one in series for point in one.points]
    said = [
        "Dotted: between two bounds, because the figure is lost."
        if any(one.form is Form.RANGE for one in points)
        else "",
        "Logarithmic axis." if drawn.y.scale == "log" else "",
    ]
    return " ".join(filter(None, said))


def _described(chart: Chart) -> str:
    """In a sentence or two, for those who do not see it."""
    axis = chart.value_axis
    values = [(p.value, f"{s.label} at {p.label}") for s, p in chart.points if p.value is not None]
    values += [
        (one.value, f"{chart.y.labels[one.row]} at {chart.x.labels[one.column]}")
        for one in chart.tiles
        if one.value is not None
    ]
    count = len(chart.series) or len(chart.y.labels)
    scale = ", logarithmic" if axis.is_log else ""
    what = (
        f"{WHAT[chart.kind]}: {chart.title}, in {axis.unit.label}{scale}; {count} series, {len(chart.x.labels)} places."
    )
    if not values:
        return f"{what} Nothing has a value."
    (least, low_at), (most, high_at) = min(values), max(values)
    low, high = (f"{significant(axis.number(one))} {axis.unit.label}" for one in (least, most))
    holes = sum(point.form is Form.MISSING for _, point in chart.points)
    ends = f" {holes} of its places have no value." if holes else ""
    return f"{what} Highest {high}, {high_at}; lowest {low}, {low_at}.{ends}"

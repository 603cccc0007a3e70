"""A report's chart, rebuilt from the study's samples with the axes, limits and series of the report."""

from dataclasses import replace

from apps.comparison.charts.chart import Axis, Chart, ChartKind, ChartPoint, ChartSeries, Tile, ValueForm
from apps.comparison.charts.comparison import share
from apps.comparison.charts.kinds import KINDS
from apps.comparison.charts.palette import ink_on, shade_colour
from apps.core.units import ColumnUnit, significant
from apps.studies.report.chart_definitions import AxisForm, AxisPlace, ChartDefinition, Drawn, SeriesDefinition
from apps.studies.report.sample_selection import ReportSample, Samples

NO_SAMPLE = "no sample"


def chart_of_report(form: ChartDefinition, samples: Samples) -> Chart:
    """Build a report's chart from its definition.

    Raises:
        ValueError: The definition is no chart of samples.
    """
    if form.drawn is None or form.is_topology:
        raise ValueError(f"{form.name} is not drawn from samples")
    drawn = form.drawn
    x = Axis(drawn.x_title, "even", labels=tuple(place.label for place in drawn.places))
    y = _axis(drawn.y)
    if drawn.kind == ChartKind.HEAT:
        rows = Axis("test", "even", labels=tuple(series.label for series in drawn.series))
        chart = Chart(ChartKind.HEAT, form.title, x, rows, (), z=y, tiles=_tiles(drawn, samples, y))
    else:
        series = tuple(_series(drawn, definition, tone, samples) for tone, definition in enumerate(drawn.series))
        chart = Chart(ChartKind(drawn.kind), form.title, x, y, series, caption=_caption(drawn, series))
    return replace(chart, description=_described(chart))


def _axis(form: AxisForm) -> Axis:
    low, high = (None if limit is None else limit * form.factor for limit in (form.low, form.high))
    return Axis(form.title, form.scale, ColumnUnit(form.factor, form.unit), base_unit="B/s", low=low, high=high)


def _found(drawn: Drawn, place: AxisPlace, series: SeriesDefinition, samples: Samples) -> ReportSample | None:
    return samples.at({**drawn.pick, **place.pick, **series.pick, **place.by_series.get(series.label, {})})


def _series(drawn: Drawn, form: SeriesDefinition, tone: int, samples: Samples) -> ChartSeries:
    points = tuple(
        _point(
            _found(drawn, place, form, samples), float(number), place.label, place.absent.get(form.label) or form.absent
        )
        for number, place in enumerate(drawn.places)
    )
    return ChartSeries(form.label, points, tone)


def _point(sample: ReportSample | None, place: float, label: str, absent: str) -> ChartPoint:
    if sample is None:
        return ChartPoint(place, label, form=ValueForm.MISSING, reason=absent or NO_SAMPLE)
    if sample.value is not None:
        return ChartPoint(place, label, sample.value, n=1, is_approximate=sample.quality == "approximate")
    return ChartPoint(
        place, label, low=sample.low, high=sample.high, n=1, form=_form(sample), reason=sample.missing_reason
    )


def _form(sample: ReportSample) -> ValueForm:
    if sample.low is not None and sample.high is not None:
        return ValueForm.RANGE
    if sample.low is not None:
        return ValueForm.AT_LEAST
    return ValueForm.AT_MOST if sample.high is not None else ValueForm.MISSING


def _tiles(drawn: Drawn, samples: Samples, axis: Axis) -> tuple[Tile, ...]:
    cells = {
        (column, row): _found(drawn, place, sample, samples)
        for row, sample in enumerate(drawn.series)
        for column, place in enumerate(drawn.places)
    }
    values = [sample.value for sample in cells.values() if sample and sample.value is not None]
    return tuple(_tile(at, sample, values, axis) for at, sample in cells.items())


def _tile(at: tuple[int, int], sample: ReportSample | None, values: list[float], axis: Axis) -> Tile:
    if sample is None or sample.value is None:
        return Tile(*at, text=sample.missing_reason if sample else NO_SAMPLE)
    shade = share(sample.value, min(values), max(values), axis.is_log)
    fill = shade_colour(shade)
    return Tile(*at, significant(axis.number(sample.value)), sample.value, shade, fill, ink_on(fill))


def _caption(drawn: Drawn, series: tuple[ChartSeries, ...]) -> str:
    points = [point for drawn in series for point in drawn.points]
    parts = [
        "Dotted: between two bounds, because the figure is lost."
        if any(point.form is ValueForm.RANGE for point in points)
        else "",
        "Logarithmic axis." if drawn.y.scale == "log" else "",
    ]
    return " ".join(filter(None, parts))


def _described(chart: Chart) -> str:
    """Describe a report's chart in a sentence or two, for screen readers."""
    axis = chart.value_axis
    values = [(p.value, f"{s.label} at {p.label}") for s, p in chart.points if p.value is not None]
    values += [
        (drawn.value, f"{chart.y.labels[drawn.row]} at {chart.x.labels[drawn.column]}")
        for drawn in chart.tiles
        if drawn.value is not None
    ]
    count = len(chart.series) or len(chart.y.labels)
    scale = ", logarithmic" if axis.is_log else ""
    what = f"{KINDS[chart.kind].title}: {chart.title}, in {axis.unit.label}{scale}; {count} series, {len(chart.x.labels)} places."
    if not values:
        return f"{what} Nothing has a value."
    (least, low_at), (most, high_at) = min(values), max(values)
    low, high = (f"{significant(axis.number(value))} {axis.unit.label}" for value in (least, most))
    holes = sum(point.form is ValueForm.MISSING for _, point in chart.points)
    ends = f" {holes} of its places have no value." if holes else ""
    return f"{what} Highest {high}, {high_at}; lowest {low}, {low_at}.{ends}"

"""The charts of a report on its page: a picture and its numbers each, or the drawing of the machines that it shows."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

from apps.comparison.charts.chart import Axis, Chart, ChartPoint
from apps.comparison.in_studies.printed_results import RebuiltChart, Results
from apps.core.units import NO_VALUE, significant
from apps.dashboard.studies.machines import StudyMachine
from apps.studies.report.chart_definitions import ChartDefinition
from apps.studies.report.sample_selection import METRIC

HEIGHT, MANY_SERIES_HEIGHT = 460, 560  # pixels


@dataclass(frozen=True)
class ChartFigure:
    text: str
    is_number: bool = True


@dataclass(frozen=True)
class ChartOnPage:
    """`machine`: whose drawing stands for a topology."""

    shown: RebuiltChart
    slug: str
    address: str
    machine: StudyMachine | None = None

    @property
    def is_shown(self) -> bool:
        return self.shown.chart is not None or self.machine is not None

    @property
    def height(self) -> int:
        chart = self.shown.chart
        return MANY_SERIES_HEIGHT if chart and len(chart.series) + len(chart.y.labels) > 8 else HEIGHT

    @property
    def closer(self) -> str:
        """Return the address of a comparison with the same measure along file sizes, or an empty string."""
        drawn = self.shown.form.drawn
        if self.shown.chart is None or drawn is None or "operation" not in drawn.pick:
            return ""
        if not all("file_size" in place.pick for place in drawn.places):
            return ""
        query = {"metric": METRIC, "operation": drawn.pick["operation"], "study": self.slug, "x": "file_size"}
        return f"{reverse('compare')}?{urlencode(query)}"

    @property
    def unit(self) -> str:
        return self.shown.chart.value_axis.unit.label if self.shown.chart else ""

    @property
    def numbers(self) -> list[tuple[str, list[ChartFigure]]]:
        """Return a row of figures per series."""
        chart = self.shown.chart
        if chart is None:
            return []
        if chart.tiles:
            return _rows_of_tiles(chart)
        return [(item.label, [_figure(chart.y, point) for point in item.points]) for item in chart.series]


@dataclass(frozen=True)
class NotDrawn:
    """Charts that cannot be drawn for the same reason. `shared`: what the report says of all of them."""

    reason: str
    shared: list[tuple[str, str]]
    titles: list[str]
    rows: list[tuple[ChartDefinition, list[str]]]


def not_drawn(charts: Sequence[ChartOnPage]) -> list[NotDrawn]:
    together: dict[str, list[ChartDefinition]] = {}
    for chart in charts:
        if not chart.is_shown:
            together.setdefault(chart.shown.form.not_drawn, []).append(chart.shown.form)
    return [_together(reason, forms) for reason, forms in together.items()]


def _together(reason: str, forms: Sequence[ChartDefinition]) -> NotDrawn:
    sentences = [dict(form.reported) for form in forms]
    words = list(dict.fromkeys(word for item in sentences for word in item))
    shared = [word for word in words if len({item.get(word) for item in sentences}) == 1]
    titles = [word for word in words if word not in shared]
    rows = [(form, [item.get(word, NO_VALUE) for word in titles]) for form, item in zip(forms, sentences, strict=True)]
    return NotDrawn(reason, [(word, sentences[0][word]) for word in shared], titles, rows)


def charts_of(results: Results, machines: Sequence[StudyMachine]) -> list[ChartOnPage]:
    by_name = {machine.host.name: machine for machine in machines}
    return [
        ChartOnPage(
            chart,
            results.study.slug,
            reverse("api-chart", args=[results.study.slug, chart.form.name]),
            by_name.get(chart.form.drawn.host) if chart.form.drawn and chart.form.is_topology else None,
        )
        for chart in results.charts
    ]


def _rows_of_tiles(chart: Chart) -> list[tuple[str, list[ChartFigure]]]:
    at = {(tile.row, tile.column): tile for tile in chart.tiles}
    return [
        (
            label,
            [
                ChartFigure(at[row, column].text, at[row, column].value is not None)
                for column in range(len(chart.x.labels))
            ],
        )
        for row, label in enumerate(chart.y.labels)
    ]


def _figure(axis: Axis, point: ChartPoint) -> ChartFigure:
    if point.value is not None:
        return ChartFigure(f"{'~ ' if point.is_approximate else ''}{significant(axis.number(point.value))}")
    bounds = [significant(axis.number(item)) for item in (point.low, point.high) if item is not None]
    return ChartFigure(" – ".join(bounds)) if bounds else ChartFigure(point.reason or "–", is_number=False)

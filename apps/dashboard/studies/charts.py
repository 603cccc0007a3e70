"""The report's charts on a page: a picture each, its numbers, or the drawing of the machines that it shows."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

from apps.comparison.drawing.chart import Axis, Chart, Point
from apps.comparison.study_results import Results, ShownChart
from apps.dashboard.studies.machines import Machine
from apps.lib.units import NO_VALUE, significant
from apps.studies.tables.charts import ChartForm
from apps.studies.tables.found import METRIC

HEIGHT, MANY_SERIES_HEIGHT = 460, 560  # pixels


@dataclass(frozen=True)
class Figure:
    text: str
    is_number: bool = True


@dataclass(frozen=True)
class ChartOnPage:
    """`machine`: whose drawing stands for a topology."""

    shown: ShownChart
    slug: str
    address: str
    machine: Machine | None = None

    @property
    def is_shown(self) -> bool:
        return self.shown.chart is not None or self.machine is not None

    @property
    def height(self) -> int:
        chart = self.shown.chart
        return MANY_SERIES_HEIGHT if chart and len(chart.series) + len(chart.y.labels) > 8 else HEIGHT

    @property
    def closer(self) -> str:
        """The same measure along file sizes as a comparison, where its points can be pointed at; nothing where the chart has no such axis."""
        drawn = self.shown.form.drawn
        if self.shown.chart is None or drawn is None or "operation" not in drawn.pick:
            return ""
        if not all("file_size" in place.pick for place in drawn.places):
            return ""
        asked = {"metric": METRIC, "operation": drawn.pick["operation"], "study": self.slug, "x": "file_size"}
        return f"{reverse('compare')}?{urlencode(asked)}"

    @property
    def unit(self) -> str:
        return self.shown.chart.value_axis.unit.label if self.shown.chart else ""

    @property
    def numbers(self) -> list[tuple[str, list[Figure]]]:
        """A row for each series, a figure for each place."""
        chart = self.shown.chart
        if chart is None:
            return []
        if chart.tiles:
            return _rows_of_tiles(chart)
        return [(one.label, [_figure(chart.y, point) for point in one.points]) for one in chart.series]


@dataclass(frozen=True)
class NotDrawn:
    """Charts that cannot be drawn for the same reason. `shared`: what the report says of all of them."""

    reason: str
    shared: list[tuple[str, str]]
    titles: list[str]
    rows: list[tuple[ChartForm, list[str]]]


def not_drawn(charts: Sequence[ChartOnPage]) -> list[NotDrawn]:
    together: dict[str, list[ChartForm]] = {}
    for one in charts:
        if not one.is_shown:
            together.setdefault(one.shown.form.not_drawn, []).append(one.shown.form)
    return [_together(reason, forms) for reason, forms in together.items()]


def _together(reason: str, forms: Sequence[ChartForm]) -> NotDrawn:
    told = [dict(form.reported) for form in forms]
    words = list(dict.fromkeys(word for one in told for word in one))
    shared = [word for word in words if len({one.get(word) for one in told}) == 1]
    titles = [word for word in words if word not in shared]
    rows = [(form, [one.get(word, NO_VALUE) for word in titles]) for form, one in zip(forms, told, strict=True)]
    return NotDrawn(reason, [(word, told[0][word]) for word in shared], titles, rows)


def charts_of(results: Results, machines: Sequence[Machine]) -> list[ChartOnPage]:
    by_name = {one.host.name: one for one in machines}
    return [
        ChartOnPage(
            shown,
            results.study.slug,
            reverse("api-chart", args=[results.study.slug, shown.form.name]),
            by_name.get(shown.form.drawn.host) if shown.form.drawn and shown.form.is_topology else None,
        )
        for shown in results.charts
    ]


def _rows_of_tiles(chart: Chart) -> list[tuple[str, list[Figure]]]:
    at = {(tile.row, tile.column): tile for tile in chart.tiles}
    return [
        (
            label,
            [Figure(at[row, column].text, at[row, column].value is not None) for column in range(len(chart.x.labels))],
        )
        for row, label in enumerate(chart.y.labels)
    ]


def _figure(axis: Axis, point: Point) -> Figure:
    if point.value is not None:
        return Figure(f"{'~ ' if point.is_approximate else ''}{significant(axis.number(point.value))}")
    bounds = [significant(axis.number(one)) for one in (point.low, point.high) if one is not None]
    return Figure(" – ".join(bounds)) if bounds else Figure(point.reason or "–", is_number=False)

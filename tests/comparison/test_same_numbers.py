"""One chart, three readers: what Matplotlib drew (read back from its artists) is what the page's script gets and what
the table has, for every kind of chart that there is.
"""

import math
from collections.abc import Iterator
from typing import Any

import pytest
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch

from apps.comparison.charts.chart import Chart, ChartKind, ChartPoint, ValueForm
from apps.comparison.charts.comparison import share
from apps.comparison.charts.data_table import as_table
from apps.comparison.charts.json_payload import as_json
from apps.comparison.charts.palette import shade_colour
from apps.comparison.charts.picture import figure_of
from apps.comparison.charts.picture_marks import GROUP
from apps.core.units import significant
from apps.trends.chart import DAY, chart_data
from apps.trends.models import Watch
from tests.comparison.charted import every_kind, found_trend, heat
from tests.sampling import for_each
from tests.trends.nights import QUERY

Span = tuple[float, float, float]  # value, low, high as they stand on the axis; NaN for none
CHARTS = every_kind()
NAN = math.nan
MARKED = (ChartKind.LINE, ChartKind.BAR, ChartKind.PAIRED)


def number(found: Any) -> float:
    return NAN if found is None else float(found)


def tabled(chart: Chart) -> list[Span]:
    factor = chart.value_axis.unit.factor
    return [tuple(number(row[at]) / factor for at in (2, 3, 4)) for row in as_table(chart).rows]  # type: ignore[misc]


def sent(chart: Chart) -> list[Span]:
    data = as_json(chart)
    points = [_sent(point or {}) for one in data["series"] for point in one["points"]]
    return points + [(number(tile["v"]), NAN, NAN) for tile in data["tiles"]]


def _sent(point: dict[str, Any]) -> Span:
    low, high = number(point.get("yMin")), number(point.get("yMax"))
    if "range" in point:
        return NAN, low, high
    if bound := point.get("bound"):
        return (NAN, point["y"], NAN) if bound == "low" else (NAN, NAN, point["y"])
    return number(point.get("y")), low, high


def flat(spans: list[Span]) -> Any:
    """Error bars are drawn by their lengths, so that the last digit may differ."""
    return pytest.approx([one for span in spans for one in span], rel=1e-12, nan_ok=True)


def flattened(spans: list[Span]) -> list[float]:
    return [one for span in spans for one in span]


def marks(figure: Figure) -> dict[str, Any]:
    return {str(artist.get_gid()): artist for artist in figure.findobj(lambda one: one.get_gid() is not None)}


def drawn_marks(chart: Chart) -> list[Span]:
    figure = figure_of(chart)
    found = marks(figure)
    spans = iter([ends[:, 1] for one in _error_bars(figure) for ends in one.get_segments()])
    return [
        _drawn(found.get(f"point-{series.tone}-{point.place:.15g}"), point, spans)
        for series in chart.series
        for point in series.points
    ]


def _error_bars(figure: Figure) -> list[LineCollection]:
    return [one for one in figure.axes[0].collections if isinstance(one, LineCollection)]


def _drawn(mark: Any, point: ChartPoint, spans: Iterator[Any]) -> Span:
    value = NAN if mark is None else float(mark.get_height() if hasattr(mark, "get_height") else mark.get_ydata()[0])
    low, high = next(spans) if point.low is not None and point.high is not None else (NAN, NAN)
    if point.form is ValueForm.AT_LEAST:
        return NAN, value, NAN
    return (NAN, NAN, value) if point.form is ValueForm.AT_MOST else (value, float(low), float(high))


def test_there_is_a_chart_of_every_kind() -> None:
    assert set(CHARTS) == set(ChartKind)
    assert all(chart.kind is kind for kind, chart in CHARTS.items())


@for_each("kind", CHARTS)
def test_the_script_gets_the_tables_numbers(kind: ChartKind) -> None:
    chart = CHARTS[kind]
    assert flattened(sent(chart)) == flat(tabled(chart))
    assert {row[6] for row in as_table(chart).rows} == {as_json(chart)["baseUnit"]}
    assert sum(not math.isnan(value) for value, _, _ in tabled(chart)) >= 5


@pytest.mark.parametrize("kind", MARKED)
def test_marks_bars_and_intervals_are_drawn_at_the_tables_numbers(kind: ChartKind) -> None:
    chart = CHARTS[kind]
    assert flattened(drawn_marks(chart)) == flat(tabled(chart))
    forms = {point.form for _, point in chart.points}
    assert forms == {ValueForm.VALUE, ValueForm.RANGE, ValueForm.AT_LEAST, ValueForm.MISSING}
    assert len(_error_bars(figure_of(chart))) == 3  # two intervals, and the two bounds


def test_the_ratio_above_a_pair_is_that_of_the_tables_values() -> None:
    chart = CHARTS[ChartKind.PAIRED]
    pairs = {}
    for x, _series, value, *_ in as_table(chart).rows:
        pairs.setdefault(x, []).append(value)
    both = {x: f"{significant(b / a)}×" for x, (a, b) in pairs.items() if a and b}
    places = {chart.x.labels.index(x): said for x, said in both.items()}
    written = {int(one.xy[0]): one.get_text() for one in figure_of(chart).axes[0].texts if hasattr(one, "xy")}
    noted = as_json(chart)["series"][1]["points"]
    assert written == places == {at: one["note"] for at, one in enumerate(noted) if one and "note" in one}
    assert len(written) == 1


def test_a_box_is_drawn_at_the_scripts_quartiles_and_its_dots_at_the_values() -> None:
    chart = CHARTS[ChartKind.BOX]
    axes, data, width = figure_of(chart).axes[0], as_json(chart), GROUP / len(chart.series)
    lines = [
        (float(one.get_xdata()[0]), one.get_ydata())
        for one in axes.lines
        if len(one.get_xdata()) and not str(one.get_gid()).startswith("feet")
    ]
    lines += [(one.get_path().vertices[:, 0].mean(), one.get_path().vertices[:, 1]) for one in axes.patches
              if isinstance(one, PathPatch)]  # fmt: skip
    for tone, series in enumerate(data["series"]):
        for at, point in enumerate(series["points"]):
            x = at - GROUP / 2 + width * (tone + 0.5)
            found = {round(float(y), 9) for near, ys in lines if abs(near - x) < width / 2 for y in ys}
            assert found == {round(one, 9) for one in _boxed(point)}
    assert sum("box" in point for one in data["series"] for point in one["points"] if point) == 5


def _boxed(point: dict[str, Any] | None) -> list[float]:
    if not point:
        return []
    if point.get("range"):
        return [point["yMin"], point["yMax"]]
    if "box" not in point:
        return [point["y"]]
    if len(point["values"]) < 5:
        return list(point["values"])
    box = point["box"]
    return [*(box[name] for name in ("low", "q1", "median", "q3", "high")), *box["beyond"]]


@pytest.mark.parametrize(
    "chart", [CHARTS[ChartKind.HEAT], heat("log"), CHARTS[ChartKind.MATRIX]], ids=["heat", "log", "matrix"]
)
def test_tiles_say_and_show_the_tables_numbers(chart: Chart) -> None:
    figure = figure_of(chart)
    found, axes, data = marks(figure), figure.axes[0], as_json(chart)
    texts = {tuple(map(round, one.get_position())): one.get_text() for one in axes.texts}
    values = [value for value, _, _ in tabled(chart)]
    there = [value for value in values if not math.isnan(value)]
    for tile, value in zip(data["tiles"], values, strict=True):
        patch = found[f"tile-{tile['x']}-{tile['y']}"]
        assert (patch.get_x() + 0.48, patch.get_y() + 0.48) == pytest.approx((tile["x"], tile["y"]))
        if math.isnan(value):
            assert (patch.get_hatch(), texts[tile["x"], tile["y"]][:8]) == ("///", tile["text"][:8])
            continue
        assert texts[tile["x"], tile["y"]].lstrip("~") == significant(value)  # ~: about
        rgb = "".join(f"{round(part * 255):02x}" for part in patch.get_facecolor()[:3])
        assert f"#{rgb}" == shade_colour(share(value, min(there), max(there), chart.value_axis.is_log))
    assert figure.axes[1].get_ylim() == pytest.approx(
        (min(there), max(there))
    )  # what the colours' bar goes from and to
    assert len(there) >= 5
    assert axes.yaxis_inverted() == (chart.kind is ChartKind.MATRIX)


@pytest.mark.parametrize("kind", [ChartKind.HISTOGRAM, ChartKind.CURVE, ChartKind.TIME])
def test_the_lines_of_a_run_are_drawn_at_the_tables_numbers(kind: ChartKind) -> None:
    chart = CHARTS[kind]
    found, rows, factor = marks(figure_of(chart)), as_table(chart).rows, chart.y.unit.factor
    for tone, series in enumerate(as_json(chart)["series"]):
        line = found[f"series-{tone}"]
        assert list(line.get_xdata()) == [point["x"] for point in series["points"]]
        assert list(line.get_ydata()) == [row[2] / factor for row in rows if row[1] == series["label"]]  # type: ignore[operator]
    assert len(chart.series) == 2


def test_the_bars_of_a_histogram_and_the_shade_over_time_reach_from_and_to_the_tables_numbers() -> None:
    for kind in (ChartKind.HISTOGRAM, ChartKind.TIME):
        chart = CHARTS[kind]
        shades = figure_of(chart).axes[0].collections
        for series, shade in zip(as_json(chart)["series"], shades, strict=True):
            ends = {
                round(end, 9)
                for point in series["points"]
                for end in ((point["yMin"], point["yMax"]) if kind is ChartKind.TIME else (0, point["y"]))
            }
            assert {round(float(y), 9) for y in shade.get_paths()[0].vertices[:, 1]} == ends


def test_a_trend_is_drawn_at_the_numbers_of_its_table_and_of_the_pages_script() -> None:
    chart, found = CHARTS[ChartKind.TREND], found_trend()
    drawn, page = marks(figure_of(chart)), chart_data(found, Watch(query=QUERY))
    runs, levels = (
        [row[2] / chart.y.unit.factor for row in as_table(chart).rows if row[1] == one.label]  # type: ignore[operator]
        for one in chart.series
    )
    at = [drawn[f"run-{number}"] for number in range(50)]
    assert [float(one.get_ydata()[0]) for one in at] == runs == [point["y"] for point in page["points"]]
    assert [one.get_xdata()[0] * DAY * 1000 for one in at] == pytest.approx([point["x"] for point in page["points"]])
    steps = [end["y"] for step in page["steps"] for end in step]
    assert [float(y) for n in range(2) for y in drawn[f"level-{n}"].get_ydata()] == levels == steps
    (change,) = [line for name, line in drawn.items() if name.startswith("line-change")]
    assert change.get_xdata()[0] * DAY * 1000 == pytest.approx(page["changes"][0]["x"])
    assert [n for n in range(50) if at[n].get_marker() == "D"] == [12] == sorted(found.outliers)

"""A watch's chart: page, picture and table have the same numbers; two wild nights are hardly ever a level."""

from io import BytesIO
from typing import Any

import numpy as np
import pytest
from PIL import Image

from apps.comparison.charts.chart import Chart
from apps.comparison.charts.data_table import as_table
from apps.comparison.charts.picture import figure_of, render
from apps.runs.metrics import METRICS
from apps.trends.chart import DAY, LEVELS, RUNS, chart_data, chart_of_trend, remarks
from apps.trends.models import Watch
from apps.trends.steps import steps
from apps.trends.trend import trend
from apps.trends.types import SeriesMark, Trend
from tests.trends.nights import FIRST, NIGHT, QUERY, nights, noise


def stepped() -> Trend:
    values = 4e8 * noise(60, 1)
    values[40:] *= 0.85
    values[10] *= 0.5
    return trend(nights(list(values)), [SeriesMark(FIRST + 20 * NIGHT, "new disks")])


def drawn(found: Trend) -> Chart:
    return chart_of_trend(found, METRICS["bandwidth"], "nightly")


def test_page_table_and_picture_have_the_same_numbers() -> None:
    found = stepped()
    chart, page = drawn(found), chart_data(found, Watch(query=QUERY))
    rows = {name: [row for row in as_table(chart).rows if row[1] == name] for name in (RUNS, LEVELS)}
    assert [float(str(row[2])) / 1e6 for row in rows[RUNS]] == pytest.approx([one["y"] for one in page["points"]])
    assert [float(str(row[2])) / 1e6 for row in rows[LEVELS]] == pytest.approx(
        [end["y"] for one in page["steps"] for end in one]
    )
    axes = figure_of(chart).axes[0]
    levels = [line for line in axes.lines if str(line.get_gid()).startswith("level-")]
    assert [list(line.get_ydata()) for line in levels] == [[end["y"] for end in one] for one in page["steps"]]
    across = [line for line in axes.lines if str(line.get_gid()).startswith("line-")]
    wanted = [one["x"] / 1000 / DAY for one in (*page["changes"], *page["marks"])]
    assert [line.get_xdata()[0] for line in across] == pytest.approx(wanted)


def test_what_is_odd_is_said_of_each_run() -> None:
    found = stepped()
    said = remarks(found)
    assert said[10] == "outlier"
    assert said[20] == "first after a mark"
    assert said[40].startswith("first of a new level, −1")
    assert said[40].endswith("worse")
    assert [row[7] for row in as_table(drawn(found)).rows][10] == "outlier"
    assert "−1" in drawn(found).description


@pytest.mark.slow
def test_pictures_are_drawn_in_both_themes_and_without_runs() -> None:
    for chart in (drawn(stepped()), drawn(trend([])), drawn(trend(nights([1e8])))):
        svg = render(chart, "svg")
        assert chart.description.replace("&", "&amp;").encode() in svg
        assert Image.open(BytesIO(render(chart, "png", theme="dark"))).size == (960, 540)
    assert render(drawn(stepped()), "svg") == render(drawn(stepped()), "svg")


WILD = [(97, 98), (96, 98), (98, 99), (97, 99), (60, 61), (60, 62)]


@pytest.mark.parametrize("places", WILD)
def test_two_wild_nights_are_hardly_ever_a_level_whatever_stands_beside_them(places: tuple[int, int]) -> None:
    def series(seed: int) -> Any:
        values = noise(100, seed)
        values[list(places)] *= 0.6
        return np.log(values)

    assert sum(bool(steps(series(seed)).places) for seed in range(60)) <= 4, "without the rule up to all 60"


def test_a_third_one_is() -> None:
    for seed in range(20):
        values = noise(100, seed)
        values[97:] *= 0.6
        assert steps(np.log(values)).places == (97,)

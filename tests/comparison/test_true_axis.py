"""Along sizes distances are right, and what is unknown stands apart at the edge."""

import math
from typing import Any

import pytest

from apps.comparison.charts.chart import Chart, ChartKind
from apps.comparison.charts.comparison import chart_of
from apps.comparison.charts.json_payload import as_json
from apps.comparison.charts.picture import figure_of, render
from apps.comparison.compare import compare
from apps.comparison.question import Question
from apps.comparison.readings import Reading
from tests.comparison.factories import GIB, MIB, reading

SIZES = (MIB, 2 * MIB, 64 * MIB, GIB)


def over(*sizes: int | None, facts: dict[str, Any] | None = None) -> list[Reading]:
    return [
        reading(10 * place + number, 1e8 + place, name, file_size=size, facts=facts or {})
        for place, size in enumerate(sizes)
        for number, name in enumerate("ab")
    ]


def drawn(readings: list[Reading], **question: Any) -> Chart:
    return chart_of(compare(readings, Question(**question)), readings)


def test_sizes_are_logarithmic_unless_equal_steps_are_asked_for() -> None:
    assert drawn(over(*SIZES)).x.scale == "log"
    assert [point.place for point in drawn(over(*SIZES)).series[0].points] == list(SIZES)
    assert drawn(over(*SIZES), axis="even").x.scale == "even"
    assert drawn(over(*SIZES), axis="linear").x.scale == "linear"
    assert drawn(over(*SIZES), chart="bar").x.scale == "even"


@pytest.mark.parametrize(
    ("x", "facts", "scale"),
    [
        ("file_size_over_ram", [{"ram": GIB}] * 2, "log"),
        ("chunk_size", [{"chunk_size": 4096}, {"chunk_size": 65536}], "log"),
        ("read_ahead", [{"read_ahead": 0}, {"read_ahead": 131072}], "linear"),  # 0 has no logarithm
        ("disk_count", [{"disk_count": 2}, {"disk_count": 4}], "even"),
        ("chunk_size", [{"chunk_size": 4096}, {"chunk_size": "whatever"}], "even"),
    ],
)
def test_what_is_a_size_has_a_true_axis(x: str, facts: list[dict[str, Any]], scale: str) -> None:
    readings = [reading(n, 1e8, file_size=SIZES[n], facts=fact) for n, fact in enumerate(facts)]
    chart = drawn(readings, x=x, chart="line")
    assert (chart.kind, chart.x.scale) == (ChartKind.LINE, scale)


@pytest.mark.parametrize("axis", ["", "linear", "even"])
def test_the_unknown_stands_beyond_all_numbers_with_a_gap_and_no_line_leads_there(axis: str) -> None:
    chart = drawn(over(*SIZES, None), axis=axis)
    *numbers, last = chart.series[0].points
    assert (last.label, last.is_apart, [point.is_apart for point in numbers]) == ("unknown", True, [False] * 4)
    (region,) = [region for region in chart.regions if region.what == "apart"]
    assert numbers[-1].place < (region.low or 0) < last.place
    if axis == "":
        length = math.log(SIZES[-1] / SIZES[0])
        assert math.log(last.place / SIZES[-1]) == pytest.approx(0.15 * length)
        assert chart.x.high is not None
        assert chart.x.high > last.place
    figure = figure_of(chart)
    gids = {str(one.get_gid()) for one in figure.findobj(lambda one: one.get_gid() is not None)}
    assert {"series-0-from-0", "series-0-from-1", "series-0-from-2", "region-apart"} <= gids
    assert "series-0-from-3" not in gids
    data = as_json(chart)
    assert [point.get("apart", False) for point in data["series"][0]["points"]] == [False] * 4 + [True]
    if axis != "even":
        assert data["x"]["apart"] == data["x"]["places"][-1] > data["x"]["places"][-2]


def test_ram_is_not_placed_by_what_is_unknown() -> None:
    chart = drawn(over(*SIZES, None, facts={"ram": 128 * MIB}))
    assert [line.at for line in chart.lines] == [128 * MIB]
    assert {region.what for region in chart.regions} == {"ram", "apart"}


def test_a_single_size_stands_in_the_middle_and_may_have_the_unknown_beside_it() -> None:
    chart = drawn(over(GIB, None), chart="line")
    assert chart.x.scale == "log"
    one, apart = chart.series[0].points
    assert (one.place, apart.is_apart) == (GIB, True)
    assert chart.x.low is not None
    assert chart.x.high is not None
    assert chart.x.low < GIB < apart.place < chart.x.high
    assert render(chart, "svg").startswith(b"<?xml")
    assert drawn(over(GIB)).kind is ChartKind.BAR  # one place has no distances
    assert drawn(over(GIB, None)).kind is ChartKind.BAR


def test_a_picture_is_labelled_with_the_sizes_that_were_measured() -> None:
    figure = figure_of(drawn(over(*SIZES, None)))
    axis = figure.axes[0].xaxis
    assert figure.axes[0].get_xscale() == "log"
    labels = dict(zip(axis.get_ticklocs(), [text.get_text() for text in axis.get_ticklabels()], strict=True))
    assert [labels[size] for size in SIZES] == ["1\u00a0MiB", "2\u00a0MiB", "64\u00a0MiB", "1\u00a0GiB"]
    assert list(labels.values())[-1] == "unknown"


def test_labels_without_room_are_left_out_and_the_ends_stay() -> None:
    sizes = [MIB * (100 + number) for number in range(60)]
    axis = figure_of(drawn(over(*sizes)), 400, 300).axes[0].xaxis
    labels = [text.get_text() for text in axis.get_ticklabels()]
    assert 2 <= len(labels) <= 12
    assert labels[-1] == "159\u00a0MiB"


def test_no_line_leads_to_a_day_that_is_unknown() -> None:
    from datetime import UTC, datetime

    from apps.comparison.readings import Evidence

    days = [datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 5, tzinfo=UTC), None]
    readings = [reading(n, 1e8, evidence=Evidence(finished_at=day)) for n, day in enumerate(days)]
    chart = drawn(readings, x="time")
    assert [point.is_apart for point in chart.series[0].points] == [False, False, True]

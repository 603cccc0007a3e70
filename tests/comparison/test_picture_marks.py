"""Where a picture puts its marks: in the units of its axes."""

from apps.comparison.charts.chart import ChartKind, ChartPoint, ValueForm
from apps.comparison.charts.picture_marks import height, place
from tests.comparison import charted


def test_marks_stand_in_the_units_that_the_axes_are_labelled_with() -> None:
    chart = charted.every_kind()[ChartKind.LINE]
    factor_x, factor_y = chart.x.unit.factor, chart.y.unit.factor
    assert factor_y > 1
    checked = 0
    for series in chart.series:
        for point in series.points:
            if point.form is ValueForm.VALUE and point.value is not None:
                assert height(chart.y, point) == point.value / factor_y
                checked += 1
            if chart.x.scale in ("linear", "log"):
                assert place(chart, point) == point.place / factor_x
    assert checked > 2


def test_a_bound_stands_where_it_is_and_a_range_in_its_middle() -> None:
    axis = charted.every_kind()[ChartKind.LINE].y
    unit = axis.unit.factor
    assert height(axis, ChartPoint(0, "", form=ValueForm.AT_LEAST, low=4 * unit)) == 4
    assert height(axis, ChartPoint(0, "", form=ValueForm.AT_MOST, high=6 * unit)) == 6
    assert height(axis, ChartPoint(0, "", form=ValueForm.RANGE, low=4 * unit, high=6 * unit)) == 5
    assert height(axis, ChartPoint(0, "", form=ValueForm.MISSING)) is None

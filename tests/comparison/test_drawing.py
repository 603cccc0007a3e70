"""A chart is plain data: the cells' numbers, where they stand, and what may be said about them."""

import re
from pathlib import Path
from typing import Any

import pytest

from apps.comparison.charts.chart import Axis, Chart, ChartKind, ValueForm
from apps.comparison.charts.comparison import box_of, chart_of, refusals
from apps.comparison.charts.json_payload import as_json
from apps.comparison.charts.palette import RAMP, THEMES, ink_on, shade_colour
from apps.comparison.charts.references import place_of
from apps.comparison.charts.registry import why_not
from apps.comparison.compare import NOT_MEASURED, compare
from apps.comparison.grid import grid
from apps.comparison.question import Question, QuestionError, parse
from apps.comparison.readings import Reading
from tests.comparison.caveats.machines import disk, on
from tests.comparison.factories import GIB, MIB, reading

CSS = Path(__file__).parent.parent.parent / "static/css/spindle.css"


def drawn(readings: list[Reading], **question: Any) -> Chart:
    return chart_of(compare(readings, Question(**question)), readings)


def over_sizes(**more: Any) -> list[Reading]:
    """Two series over 256 MiB, 1 GiB and 4 GiB; the second has no last value."""
    facts = {"ram": 2 * GIB, **more}
    rows = [("a", 256 * MIB, 3e8), ("a", GIB, 2e8), ("a", 4 * GIB, 1e8), ("b", 256 * MIB, 9e7), ("b", GIB, 6e7)]
    return [reading(n, value, name, file_size=size, facts=facts) for n, (name, size, value) in enumerate(rows, start=1)]


def by_block() -> list[Reading]:
    """IOzone's kind: file size × block size, with one hole."""
    rows = [(MIB, 4096, 1e8), (MIB, 65536, 4e8), (GIB, 4096, 5e7)]
    return [reading(n, value, file_size=f, block_size=b) for n, (f, b, value) in enumerate(rows, start=1)]


def test_the_chart_has_the_tables_numbers_and_draws_bounds_as_bounds() -> None:
    readings = [
        reading(1, 1e8, file_size=MIB),
        reading(2, None, low=2e8, high=3e8, file_size=GIB),
        reading(3, 3e8, "b", file_size=GIB),
    ]
    comparison = compare(readings, Question(axis="even"))
    chart = as_json(chart_of(comparison, readings))
    assert (chart["kind"], chart["y"]["title"], chart["unit"]) == ("line", "Bandwidth (MB/s)", "MB/s")
    a, b = chart["series"]
    assert a["points"] == [{"y": 100, "n": 1}, {"y": 250, "yMin": 200, "yMax": 300, "n": 0, "range": True}]
    assert b["points"] == [None, {"y": 300, "n": 1}]
    assert b["reasons"] == {0: NOT_MEASURED}
    texts = [[figure.one_line for figure in row.figures] for row in grid(comparison).rows]
    assert texts == [["100 (n = 1)", NOT_MEASURED], ["200 – 300 (bounds only)", "300 (n = 1)"]]


def test_two_places_that_round_to_one_label_are_told_apart() -> None:
    chart = drawn([reading(1, 1.0, file_size=123_456_789), reading(2, 1.0, file_size=123_456_788)])
    assert len(set(chart.x.labels)) == 2


def test_one_bound_is_drawn_as_one_and_what_is_odd_comes_along() -> None:
    readings = [
        reading(1, None, low=2e8, quality="lower_bound", file_size=MIB),
        reading(2, 1e8, quality="approximate", file_size=GIB),
        *(reading(3 + n, value, "b", file_size=MIB) for n, value in enumerate([1e8, 2e8] * 5)),
        *(reading(20 + n, value, "b", file_size=GIB) for n, value in enumerate([1e8, 1e8, 1e8, 1e8, 2e8])),
    ]
    a, b = (series["points"] for series in as_json(drawn(readings, axis="even"))["series"])
    assert a == [{"y": 200, "n": 0, "bound": "low"}, {"y": 100, "n": 1, "approximate": True}]
    assert (b[0]["modes"], b[1]["outliers"]) == ([100, 200], [200])


def test_ram_stands_between_its_neighbours_and_what_fits_is_shaded_and_hollow() -> None:
    chart = drawn(over_sizes(), axis="even")
    (line,) = chart.lines
    assert (line.axis, line.at, line.label) == ("x", 1.5, "RAM 2\u00a0GiB")  # half way from 1 to 4 GiB in logarithms
    (region,) = chart.regions
    assert (region.low, region.high) == (None, 1.5)
    assert [[point.is_hollow for point in one.points] for one in chart.series] == [[True, True, False]] * 2


def test_direct_io_has_no_line_of_ram_and_a_cache_has_its_own() -> None:
    chart = drawn(over_sizes(sync="direct", controller_cache=512 * MIB), axis="even")
    assert [(line.what, line.at) for line in chart.lines] == [("cache", 0.5)]
    assert chart.regions == ()


def test_on_a_true_axis_lines_stand_at_their_values() -> None:
    chart = drawn(over_sizes(), axis="log")
    assert chart.x.scale == "log"
    assert [line.at for line in chart.lines] == [2 * GIB]
    data = as_json(chart)
    assert (data["x"]["title"], data["lines"][0]["at"]) == ("file size", 2 * GIB)
    assert [point["x"] for point in data["series"][0]["points"]] == [256 * MIB, GIB, 4 * GIB]
    linear = as_json(drawn(over_sizes(), axis="linear"))
    assert (linear["x"]["title"], linear["lines"][0]["at"]) == ("file size (GiB)", 2)
    assert [point["x"] for point in linear["series"][0]["points"]] == [0.25, 1, 4]


@pytest.mark.parametrize(("value", "place"), [(0.5, None), (1, 0.0), (4, 1.0), (8, 1.5), (16, 2.0), (17, None)])
def test_a_value_lies_between_its_neighbours_in_proportion_of_logarithms(value: float, place: float | None) -> None:
    assert place_of(Axis("x", "even", places=(1, 4, 16)), value) == place


def test_a_ceiling_that_is_near_is_a_line_and_one_far_off_a_sentence() -> None:
    evidence = on(disk("sda", generation="SATA-3G"))
    readings = [
        reading(1, 2.5e8, file_size=MIB, evidence=evidence),
        reading(2, 2.4e8, file_size=GIB, evidence=evidence),
    ]
    (line,) = drawn(readings).lines
    assert (line.axis, line.at, line.label) == ("y", 3e8, "ceiling 300\u00a0MB/s")
    slow = [reading(1, 1e7, file_size=MIB, evidence=evidence), reading(2, 2e7, file_size=GIB, evidence=evidence)]
    assert drawn(slow).lines == ()
    assert "The ceiling of the topology, 300\u00a0MB/s, lies above the chart." in drawn(slow).caption
    assert "286\u00a0MiB/s" in drawn(slow, base=1024).caption


def test_quartiles_whiskers_and_what_lies_beyond() -> None:
    box = box_of([1.0, 2.0, 3.0, 4.0, 100.0])
    assert box is not None
    assert (box.low, box.q1, box.median, box.q3, box.high, box.mean, box.beyond) == (1, 2, 3, 4, 4, 22, (100,))
    assert box_of([]) is None


def test_a_box_plot_has_all_values_and_a_bound_stays_one() -> None:
    readings = [
        *(reading(n, value * 1e6, file_size=MIB) for n, value in enumerate([1.0, 2, 3, 4, 100])),
        reading(9, None, low=5e6, file_size=GIB, quality="lower_bound"),
    ]
    chart = drawn(readings, chart="box")
    first, second = chart.series[0].points
    assert chart.kind is ChartKind.BOX
    assert sorted(first.values) == [1e6, 2e6, 3e6, 4e6, 1e8]
    assert as_json(chart)["series"][0]["points"][0]["box"] == {
        "low": 1, "q1": 2, "median": 3, "q3": 4, "high": 4, "mean": 22, "beyond": [100],
    }  # fmt: skip
    assert (second.form, second.box) == (ValueForm.AT_LEAST, None)


def test_a_heat_map_has_a_tile_for_every_pair_and_says_why_one_is_empty() -> None:
    chart = drawn(by_block(), series=("block_size",), chart="heat")
    assert (chart.x.labels, chart.y.labels) == (("1\u00a0MiB", "1\u00a0GiB"), ("4\u00a0KiB", "64\u00a0KiB"))
    tiles = {(tile.column, tile.row): tile for tile in chart.tiles}
    assert {key: (tile.value, tile.text) for key, tile in tiles.items()} == {
        (0, 0): (1e8, "100"), (0, 1): (4e8, "400"), (1, 0): (5e7, "50.0"), (1, 1): (None, NOT_MEASURED),
    }  # fmt: skip
    assert (tiles[1, 0].fill, tiles[0, 1].fill, tiles[1, 1].fill) == (RAMP[0], RAMP[-1], "")
    assert [tile["v"] for tile in as_json(chart)["tiles"]] == [100, 400, 50, None]


def test_colours_follow_the_scale() -> None:
    chart = drawn(by_block(), series=("block_size",), chart="heat", scale="log")
    shades = {tile.value: tile.shade for tile in chart.tiles}
    assert shades[1e8] == pytest.approx(1 / 3)  # 100 is a third of the way from 50 to 400 by doublings


def test_what_cannot_be_drawn_so_is_drawn_as_usual_and_says_what_it_would_need() -> None:
    comparison = compare(over_sizes(), Question(chart="heat", axis="log"))
    assert chart_of(comparison).kind is ChartKind.LINE
    (sentence,) = refusals(comparison)
    assert sentence.startswith("A heat map needs sizes (or counts) on both axes")
    words = compare([reading(1, 1.0, facts={"host": "x"})], Question(x="host", axis="log", chart="paired"))
    assert refusals(words) == ["Paired bars need two series, and there is one.", "A true axis needs numbers along it."]
    assert why_not(words, ChartKind.BAR) == ""


def test_a_pair_carries_its_ratio_to_the_baseline() -> None:
    chart = drawn(over_sizes(), chart="paired")
    assert [point.note for point in chart.series[1].points] == ["0.300×", "0.300×", ""]
    assert [series.is_baseline for series in chart.series] == [True, False]


def test_the_description_names_the_ends_and_what_is_missing() -> None:
    said = drawn(over_sizes()).description.replace("\u00a0", " ")
    assert said == (
        "Line chart: Bandwidth of write by file size, in MB/s, 2 series by configuration or host, 3 places. "
        "Highest 300 MB/s, a at 256 MiB; lowest 60.0 MB/s, b at 1 GiB. "
        "Of the cells 1 without a value, 4 hollow: may be memory, not disk."
    )
    assert "Nothing has a value." in drawn([]).description


def test_how_it_is_drawn_stands_in_the_address() -> None:
    question = parse({"chart": ["box"], "axis": ["log"], "theme": ["dark"], "width": ["400"]})
    assert (question.chart, question.axis, question.filters) == ("box", "log", ())
    assert question.address.endswith("&chart=box&axis=log")
    assert parse({"chart": [""], "axis": [""]}) == Question()
    with pytest.raises(
        QuestionError, match="chart: found 'pie', expected one of: line, bar, paired, box, heat, matrix"
    ):
        parse({"chart": ["pie"]})


def test_pictures_have_the_sites_colours() -> None:
    """Of each name the first in the style sheet is the light one, the second the dark one."""
    css = CSS.read_text()
    for place, theme in enumerate(("light", "dark")):
        palette = THEMES[theme]
        names = {"surface": "surface", "line": "line", "line_strong": "line-strong", "ink": "ink", "ink_2": "ink-2",
                 "warn": "warn", "bad": "bad"}  # fmt: skip
        for field, name in names.items():
            assert re.findall(rf"--{name}: (#\w{{6}})", css)[place] == getattr(palette, field)
        assert tuple(re.findall(rf"--series-{n}: (#\w{{6}})", css)[place] for n in range(1, 9)) == palette.series


def contrast(one: str, other: str) -> float:
    def luminance(colour: str) -> float:
        parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return float(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_a_tiles_text_can_be_read_on_every_colour_and_more_is_lighter() -> None:
    colours = [shade_colour(step / 100) for step in range(101)]
    assert min(contrast(colour, ink_on(colour)) for colour in colours) >= 4.5
    greys = [contrast(colour, "#000000") for colour in colours]
    assert greys == sorted(greys)

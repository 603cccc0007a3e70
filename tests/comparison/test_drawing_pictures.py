"""Pictures by Matplotlib: the chart's own numbers as drawn marks, the same bytes each time, and text that is only text."""

import os
import re
import subprocess
import sys
from io import BytesIO
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import pytest
from matplotlib.figure import Figure
from PIL import Image

from apps.comparison.charts.chart import Chart
from apps.comparison.charts.comparison import chart_of
from apps.comparison.charts.json_payload import as_json
from apps.comparison.charts.picture import figure_of, render
from apps.comparison.charts.run import curve, histogram
from apps.comparison.compare import compare
from apps.comparison.question import Question
from apps.runs.series.latencies import latency_of
from tests.comparison.factories import GIB, MIB, reading

SVG = "{http://www.w3.org/2000/svg}"
NASTY = '<script>alert(1)</script> & "$\\frac{1}{2}$" ]]> \x00\x1b'


def chart(name: str = "a", **question: Any) -> Chart:
    readings = [
        *(reading(n, value * 1e6, name, file_size=MIB) for n, value in enumerate([90.0, 91, 92, 93, 94, 150])),
        reading(7, 5e7, name, file_size=GIB),
        reading(8, None, "b", low=2e7, high=4e7, file_size=MIB),
        reading(9, None, "b", low=3e7, quality="lower_bound", file_size=GIB),
        reading(10, 6e7, "b", file_size=2 * GIB, quality="approximate"),
    ]
    return chart_of(compare(readings, Question(**question)), readings)


def marks(figure: Figure) -> dict[str, Any]:
    """What was drawn, by the name it was given."""
    return {str(artist.get_gid()): artist for artist in figure.findobj(lambda one: one.get_gid() is not None)}


def test_the_marks_of_lines_stand_where_the_page_draws_them() -> None:
    drawn, data = marks(figure_of(chart(axis="even"))), as_json(chart(axis="even"))
    wanted = {
        f"point-{tone}-{place}": point["y"]
        for tone, series in enumerate(data["series"])
        for place, point in enumerate(series["points"])
        if point and not point.get("range")  # two bounds have no middle to mark
    }
    found = {name: one.get_ydata()[0] for name, one in drawn.items() if name.startswith("point-")}
    assert found == wanted
    assert len(found) == 4
    assert [drawn[f"point-1-{place}"].get_marker() for place in (1, 2)] == ["^", "s"]
    assert drawn["point-0-0"].get_markerfacecolor() == drawn["point-0-0"].get_markeredgecolor()


def test_no_full_line_leads_to_what_is_not_one_figure() -> None:
    drawn = marks(figure_of(chart()))
    assert drawn["series-0-from-0"].get_linestyle() == "-"
    assert drawn["series-1-from-0"].get_linestyle() == drawn["series-1-from-1"].get_linestyle() == "--"


def test_bars_have_the_heights_of_the_page() -> None:
    drawn, data = marks(figure_of(chart(chart="bar"))), as_json(chart(chart="bar"))
    heights = {name: bar.get_height() for name, bar in drawn.items() if name.startswith("point-")}
    assert heights["point-0-0"] == data["series"][0]["points"][0]["y"]
    assert heights["point-1-2"] == 60
    assert drawn["point-1-1"].get_hatch() == "//"  # a bound is no bar that was measured
    assert "point-1-0" not in heights  # two bounds are no bar at all


def latencies() -> list[Any]:
    return [
        latency_of("read", "clat", [[1000, 90], [10_000, 9], [100_000, 1]]),
        latency_of("write", "clat", [[5000, 4]]),
    ]


def test_the_numbers_of_a_runs_charts() -> None:
    first, second = histogram(latencies(), "Latency").series
    assert sum(point.value or 0 for point in first.points) == pytest.approx(1)
    assert sum(point.n for point in first.points) == 100
    assert second.label == "write (clat)"
    nines = {point.label: (point.place, point.value) for point in curve(latencies(), "Latency").series[0].points}
    assert nines["90 %"] == (pytest.approx(1), 1000.0)
    assert nines["99 %"] == (pytest.approx(2), 10_000.0)
    assert nines["99.9 %"][1] == 100_000.0


def test_clat_and_lat_of_one_operation_have_names_of_their_own() -> None:
    both = [latency_of("job0 randread", kind, [[1000, 90], [10_000, 10]]) for kind in ("clat", "lat")]
    for chart in (histogram(both, "Latency"), curve(both, "Latency")):
        assert [one.label for one in chart.series] == ["job0 randread (clat)", "job0 randread (lat)"]
        assert "job0 randread (clat), " in chart.description
        assert "job0 randread (lat), " in chart.description


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["line", "bar", "box", "matrix"])
@pytest.mark.parametrize("form", ["svg", "png"])
def test_the_same_chart_is_the_same_file(kind: str, form: str) -> None:
    assert render(chart(chart=kind), form) == render(chart(chart=kind), form)


def test_sizes_and_themes() -> None:
    small, dark = (Image.open(BytesIO(render(chart(), "png", 400, 300, theme))) for theme in ("light", "dark"))
    assert small.size == dark.size == (400, 300)
    assert (small.getpixel((1, 1))[:3], dark.getpixel((1, 1))[:3]) == ((255, 255, 255), (0x19, 0x20, 0x25))
    assert Image.open(BytesIO(render(chart(), "png"))).size == (960, 540)


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"width": 100}, "width: found 100, expected 320 to 2400 pixels"),
        ({"height": 9999}, "height: found 9999, expected 240 to 1600 pixels"),
        ({"theme": "neon"}, "Unknown theme 'neon', expected one of: light, dark"),
        ({"form": "gif"}, "Unknown form 'gif', expected one of: svg, png"),
    ],
)
def test_a_size_or_theme_that_there_is_not_is_refused(more: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=re.escape(sentence)):
        render(chart(), **{"form": "svg", **more})


def test_text_of_people_is_neither_markup_nor_formula() -> None:
    drawn = chart(name=NASTY)
    tree = ElementTree.fromstring(render(drawn, "svg"))
    assert not [one for one in tree.iter() if one.tag in (f"{SVG}script", f"{SVG}foreignObject", f"{SVG}image")]
    assert not [name for one in tree.iter() for name in one.attrib if name.lower().startswith("on")]
    said = tree.find(f"{SVG}desc")
    assert said is not None
    assert '<script>alert(1)</script> & "$\\frac{1}{2}$" ]]>' in str(said.text)
    assert render(drawn, "png").startswith(b"\x89PNG")


def test_an_svg_says_its_title_and_what_it_shows() -> None:
    tree = ElementTree.fromstring(render(chart(), "svg"))
    assert tree.attrib["role"] == "img"
    named = tree.attrib["aria-labelledby"].split()
    words = {one.attrib["id"]: one.text for one in tree if one.attrib.get("id") in named}
    caveats = [f"{line}." for line in chart().caveats]
    assert caveats, "a picture stands alone"
    assert words == {"chart-title": chart().title, "chart-description": " ".join([chart().description, *caveats])}
    assert not tree.findall(f".//{SVG}metadata//*[@about]")
    assert b"<dc:date>" not in render(chart(), "svg")


def test_the_legend_never_lies_over_the_data() -> None:
    many = [reading(n, 1e6 * n, f"a series with rather a long name, number {n}") for n in range(1, 30)]
    drawn = chart_of(compare([*many, reading(99, 5e5, file_size=MIB)], Question(chart="bar")))
    figure = figure_of(drawn, 480, 600)
    figure.draw_without_rendering()
    legend = marks(figure)["legend"]
    assert legend.get_window_extent().y1 <= figure.axes[0].get_window_extent().y0
    assert len(legend.get_texts()) == len(drawn.series) == 8
    assert "8 of 30 series are drawn." in drawn.caption


def test_an_empty_chart_says_that_nothing_was_measured() -> None:
    figure = figure_of(chart_of(compare([], Question())))
    assert "Nothing was measured." in [one.get_text() for one in figure.axes[0].texts]


def test_zero_has_no_place_on_a_logarithmic_axis_and_the_caption_says_so() -> None:
    readings = [reading(1, 0.0, file_size=MIB), reading(2, 1e6, file_size=GIB)]
    drawn = chart_of(compare(readings, Question(scale="log")), readings)
    assert "1 value of 0 or less have no place on a logarithmic axis." in drawn.caption.replace("has", "have")
    assert render(drawn, "svg")


def test_labels_that_would_run_into_each_other_are_turned() -> None:
    readings = [reading(n, 1e6, file_size=n * MIB) for n in range(1, 30)]
    labels = figure_of(chart_of(compare(readings, Question(axis="even")))).axes[0].get_xticklabels()
    assert {label.get_rotation() for label in labels} == {35}
    assert [a.get_text() for a, _ in pairwise(labels)][:2] == ["1\u00a0MiB", "2\u00a0MiB"]


@pytest.mark.slow
def test_who_draws_no_picture_never_loads_matplotlib() -> None:
    program = (
        "import sys, django; django.setup(); "
        "import apps.comparison.charts.picture as picture, apps.comparison.charts.comparison; "
        "assert 'matplotlib' not in sys.modules; picture.set_up(); assert 'matplotlib.pyplot' not in sys.modules"
    )
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": "apps.settings"}
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60, env=env)

"""The order that people chose is kept everywhere, and a chart draws at most eight series, each with a look of its own."""

import csv
import io
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from django.test import Client

from apps.comparison.charts.chart import Chart, ChartKind
from apps.comparison.charts.comparison import chart_of, refusals
from apps.comparison.charts.palette import THEMES
from apps.comparison.charts.picture import figure_of
from apps.comparison.charts.picture_marks import colour_of, dash_of, mark_of
from apps.comparison.compare import compare
from apps.comparison.grid import grid
from apps.comparison.models import SavedComparison
from apps.comparison.question import MOST_DRAWN, MOST_IN_ORDER, Question, QuestionError, parse
from apps.comparison.readings import Reading
from apps.comparison.series import MOST_MOVED, moved, rows_of
from apps.inventory.models import Host
from apps.labs.models import Lab
from tests.comparison.factories import GIB, MIB, measured, reading

SignIn = Callable[[str], Client]
ORDER = "order=c&order=a"


def of(*names: str) -> list[Reading]:
    return [
        reading(10 * number + size, 1e8 + number, name, file_size=size * GIB)
        for number, name in enumerate(names)
        for size in (1, 2)
    ]


def drawn(names: str, **question: Any) -> Chart:
    readings = of(*names)
    return chart_of(compare(readings, Question(**question)), readings)


def test_those_put_in_order_stand_first_and_the_others_as_usual() -> None:
    found = compare(of(*"abcd"), Question(order=("c", "a")))
    assert found.series == ("c", "a", "b", "d")
    assert [cell.series for cell in found.cells[:4]] == ["c", "a", "b", "d"]
    assert [figure.cell.series for figure in grid(found).rows[0].figures] == ["c", "a", "b", "d"]
    assert [one.label for one in chart_of(found).series] == ["c", "a", "b", "d"]
    assert found.baseline == "c"  # the first one


def test_a_baseline_reorders_nothing() -> None:
    found = compare(of(*"abcd"), Question(order=("c", "a"), baseline="d"))
    assert (found.baseline, found.series) == ("d", ("c", "a", "b", "d"))
    assert [one.is_baseline for one in chart_of(found).series] == [False, False, False, True]


def test_order_and_choice_stand_in_the_address_and_come_back() -> None:
    question = parse({"order": ["c, d", "a", "c, d", ""], "draw": ["a"]})
    assert (question.order, question.draw, question.filters) == (("c, d", "a"), ("a",), ())
    assert question.address.endswith("&order=c%2C%20d&order=a&draw=a")
    with pytest.raises(QuestionError, match="order: found 201, expected at most 200 series"):
        parse({"order": [str(number) for number in range(MOST_IN_ORDER + 1)]})
    with pytest.raises(QuestionError, match="text without NUL"):
        parse({"draw": ["a\0"]})


def test_a_series_that_is_missing_for_now_keeps_its_place_and_an_order_of_others_is_dropped() -> None:
    kept = compare(of(*"ab"), Question(order=("c", "b"))).question
    assert kept.order == ("c", "b")
    assert compare(of(*"abc"), kept).series == ("c", "b", "a")
    assert compare(of(*"ab"), Question(order=("x", "y"), draw=("x",))).question == Question(baseline="a")


@pytest.mark.parametrize(
    ("order", "place", "to", "expected"),
    [
        ((), 2, 1, ("a", "c", "b")),
        ((), 0, 1, ("b", "a")),
        ((), 3, 0, ("d",)),
        (("d",), 3, 0, ("c", "d")),
        (("d", "c"), 1, 0, ("c", "d")),
        (("d", "gone"), 1, 2, ("d", "b", "a", "gone")),
    ],
)
def test_moving_names_as_few_as_it_takes(
    order: tuple[str, ...], place: int, to: int, expected: tuple[str, ...]
) -> None:
    names = compare(of(*"abcd"), Question(order=order)).series
    result = moved(Question(order=order), names, place, to)
    assert result == expected
    wanted = [name for name in names if name != names[place]]
    wanted.insert(to, names[place])
    assert compare(of(*"abcd"), Question(order=result)).series == tuple(wanted)


def test_every_link_of_the_list_moves_what_it_says() -> None:
    found = compare(of(*"abcd"), Question(order=("d",)))
    orders: list[Question] = []
    rows = rows_of(found, lambda question: orders.append(question) or str(len(orders)))  # type: ignore[func-returns-value]
    assert [row.name for row in rows] == ["d", "a", "b", "c"]
    assert [(bool(row.first), bool(row.earlier), bool(row.later)) for row in rows] == [
        (False, False, True), (True, True, True), (True, True, True), (True, True, False),
    ]  # fmt: skip
    assert compare(of(*"abcd"), orders[int(rows[2].earlier) - 1]).series == ("d", "b", "a", "c")
    many = rows_of(compare(of(*(f"s{n:03}" for n in range(MOST_MOVED + 5))), Question()), lambda question: "link")
    assert [bool(row.earlier) for row in many[-6:]] == [True, False, False, False, False, False]
    assert all(row.first for row in many[1:])


def test_a_chart_draws_the_first_eight_or_those_that_were_picked() -> None:
    names = "abcdefghijkl"
    assert [one.label for one in drawn(names).series] == list("abcdefgh")
    assert [one.label for one in drawn(names, order=("l",)).series] == list("labcdefg")
    assert [one.label for one in drawn(names, draw=("k", "b")).series] == ["b", "k"]
    assert len(drawn(names, draw=tuple(names)).series) == MOST_DRAWN
    caption = drawn(names, draw=("k", "b")).caption
    assert "2 of 12 series are drawn." in caption
    assert "series are drawn" not in drawn("ab").caption
    assert "8 of 12 series by configuration or host" in drawn(names).description


def test_a_heat_map_and_a_matrix_have_a_row_for_each() -> None:
    assert len(drawn("abcdefghijkl", chart="matrix").y.labels) == 12


def test_two_that_were_picked_are_a_pair() -> None:
    readings = of(*"abc")
    found = compare(readings, Question(chart="paired", draw=("a", "c")))
    assert (refusals(found), chart_of(found).kind) == ([], ChartKind.PAIRED)
    assert refusals(compare(readings, Question(chart="paired"))) == ["Paired bars need two series, and there are 3."]


def test_no_pair_of_colour_and_mark_comes_twice_and_neighbours_differ_in_all() -> None:
    for palette in THEMES.values():
        assert len({(colour_of(palette, tone), mark_of(tone)) for tone in range(64)}) == 64
        looks = [(colour_of(palette, tone), mark_of(tone), str(dash_of(tone))) for tone in range(MOST_DRAWN)]
        assert len({colour for colour, _, _ in looks}) == len({mark for _, mark, _ in looks}) == MOST_DRAWN
        assert all(one[2] != other[2] for one, other in pairwise(looks))
    assert len({(tone % 8, str(dash_of(tone))) for tone in range(32)}) == 32  # where there are no marks


@pytest.mark.parametrize("chart", ["line", "bar", "box"])
def test_a_picture_has_eight_looks(chart: str) -> None:
    figure = figure_of(drawn("abcdefghij", chart=chart))
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["a (baseline)", *"bcdefgh"]
    prefix = "point-{}-0" if chart == "line" else "feet-{}"
    found = {str(artist.get_gid()): artist for artist in figure.findobj(lambda one: one.get_gid() is not None)}
    if chart == "line":
        marks = [found[name] for name in (next(k for k in found if k.startswith(f"point-{n}-")) for n in range(8))]
    else:
        marks = [found[prefix.format(number)] for number in range(8)]
        assert all(y < 0 for mark in marks for y in mark.get_ydata())  # below the axis: they are no values
    assert len({(mark.get_markeredgecolor(), mark.get_marker()) for mark in marks}) == 8


def test_page_table_rest_wiki_and_pictures_have_one_order(lab: Lab, sign_in: SignIn) -> None:
    for host in ("alpha", "beta", "gamma"):
        measured(lab, host, [1e8, 1.1e8, 1.2e8])
        measured(lab, host, [1e8], file_size=GIB)
    client = sign_in("viewer")
    names = ["gamma · scratch", "alpha · scratch", "beta · scratch"]
    asked = "metric=bandwidth&order=gamma%20%C2%B7%20scratch&baseline=beta%20%C2%B7%20scratch"
    page = client.get(f"/compare/?{asked}")
    assert list(page.context["comparison"].series) == names
    assert [one["label"] for one in page.context["chart"]["series"]] == names
    text = page.content.decode()
    heads = [text.index(f'<th scope="col" class="num wrap">{name}') for name in names]
    assert heads == sorted(heads)
    assert '<input type="hidden" name="order" value="gamma · scratch">' in text
    answer = client.get(f"/api/v1/compare/?{asked}").json()
    assert (answer["series"], answer["drawn"], answer["baseline"]) == (names, names, "beta · scratch")
    assert "&order=gamma%20%C2%B7%20scratch" in answer["permalink"]
    rows = csv.DictReader(io.StringIO(client.get(f"/api/v1/compare/?{asked}&format=csv").content.decode()))
    assert [row["series"] for row in rows][:3] == names
    wiki = client.get(f"/api/v1/compare/?{asked}&format=markdown").content.decode()
    head = next(line for line in wiki.splitlines() if "gamma" in line and line.startswith("|"))
    assert [head.index(name) for name in names] == sorted(head.index(name) for name in names)
    assert client.get(f"/api/v1/compare/?{asked}&draw=alpha%20%C2%B7%20scratch&format=svg").status_code == 200


def test_a_saved_order_follows_what_is_renamed(lab: Lab, sign_in: SignIn) -> None:
    for host in ("alpha", "beta", "gamma"):
        measured(lab, host, [1e8], file_size=100 * MIB)
    query = "metric=bandwidth&operation=write&x=file_size&series=label&order=gamma · scratch&draw=beta · scratch"
    saved = SavedComparison.objects.create(lab=lab, name="n", query=query, created_by="who")
    Host.objects.filter(name="gamma").update(name="omega")
    Host.objects.filter(name="beta").update(name="aaa")
    page = sign_in("viewer").get(saved.get_absolute_url(), follow=True)
    found = page.context["comparison"]
    assert found.series == ("omega · scratch", "aaa · scratch", "alpha · scratch")
    assert found.drawn == ("aaa · scratch",)

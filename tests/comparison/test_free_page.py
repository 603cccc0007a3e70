"""The page of the free comparison: what is in reach at its top, which series it draws, and what its filters offer."""

import re
from collections.abc import Callable
from html import unescape

import pytest
from django.test import Client

from apps.comparison.queries import choices, samples
from apps.labs.models import Lab
from tests.comparison.factories import GIB, measured

SignIn = Callable[[str], Client]
EVERYTHING = "/compare/?metric=bandwidth"


def test_save_share_and_export_stand_before_everything_else(lab: Lab, sign_in: SignIn) -> None:
    measured(lab, "alpha", [1e8])
    measured(lab, "beta", [2e8])
    page = sign_in("engineer").get(EVERYTHING).content.decode()
    bar = page.index('class="actions export-bar"')
    assert page.index('id="results"') < bar < page.index('id="ask-metric"') < page.index("data-compare-chart")
    part = unescape(page[bar : page.index('id="ask-metric"')])
    for form in ("csv", "json", "svg", "png", "mediawiki", "dokuwiki", "markdown"):
        assert f"&format={form}" in part
    assert "http://testserver/compare/?metric=bandwidth" in part
    assert all(name in part for name in ('id="save-name"', "/trends/new/?", 'data-copy="share-link"'))
    assert 'class="downloads"' not in page  # they are in one place
    viewer = sign_in("viewer").get("/compare/free/").content.decode()
    assert 'id="save-name"' not in viewer
    assert "&amp;format=svg" in viewer


def test_of_many_series_eight_are_drawn_and_the_page_says_so(lab: Lab, sign_in: SignIn) -> None:
    for number in range(20):
        measured(lab, f"node{number:02}", [1e8 + number])
    client = sign_in("viewer")
    page = client.get(EVERYTHING)
    text = page.content.decode()
    assert "8 of 20 series drawn, all in the table" in text
    assert len(page.context["chart"]["series"]) == 8
    assert text.count('name="draw"') == 20
    assert text.count("data-submit-on-change checked>") >= 8
    picked = client.get(f"{EVERYTHING}&draw=node19+·+scratch&draw=node03+·+scratch")
    assert [one["label"] for one in picked.context["chart"]["series"]] == ["node03 · scratch", "node19 · scratch"]
    assert "2 of 20 series drawn, all in the table" in picked.content.decode()
    assert "Draw the first 8" in picked.content.decode()
    all_twenty = client.get(f"{EVERYTHING}&" + "&".join(f"draw=node{n:02}+·+scratch" for n in range(20)))
    assert len(all_twenty.context["chart"]["series"]) == 8


def test_links_move_a_series_without_a_script(lab: Lab, sign_in: SignIn) -> None:
    for host in ("alpha", "beta", "gamma"):
        measured(lab, host, [1e8])
    client = sign_in("viewer")
    page = client.get(EVERYTHING)
    (row,) = [row for row in page.context["series_rows"] if row.name.startswith("gamma")]
    assert f'href="{row.earlier.replace("&", "&amp;")}"' in page.content.decode()
    after = client.get(row.earlier)
    assert after.context["comparison"].series == ("alpha · scratch", "gamma · scratch", "beta · scratch")
    assert "order=" in after.context["permalink"]
    usual = re.search(r'href="([^"]+)"[^>]*>Usual order', after.content.decode())
    assert usual
    assert client.get(unescape(usual[1])).context["comparison"].series[1] == "beta · scratch"


def test_one_series_has_no_order(lab: Lab, sign_in: SignIn) -> None:
    measured(lab, "alpha", [1e8])
    assert 'id="series-list"' not in sign_in("viewer").get(EVERYTHING).content.decode()


def test_filters_offer_what_varies_and_name_what_does_not(lab: Lab, sign_in: SignIn) -> None:
    measured(lab, "alpha", [1e8, 2e8], kernel="6.1", filesystem="ext4", seed=1)
    measured(lab, "beta", [1e8], kernel="6.1", filesystem="xfs", seed=2)
    client = sign_in("viewer")
    fragment = client.get("/compare/filters/?metric=bandwidth").content.decode()
    assert 'name="filesystem"' in fragment
    assert 'data-facet="filesystem"' in fragment
    assert 'name="kernel"' not in fragment
    assert 'name="seed"' not in fragment  # of one run alone
    assert re.search(r"The same everywhere \(\d+\)", fragment)
    assert "<dt>kernel</dt><dd>6.1</dd>" in fragment
    assert 'type="search" id="facet-search"' in fragment
    assert 'name="seed"' in client.get("/compare/filters/?metric=bandwidth&seed=1").content.decode()


def test_several_runs_in_one_filter_are_counted(lab: Lab, sign_in: SignIn) -> None:
    runs = measured(lab, "alpha", [1e8, 1.1e8, 1.2e8])
    first, second, _ = (run.pk for run in runs)
    fragment = sign_in("viewer").get(f"/compare/filters/?metric=bandwidth&run={first},{second}").content.decode()
    assert re.search(r"2 of them\s*(<[^>]*>)*\s*2\s*<", fragment), fragment[-3000:]


def test_a_long_filter_is_folded_and_can_be_searched_where_filters_are_opened(lab: Lab, sign_in: SignIn) -> None:
    for number in range(30):
        measured(lab, f"node{number:02}", [1e8])
    fragment = sign_in("viewer").get("/compare/filters/?metric=bandwidth").content.decode()
    assert fragment.count('name="host"') == 30
    assert "<details><summary>30 values</summary>" in fragment


def test_too_many_samples_can_be_narrowed_down_on_the_page(
    lab: Lab, sign_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured(lab, "alpha", [1e8, 2e8, 3e8], raid_level="5")
    measured(lab, "beta", [4e8], raid_level="0")
    monkeypatch.setattr(samples, "MOST_SAMPLES", 3)
    monkeypatch.setattr(choices, "NEWEST", (4, 2))
    client = sign_in("viewer")
    page = client.get(EVERYTHING)
    text = page.content.decode()
    assert page.status_code == 400
    assert "Too many samples for one comparison." in text
    assert re.search(r'<details class="facets" id="facets" open', text)
    assert 'name="host" value="alpha"' in text
    assert "there are more." in text
    assert 'name="host" value="beta"' in client.get("/compare/filters/?metric=bandwidth").content.decode()
    assert client.get(f"{EVERYTHING}&host=beta").status_code == 200


def test_the_axis_is_automatic_until_one_is_chosen(lab: Lab, sign_in: SignIn) -> None:
    measured(lab, "alpha", [1e8])
    measured(lab, "alpha", [1e8], file_size=GIB)
    client = sign_in("viewer")
    page = client.get(EVERYTHING)
    assert page.context["chart"]["x"]["scale"] == "log"
    assert '<option value="" selected>automatic</option>' in page.content.decode()
    assert "axis=" not in page.context["permalink"]
    assert client.get(f"{EVERYTHING}&axis=even").context["chart"]["x"]["scale"] == "even"
    assert "axis=log" in unescape(client.get(EVERYTHING).content.decode())  # pictures name what the page draws

"""The compare page: one address for page and changing part. All it says stands in the table, without JavaScript too."""

import re
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.html import escape

from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from apps.runs.models import Run
from tests.comparison.factories import GIB, MIB, measured, published, run, sample, target
from tests.conftest import Cast
from tests.page_text import page_text
from tests.sampling import for_each

SignIn = Callable[[str], Client]


@pytest.fixture
def paper(cast: Cast) -> Lab:
    """A published lab with a report of two configurations, as CRS4's."""
    lab = Lab.objects.create(name="Published", slug="published", is_published=True)
    with lab_scope(lab.pk):
        published(lab, "SATA RAID 5", {100: 1.8e8, 2000: 2.4e7}, raid_level="5", sync="none")
        published(lab, "SCSI RAID 0", {100: 3.2e8}, raid_level="0", sync="none")
    return lab


@pytest.fixture
def ours(cast: Cast) -> None:
    with lab_scope(cast.lab.pk):
        measured(cast.lab, "alpha", [9.0e7, 9.2e7, 9.1e7], file_size=100 * MIB, raid_level="1")


EVERY = "/compare/?metric=bandwidth&operation=write"  # without a question the page shows the newest alone


def text_of(client: Client, address: str = EVERY, **headers: str) -> str:
    response = client.get(address, headers=headers)
    assert response.status_code == 200
    return response.content.decode().replace("\u00a0", " ").replace("\u202f", " ")


@pytest.mark.usefixtures("paper", "ours")
def test_own_runs_stand_beside_the_published_report(sign_in: SignIn) -> None:
    page = text_of(sign_in("viewer"))
    assert "Bandwidth of write by file size" in page
    for series in ("alpha · scratch", "SATA RAID 5", "SCSI RAID 0"):
        assert series in page
    assert "91.0" in page
    assert "± 2.48" in page
    assert "1.98× not tested: " in page  # another tool, at other blocks


@pytest.mark.usefixtures("paper", "ours")
def test_a_cell_that_was_not_measured_says_so(sign_in: SignIn) -> None:
    assert '<span class="absent">not measured</span>' in text_of(sign_in("viewer"))


@pytest.mark.usefixtures("paper", "ours")
def test_confounders_and_caveats_stand_beside_the_result(sign_in: SignIn) -> None:
    page = text_of(sign_in("viewer"))
    assert "RAID level 1 / 5 / 0" in page
    assert "May be memory, not disk" in page
    assert "file size 100 MiB ≤ RAM 1 GiB (104 857 600 B ≤ 1 073 741 824 B; 0.10 × RAM)" in page_text(page)
    assert "A mean without its repetitions" in page


@pytest.mark.usefixtures("paper", "ours")
def test_the_exports_carry_the_same_question(sign_in: SignIn) -> None:
    page = text_of(sign_in("viewer"), "/compare/?raid_level=5&scale=log")
    assert "/api/v1/compare/?metric=bandwidth&amp;operation=write&amp;x=file_size&amp;series=label" in page
    assert "scale=log&amp;raid_level=5&amp;format=dokuwiki" in page


@pytest.mark.usefixtures("paper", "ours")
def test_htmx_gets_the_changing_part_and_the_canonical_address(sign_in: SignIn) -> None:
    response = sign_in("viewer").get("/compare/?series=host&metric=", headers={"HX-Request": "true"})
    assert response.content.decode().lstrip().startswith('<div id="results">')
    assert response.headers["HX-Push-Url"].startswith(
        "/compare/?metric=bandwidth&operation=write&x=file_size&series=host"
    )


@pytest.mark.usefixtures("paper", "ours")
def test_filters_have_counts_and_can_be_taken_away(sign_in: SignIn) -> None:
    page = text_of(sign_in("viewer"), "/compare/?raid_level=5&raid_level=1")
    assert "SCSI RAID 0" not in page
    assert '<span>5 <span class="muted">2</span></span>' in page
    assert 'title="Remove this filter">RAID level: 5 ✕</a>' in page


def test_what_else_the_machine_did_is_told_and_is_no_axis(lab: Lab, sign_in: SignIn) -> None:
    one = run(lab, facts={"kernel": "6.1", "load_before": 0.02, "disk_before": 34_100_000})
    sample(one, 1e8, file_size=MIB)
    page = text_of(sign_in("viewer"))
    assert 'value="kernel"' in page
    assert "load_before" not in page
    assert "disks 34.1 MB/s before the run > 1.00 MB/s" in page_text(page)
    alone = text_of(sign_in("viewer"), one.get_absolute_url())
    assert "disk before</dt><dd><span title=" in alone
    assert ">34.1 MB/s</span>" in alone


def test_a_number_in_an_address_finds_a_number_in_the_facts(lab: Lab, sign_in: SignIn) -> None:
    measured(lab, "alpha", [1e8], disk_count=4)
    measured(lab, "beta", [2e8], disk_count=8)
    page = text_of(sign_in("viewer"), "/compare/?disk_count=8")
    assert "beta · scratch" in page
    assert "alpha · scratch" not in page


def test_unknown_is_a_value_one_can_filter_by(lab: Lab, sign_in: SignIn) -> None:
    measured(lab, "alpha", [1e8], kernel="6.1")
    measured(lab, "beta", [2e8])
    page = text_of(sign_in("viewer"), "/compare/?kernel=unknown")
    assert "beta · scratch" in page
    assert "alpha · scratch" not in page


@for_each(
    "query, sentence",
    [
        ("metric=speed", "metric: found speed, expected one of: bandwidth"),
        ("metrc=iops", "did you mean metric?"),
        ("x=colour", "x: found colour, expected a fact that these runs have"),
        ("run=first", "run: found first, expected whole numbers"),
    ],
    taken_back=True,
)
def test_an_address_that_asks_nothing_is_told_why(lab: Lab, sign_in: SignIn, query: str, sentence: str) -> None:
    measured(lab, "alpha", [1e8])
    response = sign_in("viewer").get(f"/compare/?{query}")
    assert response.status_code == 400
    assert sentence in response.content.decode()


def test_a_baseline_that_is_not_there_any_more_gives_way_and_the_page_says_so(lab: Lab, sign_in: SignIn) -> None:
    measured(lab, "alpha", [1e8])
    page = text_of(sign_in("viewer"), "/compare/?baseline=nobody")
    assert "“nobody” was not measured here, so the baseline is now “alpha · scratch”." in page


def test_an_empty_lab_is_told_what_to_do(sign_in: SignIn, cast: Cast) -> None:
    assert "No results match." in text_of(sign_in("viewer"))


def test_another_labs_runs_are_not_compared(cast: Cast, sign_in: SignIn) -> None:
    with lab_scope(cast.other_lab.pk):
        measured(cast.other_lab, "secret", [1e8])
    assert "secret" not in text_of(sign_in("viewer"))
    assert "secret · scratch" in text_of(sign_in("stranger"))


def test_runs_that_did_not_finish_are_not_compared(lab: Lab, sign_in: SignIn) -> None:
    sample(run(lab, target(lab, "beta"), state="failed"), 1e8, file_size=GIB)
    assert "beta" not in text_of(sign_in("viewer"))


def test_labels_of_two_studies_that_agree_are_told_apart(lab: Lab, sign_in: SignIn) -> None:
    published(lab, "RAID 5", {100: 1.8e8}, slug="one")
    published(lab, "RAID 5", {100: 2.8e8}, slug="two")
    page = text_of(sign_in("viewer"))
    assert "RAID 5 (one)" in page
    assert "RAID 5 (two)" in page


def test_text_of_people_is_never_markup(lab: Lab, sign_in: SignIn) -> None:
    measured(lab, "<script>alert(1)</script>", [1e8])
    page = sign_in("viewer").get("/compare/free/").content.decode()
    assert "<script>alert" not in page
    assert "\\u003Cscript\\u003Ealert" in page  # in the chart's data


def test_the_page_has_no_inline_script_or_style(lab: Lab, sign_in: SignIn) -> None:
    measured(lab, "alpha", [1e8])
    for address in ("/compare/", "/compare/free/", "/compare/questions/filesystem/"):
        page = sign_in("viewer").get(address).content.decode()
        assert " style=" not in page
        assert " onclick" not in page


def queries(client: Client, address: str) -> int:
    client.get(address)
    with CaptureQueriesContext(
        connection,
    ) as captured:
        client.get(address)
    return len(captured)


def test_the_number_of_queries_does_not_grow_with_the_data(lab: Lab, sign_in: SignIn) -> None:
    client = sign_in("viewer")
    measured(lab, "alpha", [1e8])
    few = queries(client, "/compare/free/")
    for number in range(12):
        measured(lab, f"host-{number}", [1e8, 2e8, 3e8], file_size=(number + 1) * MIB)
    assert queries(client, "/compare/free/") == few
    assert few <= 17  # session, person, memberships and labs first


def test_who_is_not_signed_in_is_sent_to_sign_in(client: Client, cast: Cast) -> None:
    assert client.get("/compare/").status_code == 302


def spread_out(lab: Lab) -> None:
    """alpha is even, beta has an outlier, gamma two modes; delta differs from alpha in one fact, the others in two."""
    measured(lab, "alpha", [1e8, 1.02e8, 0.98e8, 1.01e8, 0.99e8], interface="SAS", environment="native")
    measured(lab, "beta", [5e7, 5.1e7, 4.9e7, 5.02e7, 1e7], interface="SATA", environment="native")
    measured(lab, "gamma", [2e7, 4e7] * 4 + [2.01e7, 4.01e7], interface="SATA", environment="guest")
    measured(lab, "delta", [1.01e8, 1.03e8, 0.97e8, 1.02e8, 1e8], interface="SAS", environment="guest")


def test_outliers_modes_and_advice_stand_in_the_table(lab: Lab, sign_in: SignIn) -> None:
    spread_out(lab)
    page = text_of(sign_in("viewer"))
    assert "1 outlier" in page
    assert "Outlier, counted: 10.0 MB/s in run" in page
    assert "two modes: 20.0 (5 runs) and 40.0 (5 runs)" in page
    assert re.search(r"\d+ more runs of each would settle this, if difference and spread stay as they are", page)
    assert "after Holm's correction for 3 cells" in page.replace("&#x27;", "'")
    assert re.search(r"p = 0\.\d+, with all cells p = 0\.\d+; g = ", page)


def test_one_run_has_no_interval_and_the_page_says_so(lab: Lab, sign_in: SignIn) -> None:
    measured(lab, "alpha", [1e8])
    page = text_of(sign_in("viewer"))
    assert "one run has no interval" in page
    assert "±" not in page.split("<tbody>")[1].split("</tbody>")[0]


def test_the_most_equal_pair_is_a_link_to_just_that_pair(lab: Lab, sign_in: SignIn) -> None:
    spread_out(lab)
    client = sign_in("viewer")
    suggestion = client.get("/compare/?series=environment").context["suggestion"]
    assert "interface" in suggestion["contrast"].equal
    comparison = client.get(suggestion["link"]).context["comparison"]
    assert comparison.series == ("guest", "native")
    assert {one.fact for one in comparison.confounders if one.kind == "differs"} == {"host"}
    assert "Closest match" in text_of(client, "/compare/?series=environment")


def test_the_link_replaces_filters_of_the_same_name(lab: Lab, sign_in: SignIn) -> None:
    spread_out(lab)
    link = sign_in("viewer").get("/compare/?host=alpha&host=beta&host=gamma&environment=native&environment=guest")
    hosts = re.findall(r"host=(\w+)", link.context["suggestion"]["link"])
    assert len(hosts) == 2


def test_two_factors_are_told_apart_on_the_page(lab: Lab, sign_in: SignIn) -> None:
    spread_out(lab)
    page = text_of(sign_in("viewer"), "/compare/?series=environment,interface")
    assert "Factor by factor" in page
    assert "interface: SAS ÷ SATA <strong>" in page
    assert "Factor by factor" not in text_of(sign_in("viewer"), "/compare/?series=environment")


def test_time_may_be_the_axis_and_counts_days(lab: Lab, sign_in: SignIn) -> None:
    for day, one in enumerate(measured(lab, "alpha", [1e8, 2e8, 3e8, 4e8])):
        Run.objects.filter(pk=one.pk).update(finished_at=datetime(2026, 3, 1 + day // 2, 12, tzinfo=UTC))
    response = sign_in("viewer").get("/compare/?x=time")
    comparison = response.context["comparison"]
    assert comparison.xs == ("2026-03-01", "2026-03-02")
    assert [cell.n for cell in comparison.cells] == [2, 2]
    assert response.context["chart"]["kind"] == "line"


@pytest.mark.usefixtures("paper", "ours")
def test_how_it_is_drawn_is_chosen_kept_and_saved(sign_in: SignIn, cast: Cast) -> None:
    client = sign_in("engineer")
    response = client.get("/compare/?chart=box", headers={"HX-Request": "true"})
    assert response.headers["HX-Push-Url"].endswith("&chart=box&base=1000")
    assert response.context["chart"]["kind"] == "box"
    assert '<option value="box" selected>Box plot</option>' in response.content.decode()
    saved = client.post("/comparisons/", {"name": "Boxes", "query": "chart=box&axis=log"}, follow=True)
    assert saved.redirect_chain[-1][0].endswith("&chart=box&axis=log&base=1000")


@pytest.mark.usefixtures("paper", "ours")
def test_a_chart_that_does_not_fit_says_what_it_would_need(sign_in: SignIn) -> None:
    page = text_of(sign_in("viewer"), "/compare/?chart=paired")
    assert "Paired bars need two series, and there are 3." in page


@pytest.mark.usefixtures("paper", "ours")
def test_the_chart_is_described_and_can_be_had_in_four_forms(sign_in: SignIn) -> None:
    response = sign_in("viewer").get(EVERY)
    page = response.content.decode()
    description = response.context["chart"]["description"]
    assert description.startswith("Line chart: Bandwidth of write by file size, in MB/s, 3 series")
    assert page.count(escape(description)) >= 3  # for the canvas, in words, and for the picture without JavaScript
    assert [name for name, _, _ in response.context["pictures"]] == ["svg", "png"]
    assert 'download="comparison.svg"' in page


@pytest.mark.usefixtures("paper")
def test_one_value_says_what_was_printed_and_where(sign_in: SignIn, lab: Lab) -> None:
    sample(run(lab, target(lab, "beta")), 1.2e8, file_size=GIB, printed="117187 K/sec", source_line=21)
    page = text_of(sign_in("viewer"))
    assert "120 000 000 B/s = 120.0 MB/s = 114.4 MiB/s; n = 1" in page
    assert page.count("printed “117187 K/sec”, line 21 of the result") == 2  # on hover, and for screen readers


@pytest.mark.usefixtures("paper")
def test_a_lab_without_results_is_told_that_it_sees_a_published_report(sign_in: SignIn) -> None:
    text = " ".join(page_text(text_of(sign_in("viewer"), "/compare/free/")).split())
    assert "This lab has no results of its own yet. Shown is a published report, Paper: its configurations" in text
    assert "The newest configurations" not in text


@pytest.mark.usefixtures("paper", "ours")
def test_a_lab_with_results_sees_its_own_newest(sign_in: SignIn) -> None:
    text = " ".join(page_text(text_of(sign_in("viewer"), "/compare/free/")).split())
    assert "The newest configurations, measured alike." in text
    assert "published report" not in text

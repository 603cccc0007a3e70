"""The pages of trends: what they show, who may do what, and what they say when there is nothing."""

import statistics
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.core import units
from apps.labs.isolation import lab_scope
from apps.labs.models import AuditEvent, Lab
from apps.notifications.models import Delivery, Destination
from apps.runs.models import Run
from apps.trends.evaluation import evaluate
from apps.trends.models import ChangePoint, TrendMark, Watch
from tests.conftest import Cast
from tests.statements import statements
from tests.trends.nights import QUERY, destination, measured_nights, noise, watch

SignIn = Callable[[str], Client]
LEVEL = 4e8


@pytest.fixture
def watched(lab: Lab) -> Watch:
    """Sixty good nights, then five that are 12 % slower on another kernel; the change is news."""
    ago = timezone.now() - timedelta(days=5, minutes=1)
    measured_nights(lab, LEVEL * noise(60, 7), until=ago, kernel="6.1")
    made = watch(lab, destination(lab))
    evaluate(made)
    measured_nights(lab, LEVEL * 0.88 * noise(5, 8), kernel="6.12")
    evaluate(made)
    return made


def said(response: Any) -> str:
    return " ".join(response.content.decode().replace("\u00a0", " ").split())


def test_an_empty_list_says_how_to_fill_it(lab: Lab, sign_in: SignIn) -> None:
    assert "press <em>Alert me on regressions</em>" in said(sign_in("engineer").get("/trends/"))
    viewer = said(sign_in("viewer").get("/trends/"))
    assert "Engineers of this lab can watch" in viewer
    assert "Notification channels" not in viewer


def test_the_list_shows_state_level_and_line(watched: Watch, lab: Lab, sign_in: SignIn) -> None:
    watch(lab, name="never looked at")
    page = sign_in("viewer").get("/trends/")
    text = said(page)
    assert [row.watch.name for row in page.context["rows"]] == ["nightly", "never looked at"]
    assert [(row.state, row.chip) for row in page.context["rows"]] == [
        ("worse", "failed"),
        ("not looked at yet", "queued"),
    ]
    assert "1 change to acknowledge" in text
    assert len(page.context["rows"][0].spark.points.split()) == 60
    level = statistics.median(LEVEL * 0.88 * noise(5, 8))
    assert page.context["rows"][0].level == units.human(level, "B/s")


def test_the_list_costs_the_same_for_one_watch_and_for_thirty(watched: Watch, lab: Lab, sign_in: SignIn) -> None:
    client = sign_in("engineer")
    of_one = statements(lambda: client.get("/trends/"))
    for number in range(29):
        watch(lab, name=f"watch {number}")
    assert len(statements(lambda: client.get("/trends/"))) == len(of_one)
    assert len(client.get("/trends/").context["rows"]) == 30


def test_a_watchs_line_says_its_numbers_and_leads_to_them(watched: Watch, sign_in: SignIn) -> None:
    page = sign_in("viewer").get("/trends/")
    spark, change = page.context["rows"][0].spark, ChangePoint.objects.get()
    values = [*(LEVEL * noise(60, 7))[-55:], *(LEVEL * 0.88 * noise(5, 8))]
    told = {"first": values[0], "last": values[-1], "smallest": min(values), "largest": max(values)}
    words = ", ".join(f"{word} {units.human(value, 'B/s')}" for word, value in told.items())
    change_said = f"1 change of level: {change.size_text} worse at run {change.run_id}"
    assert spark.description == f"The last 60 of 65 runs: {words}; {change_said}."
    assert f'aria-label="{spark.description}"' in page.content.decode()
    xs = [float(pair.partition(",")[0]) for pair in spark.points.split()]
    assert spark.changes == (pytest.approx((xs[54] + xs[55]) / 2, abs=0.1),)
    assert f'href="/trends/{watched.pk}/#runs"' in page.content.decode()
    assert f'href="/api/v1/trends/{watched.pk}/?format=csv"' in page.content.decode()


def test_a_summary_without_places_still_says_how_many_changes(watched: Watch, sign_in: SignIn) -> None:
    watched.refresh_from_db()
    old = {name: value for name, value in watched.summary.items() if name != "steps"}
    Watch.objects.filter(pk=watched.pk).update(summary=old)
    spark = sign_in("viewer").get("/trends/").context["rows"][0].spark
    assert (spark.changes, spark.description.endswith("; 1 change of level.")) == ((), True)


def test_a_watchs_page_has_chart_changes_and_runs(watched: Watch, sign_in: SignIn) -> None:
    page = sign_in("viewer").get(f"/trends/{watched.pk}/")
    text, chart, change = said(page), page.context["chart"], ChangePoint.objects.get()
    assert "<strong>kernel</strong> 6.1 → 6.12" in text
    assert change.size_text.replace("\u00a0", " ") in text
    assert f'href="/runs/{change.run_id}/"' in text
    assert (chart["unit"], len(chart["points"]), len(chart["steps"]), len(chart["changes"])) == ("MB/s", 65, 2, 1)
    times = [point["x"] for point in chart["points"]]
    assert times[59] < chart["changes"][0]["x"] < times[60]
    assert chart["steps"][1][0]["y"] == pytest.approx(statistics.median(352 * noise(5, 8)))
    assert "The runs (65 newest of 65)" in text
    assert ">Acknowledge<" not in text
    assert 'name="text"' not in text


def test_a_watchs_page_costs_a_constant_number_of_statements(
    watched: Watch, lab: Lab, sign_in: SignIn, django_assert_max_num_queries: Callable[..., Any]
) -> None:
    client = sign_in("engineer")
    for nights in (0, 300):
        if nights:
            measured_nights(lab, LEVEL * 0.88 * noise(nights, 4))
        with django_assert_max_num_queries(20):
            client.get(f"/trends/{watched.pk}/")


def test_too_few_runs_and_none_say_so(lab: Lab, sign_in: SignIn) -> None:
    made = watch(lab)
    client = sign_in("viewer")
    assert "No run answers this yet." in said(client.get(f"/trends/{made.pk}/"))
    measured_nights(lab, [1e8] * 7)
    assert "there are 7, and 3 more are wanted" in said(client.get(f"/trends/{made.pk}/"))


def test_a_question_that_is_gone_is_explained(lab: Lab, sign_in: SignIn) -> None:
    made = watch(lab, query="metric=gone&operation=write")
    text = said(sign_in("engineer").get(f"/trends/{made.pk}/"))
    assert "metric: found gone, expected one of: bandwidth" in text


def test_an_engineer_watches_what_a_comparison_shows(lab: Lab, sign_in: SignIn) -> None:
    measured_nights(lab, LEVEL * noise(12, 1))
    measured_nights(lab, [1e8], host="beta")
    to = destination(lab)
    client = sign_in("engineer")
    compared = client.get("/compare/free/")
    question = compared.context["comparison"].question.address
    assert f'href="/trends/new/?{question}"'.replace("&", "&amp;") in compared.content.decode()
    page = client.get(f"/trends/new/?{question}")
    first, second = page.context["candidates"]
    assert (first.runs, second.runs) == (12, 1)
    assert first.text == "alpha · scratch, 1\u00a0MiB blocks, 4\u00a0GiB file, 1 job, depth 16"
    answer = client.post("/trends/", {"name": "write", "query": first.query, "threshold": "8", "recipients": [to.pk]})
    made = Watch.objects.get()
    assert answer.headers["Location"] == f"/trends/{made.pk}/"
    assert (made.threshold, made.summary["runs"], made.created_by) == (0.08, 12, "engineer@example.org")
    assert dict(made.question.filters)["host"] == "alpha"
    assert [one.destination for one in made.recipients.all()] == [to]
    assert AuditEvent.objects.filter(act="watch made").exists()


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"query": "metric=speed"}, "metric: found &#x27;speed&#x27;, expected one of"),
        ({"query": QUERY, "threshold": "0"}, "greater than or equal to 0.1"),
        ({"query": QUERY, "name": ""}, "This field is required."),
        ({"query": QUERY, "recipients": ["999"]}, "999 is not one of the available choices"),
    ],
)
def test_what_can_not_be_watched_is_told_why(lab: Lab, sign_in: SignIn, fields: dict[str, Any], sentence: str) -> None:
    measured_nights(lab, [1e8])
    answer = sign_in("engineer").post("/trends/", {"name": "n", "threshold": "5", **fields})
    assert answer.status_code == 422
    assert sentence in said(answer)
    assert not Watch.objects.exists()


def test_an_address_that_asks_nothing_and_one_without_runs(lab: Lab, sign_in: SignIn) -> None:
    client = sign_in("engineer")
    wrong = client.get("/trends/new/?metric=speed")
    assert (wrong.status_code, "found speed" in said(wrong)) == (400, True)
    assert "No run of this lab answers this." in said(client.get("/trends/new/"))


def test_an_engineer_acknowledges_once(watched: Watch, sign_in: SignIn) -> None:
    client, change = sign_in("engineer"), ChangePoint.objects.get()
    page = client.post(f"/trends/changes/{change.pk}/acknowledge/", follow=True)
    assert "Acknowledged." in said(page)
    assert page.context["state"][1] == "steady"
    sign_in("owner").post(f"/trends/changes/{change.pk}/acknowledge/")
    assert ChangePoint.objects.get().acknowledged_by == "engineer@example.org"
    [event] = AuditEvent.objects.filter(act="change acknowledged")
    assert (event.subject, event.who, event.detail) == ("nightly", "engineer@example.org", {"change": change.pk})


def test_on_purpose_marks_the_run_and_ends_the_alarm(watched: Watch, sign_in: SignIn) -> None:
    client, change = sign_in("engineer"), ChangePoint.objects.get()
    page = client.post(f"/trends/{watched.pk}/marks/", {"run": change.run_id, "text": "new kernel"}, follow=True)
    assert "Marked: runs before and after are evaluated separately." in said(page)
    put = TrendMark.objects.get()
    assert (put.run_id, put.at, put.text) == (
        change.run_id,
        Run.objects.get(pk=change.run_id).finished_at,
        "new kernel",
    )
    assert page.context["chart"]["changes"] == []
    assert [one["text"] for one in page.context["chart"]["marks"]] == ["new kernel"]
    page = client.post(f"/trends/marks/{put.pk}/remove/", follow=True)
    assert len(page.context["chart"]["changes"]) == 1
    assert not TrendMark.objects.exists()
    at = put.at.isoformat()
    events = AuditEvent.objects.filter(act__startswith="trend mark").order_by("pk")
    assert [(event.act, event.subject, event.who, event.detail) for event in events] == [
        ("trend marked", "nightly", "engineer@example.org", {"text": "new kernel", "at": at}),
        ("trend mark removed", "new kernel", "engineer@example.org", {"at": at}),
    ]


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"text": "x"}, "Not marked: From (UTC): found neither or both, expected a run or a time"),
        (
            {"text": "x", "run": "1", "at": "2026-01-01T00:00"},
            "Not marked: Run: found 1, expected the id of a run of this lab",
        ),
        ({"text": "", "at": "2026-01-01T00:00"}, "Not marked: What was changed: This field is required."),
        ({"text": "x", "at": "yesterday"}, "Not marked: From (UTC): Enter a valid date/time."),
    ],
)
def test_a_mark_that_says_too_little_is_told_why(
    lab: Lab, sign_in: SignIn, fields: dict[str, str], sentence: str
) -> None:
    made = watch(lab)
    assert sentence in said(sign_in("engineer").post(f"/trends/{made.pk}/marks/", fields, follow=True))
    assert not TrendMark.objects.exists()


def test_a_watch_is_changed_paused_and_deleted(watched: Watch, lab: Lab, sign_in: SignIn) -> None:
    client = sign_in("engineer")
    form = client.get(f"/trends/{watched.pk}/edit/").context["form"]
    assert form.initial == {
        "name": "nightly", "threshold": 5.0, "is_active": True, "recipients": [Destination.objects.get().pk],
    }  # fmt: skip
    client.post(f"/trends/{watched.pk}/edit/", {"name": "weekly", "threshold": "12.5"})
    changed = Watch.objects.get()
    assert (changed.name, changed.threshold, changed.is_active, changed.recipients.count()) == (
        "weekly",
        0.125,
        False,
        0,
    )
    assert client.get("/trends/").context["rows"][0].state == "paused"
    assert client.post(f"/trends/{watched.pk}/edit/", {"name": ""}).status_code == 422
    assert "who acknowledged them" in said(client.get(f"/trends/{watched.pk}/delete/"))
    client.post(f"/trends/{watched.pk}/delete/")
    assert not Watch.objects.exists()
    assert Run.objects.count() == 65
    [event] = AuditEvent.objects.filter(lab=lab, act="watch deleted")
    assert (event.subject, event.who, event.detail) == ("weekly", "engineer@example.org", {"watch": watched.pk})


def test_the_channels_that_are_offered_are_those_of_the_lab_that_are_on(
    watched: Watch, cast: Cast, lab: Lab, sign_in: SignIn
) -> None:
    own = Destination.objects.get()
    off = destination(lab, name="switched off", address="off@example.org", is_active=False)
    with lab_scope(cast.other_lab.pk):
        others = destination(cast.other_lab, name="of others")
    client = sign_in("engineer")
    for address in (f"/trends/{watched.pk}/edit/", f"/trends/new/?{QUERY}"):
        page = client.get(address)
        text = said(page)
        assert own.name in text
        assert off.name not in text
        assert others.name not in text
    for wrong in (off, others):
        typed = {"name": "nightly", "threshold": "5", "recipients": [own.pk, wrong.pk]}
        answer = client.post(f"/trends/{watched.pk}/edit/", typed)
        assert (answer.status_code, f"{wrong.pk} is not one of the available choices" in said(answer)) == (422, True)
    assert [one.destination for one in watched.recipients.all()] == [own]


def test_a_test_goes_to_all_recipients_that_are_on(watched: Watch, lab: Lab, sign_in: SignIn) -> None:
    client = sign_in("engineer")
    text = said(client.post(f"/trends/{watched.pk}/test/", follow=True))
    assert "A test is on its way to email of the team." in text
    sent = Delivery.objects.first()
    assert (sent.is_test, sent.payload["event"]) == (True, "test")
    destination(lab, name="of another watch", address="others@example.org")
    off = destination(lab, name="off", address="off@example.org", is_active=False)
    watched.recipients.create(lab=lab, destination=off)
    client.post(f"/trends/{watched.pk}/test/")
    assert {one.destination.address for one in Delivery.objects.all()} == {"team@example.org"}
    watched.recipients.exclude(destination=off).delete()
    text = said(client.post(f"/trends/{watched.pk}/test/", follow=True))
    assert "Nothing was sent: all recipients of this watch are switched off." in text
    watched.recipients.all().delete()
    assert "There are no recipients yet" in said(client.post(f"/trends/{watched.pk}/test/", follow=True))


def test_a_viewer_changes_nothing(watched: Watch, sign_in: SignIn) -> None:
    client, change = sign_in("viewer"), ChangePoint.objects.get()
    for address in (
        "/trends/", f"/trends/{watched.pk}/edit/", f"/trends/{watched.pk}/delete/", f"/trends/{watched.pk}/look/",
        f"/trends/{watched.pk}/marks/", f"/trends/{watched.pk}/test/", f"/trends/changes/{change.pk}/acknowledge/",
    ):  # fmt: skip
        assert client.post(address, {"name": "x", "query": QUERY, "threshold": "5"}).status_code == 403
    assert sign_in("engineer").get("/trends/destinations/").status_code == 403


def test_a_published_labs_watch_is_read_and_not_changed(watched: Watch, lab: Lab, sign_in: SignIn) -> None:
    Lab.objects.filter(pk=lab.pk).update(is_published=True)
    client = sign_in("stranger")
    page = client.get(f"/trends/{watched.pk}/")
    assert (page.status_code, page.context["may_change"], list(page.context["recipients"])) == (200, False, [])
    assert "email of the team" not in said(page)
    assert client.post(f"/trends/{watched.pk}/look/").status_code == 404


def test_an_owner_makes_a_webhook_whose_secret_is_shown_once(lab: Lab, sign_in: SignIn) -> None:
    client = sign_in("owner")
    fields = {"kind": "webhook", "name": "chat", "address": "https://hooks.example.org/storage"}
    made = client.post("/trends/destinations/", fields)
    secret = Destination.objects.get().secret
    assert len(secret) > 40
    assert secret in said(made)
    assert made.headers["Cache-Control"] == "no-store"
    assert secret not in said(client.get("/trends/destinations/"))
    assert "is a destination of this lab already" in said(client.post("/trends/destinations/", fields))


@pytest.mark.parametrize(
    ("kind", "address", "sentence"),
    [
        ("webhook", "http://10.0.0.1/x", "10.0.0.1: that is an address inside a network"),
        ("webhook", "http://2130706433/", "2130706433 is 127.0.0.1: that is an address inside a network"),
        ("webhook", "gopher://example.org/", "expected an address like https://example.org/hook"),
        ("email", "nobody", "found &#x27;nobody&#x27;, expected an e-mail address"),
    ],
)
def test_an_address_nobody_may_write_to_is_refused(
    lab: Lab, sign_in: SignIn, kind: str, address: str, sentence: str
) -> None:
    answer = sign_in("owner").post("/trends/destinations/", {"kind": kind, "name": "n", "address": address})
    assert (answer.status_code, sentence in said(answer)) == (422, True)
    assert not Destination.objects.exists()


def test_an_owner_tests_switches_deletes_and_sends_again(lab: Lab, sign_in: SignIn, published: list[Any]) -> None:
    client, to = sign_in("owner"), destination(lab)
    here = f"/trends/destinations/{to.pk}"
    client.post(f"{here}/test/")
    dead = Delivery.objects.get()
    Delivery.objects.update(state="dead", problem="answered 503", tries=5)
    assert "try 5: answered 503" in said(client.get("/trends/destinations/"))
    client.post(f"/trends/deliveries/{dead.pk}/again/")
    assert (Delivery.objects.get().state, Delivery.objects.get().tries) == ("waiting", 0)
    client.post(f"{here}/switch/")
    assert not Destination.objects.get().is_active
    assert "also those on their way" in said(client.get(f"{here}/delete/"))
    client.post(f"{here}/delete/")
    assert not Destination.objects.exists()


def test_the_page_says_plainly_whether_mail_leaves(lab: Lab, sign_in: SignIn, settings: Any) -> None:
    client, sentence = sign_in("owner"), "E-mail does not leave this machine."
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    assert sentence in said(client.get("/trends/destinations/"))
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    assert sentence not in said(client.get("/trends/destinations/"))

"""Trends for scripts: what is watched, where it changed, and marks."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from apps.api.resources import trends
from apps.labs.models import Lab
from apps.trends.evaluation import evaluate
from apps.trends.models import TrendMark, Watch
from tests.sampling import for_each
from tests.trends.nights import measured_nights, noise, watch

Token = Callable[[str], str]


@pytest.fixture
def watched(lab: Lab) -> Watch:
    measured_nights(lab, 4e8 * noise(40, 7), until=timezone.now() - timedelta(days=12, minutes=1), kernel="6.1")
    measured_nights(lab, 3.4e8 * noise(12, 8), kernel="6.12")
    made = watch(lab)
    evaluate(made)
    return made


def bearer(token: Token, scope: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token(scope)}"}


def test_the_list_and_one_watch(watched: Watch, token: Token, client: Client) -> None:
    headers = bearer(token, "read")
    (listed,) = client.get("/api/v1/trends/", headers=headers).json()["results"]
    assert set(listed) == set(trends.WatchSerializer().fields)
    assert (listed["metric"], listed["unit"], listed["runs"], listed["state"]) == ("bandwidth", "B/s", 52, "steady")
    found = client.get(f"/api/v1/trends/{watched.pk}/", headers=headers).json()
    assert set(found) == set(trends.TrendSerializer().fields)
    assert listed.items() <= found.items()
    assert len(found["points"]) == 52
    assert set(found["points"][0]) == set(trends.TrendPointSerializer().fields)
    assert [one["runs"] for one in found["segments"]] == [40, 12]
    (change,) = found["change_points"]
    assert set(change) == set(trends.ChangePointSerializer().fields)
    assert change["run"] == found["points"][40]["run"] == found["segments"][1]["first_run"]
    assert change["ratio_low"] < change["ratio"] < change["ratio_high"] < 0.9
    assert change["facts"] == [{"fact": "kernel", "label": "kernel", "before": "6.1", "after": "6.12"}]
    assert (change["direction"], change["is_backfill"], found["drift"], found["missing_runs"]) == (
        "worse",
        True,
        None,
        0,
    )


def test_a_script_marks_what_it_changed(watched: Watch, token: Token, client: Client) -> None:
    headers, address = bearer(token, "run"), f"/api/v1/trends/{watched.pk}/marks/"
    change = client.get(f"/api/v1/trends/{watched.pk}/", headers=headers).json()["change_points"][0]
    made = client.post(address, {"run": change["run"], "text": "kernel 6.12"}, "application/json", headers=headers)
    assert made.status_code == 201
    assert set(made.json()) == set(trends.MarkSerializer().fields)
    assert (made.json()["run"], made.json()["created_by"]) == (change["run"], "token run token")
    found = client.get(f"/api/v1/trends/{watched.pk}/", headers=headers).json()
    assert found["change_points"] == []
    assert [one["began_by"] for one in found["segments"]] == ["start", "mark"]
    assert client.get(address, headers=headers).json()["results"] == found["marks"] == [made.json()]


@for_each(
    "body, field",
    [({"text": "x"}, "at"), ({"run": 1}, "text"), ({"text": "x", "run": 999999}, "run"), ([], "text"),
     ({"text": "x", "at": "soon"}, "at"), ({"text": "x", "run": "1; DROP"}, "run"),
     ({"text": 5, "at": "2026-01-01T00:00:00Z"}, "text"), ({"text": ["x"], "at": "2026-01-01T00:00:00Z"}, "text"),
     ({"text": "x", "at": "2026-01-01T00:00:00Z", "everywhere": "no"}, "everywhere"),
     ({"text": "x", "at": "2026-01-01T00:00:00Z", "watch": 1}, "watch")],
)  # fmt: skip
def test_a_mark_that_says_too_little_is_a_problem(
    watched: Watch, token: Token, client: Client, body: object, field: str
) -> None:
    answer = client.post(
        f"/api/v1/trends/{watched.pk}/marks/", body, content_type="application/json", headers=bearer(token, "run")
    )
    assert (answer.status_code, answer.json()["field"]) == (400, field)
    assert "expected" in answer.json()
    assert not TrendMark.objects.exists()


def test_reading_tokens_mark_nothing(watched: Watch, token: Token, client: Client) -> None:
    address = f"/api/v1/trends/{watched.pk}/marks/"
    body = {"text": "x", "at": "2026-01-01T00:00:00Z"}
    assert client.post(address, body, content_type="application/json", headers=bearer(token, "read")).status_code == 403
    assert client.get(address).status_code == 401


def test_a_watch_that_asks_what_is_gone_is_a_problem(lab: Lab, token: Token, client: Client) -> None:
    made = watch(lab, query="metric=gone")
    answer = client.get(f"/api/v1/trends/{made.pk}/", headers=bearer(token, "read"))
    assert (answer.status_code, answer.json()["field"], answer.json()["found"]) == (400, "metric", "gone")

"""The queue by REST: reading it, its order, cancelling, giving up; starting with priority, labels, note and study."""

import json
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from apps.agents.models import Agent
from apps.labs.isolation import lab_scope
from apps.labs.models import AuditEvent, digest
from apps.runs.models import Run
from apps.runs.services import offer_next_run, start_runs
from apps.runs.states import Priority, State
from apps.studies.models import Study
from tests.comparison.factories import GIB, MIB, target
from tests.sampling import for_each

JOB = {"rw": "write", "block_size": "1m", "file_size": "1 GiB"}


@pytest.fixture
def place(cast):
    with lab_scope(cast.lab.pk):
        made = target(cast.lab)
        Agent.objects.create(
            lab=cast.lab, host=made.host, secret_sha256=digest("x"), state="approved", last_seen_at=timezone.now()
        )
        return made


@pytest.fixture
def queued(cast, place):
    spec = {"jobs": [{"rw": "read", "block_size": 4096, "file_size": MIB, "runtime": 30, "time_based": True}]}
    with lab_scope(cast.lab.pk):
        return [run.pk for run in start_runs(lab=cast.lab, target=place, spec=spec, repetitions=3, who="engineer")]


@pytest.fixture
def ask(token):
    """`ask("POST", "queue/cancel/", runs=[1])` with a run token; the answer's status and body."""

    def asked(method: str, path: str, scope: str = "run", **body):
        client = Client()
        headers = {"Authorization": f"Bearer {token(scope)}"}
        call = client.generic(
            method, f"/api/v1/{path}", json.dumps(body), content_type="application/json", headers=headers
        )
        return call.status_code, call.json()

    return asked


def get(cast, pk: int) -> Run:
    with lab_scope(cast.lab.pk):
        return Run.objects.get(pk=pk)


def test_the_queue_says_who_is_next_and_why_each_waits(cast, ask, place, queued) -> None:
    with lab_scope(cast.lab.pk):
        attempt = offer_next_run(place.host_id)
        attempt.accept()
        attempt.accepted_at = timezone.now() - timedelta(seconds=12)
        attempt.run_started(timezone.now() - timedelta(seconds=10), "boot", [])
    status, body = ask("GET", "queue/", "read")
    assert (status, body["next"], body["count"]) == (200, None, 3)
    rows = body["results"]
    assert [(row["run"], row["place"], row["state"]) for row in rows] == [
        (queued[0], 0, "running"), (queued[1], 1, "queued"), (queued[2], 2, "queued"),
    ]  # fmt: skip
    assert rows[0]["reason"] == ""
    assert rows[0]["seconds_left"] == pytest.approx(20, abs=5)
    assert f"works on run {queued[0]}" in rows[1]["reason"]
    assert rows[1]["seconds_before"] == pytest.approx(20, abs=5)
    assert rows[2]["seconds_before"] == pytest.approx(50, abs=5)
    assert rows[1] | {"created_at": ""} == rows[1] | {
        "host": place.host_id, "host_name": "alpha", "target": place.pk, "target_name": "scratch", "tool": "fio",
        "operations": "read", "priority": "normal", "repetition": 2, "created_by": "engineer", "created_at": "",
    }  # fmt: skip


def test_no_time_is_given_where_the_host_is_not_there(cast, ask, place, queued) -> None:
    with lab_scope(cast.lab.pk):
        Agent.objects.update(last_seen_at=timezone.now() - timedelta(hours=1))
    rows = ask("GET", "queue/")[1]["results"]
    assert [row["seconds_before"] for row in rows] == [None] * 3
    assert "is offline" in rows[0]["reason"]


def test_pages_and_hosts(cast, ask, place, queued) -> None:
    with lab_scope(cast.lab.pk):
        other = target(cast.lab, host="beta")
        [elsewhere] = start_runs(
            lab=cast.lab, target=other, spec={"jobs": [JOB | {"block_size": MIB, "file_size": GIB}]}
        )
    assert [row["run"] for row in ask("GET", "queue/")[1]["results"]] == [*queued, elsewhere.pk]
    assert [row["run"] for row in ask("GET", f"queue/?host={other.host_id}")[1]["results"]] == [elsewhere.pk]
    page = ask("GET", "queue/?limit=2&offset=1")[1]
    assert [(row["run"], row["place"], row["seconds_before"]) for row in page["results"]] == [
        (queued[1], 2, None), (queued[2], 3, None),
    ]  # fmt: skip
    assert "offset=3" in page["next"]
    assert ask("GET", "queue/?host=x")[0] == 400
    assert ask("GET", "queue/?colour=red")[0] == 400


def test_reordering_and_cancelling(cast, ask, queued) -> None:
    a, b, c = queued
    assert ask("POST", "queue/move/", run=c, to="front") == (200, {"runs": [c]})
    assert ask("POST", "queue/move/", run=c, to="front") == (200, {"runs": []})
    assert ask("POST", "queue/priority/", runs=[b], priority="high") == (200, {"runs": [b]})
    assert [row["run"] for row in ask("GET", "queue/")[1]["results"]] == [b, c, a]
    assert ask("POST", "queue/cancel/", runs=[a, b, 10**9]) == (202, {"runs": [a, b]})
    assert [row["run"] for row in ask("GET", "queue/")[1]["results"]] == [c]
    status, refused = ask("POST", "queue/move/", run=a, to="up")
    assert (status, refused["found"], refused["expected"]) == (409, "cancelled", "a run that is queued")


@for_each(
    "path, body, field",
    [
        ("queue/priority/", {"runs": [1], "priority": "urgent"}, "priority"),
        ("queue/priority/", {"runs": [1], "priority": 1}, "priority"),
        ("queue/move/", {"run": "first", "to": "front"}, None),
        ("queue/move/", {"to": "front"}, None),
        ("queue/cancel/", {"runs": []}, None),
        ("queue/cancel/", {"runs": ["x"]}, None),
        ("queue/cancel/", {"runs": [1], "all": True}, "all"),
        ("queue/abandon/", {"host": 1}, None),
    ],
)
def test_what_is_not_as_described_is_refused(ask, queued, path, body, field) -> None:
    status, problem = ask("POST", path, **body)
    assert status == 400, problem
    assert field is None or problem["field"] == field


def test_a_move_to_nowhere_names_what_there_is(ask, queued) -> None:
    status, problem = ask("POST", "queue/move/", run=queued[1], to="sideways")
    assert (status, problem["field"], problem["expected"]) == (400, "to", "one of: front, up, down")


def test_reading_tokens_and_strangers_change_nothing(cast, ask, queued) -> None:
    assert ask("POST", "queue/cancel/", "read", runs=queued)[0] == 403
    assert ask("POST", "queue/priority/", "read", runs=queued, priority="low")[0] == 403
    assert ask("PATCH", f"runs/{queued[0]}/", "read", note="x")[0] == 403
    with lab_scope(cast.other_lab.pk):
        theirs = target(cast.other_lab, host="gamma")
        [run] = start_runs(
            lab=cast.other_lab, target=theirs, spec={"jobs": [JOB | {"block_size": MIB, "file_size": GIB}]}
        )
    assert ask("POST", "queue/cancel/", runs=[run.pk]) == (202, {"runs": []})
    assert ask("POST", "queue/move/", run=run.pk, to="front")[0] == 404
    assert ask("POST", "queue/abandon/", host=theirs.host_id, reason="x")[0] == 404
    assert ask("POST", f"runs/{run.pk}/abandon/", reason="x")[0] == 404


def test_giving_up_by_run_and_by_host(cast, ask, place, queued) -> None:
    assert ask("POST", f"runs/{queued[0]}/abandon/", reason="dead")[0] == 409
    with lab_scope(cast.lab.pk):
        attempt = offer_next_run(place.host_id)
        attempt.accept()
        attempt.lose()
    assert ask("POST", f"runs/{queued[0]}/abandon/", reason=" ")[0] == 400
    status, body = ask("POST", f"runs/{queued[0]}/abandon/", reason="dead")
    assert (status, body["state"], body["late"], bool(body["abandoned_at"])) == (202, "interrupted", False, True)
    answer = ask("POST", "queue/abandon/", host=place.host_id, reason="dead", cancel_waiting=True)
    assert answer == (202, {"abandoned": [], "cancelled": queued[1:]})
    with lab_scope(cast.lab.pk):
        [event] = AuditEvent.objects.filter(act="run abandoned")
        assert (event.who, event.detail["reason"]) == ("token run token", "dead")


@pytest.mark.parametrize(
    ("block", "file", "expected"),
    [("4k", "10 GiB", (4096, 10 * GIB)), ("1.5m", "3t", (1572864, 3 * 1024 * GIB)), (8192, "64MiB", (8192, 64 * MIB))],
)
def test_sizes_as_people_write_them(cast, ask, place, block, file, expected) -> None:
    body = {"target": place.pk, "workload": {"rw": "read", "block_size": block, "file_size": file}}
    status, started = ask("POST", "runs/", **body)
    assert status == 201, started
    assert (started["workload"]["block_size"], started["workload"]["file_size"]) == expected


@for_each(
    "block, found, expected",
    [
        ("4KB", "4KB", "1000 to some and 1024 to others"),
        ("four", "four", "a size such as 4k, 1m or 100 MiB"),
        ("1000", "1000", "a multiple of 512"),
        ("32 MiB", "32 MiB", "from 512 to 16777216"),
        ("0.3k", "0.3k", "no whole number of bytes"),
    ],
)
def test_other_sizes_are_refused_with_what_was_found_and_expected(ask, place, block, found, expected) -> None:
    jobs = [
        {"rw": "read", "block_size": 4096, "file_size": "1g"},
        {"rw": "read", "block_size": block, "file_size": "1g"},
    ]
    status, problem = ask("POST", "runs/", target=place.pk, workload={"jobs": jobs})
    assert (status, problem["field"], problem["found"]) == (400, "jobs[1].block_size", found)
    assert expected in problem["expected"]


def test_a_start_with_priority_labels_note_and_study(cast, ask, place) -> None:
    with lab_scope(cast.lab.pk):
        for slug in ("adapters", "cables", "drives"):
            study = Study.objects.create(lab=cast.lab, slug=slug, title=slug.title())
            study.configurations.create(name="new", label="new one")
            study.configurations.create(name="old", label="old one")
    with lab_scope(cast.other_lab.pk):
        Study.objects.create(lab=cast.other_lab, slug="cables", title="Others' cables")
    said = {"priority": "high", "labels": {"cable": "old"}, "note": "after the move", "study": "cables"}
    status, started = ask("POST", "runs/", target=place.pk, workload=JOB, configuration="old", repetitions=2, **said)
    assert status == 201, started
    for pk in started["runs"]:
        body = ask("GET", f"runs/{pk}/")[1]
        assert {name: body[name] for name in said} == said
        assert body["configuration"] == "old"
    assert started["study"] == "cables"
    assert [row["note"] for row in ask("GET", "queue/")[1]["results"]] == ["after the move"] * 2


@pytest.mark.parametrize(
    ("said", "status", "field"),
    [
        ({"priority": "urgent"}, 400, "priority"),
        ({"labels": {"": "x"}}, 400, "labels"),
        ({"labels": {"x": "y" * 201}}, 400, "labels"),
        ({"note": "x" * 4001}, 400, "note"),
        ({"study": "none-such"}, 404, "study"),
        ({"study": "of-others"}, 404, "study"),
        ({"study": "cables", "configuration": "new"}, 404, "configuration"),
        ({"configuration": "old"}, 404, "study"),
        ({"prio": "high"}, 400, "prio"),
    ],
)
def test_nothing_is_started_with_what_is_wrong(cast, ask, place, said, status, field) -> None:
    with lab_scope(cast.lab.pk):
        Study.objects.create(lab=cast.lab, slug="cables", title="Cables").configurations.create(name="old", label="o")
    with lab_scope(cast.other_lab.pk):
        Study.objects.create(lab=cast.other_lab, slug="of-others", title="Others'")
    found, problem = ask("POST", "runs/", target=place.pk, workload=JOB, **said)
    assert (found, problem.get("field")) == (status, field), problem
    with lab_scope(cast.lab.pk):
        assert not Run.objects.exists()


def test_labels_note_and_priority_are_changed_with_audit(cast, ask, queued) -> None:
    status, body = ask("PATCH", f"runs/{queued[0]}/", labels={"cable": "new"}, note="see ticket 7", priority="low")
    assert status == 200, body
    assert (body["labels"], body["note"], body["priority"]) == ({"cable": "new"}, "see ticket 7", "low")
    assert ask("PATCH", f"runs/{queued[0]}/", note="")[1]["labels"] == {"cable": "new"}
    with lab_scope(cast.lab.pk):
        events = list(AuditEvent.objects.filter(act="run described").order_by("id"))
    assert events[0].detail["labels"] == {"before": {}, "after": {"cable": "new"}}
    assert events[1].detail == {"note": {"before": "see ticket 7", "after": ""}}
    assert ask("PATCH", f"runs/{queued[0]}/", state="finished")[0] == 400
    with lab_scope(cast.lab.pk):
        Run.objects.filter(pk=queued[0]).update(state=State.FINISHED)
    assert ask("PATCH", f"runs/{queued[0]}/", priority="high", note="n")[0] == 409
    assert get(cast, queued[0]).note == ""


def test_changed_labels_are_facts_of_a_run_that_has_some(cast, ask, queued) -> None:
    with lab_scope(cast.lab.pk):
        facts = {"tool": "fio", "cable": "old", "load_before": 0.5}
        Run.objects.filter(pk=queued[0]).update(state=State.FINISHED, labels={"cable": "old"}, facts=facts)
    body = ask("PATCH", f"runs/{queued[0]}/", labels={"room": "B12"})[1]
    assert (body["facts"]["room"], body["facts"]["load_before"]) == ("B12", 0.5)
    assert "cable" not in body["facts"]


def test_a_run_again_is_numbered_on(cast, ask, place, queued) -> None:
    status, body = ask("POST", f"runs/{queued[0]}/again/", repetitions=2, priority="high", note="once more")
    assert status == 201, body
    with lab_scope(cast.lab.pk):
        runs = Run.objects.filter(pk__in=body["runs"]).order_by("pk")
        assert [(run.repetition, run.priority, run.note) for run in runs] == [
            (4, Priority.HIGH, "once more"), (5, Priority.HIGH, "once more"),
        ]  # fmt: skip
        uploaded = Run.objects.create(lab=cast.lab, tool="fio", origin="uploaded", state=State.FINISHED)
    status, problem = ask("POST", f"runs/{uploaded.pk}/again/")
    assert (status, problem["field"], problem["expected"]) == (
        400,
        "run",
        "a run that an agent of this lab was asked for",
    )


def test_a_change_is_answered_in_json_whatever_forms_the_run_has(ask, queued) -> None:
    assert ask("PATCH", f"runs/{queued[0]}/?format=json", note="x")[0] == 200
    status, problem = ask("PATCH", f"runs/{queued[0]}/?format=dokuwiki", note="y")
    assert (status, problem["status"]) == (406, 406)
    assert ask("GET", f"runs/{queued[0]}/")[1]["note"] == "x"

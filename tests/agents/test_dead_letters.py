"""A result whose worker never comes to an end is given up with its reason, and a person can have it read again."""

import json
import logging
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from apps.agents.ingest import read_again
from apps.agents.tasks import ingest_attempt, sweep
from apps.labs.isolation import all_labs, lab_scope
from apps.labs.models import AuditEvent
from apps.runs.models import MAX_TRIES, Attempt, Run
from apps.runs.states import State
from tests.agents.conftest import sha256

DOCUMENT = (Path(__file__).parents[1] / "parsers" / "fixtures" / "fio_json" / "stonewall.json").read_bytes()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, settings: Any) -> None:
    settings.ARTEFACT_DIR = tmp_path


@pytest.fixture
def delivered(agent, start, monkeypatch) -> Attempt:
    """Complete on the server; no worker has come to read it."""
    monkeypatch.setattr(ingest_attempt, "delay_on_commit", lambda *_: None)
    monkeypatch.setattr(ingest_attempt, "delay", lambda *_: None)
    start()
    taken = agent.take()
    agent.post(f"attempts/{taken.pk}/running/", token=taken.token, boot_id="b", argv=["fio"], started_at=1.0)
    agent.put_chunk(taken, "result", 0, DOCUMENT)
    streams = {"result": {"chunks": 1, "bytes": len(DOCUMENT), "sha256": sha256(DOCUMENT)}}
    body = {"token": taken.token, "outcome": "finished", "exit_status": 0, "streams": streams}
    assert agent.post(f"attempts/{taken.pk}/finish/", **body).json() == {"complete": True}
    return agent.again(taken)


def _killed(tries: int) -> None:
    """As after so many workers that were killed at it, the last one a while ago."""
    with all_labs():
        Attempt.objects.update(tries=tries, next_try_at=timezone.now() - timedelta(seconds=1))


def _run() -> Run:
    with all_labs():
        return Run.objects.get()


def test_it_is_being_read_until_its_samples_are_there(agent, delivered) -> None:
    run = _run()
    assert (run.state, run.is_reading, run.state_words) == (State.RUNNING, True, "measured, being read")
    ingest_attempt(delivered.pk)
    run = _run()
    assert (run.state, run.is_reading) == (State.FINISHED, False)


def test_killed_three_times_it_is_given_up_with_its_reason(agent, delivered, caplog) -> None:
    _killed(MAX_TRIES - 1)
    assert sweep()["published"] == 1
    _killed(MAX_TRIES)
    with caplog.at_level(logging.ERROR):
        assert sweep()["dead"] == 1
    run = _run()
    assert run.state == State.FAILED
    assert "cut short 3 times" in run.problem
    assert f"the result of run {run.pk}" in caplog.text
    assert sweep() == {"lost": 0, "published": 0, "dead": 0, "overdue": 0}


def test_a_person_has_it_read_again(agent, delivered) -> None:
    _killed(MAX_TRIES)
    sweep()
    with lab_scope(agent.lab.pk):
        attempt = read_again(_run(), "engineer")
        assert attempt
        assert _run().is_reading
        assert AuditEvent.objects.filter(act="result read again").count() == 1
        assert read_again(_run(), "engineer") is None
    ingest_attempt(delivered.pk)
    run = _run()
    assert (run.state, run.problem) == (State.FINISHED, "")
    with all_labs():
        assert run.samples.exists()


def test_what_always_fails_is_given_up_with_the_error(agent, delivered, monkeypatch) -> None:
    def broken(attempt: Attempt) -> None:
        raise OSError("the artefact folder is read-only")

    monkeypatch.setattr("apps.agents.ingest.ingest", broken)
    for _ in range(MAX_TRIES):
        ingest_attempt(delivered.pk)
    run = _run()
    assert run.state == State.FAILED
    assert "3 tries: the artefact folder is read-only" in run.problem


def test_a_run_is_overdue_after_its_own_time_and_its_host_is_asked_to_stop_it(agent, start) -> None:
    start()
    taken = agent.take()
    agent.post(f"attempts/{taken.pk}/running/", token=taken.token, boot_id="b", argv=["fio"], started_at=1.0)
    attempt = agent.again(taken)
    assert attempt.overdue_at
    assert attempt.overdue_at < timezone.now() + timedelta(hours=1)
    with all_labs():
        Attempt.objects.update(overdue_at=timezone.now() - timedelta(minutes=2))
    assert agent.again(taken).is_overdue
    assert sweep()["overdue"] == 1
    assert agent.poll((taken.pk, taken.token, "running"))["cancel"] == [taken.pk]


def test_what_an_offer_holds_says_where_the_run_is_meant_to_be(agent, start) -> None:
    with lab_scope(agent.lab.pk):
        agent.row.host.targets.update(lies_on={"type": "ext4", "uuid": "aa", "mount_point": "/srv"})
    start()
    offer = agent.poll()["offers"][0]
    assert offer["target"] == {"path": "/srv/spindle", "type": "ext4", "uuid": "aa", "mount_point": "/srv"}
    assert offer["limit_s"] >= 300
    json.dumps(offer)

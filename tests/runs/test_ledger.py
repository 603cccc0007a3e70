"""The ledger's check finds each break: a second start, a forgotten run, altered bytes, a host that holds other bytes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from apps.agents.tasks import ingest_attempt
from apps.labs.isolation import all_labs
from apps.runs.artefacts.ledger import compare_with_spool, find_ledger_breaks
from apps.runs.models import Artefact, Attempt, Chunk, Run, RunArtefact
from apps.runs.states import State
from tests.agents.conftest import FakeAgent, agent, sha256, start  # noqa: F401
from tests.agents.test_dead_letters import DOCUMENT

JOURNAL = b'{"event": "accepted", "at": 1}\n{"event": "fio started", "at": 2}\n{"event": "ended", "at": 3}\n'
STREAMS = {"result": DOCUMENT, "journal": JOURNAL}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, settings: Any) -> None:
    settings.ARTEFACT_DIR = tmp_path / "artefacts"


def deliver(agent: FakeAgent, streams: dict[str, bytes] = STREAMS) -> Attempt:  # noqa: F811
    """Let the agent take its next run, run it and deliver these streams."""
    attempt = agent.take()
    agent.post(f"attempts/{attempt.pk}/running/", token=attempt.token, boot_id="b", argv=["fio"], started_at=1.0)
    manifest = {}
    for name, data in streams.items():
        assert agent.put_chunk(attempt, name, 0, data).status_code == 200
        manifest[name] = {"chunks": 1, "bytes": len(data), "sha256": sha256(data)}
    body = {"token": attempt.token, "outcome": "finished", "exit_status": 0, "streams": manifest}
    assert agent.post(f"attempts/{attempt.pk}/finish/", **body).json() == {"complete": True}
    return agent.again(attempt)


def breaks() -> list[str]:
    return list(find_ledger_breaks())


@pytest.fixture
def delivered(agent: FakeAgent, start: Callable[..., list[Run]]) -> Attempt:  # noqa: F811
    start(2)
    return deliver(agent)


def test_a_delivered_run_is_whole_before_and_after_it_is_read(delivered: Attempt) -> None:
    assert breaks() == []
    ingest_attempt(delivered.pk)
    with all_labs():
        assert Attempt.objects.get(pk=delivered.pk).ingested_at
    assert breaks() == []
    call_command("check_ledger")


def test_a_run_that_was_started_twice_is_named(delivered: Attempt) -> None:
    with all_labs():
        Attempt.objects.create(
            lab=delivered.lab, run=delivered.run, host=delivered.host, number=2, state=State.FAILED,
            offered_at=timezone.now(), started_at=timezone.now(),
        )  # fmt: skip
    assert breaks() == [f"Run {delivered.run_id} was started 2 times; expected at most once."]
    with pytest.raises(CommandError, match="1 break of the ledger"):
        call_command("check_ledger")


def test_a_journal_with_two_starts_is_named(agent: FakeAgent, start: Any) -> None:  # noqa: F811
    start()
    attempt = deliver(agent, {**STREAMS, "journal": JOURNAL + JOURNAL})
    ingest_attempt(attempt.pk)
    assert breaks() == [f"Attempt {attempt.pk}: its host's journal has 2 starts of fio; expected at most one."]


def test_a_run_that_nobody_works_at_is_named(delivered: Attempt) -> None:
    ingest_attempt(delivered.pk)
    with all_labs():
        waiting = Run.objects.get(state=State.QUEUED)
        Run.objects.filter(pk=waiting.pk).update(state=State.RUNNING)
    assert breaks() == [f"Run {waiting.pk} is running, and none of its attempts is open or being read."]


def test_an_attempt_that_goes_on_behind_its_run_is_named(agent: FakeAgent, start: Any) -> None:  # noqa: F811
    start()
    attempt = agent.take()
    with all_labs():
        Run.objects.update(state=State.CANCELLED)
    assert breaks() == [f"Attempt {attempt.pk} is accepted, and its run {attempt.run_id} is cancelled."]


def test_a_finished_attempt_without_a_manifest_is_named(delivered: Attempt) -> None:
    with all_labs():
        Attempt.objects.filter(pk=delivered.pk).update(manifest=None, ingested_at=timezone.now())
        Run.objects.filter(pk=delivered.run_id).update(state=State.FINISHED)
    assert breaks() == [f"Attempt {delivered.pk} is finished, and its host has confirmed no manifest."]


def test_altered_chunks_are_named(delivered: Attempt) -> None:
    with all_labs():
        Chunk.objects.filter(attempt=delivered, stream="result").update(data=DOCUMENT[:-1])
    (sentence,) = breaks()
    assert sentence.startswith(f"Attempt {delivered.pk}: result is stored with SHA-256 {sha256(DOCUMENT[:-1])}")


def test_a_file_that_is_another_than_was_sent_is_named(delivered: Attempt) -> None:
    ingest_attempt(delivered.pk)
    with all_labs():
        other = Artefact.objects.create(lab=delivered.lab, sha256="0" * 64, size=1)
        RunArtefact.objects.filter(run=delivered.run_id, kind="result").update(artefact=other)
    (sentence,) = breaks()
    assert f"result is stored with SHA-256 {'0' * 64}" in sentence


def write_spool(folder: Path, attempt: Attempt, chunks: dict[str, bytes], where: str = "spool") -> None:
    """Write an agent's folder as it is while it delivers, with a line of chunks.jsonl that was cut by a crash."""
    spool = folder / where / str(attempt.pk)
    spool.mkdir(parents=True)
    (spool / "offer.json").write_text(json.dumps({"offer": {"attempt": attempt.pk, "token": attempt.token}}) + "   ")
    lines = [json.dumps({"stream": name, "seq": 0, "sha256": sha256(data)}) + "\n" for name, data in chunks.items()]
    (spool / "chunks.jsonl").write_text("".join(lines) + '{"stream": "res')
    (folder / "spool" / "next").mkdir(parents=True, exist_ok=True)
    (folder / "spool" / "next" / "offer.json").write_text(" " * 100)


def test_a_spool_with_the_same_bytes_is_no_break(delivered: Attempt, tmp_path: Path) -> None:
    write_spool(tmp_path / "agent", delivered, STREAMS)
    assert list(compare_with_spool(tmp_path / "agent")) == []
    call_command("check_ledger", "--spool", str(tmp_path / "agent"))


@pytest.mark.parametrize("where", ["spool", "quarantine"])
def test_a_host_that_recorded_other_or_more_bytes_is_named(delivered: Attempt, tmp_path: Path, where: str) -> None:
    write_spool(tmp_path / "agent", delivered, {"result": b"other", "stderr": b"never came"}, where)
    altered, missing = compare_with_spool(tmp_path / "agent")
    assert f"result 0 of attempt {delivered.pk} has SHA-256 {sha256(b'other')} on the host" in altered
    assert f"stderr 0 of attempt {delivered.pk} is missing here, and the attempt is complete." in missing
    with pytest.raises(CommandError, match="2 breaks"):
        call_command("check_ledger", "--spool", str(tmp_path / "agent"))


def test_what_an_open_attempt_has_not_sent_yet_is_no_break(agent: FakeAgent, start: Any, tmp_path: Path) -> None:  # noqa: F811
    start()
    write_spool(tmp_path / "agent", agent.take(), {"result": b"not sent yet"})
    assert list(compare_with_spool(tmp_path / "agent")) == []


def test_an_attempt_that_the_server_does_not_know_is_named(delivered: Attempt, tmp_path: Path) -> None:
    delivered.token += 1
    write_spool(tmp_path / "agent", delivered, {})
    (sentence,) = compare_with_spool(tmp_path / "agent")
    assert f"attempt {delivered.pk} with token {delivered.token} is not known here" in sentence


def test_a_folder_that_is_no_agents_is_refused(db: None, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="expected an agent's --state folder"):
        call_command("check_ledger", "--spool", str(tmp_path))

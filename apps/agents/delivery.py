"""Results from a host: chunks stored once each, a manifest that must match them, and the end of the attempt."""

import hashlib
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NoReturn

from django.db import transaction
from django.db.models import Sum
from django.http import HttpRequest
from django.utils import timezone

from apps.agents import live_progress
from apps.agents.identity import RefusedError
from apps.agents.tasks import ingest_attempt
from apps.labs.models import AuditEvent
from apps.lib.bell import ring
from apps.runs.attempts import Attempt, Chunk
from apps.runs.states import ENDED, State

STREAMS = ("result", "stderr", "job", "journal")
MAX_CHUNK = 1024 * 1024
MAX_ATTEMPT_BYTES = 1024 * 1024 * 1024
MAX_CHUNKS = 100_000


def _checked(stream: str, sequence: int, digest: str, data: bytes) -> None:
    if stream not in STREAMS:
        raise RefusedError(400, f"Stream {stream!r} is not one of {', '.join(STREAMS)}.")
    if sequence >= MAX_CHUNKS:
        raise RefusedError(413, f"Chunk {sequence} is past the last one allowed, {MAX_CHUNKS - 1}.")
    if (found := hashlib.sha256(data).hexdigest()) != digest:
        raise RefusedError(400, f"The body's SHA-256 is {found}, the header says {digest!r}.")


def _read(request: HttpRequest) -> bytes:
    """The body, never more than one chunk of it in memory."""
    data: bytes = request.read(MAX_CHUNK + 1)
    if len(data) > MAX_CHUNK:
        raise RefusedError(413, f"A chunk may have {MAX_CHUNK} bytes.")
    return data


def store_chunk(attempt: Attempt, stream: str, sequence: int, digest: str, request: HttpRequest) -> bool:
    """Keep a chunk. True when it is new, False when these bytes were here already. Other bytes under the same number: 409."""
    data = _read(request)
    _checked(stream, sequence, digest, data)
    if attempt.state in ENDED:
        return _after_the_end(attempt, stream, sequence, digest)
    row = Chunk(attempt=attempt, stream=stream, sequence=sequence, sha256=digest, size=len(data), data=data)
    Chunk.objects.bulk_create([row], ignore_conflicts=True)
    stored = Chunk.objects.filter(attempt=attempt, stream=stream, sequence=sequence).values_list("sha256", flat=True).get()
    if stored != digest:
        _conflict(attempt, stream, sequence, stored, digest)
    if stream == "result":
        live_progress.publish(attempt, sequence, data)
    return True


def _after_the_end(attempt: Attempt, stream: str, sequence: int, digest: str) -> bool:
    """A repeat after the end is no error (False); anything new is."""
    known = (
        Chunk.objects.filter(attempt=attempt, stream=stream, sequence=sequence).values_list("sha256", flat=True).first()
    )
    if known == digest:
        return False
    if known is None:
        raise RefusedError(410, f"Attempt {attempt.pk} has ended; {stream} {sequence} comes too late.")
    return _conflict(attempt, stream, sequence, known, digest)


def _conflict(attempt: Attempt, stream: str, sequence: int, known: str, digest: str) -> NoReturn:
    AuditEvent.objects.record(
        attempt.lab_id,
        "chunk conflict",
        f"attempt {attempt.pk} {stream} {sequence}",
        who=str(attempt.host),
        known=known,
        sent=digest,
    )
    raise RefusedError(409, f"Chunk {stream} {sequence} is here with SHA-256 {known}, the new one has {digest}.")


@dataclass(frozen=True)
class Stream:
    chunks: int
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Ending:
    """How an attempt ended by the host's word, with the manifest of what it sent."""

    outcome: State
    exit_status: int | None = None
    signal: int | None = None
    reason: str = ""
    streams: dict[str, Stream] = field(default_factory=dict)

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> "Ending":
        try:
            outcome = State(str(body.get("outcome")))
            streams = {
                str(name): Stream(int(row["chunks"]), int(row["bytes"]), str(row["sha256"]))
                for name, row in (body.get("streams") or {}).items()
            }
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise RefusedError(400, f"The ending is not as docs/agent-protocol.md has it: {error!r}") from None
        if outcome not in ENDED or not set(streams) <= set(STREAMS):
            raise RefusedError(
                400, f"Outcome {outcome} and streams {sorted(streams)}: expected one of {sorted(ENDED)}."
            )
        numbers = {key: body.get(key) if type(body.get(key)) is int else None for key in ("exit_status", "signal")}
        return cls(outcome, reason=str(body.get("reason") or "")[:2000], streams=streams, **numbers)


def _missing(attempt: Attempt, ending: Ending) -> dict[str, list[int]]:
    """The sequence numbers per stream that the manifest names and the server has not."""
    here: dict[str, set[int]] = {}
    for stream, sequence in Chunk.objects.filter(attempt=attempt).values_list("stream", "sequence"):
        here.setdefault(stream, set()).add(sequence)
    missing = {}
    for name, stream in ending.streams.items():
        if gone := [n for n in range(min(stream.chunks, MAX_CHUNKS)) if n not in here.get(name, ())]:
            missing[name] = gone[:10_000]
    return missing


def _verify(attempt: Attempt, ending: Ending) -> None:
    """Every stream's bytes add up to the manifest's length and SHA-256; else 409 and nothing ends."""
    for name, stream in ending.streams.items():
        rows = Chunk.objects.filter(attempt=attempt, stream=name, sequence__lt=stream.chunks).order_by("sequence")
        size = rows.aggregate(total=Sum("size"))["total"] or 0
        whole = hashlib.sha256()
        for data in rows.values_list("data", flat=True).iterator(chunk_size=20):
            whole.update(bytes(data or b""))
        if size != stream.bytes or whole.hexdigest() != stream.sha256:
            raise RefusedError(409, f"Stream {name} here has {size} bytes and another SHA-256 than the manifest.")


def finish(attempt: Attempt, ending: Ending, ended_at: datetime) -> dict[str, list[int]]:
    """End the attempt if its manifest is verified; otherwise say what is missing. Repeating it is no error."""
    if Attempt.objects.filter(pk=attempt.pk, state__in=ENDED).exists():
        return {}
    if missing := _missing(attempt, ending):
        return missing
    _verify(attempt, ending)
    manifest = {name: {"chunks": s.chunks, "bytes": s.bytes, "sha256": s.sha256} for name, s in ending.streams.items()}
    with transaction.atomic():
        moved = attempt.move(
            ending.outcome,
            ended_at=ended_at,
            exit_status=ending.exit_status,
            signal=ending.signal,
            reason=ending.reason,
            manifest=manifest,
            next_try_at=timezone.now() + timedelta(seconds=20),  # the sweeper's, should the task be lost
        )
        if moved:
            ingest_attempt.delay_on_commit(attempt.pk)
            transaction.on_commit(lambda: announce(attempt))
    return {}


def announce(attempt: Attempt) -> None:
    """Tell open pages the new state, and the host's agent that it may have the next run."""
    ring(f"run:{attempt.run_id}", {"state": attempt.state, "ended": attempt.state in ENDED})
    if attempt.state in ENDED:
        ring(f"host:{attempt.host_id}")

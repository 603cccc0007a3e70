"""Results from a host: chunks stored once each, a manifest that must match them, and the end of the attempt."""

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NoReturn

from django.db.models import Sum
from django.http import HttpRequest
from django.utils import timezone

from apps.agents import live_progress
from apps.agents.identity import RefusedError
from apps.agents.tasks import ingest_attempt
from apps.labs.models import AuditEvent
from apps.lib.bell import ring
from apps.lib.sql import together
from apps.runs.attempts import Attempt, Chunk
from apps.runs.states import ENDED, State

STREAMS = ("result", "stderr", "job", "journal")
MAX_CHUNK = 1024 * 1024
MAX_ATTEMPT_BYTES = 1024 * 1024 * 1024
MAX_CHUNKS = 100_000
# Up to here no attempt can be over the limit, so that nobody has to add up what it has sent.
SURELY_ROOM = MAX_ATTEMPT_BYTES // (len(STREAMS) * MAX_CHUNK)
CHUNK = """
INSERT INTO runs_chunk (attempt_id, stream, sequence, sha256, size, data)
VALUES (%(attempt)s, %(stream)s, %(sequence)s, %(sha256)s, %(size)s, %(data)s)
ON CONFLICT DO NOTHING RETURNING id
"""


def _checked(stream: str, sequence: int, digest: str, data: bytes) -> None:
    if stream not in STREAMS:
        raise RefusedError(400, f"Stream {stream!r} is not one of {', '.join(STREAMS)}.")
    if not 0 <= sequence < MAX_CHUNKS:
        raise RefusedError(413, f"Chunk {sequence} is past the last one allowed, {MAX_CHUNKS - 1}.")
    if len(data) > MAX_CHUNK:
        raise RefusedError(413, f"A chunk may have {MAX_CHUNK} bytes.")
    if (found := hashlib.sha256(data).hexdigest()) != digest:
        raise RefusedError(400, f"The body's SHA-256 is {found}, the header says {digest!r}.")


def _read(request: HttpRequest) -> bytes:
    """The body, never more than one chunk of it in memory."""
    return request.read(MAX_CHUNK + 1)


@dataclass(frozen=True)
class Sent:
    """One chunk as it came."""

    stream: str
    sequence: int
    sha256: str
    data: bytes

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> "Sent":
        """As it is in the request that ends an attempt. Raises what `Ending.from_json` catches."""
        sent = cls(
            str(row["stream"]), int(row["seq"]), str(row["sha256"]), base64.b64decode(row["data"], validate=True)
        )
        _checked(sent.stream, sent.sequence, sent.sha256, sent.data)
        return sent


def store_chunk(attempt: Attempt, stream: str, sequence: int, digest: str, request: HttpRequest) -> bool:
    """Keep a chunk. True when it is new, False when these bytes were here already. Other bytes under the same number: 409."""
    data = _read(request)
    _checked(stream, sequence, digest, data)
    if attempt.state in ENDED:
        return _after_the_end(attempt, stream, sequence, digest)
    if sequence >= SURELY_ROOM and _known(attempt, stream, sequence) is None:
        _check_room(attempt, len(data))
    [is_new] = _store(attempt, [Sent(stream, sequence, digest, data)])
    if is_new and stream == "result":
        live_progress.publish(attempt, sequence, data)
    return is_new


def _check_room(attempt: Attempt, more: int) -> None:
    sent = Chunk.objects.filter(attempt=attempt).aggregate(Sum("size"))["size__sum"] or 0
    if sent + more > MAX_ATTEMPT_BYTES:
        raise RefusedError(
            413, f"Attempt {attempt.pk} has sent {sent} bytes; with {more} more it is over {MAX_ATTEMPT_BYTES}."
        )


def _store(attempt: Attempt, chunks: Sequence[Sent]) -> list[bool]:
    """Which of them are new. One transaction for all; a conflict is found after it, so that what is told of it stays."""
    statements = [(CHUNK, {**vars(one), "size": len(one.data), "attempt": attempt.pk}) for one in chunks]
    new = [bool(answer) for answer in together(*statements)]
    for one, is_new in zip(chunks, new, strict=True):
        known = one.sha256 if is_new else _known(attempt, one.stream, one.sequence)
        if known != one.sha256:
            _conflict(attempt, one.stream, one.sequence, str(known), one.sha256)
    return new


def _known(attempt: Attempt, stream: str, sequence: int) -> str | None:
    """The SHA-256 of the chunk that is here under this number."""
    row = Chunk.objects.filter(attempt=attempt, stream=stream, sequence=sequence)
    found: str | None = row.values_list("sha256", flat=True).first()
    return found


def _after_the_end(attempt: Attempt, stream: str, sequence: int, digest: str) -> bool:
    """A repeat after the end is no error (False); anything new is."""
    known = _known(attempt, stream, sequence)
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
    chunks: tuple[Sent, ...] = ()  # the last ones, where they are small enough to come with the end

    @property
    def manifest(self) -> dict[str, dict[str, Any]]:
        return {name: {"chunks": s.chunks, "bytes": s.bytes, "sha256": s.sha256} for name, s in self.streams.items()}

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> "Ending":
        try:
            outcome = State(str(body.get("outcome")))
            streams = {
                str(name): Stream(int(row["chunks"]), int(row["bytes"]), str(row["sha256"]))
                for name, row in (body.get("streams") or {}).items()
            }
            chunks = tuple(Sent.from_json(row) for row in body.get("chunks") or ())
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise RefusedError(400, f"The ending is not as docs/agent-protocol.md has it: {error!r}") from None
        if outcome not in ENDED or not set(streams) <= set(STREAMS):
            raise RefusedError(
                400, f"Outcome {outcome} and streams {sorted(streams)}: expected one of {sorted(ENDED)}."
            )
        numbers = {key: body.get(key) if type(body.get(key)) is int else None for key in ("exit_status", "signal")}
        return cls(outcome, reason=str(body.get("reason") or "")[:2000], streams=streams, chunks=chunks, **numbers)


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
    sizes, sums = dict.fromkeys(ending.streams, 0), {name: hashlib.sha256() for name in ending.streams}
    rows = (
        Chunk.objects.filter(attempt=attempt).order_by("stream", "sequence").values_list("stream", "sequence", "data")
    )
    for name, sequence, data in rows.iterator(chunk_size=20):
        if name in sums and sequence < ending.streams[name].chunks:
            sizes[name] += len(data or b"")
            sums[name].update(data or b"")
    for name, stream in ending.streams.items():
        if (sizes[name], sums[name].hexdigest()) != (stream.bytes, stream.sha256):
            raise RefusedError(
                409, f"Stream {name} here has {sizes[name]} bytes and another SHA-256 than the manifest."
            )


def finish(attempt: Attempt, ending: Ending, ended_at: datetime) -> dict[str, list[int]]:
    """End the attempt if its manifest is verified; otherwise say what is missing. Repeating it is no error."""
    if attempt.state in ENDED:
        return _ended_already(attempt, ending)
    if ending.chunks:
        _store(attempt, ending.chunks)
    if missing := _missing(attempt, ending):
        return missing
    try:
        _verify(attempt, ending)
    except RefusedError:
        attempt.refresh_from_db()
        if attempt.state in ENDED:  # by the same request that came twice; its bytes may have moved on
            return _ended_already(attempt, ending)
        raise
    moved = attempt.move(
        ending.outcome,
        ended_at=ended_at,
        exit_status=ending.exit_status,
        signal=ending.signal,
        reason=ending.reason,
        manifest=ending.manifest,
        next_try_at=timezone.now() + timedelta(seconds=20),  # the sweeper's, should the task be lost
    )
    if moved:
        announce(attempt)
        ingest_attempt.delay_on_commit(attempt.pk)
        return {}
    attempt.refresh_from_db()
    return _ended_already(attempt, ending)


def _ended_already(attempt: Attempt, ending: Ending) -> dict[str, list[int]]:
    """Nothing is missing of a manifest that was verified before. Of anything else the host must not hear "complete": it would delete it."""
    if attempt.state not in ENDED:
        raise RefusedError(409, f"Attempt {attempt.pk} is {attempt.state}, it can not be {ending.outcome} now.")
    if attempt.manifest is None:
        raise RefusedError(410, f"Attempt {attempt.pk} has ended for the server as {attempt.state}.")
    if attempt.manifest != ending.manifest:
        raise RefusedError(409, f"Attempt {attempt.pk} has ended with another manifest.")
    return {}


def announce(attempt: Attempt) -> None:
    """Tell open pages the new state, and the host's agent that it may have the next run."""
    ring(f"run:{attempt.run_id}", {"state": attempt.state, "ended": attempt.state in ENDED})
    if attempt.state in ENDED:
        ring(f"host:{attempt.host_id}")

"""Results from a host: chunks stored once each, a manifest that must match them, and the end of the attempt."""

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NoReturn

from django.db import IntegrityError, transaction
from django.db.models import Sum
from django.http import HttpRequest
from django.utils import timezone

from apps.agents import fields, live_progress
from apps.agents.identity import RefusedError
from apps.agents.models import author_of
from apps.agents.tasks import ingest_attempt
from apps.core.pubsub import ring
from apps.labs.models import AuditEvent
from apps.runs.models import Attempt, Chunk
from apps.runs.states import ENDED, State

# The fields of an attempt that storing a chunk reads; only those, for each host with a run sends a chunk a second.
FIELDS = ("lab_id", "host_id", "token", "state", "started_at", "run__progress")
STREAMS = ("result", "stderr", "job", "journal")
MAX_CHUNK = 1024 * 1024
MAX_ATTEMPT_BYTES = 1024 * 1024 * 1024
MAX_CHUNKS = 100_000
LARGEST_STATUS = 2**31 - 1
SHA256 = re.compile(r"[0-9a-f]{64}")
# Below this number no attempt can exceed its limit, so the bytes that it has sent need not be added up.
SURELY_ROOM = MAX_ATTEMPT_BYTES // (len(STREAMS) * MAX_CHUNK)


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
    """Return the request's body, cut one byte past the largest chunk, so that a larger one is noticed."""
    return request.read(MAX_CHUNK + 1)


@dataclass(frozen=True)
class Sent:
    """A chunk as it was sent: its stream, number, bytes and their SHA-256."""

    stream: str
    sequence: int
    sha256: str
    data: bytes

    @property
    def fields(self) -> dict[str, Any]:
        """Return the values of the `Chunk` row that stores this chunk."""
        kept = {"stream": self.stream, "sequence": self.sequence, "sha256": self.sha256}
        return {**kept, "size": len(self.data), "data": self.data}

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> "Sent":
        """Parse and check a chunk from the request that ends an attempt, where its bytes are Base64.

        Raises:
            KeyError, TypeError, ValueError: A part is missing or malformed; `Ending.from_json` turns it into a 400.
            RefusedError: The chunk breaks a limit, or its bytes have another SHA-256.
        """
        if type(row["seq"]) is not int:
            raise ValueError(f"seq: found {str(row['seq'])[:80]}, expected a whole number")
        sent = cls(str(row["stream"]), row["seq"], str(row["sha256"]), base64.b64decode(row["data"], validate=True))
        _checked(sent.stream, sent.sequence, sent.sha256, sent.data)
        return sent


def store_evidence(attempt: Attempt, evidence: Sequence[Mapping[str, Any]]) -> bool:
    """Store what the guards of an attempt found; return False where it has ended with a manifest and stays as it is."""
    stored = Attempt.objects.filter(pk=attempt.pk, token=attempt.token, manifest__isnull=True)
    if not stored.update(guards=list(evidence)):
        return False
    ring(f"run:{attempt.run_id}", {"state": attempt.state, "guards": True, "ended": attempt.state in ENDED})
    return True


def store_chunk(attempt: Attempt, stream: str, sequence: int, digest: str, request: HttpRequest) -> bool:
    """Store a chunk of an attempt and return whether it is new.

    The same bytes under the same number once more are no error. A new chunk of a running attempt's fio output is also
    published for open pages.

    Raises:
        RefusedError: 400 or 413 for a malformed or too large chunk, 409 for other bytes under a known number, 410 for a
            new chunk after the end of the attempt.
    """
    data = _read(request)
    _checked(stream, sequence, digest, data)
    if attempt.state in ENDED and not attempt.resume():
        return _after_the_end(attempt, stream, sequence, digest)
    if sequence >= SURELY_ROOM and _known(attempt, stream, sequence) is None:
        _check_room(attempt, len(data))
    is_new = _store_new(attempt, Sent(stream, sequence, digest, data))
    if is_new and stream == "result":
        live_progress.publish(attempt, sequence, data)
    return is_new


def _store_new(attempt: Attempt, chunk: Sent) -> bool:
    """Store a chunk that is most likely new, and return whether it is; compare it if its number is taken."""
    try:
        with transaction.atomic():
            Chunk.objects.create(attempt=attempt, **chunk.fields)
    except IntegrityError:
        return _store(attempt, [chunk])[0]
    return True


def _check_room(attempt: Attempt, more: int) -> None:
    sent = Chunk.objects.filter(attempt=attempt).aggregate(Sum("size"))["size__sum"] or 0
    if sent + more > MAX_ATTEMPT_BYTES:
        raise RefusedError(
            413, f"Attempt {attempt.pk} has sent {sent} bytes; with {more} more it is over {MAX_ATTEMPT_BYTES}."
        )


def _store(attempt: Attempt, chunks: Sequence[Sent]) -> list[bool]:
    """Store the chunks in one transaction and return of each whether it is new.

    A conflict is raised after the transaction, so that its entry in the audit trail is not rolled back.
    """
    with transaction.atomic():
        stored = [_store_one(attempt, chunk) for chunk in chunks]
    for chunk, (row, _) in zip(chunks, stored, strict=True):
        if row.sha256 != chunk.sha256:
            _conflict(attempt, chunk.stream, chunk.sequence, row.sha256, chunk.sha256)
    return [is_new for _, is_new in stored]


def _store_one(attempt: Attempt, chunk: Sent) -> tuple[Chunk, bool]:
    """Return the chunk that is stored under this number, and whether it is new."""
    found: tuple[Chunk, bool] = Chunk.objects.defer("data").get_or_create(
        attempt=attempt, stream=chunk.stream, sequence=chunk.sequence, defaults=chunk.fields
    )
    return found


def _known(attempt: Attempt, stream: str, sequence: int) -> str | None:
    """Return the SHA-256 of the chunk that is stored under this number; None where none is."""
    row = Chunk.objects.filter(attempt=attempt, stream=stream, sequence=sequence)
    found: str | None = row.values_list("sha256", flat=True).first()
    return found


def _after_the_end(attempt: Attempt, stream: str, sequence: int, digest: str) -> bool:
    """Return False for a chunk that is stored already; refuse any other one, for the attempt has ended.

    Raises:
        RefusedError: 410 for a new chunk, 409 for other bytes under a known number.
    """
    known = _known(attempt, stream, sequence)
    if known == digest:
        return False
    if known is None:
        raise RefusedError(410, f"Attempt {attempt.pk} has ended; {stream} {sequence} comes too late.")
    return _conflict(attempt, stream, sequence, known, digest)


def _conflict(attempt: Attempt, stream: str, sequence: int, known: str, digest: str) -> NoReturn:
    AuditEvent.objects.record_repeated(
        attempt.lab_id,
        "chunk conflict",
        f"attempt {attempt.pk} {stream} {sequence}",
        actor=author_of(attempt.host),
        known=known,
        sent=digest,
    )
    raise RefusedError(409, f"Chunk {stream} {sequence} is here with SHA-256 {known}, the new one has {digest}.")


@dataclass(frozen=True)
class Stream:
    """A stream's entry in the manifest: how many chunks and bytes it has, and the SHA-256 of all its bytes."""

    chunks: int
    bytes: int
    sha256: str

    @classmethod
    def from_json(cls, name: str, row: Any) -> "Stream":
        """Parse one stream's entry of a manifest.

        Raises:
            ValueError: With what was found and what was expected.
        """
        if not isinstance(row, dict):
            raise fields.wrong(name[:80], row, "an object of chunks, bytes and sha256")
        chunks, size = (fields.whole(f"{name[:80]}.{key}", row.get(key)) for key in ("chunks", "bytes"))
        digest = row.get("sha256")
        if not isinstance(digest, str) or not SHA256.fullmatch(digest):
            raise fields.wrong(f"{name[:80]}.sha256", digest, "64 hexadecimal digits")
        return cls(chunks, size, digest)


def _status(name: str, value: Any) -> int | None:
    """Return an exit status or a signal as a checked number; None where there was none."""
    return None if value is None else fields.whole(name, value, -LARGEST_STATUS, LARGEST_STATUS)


@dataclass(frozen=True)
class Ending:
    """How an attempt ended, as its host reports it, with the manifest of what the host sent."""

    outcome: State
    exit_status: int | None = None
    signal: int | None = None
    reason: str = ""
    streams: dict[str, Stream] = field(default_factory=dict)
    chunks: tuple[Sent, ...] = ()  # the last chunks, if they are small enough to come with this request

    @property
    def manifest(self) -> dict[str, dict[str, Any]]:
        """Return the manifest as it is stored: chunks, bytes and SHA-256 of each stream."""
        return {name: {"chunks": s.chunks, "bytes": s.bytes, "sha256": s.sha256} for name, s in self.streams.items()}

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> "Ending":
        """Parse the body of the request that ends an attempt.

        Raises:
            RefusedError: 400, with what was found and what was expected.
        """
        try:
            outcome = State(str(body.get("outcome")))
            if not isinstance(body.get("streams"), dict):
                raise fields.wrong("streams", body.get("streams"), "an object: the manifest, {} where nothing was sent")
            streams = {str(name): Stream.from_json(f"streams.{name}", row) for name, row in body["streams"].items()}
            chunks = tuple(Sent.from_json(row) for row in fields.rows("chunks", body.get("chunks"), MAX_CHUNKS))
            numbers = {key: _status(key, body.get(key)) for key in ("exit_status", "signal")}
            reason = fields.text("reason", body.get("reason"), 2000, is_cut=True)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise RefusedError(
                400, f"The ending is not as docs/reference/agent-protocol.md has it: {str(error)[:300]}"
            ) from None
        if outcome not in ENDED or not set(streams) <= set(STREAMS):
            raise RefusedError(
                400, f"Outcome {outcome} and streams {sorted(streams)}: expected one of {sorted(ENDED)}."
            )
        return cls(outcome, reason=reason, streams=streams, chunks=chunks, **numbers)


def _missing(attempt: Attempt, ending: Ending) -> dict[str, list[int]]:
    """Return the sequence numbers, at most 10,000 of each stream, that the manifest names and that are not stored."""
    here: dict[str, set[int]] = {}
    for stream, sequence in Chunk.objects.filter(attempt=attempt).values_list("stream", "sequence"):
        here.setdefault(stream, set()).add(sequence)
    missing = {}
    for name, stream in ending.streams.items():
        if gone := [n for n in range(min(stream.chunks, MAX_CHUNKS)) if n not in here.get(name, ())]:
            missing[name] = gone[:10_000]
    return missing


def _verify(attempt: Attempt, ending: Ending) -> None:
    """Check that each stream's stored bytes have the length and the SHA-256 that the manifest gives.

    Raises:
        RefusedError: 409 for the first stream that differs.
    """
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


def _manifest_of(attempt: Attempt, ending: Ending) -> dict[str, dict[str, Any]]:
    """Return the manifest to store: the host's, and of an interrupted attempt also the chunks that only this server has.

    A host that loses its power may lose bytes that it had sent and not flushed; each was checked when it came. Chunks
    behind a gap are left out.
    """
    manifest = ending.manifest
    if ending.outcome != State.INTERRUPTED:
        return manifest
    rows = Chunk.objects.filter(attempt=attempt).order_by("stream", "sequence")
    sums: dict[str, Any] = {}
    counts, sizes = dict.fromkeys(STREAMS, 0), dict.fromkeys(STREAMS, 0)
    for name, sequence, data in rows.values_list("stream", "sequence", "data").iterator(chunk_size=20):
        if sequence == counts[name]:
            sums.setdefault(name, hashlib.sha256()).update(data or b"")
            counts[name], sizes[name] = sequence + 1, sizes[name] + len(data or b"")
    for name, total in sums.items():
        if counts[name] > manifest.get(name, {"chunks": 0})["chunks"]:
            manifest[name] = {"chunks": counts[name], "bytes": sizes[name], "sha256": total.hexdigest()}
    return manifest


def _is_same(stored: dict[str, dict[str, Any]], ending: Ending) -> bool:
    """Return whether an attempt that ended with the stored manifest ended so; `_manifest_of` may have added chunks."""
    if ending.outcome != State.INTERRUPTED:
        return stored == ending.manifest
    sent = ending.manifest
    is_known = all(name in stored and stored[name]["chunks"] >= row["chunks"] for name, row in sent.items())
    return is_known and all(
        stored[name] == row for name, row in sent.items() if stored[name]["chunks"] == row["chunks"]
    )


def finish(attempt: Attempt, ending: Ending, ended_at: datetime, clock: datetime | None = None) -> dict[str, list[int]]:
    """End the attempt if its manifest agrees with what is stored; return the missing chunks of each stream otherwise.

    `ended_at` is by the host's clock, and `clock` what that clock said when the host sent this (`to_server_time`).

    An empty answer means that the delivery is complete. Repeating the request is no error. An attempt that a person
    gave up ends so too, late.

    Raises:
        RefusedError: 409 or 410 for bytes or a manifest that differ, or an attempt that can not end this way.
    """
    if attempt.state in ENDED and not attempt.resume():
        return _ended_already(attempt, ending)
    if ending.chunks:
        _store(attempt, ending.chunks)
    if missing := _missing(attempt, ending):
        return missing
    try:
        _verify(attempt, ending)
    except RefusedError:
        attempt.refresh_from_db()
        if attempt.state in ENDED:  # the same request came twice; its bytes may have been moved by now
            return _ended_already(attempt, ending)
        raise
    moved = attempt.move(
        ending.outcome,
        of_run={"finished_at": attempt.find_end(ended_at, clock)},
        ended_at=ended_at,
        exit_status=ending.exit_status,
        signal=ending.signal,
        reason=ending.reason,
        manifest=_manifest_of(attempt, ending),
        next_try_at=timezone.now() + timedelta(seconds=20),  # by the periodic sweep, in case the task is lost
    )
    if moved:
        announce(attempt)
        ingest_attempt.delay_on_commit(attempt.pk)
        return {}
    attempt.refresh_from_db()
    return _ended_already(attempt, ending)


def _ended_already(attempt: Attempt, ending: Ending) -> dict[str, list[int]]:
    """Return that nothing is missing, if the attempt has ended with this very manifest.

    Anything else is refused: the host deletes its files once it is told that its delivery is complete.

    Raises:
        RefusedError: 409 for an attempt that has not ended or has another manifest, 410 for one that ended without any.
    """
    if attempt.state not in ENDED:
        raise RefusedError(409, f"Attempt {attempt.pk} is {attempt.state}, it can not be {ending.outcome} now.")
    if attempt.manifest is None:
        raise RefusedError(410, f"Attempt {attempt.pk} has ended for the server as {attempt.state}.")
    if not _is_same(attempt.manifest, ending):
        raise RefusedError(409, f"Attempt {attempt.pk} has ended with another manifest.")
    return {}


def announce(attempt: Attempt) -> None:
    """Publish the attempt's new state for open pages, and wake its host's agent if it may have the next run.

    A run that its host has finished is shown as being read until its samples are stored.
    """
    if attempt.state == State.FINISHED and attempt.ingested_at is None:
        ring(f"run:{attempt.run_id}", {"state": State.RUNNING, "reading": True, "ended": False})
    else:
        ring(f"run:{attempt.run_id}", {"state": attempt.state, "ended": attempt.state in ENDED})
    if attempt.state in ENDED:
        ring(f"host:{attempt.host_id}")

"""Checks of the ledger of dispatched runs: each was started at most once, and what its host sent is stored as it was sent.

for sentence in find_ledger_breaks(): …
for sentence in compare_with_spool(Path("/var/lib/spindle-agent")): …
"""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q

from apps.labs.isolation import all_labs
from apps.runs.artefacts.store import ArtefactStoreError, read
from apps.runs.models import Attempt, Chunk, Run, RunArtefact
from apps.runs.states import ENDED, ON_HOST, State

STARTED = "fio started"  # the event of an agent's journal behind which fio may have worked


def find_ledger_breaks() -> Iterator[str]:
    """Yield one sentence for each broken promise about dispatched runs. Reads all attempts: for the night."""
    with all_labs():
        yield from _find_crowded_hosts()
        yield from _find_repeated_starts()
        yield from _find_forgotten_runs()
        for attempt in Attempt.objects.filter(manifest__isnull=False).select_related("run").order_by("pk").iterator():
            yield from _find_altered_streams(attempt)
            yield from _find_second_start(attempt)


def _find_crowded_hosts() -> Iterator[str]:
    crowded = Attempt.objects.open().values("host", "host__name").annotate(count=Count("pk"))
    for host in crowded.filter(count__gt=1).order_by("host"):
        yield f"Host {host['host__name']} has {host['count']} open attempts; expected at most one."


def _find_repeated_starts() -> Iterator[str]:
    started = Attempt.objects.filter(started_at__isnull=False).values("run").annotate(count=Count("pk"))
    for run in started.filter(count__gt=1).order_by("run"):
        yield f"Run {run['run']} was started {run['count']} times; expected at most once."


def _find_forgotten_runs() -> Iterator[str]:
    """Yield runs that nobody works at any more, and attempts that go on although their run has ended."""
    attempts = Attempt.objects.filter(run=OuterRef("pk"))
    is_worked_at = Exists(attempts.open()) | Exists(attempts.filter(state=State.FINISHED, ingested_at=None))
    dispatched = Run.objects.filter(origin=Run.Origin.DISPATCHED)
    forgotten = dispatched.filter(state__in=[State.OFFERED, *ON_HOST]).exclude(is_worked_at).order_by("pk")
    for run in forgotten:
        yield f"Run {run.pk} is {run.state}, and none of its attempts is open or being read."
    for attempt in Attempt.objects.open().filter(run__state__in=ENDED).select_related("run").order_by("pk"):
        yield f"Attempt {attempt.pk} is {attempt.state}, and its run {attempt.run_id} is {attempt.run.state}."
    unproved = Attempt.objects.filter(Q(manifest__isnull=True), state=State.FINISHED).order_by("pk")
    for attempt in unproved:
        yield f"Attempt {attempt.pk} is finished, and its host has confirmed no manifest."


def _find_altered_streams(attempt: Attempt) -> Iterator[str]:
    """Yield the streams of an attempt whose stored bytes are not those of its manifest."""
    for stream, promised in (attempt.manifest or {}).items():
        stored = _stored_sum(attempt, stream)
        if stored != promised["sha256"]:
            yield (
                f"Attempt {attempt.pk}: {stream} is stored with SHA-256 {stored or 'missing'}, and its host sent"
                f" {promised['bytes']} bytes with {promised['sha256']}."
            )


def _stored_sum(attempt: Attempt, stream: str) -> str:
    """Return the SHA-256 of a stream: of the file that was made of it, before that of its chunks; empty if it is missing."""
    if attempt.ingested_at is not None:
        files = RunArtefact.objects.filter(run=attempt.run_id, kind=stream)
        sums = list(files.values_list("artefact__sha256", flat=True))
        return str(sums[0]) if sums else ""
    digest = hashlib.sha256()
    chunks = Chunk.objects.filter(attempt=attempt, stream=stream).order_by("sequence")
    for data in chunks.values_list("data", flat=True).iterator(chunk_size=4):
        digest.update(bytes(data or b""))
    return digest.hexdigest()


def _find_second_start(attempt: Attempt) -> Iterator[str]:
    """Yield the attempt if the journal of its host names more than one start of fio."""
    file = RunArtefact.objects.filter(run=attempt.run_id, kind="journal").select_related("artefact").first()
    if file is None or attempt.ingested_at is None:
        return
    try:
        lines = read(file.artefact).splitlines()
    except ArtefactStoreError as error:
        yield f"Attempt {attempt.pk}: its journal cannot be read: {error}"
        return
    starts = sum(1 for line in lines if _event_of(line) == STARTED)
    if starts > 1:
        yield f"Attempt {attempt.pk}: its host's journal has {starts} starts of fio; expected at most one."


def _event_of(line: bytes) -> str:
    try:
        entry = json.loads(line)
    except ValueError:
        return ""
    return str(entry.get("event", "")) if isinstance(entry, dict) else ""


def compare_with_spool(folder: Path) -> Iterator[str]:
    """Yield one sentence for each difference between an agent's folder (its `--state`, or a copy) and what is stored.

    A chunk that was not sent yet is no difference while its attempt is open.
    """
    with all_labs():
        for offer_file in sorted([*folder.glob("spool/*/offer.json"), *folder.glob("quarantine/*/offer.json")]):
            record = _read_record(offer_file)
            if record is not None:
                yield from _compare_attempt(offer_file.parent, record["offer"])


def _read_record(path: Path) -> dict[str, Any] | None:
    """Return what the host accepted; None for a folder that is ready for the next offer."""
    try:
        record = json.loads(path.read_bytes())
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


def _compare_attempt(folder: Path, offer: dict[str, Any]) -> Iterator[str]:
    attempt = Attempt.objects.filter(pk=offer["attempt"], token=offer["token"]).first()
    if attempt is None:
        yield f"{folder}: attempt {offer['attempt']} with token {offer['token']} is not known here."
        return
    sums = {(row.stream, row.sequence): row.sha256 for row in Chunk.objects.filter(attempt=attempt).defer("data")}
    is_complete = attempt.manifest is not None
    for chunk in _read_chunks(folder / "chunks.jsonl"):
        stored = sums.get((chunk["stream"], chunk["seq"]))
        name = f"{folder}: {chunk['stream']} {chunk['seq']} of attempt {attempt.pk}"
        if stored is not None and stored != chunk["sha256"]:
            yield f"{name} has SHA-256 {chunk['sha256']} on the host and {stored} here."
        elif stored is None and is_complete:
            yield f"{name} is missing here, and the attempt is complete."


def _read_chunks(path: Path) -> list[dict[str, Any]]:
    """Return the chunks that a host has cut; a last line without its end was never sent."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]

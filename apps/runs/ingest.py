"""Ingest of a delivered attempt: its streams become artefacts, its result becomes samples, series and histograms.

Ingest is one transaction and idempotent: a second worker waits and finds it done. The chunks' bytes are deleted only after
the artefacts are on disk. A result that cannot be parsed leaves a sentence on the run, and its bytes stay downloadable.
"""

from collections.abc import Iterator

from django.db import transaction
from django.utils import timezone

from apps.core.text import join_sentences
from apps.labs.isolation import lab_scope
from apps.parsers.core.models import ParsedFile, ParsedRun, ParseError
from apps.parsers.fio.json import format as json_format
from apps.parsers.laws import apply_laws
from apps.runs.activity import activity_facts
from apps.runs.artefacts.store import keep, read
from apps.runs.facts import run_facts
from apps.runs.models import Artefact, Attempt, Chunk, Run, RunArtefact
from apps.runs.samples import drop_values, save_histograms, save_samples, save_series
from apps.runs.sections import sections_of
from apps.runs.services import announce
from apps.runs.states import State

# stream → (the artefact's name, its kind)
NAMES = {
    "result": ("result.json", "result"),
    "stderr": ("stderr", "stderr"),
    "job": ("job.fio", "job"),
    "journal": ("journal", "journal"),
}


class IncompleteError(ValueError):
    """The attempt's chunks are not what its manifest says."""


def ingest(attempt: Attempt) -> None:
    """Read in an attempt whose manifest is complete; nothing happens if it was read in before.

    Raises `IncompleteError` where bytes are missing and `ArtefactStoreError` where they cannot be kept; then nothing
    has changed and it may be tried again.
    """
    with lab_scope(attempt.lab_id), transaction.atomic():
        locked = Attempt.objects.select_for_update().get(pk=attempt.pk)
        if locked.ingested_at is None:
            run = Run.objects.select_related("snapshot", "workload").get(pk=locked.run_id)
            _ingest(locked, run)
        attempt.ingested_at = locked.ingested_at


def _ingest(attempt: Attempt, run: Run) -> None:
    stored = _keep_streams(attempt, run)
    problems = _read_result(run, stored.get("result"))
    if attempt.state != State.FINISHED and attempt.started_at is None:
        problems = []  # fio was not started, and its reason says why
    if attempt.state == State.FINISHED:
        run.state = State.FINISHED  # until here it was being read
    _finish_run(run, problems, activity_facts(read(stored["journal"])) if "journal" in stored else {})
    announce(run.lab_id, [run.pk])
    attempt.ingested_at = timezone.now()
    attempt.save(update_fields=["ingested_at"])
    Chunk.objects.filter(attempt=attempt).update(data=None)


def _keep_streams(attempt: Attempt, run: Run) -> dict[str, Artefact]:
    if not isinstance(attempt.manifest, dict):
        raise IncompleteError(f"Attempt {attempt.pk} has no manifest yet")
    stored = {}
    for stream, promised in attempt.manifest.items():
        artefact = keep(attempt.lab_id, _bytes_of(attempt, stream))
        _same(attempt, stream, promised, artefact)
        name, kind = NAMES.get(stream, (stream, stream))
        RunArtefact.objects.update_or_create(run=run, name=name, defaults={"artefact": artefact, "kind": kind})
        stored[stream] = artefact
    return stored


def _bytes_of(attempt: Attempt, stream: str) -> Iterator[bytes]:
    """Yield the bytes of a stream's chunks in order, with one chunk in memory.

    Raises:
        IncompleteError: A chunk is missing.
    """
    rows = Chunk.objects.filter(attempt=attempt, stream=stream).order_by("sequence").values_list("sequence", "data")
    for expected, (sequence, data) in enumerate(rows.iterator(chunk_size=4)):
        if sequence != expected or data is None:
            raise IncompleteError(f"Attempt {attempt.pk}: chunk {expected} of {stream} is not here")
        yield bytes(data)


def _same(attempt: Attempt, stream: str, promised: dict[str, object], artefact: Artefact) -> None:
    facts = {"bytes": artefact.size, "sha256": artefact.sha256}
    for word, value in facts.items():
        if word in promised and promised[word] != value:
            promise = f"its manifest says {promised[word]}"
            raise IncompleteError(f"Attempt {attempt.pk}: {stream} has {word} {value}, {promise}")


def _read_result(run: Run, artefact: Artefact | None) -> list[str]:
    """Save the values of the result, and return sentences about problems with it."""
    drop_values(run)
    if artefact is None:
        return ["The host sent no result."]
    data = read(artefact)
    if not data.strip():
        return ["fio wrote no result."]
    try:
        parsed = apply_laws(json_format.parse(data))
    except ParseError as error:
        return [f"result.json could not be read: {error}."]
    return _save(run, parsed, artefact)


def _save(run: Run, parsed: ParsedFile, artefact: Artefact) -> list[str]:
    result: ParsedRun = parsed.runs[-1]
    save_samples(run, result.samples, artefact)
    save_series(run, result.series)
    save_histograms(run, result.histograms)
    run.tool_version = result.tool_version[:60]
    run.sections = sections_of(result)  # of several processes of a job each may be one
    return [f"{result.problem}."] if result.problem else []


def _finish_run(run: Run, problems: list[str], activity: dict[str, float]) -> None:
    """Set problem, state and facts of the run; a problem that the host reported stays first.

    A finished run fails by fio's own errors, or by a result that cannot be parsed.
    """
    run.problem = join_sentences(run.problem, *problems)
    if problems and run.state == State.FINISHED:
        run.state = State.FAILED
    if run.state == State.FINISHED:
        run.progress = 1
    run.facts = run_facts(run) | activity
    run.save(update_fields=["tool_version", "sections", "problem", "facts", "state", "progress"])

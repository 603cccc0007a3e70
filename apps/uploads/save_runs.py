"""Parsed runs saved in bulk, for a lab's archive may hold thousands of files.

keep(upload)                      # everything chosen in its files that is not saved yet
keep_files(upload, pairs)         # these files with their readings
discard(upload)                   # nothing; the bytes stay
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.db import transaction
from django.utils import timezone

from apps.inventory.models import Host, Snapshot, Target
from apps.inventory.snapshots.content import describe
from apps.parsers.core.models import ParsedRun
from apps.runs import workload
from apps.runs.facts import run_facts
from apps.runs.models import Histogram, Run, RunArtefact, Series
from apps.runs.samples import save_all_samples
from apps.runs.sections import sections_of
from apps.runs.services import announce, get_workloads
from apps.studies.models import Study, StudyRun
from apps.studies.run_placement import columns_of
from apps.uploads.deduplication import join_study, mark_kept
from apps.uploads.file_reader import FileReading, ReadRun
from apps.uploads.host_matching import Guesser
from apps.uploads.models import Upload, UploadedFile, UploadedRun
from apps.uploads.reparse.exclusions import left_out_of
from apps.uploads.run_fields import labels_of, numbers_of, repetitions_of, spec_of, state_of, time_of

_AT_ONCE = 100
_LONGEST = 200
_ROWS_AT_ONCE = 500


@dataclass
class NewRun:
    """One run on its way into the database."""

    file: UploadedFile
    read: ReadRun
    number: int
    repetition: int = 1  # of its kind in the file
    run: Run = field(init=False)

    @cached_property
    def spec(self) -> dict[str, Any]:
        """Return what the tool was asked to do."""
        return spec_of(self.read.run)

    @cached_property
    def workload_digest(self) -> str:
        return workload.digest(self.spec)


def keep(upload: Upload, files: Iterable[int] | None = None) -> int:
    """Save the chosen runs of all files, or of these files, that are not saved yet.

    Returns:
        How many runs were saved.
    """
    count = 0
    waiting = UploadedFile.objects.filter(upload=upload).to_keep()
    if files is not None:
        waiting = waiting.filter(pk__in=list(files))
    ids = list(waiting.values_list("pk", flat=True))
    for start in range(0, len(ids), _AT_ONCE):
        with transaction.atomic():
            # two who press the button at once: the second one finds the files kept
            some = UploadedFile.objects.filter(pk__in=ids[start : start + _AT_ONCE])
            held = some.to_keep().held()
            count += keep_files(upload, [(file, file.reading) for file in held if file.packed is not None])
    join_study(upload)
    return count


def discard(upload: Upload) -> None:
    """Discard what was parsed and not saved. The bytes stay and can be parsed again."""
    Upload.objects.filter(pk=upload.pk).update(discarded_at=timezone.now())
    upload.files.filter(kept_at=None).update(packed=None)


def keep_files(upload: Upload, pairs: Sequence[tuple[UploadedFile, FileReading | None]]) -> int:
    """Save runs, samples, series and histograms of these files in the caller's transaction.

    A file whose bytes were saved meanwhile becomes known instead.

    Returns:
        How many runs were saved.
    """
    whole = [(file, pair) for file, pair in pairs if pair and any(each.is_chosen for each in pair.runs)]
    known = mark_kept([file for file, _ in whole])
    new = [(file, item) for file, item in whole if id(file) not in known]
    for file, _ in pairs:
        file.new_runs = []
    count = add_runs(upload, new)
    done = [file for file, _ in new if not file.kept_at]
    for file in done:
        file.kept_at, file.packed = timezone.now(), None
    for file, entry in new:
        file.left_out = left_out_of(entry)
    if done:
        UploadedFile.objects.bulk_update(done, ["kept_at", "packed", "left_out"])
    return count


def add_runs(upload: Upload, pairs: Sequence[tuple[UploadedFile, FileReading]]) -> int:
    """Save the chosen runs of these readings, whatever was saved before.

    Returns:
        How many runs were saved.
    """
    result = [new for file, pair in pairs for new in _chosen(file, pair)]
    if result:
        _write(upload, result)
        announce(upload.lab_id, [item.run.pk for item in result])
    new: dict[int, list[int]] = {}
    for entry in result:
        new.setdefault(id(entry.file), []).append(entry.run.pk)
    for file, _ in pairs:
        file.new_runs = new.get(id(file), [])
    return len(result)


def _chosen(file: UploadedFile, reading: FileReading) -> list[NewRun]:
    """Return the chosen runs with their number in the file and their repetition."""
    numbered = zip(reading.runs, numbers_of(reading.runs), strict=True)
    new = [NewRun(file, item, number) for item, number in numbered if item.is_chosen]
    if len(new) > 1:
        for each, repetition in zip(
            new, repetitions_of([(item.read, item.workload_digest) for item in new]), strict=True
        ):
            each.repetition = repetition
    return new


def _write(upload: Upload, result: list[NewRun]) -> None:
    # what a text does not say is no workload
    specs = {item.workload_digest: item.spec for item in result if item.read.run.workload}
    workloads = get_workloads(upload.lab_id, specs)
    places = _Places(upload)
    for entry in result:
        entry.run = _run_of(upload, entry, places)
        entry.run.workload = workloads.get(entry.workload_digest)
        entry.run.facts = run_facts(entry.run)
    Run.objects.bulk_create([item.run for item in result])
    write_values([(item.run.pk, item.file.artefact_id, item.read) for item in result])
    _write_places(upload, result)


def _run_of(upload: Upload, new_run: NewRun, places: "_Places") -> Run:
    run = new_run.read.run
    host, target = places.of(new_run.file, run)
    return Run(
        lab_id=upload.lab_id,
        origin=Run.Origin.UPLOADED,
        state=state_of(new_run.read),
        progress=1,
        tool=run.tool[:40],
        tool_version=run.tool_version[:60],
        host=host,
        target=target,
        snapshot=places.snapshot(host, target),
        repetition=new_run.repetition,
        labels=labels_of(upload, new_run.file, run),
        sections=sections_of(run),
        problem=run.problem,
        created_by=upload.created_by,
        started_at=time_of(run.started_at),
        finished_at=time_of(run.ended_at),
    )


class _Places:
    """Hosts and targets with the snapshot of what the inventory says of them, each taken once."""

    def __init__(self, upload: Upload) -> None:
        self.upload = upload
        self.taken: dict[tuple[int | None, int | None], Snapshot | None] = {}
        self.rows: dict[tuple[int | None, int | None], tuple[Host | None, Target | None]] = {}
        self.guesser = Guesser(upload)

    def of(self, file: UploadedFile, run: ParsedRun) -> tuple[Host | None, Target | None]:
        """Return the file's host and target.

        For a file that prints several hosts and has none, those that the run's output names.
        """
        file.upload = self.upload
        key = file.place
        if key == (None, None) and len(file.printed_hosts) > 1:
            key = self.guesser.of_run(run.host, run.target)
        if key not in self.rows:
            target = Target.objects.select_related("host").filter(pk=key[1]).first() if key[1] else None
            host = target.host if target else Host.objects.filter(pk=key[0]).first() if key[0] else None
            self.rows[key] = host, target
        return self.rows[key]

    def snapshot(self, host: Host | None, target: Target | None) -> Snapshot | None:
        key = (host.pk if host else None, target.pk if target else None)
        if key not in self.taken:
            self.taken[key] = describe(host, target) if host else None
        return self.taken[key]


def _write_places(upload: Upload, result: list[NewRun]) -> None:
    RunArtefact.objects.bulk_create(
        RunArtefact(run=item.run, artefact_id=item.file.artefact_id, name=_artefact_name(item.file), kind="upload")  # type: ignore[misc]
        for item in result  # of a file that was read, which has its bytes
    )
    UploadedRun.objects.bulk_create(
        UploadedRun(run=item.run, file=item.file, format=item.read.format, number=item.number, digest=item.read.digest)
        for item in result
    )
    if upload.study_id:
        _join_study(upload, result)


def _artefact_name(file: UploadedFile) -> str:
    return str(file.name)[-_LONGEST:]


def _join_study(upload: Upload, result: list[NewRun]) -> None:
    columns = columns_of(Study.objects.get(pk=upload.study_id))
    StudyRun.objects.bulk_create(StudyRun(run=item.run, configuration=columns.of(item.run)) for item in result)


def write_values(every: Sequence[tuple[int, int | None, ReadRun]]) -> None:
    """Save samples, series and histograms, given (run id, artefact id, reading) of each run."""
    save_all_samples([(run_id, artefact_id, item.samples) for run_id, artefact_id, item in every])
    Series.objects.bulk_create(
        (
            Series(
                run_id=run_id, operation=each.operation, metric=each.metric, section=each.section, source=each.source,
                count=each.count, packed=each.packed, overview=each.overview,
            )
            for run_id, _, item in every for each in item.series
        ),
        batch_size=_ROWS_AT_ONCE,
    )  # fmt: skip
    over_time = {
        (run_id, each.operation, each.kind, each.section): each.packed
        for run_id, _, item in every
        for each in item.histories
    }
    Histogram.objects.bulk_create(
        (
            Histogram(
                run_id=run_id, operation=each.operation, kind=each.kind, section=each.section, bins=each.bins,
                intervals=over_time.get((run_id, each.operation, each.kind, each.section)),
            )
            for run_id, _, item in every for each in item.run.histograms
        ),
        batch_size=_ROWS_AT_ONCE,
    )  # fmt: skip

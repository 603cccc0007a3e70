"""What was found becomes runs: in one go for many files, because a lab's archive has thousands.

keep(upload)                      # everything chosen in its files that is not kept yet
keep_files(upload, pairs)         # these files with their readings
discard(upload)                   # nothing of it; the bytes stay
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from typing import Any

from django.db import transaction
from django.utils import timezone

from apps.inventory.models import Host, Snapshot, Target
from apps.inventory.snapshots import describe
from apps.lib.copying import ids_asked, insert_tuples
from apps.lib.pipelined import Asking, abreast
from apps.parsers.shape import ParsedRun
from apps.runs import workload
from apps.runs.arrivals import announce
from apps.runs.column_store import numbers_asked_of, save_columns
from apps.runs.facts import run_facts
from apps.runs.models import Histogram, Run, RunArtefact, Series
from apps.runs.samples import numbers_asked, save_all_samples
from apps.runs.sections import sections_of
from apps.runs.workloads import workloads_asked
from apps.studies.editing.placing import columns_of
from apps.studies.models import Study, StudyRun
from apps.uploads.guessing import Guesser
from apps.uploads.known import mark_kept
from apps.uploads.known_runs import join_study
from apps.uploads.left_out import left_out_of
from apps.uploads.models import Upload, UploadedFile, UploadedRun
from apps.uploads.new_runs import NewRun, insert_runs, time_of
from apps.uploads.reading import FileReading, ReadRun
from apps.uploads.run_fields import labels_of, numbers_of, repetitions_of, spec_of, state_of

_AT_ONCE = 100
_LONGEST = 200
_SERIES = ("operation", "metric", "section", "source", "count", "packed", "overview")
_HISTOGRAM = ("operation", "kind", "section", "bins")
_series_values, _histogram_values = attrgetter(*_SERIES), attrgetter(*_HISTOGRAM)


@dataclass
class _New:
    """One run on its way into the database."""

    file: UploadedFile
    read: ReadRun
    number: int
    repetition: int = 1  # of its kind in the file
    row: NewRun = field(init=False)

    @cached_property
    def spec(self) -> dict[str, Any]:
        """What the tool was asked to do."""
        return spec_of(self.read.run)

    @cached_property
    def workload_digest(self) -> str:
        return workload.digest(self.spec)


def keep(upload: Upload, files: Iterable[int] | None = None) -> int:
    """Make runs of everything chosen that is not kept yet; of these files only, where they are named. Says how many."""
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
    """Forget what was found and not kept. The bytes stay, and may be read again."""
    Upload.objects.filter(pk=upload.pk).update(discarded_at=timezone.now())
    upload.files.filter(kept_at=None).update(packed=None)


def keep_files(upload: Upload, pairs: Sequence[tuple[UploadedFile, FileReading | None]]) -> int:
    """Runs, samples, series and histograms of these files, in the caller's transaction. A file whose bytes somebody kept
    meanwhile becomes known instead.
    """
    whole = [(file, one) for file, one in pairs if one and any(each.is_chosen for each in one.runs)]
    known = mark_kept([file for file, _ in whole])
    new = [(file, one) for file, one in whole if id(file) not in known]
    for file, _ in pairs:
        file.new_runs = []
    count = add_runs(upload, new)
    done = [file for file, _ in new if not file.kept_at]
    for file in done:
        file.kept_at, file.packed = timezone.now(), None
    for file, one in new:
        file.left_out = left_out_of(one)
    if done:
        UploadedFile.objects.bulk_update(done, ["kept_at", "packed", "left_out"])
    return count


def add_runs(upload: Upload, pairs: Sequence[tuple[UploadedFile, FileReading]]) -> int:
    """The chosen ones of these readings become runs, whatever was kept before. Says how many."""
    found = [new for file, one in pairs for new in _chosen(file, one)]
    if found:
        _write(upload, found)
        announce(upload.lab_id, [one.row.id for one in found])
    new: dict[int, list[int]] = {}
    for one in found:
        new.setdefault(id(one.file), []).append(one.row.id)
    for file, _ in pairs:
        file.new_runs = new.get(id(file), [])
    return len(found)


def _chosen(file: UploadedFile, found: FileReading) -> list[_New]:
    """With each run's number among its format's in the file, and which repetition of its kind it is."""
    numbered = zip(found.runs, numbers_of(found.runs), strict=True)
    new = [_New(file, one, number) for one, number in numbered if one.is_chosen]
    if len(new) > 1:
        for each, repetition in zip(new, repetitions_of([(one.read, one.workload_digest) for one in new]), strict=True):
            each.repetition = repetition
    return new


def _write(upload: Upload, found: list[_New]) -> None:
    # what a text does not say is no workload
    specs = {one.workload_digest: one.spec for one in found if one.read.run.workload}
    workloads, ids, *numbers = abreast(
        workloads_asked(upload.lab_id, specs),
        ids_asked(Run._meta.db_table, len(found)),
        *_numbers_asked([one.read for one in found]),
    )
    places = _Places(upload)
    for one, pk in zip(found, ids, strict=True):
        one.row = _row(upload, one, pk, places)
        one.row.workload = workloads.get(one.workload_digest)
        one.row.repetition = one.repetition
        one.row.facts = run_facts(one.row)
    insert_runs([one.row for one in found])
    write_values([(one.row.id, one.file.artefact_id, one.read) for one in found], are_new=True, numbers=numbers)
    _write_places(upload, found)


def _row(upload: Upload, one: _New, pk: int, places: "_Places") -> NewRun:
    run = one.read.run
    host, target = places.of(one.file, run)
    return NewRun(
        id=pk,
        lab_id=upload.lab_id,
        state=state_of(one.read),
        tool=run.tool[:40],
        tool_version=run.tool_version[:60],
        host=host,
        target=target,
        snapshot=places.snapshot(host, target),
        labels=labels_of(upload, one.file, run),
        sections=sections_of(run),
        problem=run.problem,
        created_by=upload.created_by,
        created_at=places.now,
        started_at=time_of(run.started_at),
        finished_at=time_of(run.ended_at),
    )


class _Places:
    """Hosts and targets with the snapshot of what the inventory says of them, each taken once."""

    def __init__(self, upload: Upload) -> None:
        self.upload, self.now = upload, timezone.now()
        self.taken: dict[tuple[int | None, int | None], Snapshot | None] = {}
        self.rows: dict[tuple[int | None, int | None], tuple[Host | None, Target | None]] = {}
        self.guesser = Guesser(upload)

    def of(self, file: UploadedFile, run: ParsedRun) -> tuple[Host | None, Target | None]:
        """Of the file; of a file that prints several hosts, and of which nobody said one, the run's own."""
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


def _write_places(upload: Upload, found: list[_New]) -> None:
    insert_tuples(RunArtefact, ("run_id", "artefact_id", "name", "kind"), [
        (one.row.id, one.file.artefact_id, _artefact_name(one.file), "upload") for one in found
    ])  # fmt: skip
    insert_tuples(UploadedRun, ("run_id", "file_id", "format", "number", "digest"), [
        (one.row.id, one.file.pk, one.read.format, one.number, one.read.digest) for one in found
    ])  # fmt: skip
    if upload.study_id:
        _join_study(upload, found)


def _artefact_name(file: UploadedFile) -> str:
    return str(file.name)[-_LONGEST:]


def _join_study(upload: Upload, found: list[_New]) -> None:
    columns = columns_of(Study.objects.get(pk=upload.study_id))
    StudyRun.objects.bulk_create(StudyRun(run_id=one.row.id, configuration=columns.of(one.row)) for one in found)


def write_values(
    every: Sequence[tuple[int, int | None, ReadRun]], *, are_new: bool = False, numbers: Sequence[Any] | None = None
) -> None:
    """Samples, series and histograms of (the run's id, the artefact's, what was read) each; `are_new`: the rows are this
    transaction's own; `numbers`: of all their samples, where they are known.
    """
    in_columns = [(run, artefact, one.columns) for run, artefact, one in every if one.columns is not None and are_new]
    others = [(run, artefact, one.samples) for run, artefact, one in every if one.columns is None or not are_new]
    count = 3 if in_columns and numbers else 0
    save_columns(in_columns, (numbers or ())[:count])
    save_all_samples(others, are_new=are_new, numbers=(numbers or ())[count:])
    insert_tuples(Series, ("run_id", *_SERIES), [
        (run, *_series_values(each)) for run, _, one in every for each in one.series
    ])  # fmt: skip
    insert_tuples(Histogram, ("run_id", *_HISTOGRAM), [
        (run, *_histogram_values(each)) for run, _, one in every for each in one.run.histograms
    ])  # fmt: skip


def _numbers_asked(every: Sequence[ReadRun]) -> list[Asking[Any]]:
    """Three for those in columns, three for the others, where there are some."""
    columns = [one.columns for one in every if one.columns is not None]
    samples = [sample for one in every if one.columns is None for sample in one.samples]
    return [*(numbers_asked_of(columns) if columns else ()), *(numbers_asked(samples) if samples else ())]

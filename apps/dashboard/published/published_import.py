"""Import of a published study's files through the ordinary upload pipeline, and adoption of the runs of earlier imports.

`bringing.yaml` of a study says which files hold results and of which configurations. Tables of figures say that
themselves, column by column, so their mapping follows from their headings. The other files are parsed and not saved:
they hold the same figures in another form, commands, or descriptions of machines.

Runs that were imported before keep their ids when their file is imported again, so that addresses and saved comparisons
stay valid; so do the runs of earlier versions, which wrote them without an upload.
"""

import csv
import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import QuerySet

from apps.dashboard.published.study_rows import DescribedStudy
from apps.runs.models import Histogram, Run, RunArtefact, Sample, Series
from apps.runs.samples import drop_values
from apps.studies.models import Study, StudyRun
from apps.studies.source import StudyDataError, StudySource
from apps.uploads.models import FoundInventory, Upload, UploadedFile, UploadedRun
from apps.uploads.pipeline import parse
from apps.uploads.save_runs import discard, keep
from apps.uploads.services import add_files, open_upload

_READ = ("tool", "tool_version", "workload", "labels", "problem", "started_at", "finished_at")


def adopt_earlier_runs(study: Study) -> None:
    """Put each earlier run in the place of the new run of the same configuration and file sizes, with the new values and file."""
    published = Run.objects.filter(study_run__configuration__study=study, origin=Run.Origin.PUBLISHED)
    earlier = published.filter(uploaded_from=None)
    if not earlier.exists():
        return
    uploaded = Run.objects.filter(study_run__configuration__study=study, uploaded_from__isnull=False)
    new = _by_place(uploaded.exclude(origin=Run.Origin.PUBLISHED))
    for place, run in _by_place(earlier).items():
        if place in new:
            _take_the_place(run, new[place])
        else:
            run.delete()


def _by_place(runs: QuerySet[Run]) -> dict[tuple[object, ...], Run]:
    result = {}
    for run in runs.select_related("study_run"):
        sizes = Sample.objects.filter(run=run).order_by().values_list("point__file_size", flat=True)
        result[(run.study_run.configuration_id, *sorted({size or 0 for size in sizes}))] = run
    return result


def _take_the_place(run: Run, new: Run) -> None:
    drop_values(run)
    for model in (Sample, Series, Histogram, UploadedRun):
        model.objects.filter(run=new).update(run=run)
    for name in _READ:
        setattr(run, name, getattr(new, name))
    run.save(update_fields=_READ)
    for use in RunArtefact.objects.filter(run=new):
        RunArtefact.objects.update_or_create(
            run=run, name=use.name, defaults={"artefact": use.artefact, "kind": use.kind}
        )
    new.delete()


WHO = "published report"
_ROLES = {"rows": "ignore", "run": "label:run"}
Files = Mapping[str, bytes]


def bring_files(source: StudySource, described: DescribedStudy) -> list[str]:
    """Import the files that are missing or differ from those on disk.

    Raises:
        StudyDataError: A file with results gives none.
    """
    legacy, stored = source.legacy(), source.bringing["files"]
    results = {**{name: legacy[name] for name in stored}, **source.figures()}
    others = {name: data for name, data in legacy.items() if name not in stored}
    text = _bring(source, described, results, is_kept=True) + _bring(source, described, others, is_kept=False)
    _take_outputs(source, described)
    return text


def mapping_of(table: bytes) -> dict[str, object]:
    """Return the mapping of a table of figures, whose column names say what they are."""
    head = next(csv.reader(table.decode().splitlines()))
    columns: dict[str, dict[str, object]] = {
        str(place): {"word": _ROLES.get(name, name), "unit": "B" if name.endswith("_size") else "", "fixed": {}}
        for place, name in enumerate(head)
    }
    return {"layout": "long", "columns": columns, "decimal": "."}


def _bring(source: StudySource, described: DescribedStudy, wanted: Files, *, is_kept: bool) -> list[str]:
    fresh = _not_here(source, described, wanted, is_kept=is_kept)
    if not fresh:
        return []
    upload = _read(source, described, fresh, "results" if is_kept else "other files")
    if is_kept:
        _keep(source, described, upload)
        adopt_earlier_runs(described.study)
    else:
        discard(upload)
    verb = "brought as runs" if is_kept else "brought, no runs of their own"
    return [f"file {source.slug}/{name}: {verb}" for name in fresh]


def _not_here(source: StudySource, described: DescribedStudy, wanted: Files, *, is_kept: bool) -> dict[str, bytes]:
    """Return the files that are new, changed, or whose runs were deleted; earlier runs wait to be adopted."""
    here = {item.name: item for item in _brought(described).select_related("artefact").order_by("pk")}
    counts = _run_counts(source, wanted)
    fresh = {}
    for name, data in wanted.items():
        file = here.get(name)
        sha = hashlib.sha256(data).hexdigest()
        has_all = not is_kept or (file is not None and file.runs.count() == counts[name])
        if file is None or file.artefact is None or file.artefact.sha256 != sha or not has_all:
            fresh[name] = data
            _forget(file)
    return fresh


def _brought(described: DescribedStudy) -> Any:
    return UploadedFile.objects.filter(upload__study=described.study, upload__created_by=WHO)


def _run_counts(source: StudySource, wanted: Files) -> dict[str, int]:
    """Return how many runs each file with results has."""
    counts = {name: len(configurations) for name, configurations in source.bringing["files"].items()}
    return {name: counts.get(name) or _table_runs(data) for name, data in wanted.items()}


def _table_runs(table: bytes) -> int:
    """Return how many rows of a table differ in configuration and run."""
    head, *lines = csv.reader(table.decode().splitlines())
    places = [place for place, name in enumerate(head) if name in ("configuration", "run")]
    return len({tuple(line[place] for place in places) for line in lines})


def _forget(file: UploadedFile | None) -> None:
    if file is not None:
        UploadedRun.objects.filter(file=file).delete()
        UploadedFile.objects.filter(known_as=file).update(known_as=None)
        file.delete()


def _read(source: StudySource, described: DescribedStudy, files: Files, what: str) -> Upload:
    name = f"{source.slug}: {what}"
    upload = open_upload(described.lab, name, door=Upload.Door.COMMAND, actor=WHO, study=described.study)
    add_files(upload, list(files.items()))
    for file in upload.files.all():
        if file.name in source.figures():
            file.mapping = mapping_of(files[file.name])
            file.save(update_fields=["mapping"])
    upload.claim()
    while not parse(upload):
        upload.claim()
    return upload


def _keep(source: StudySource, described: DescribedStudy, upload: Upload) -> None:
    for file in upload.files.all():
        if not file.run_count or file.broken:
            raise StudyDataError(f"{source.slug}/{file.name}: found {file.error or file.broken}, expected results")
        names = source.bringing["files"].get(file.name)
        if names:
            _say_whose(file, names, described)
    keep(upload)
    for file in upload.files.all():
        _sort_by_configuration(file, source.bringing["files"].get(file.name, []), described)


def _say_whose(file: UploadedFile, names: list[str], described: DescribedStudy) -> None:
    """Set a file's host and target, and its configuration label, as a person would."""
    first = described.configurations[names[0]]
    file.host, file.target, file.guessed = first.host, first.target, ""
    file.labels = {"configuration": first.name}
    file.save(update_fields=["host", "target", "guessed", "labels"])


def _sort_by_configuration(file: UploadedFile, names: Iterable[str], described: DescribedStudy) -> None:
    runs = file.runs.order_by("number").values_list("run_id", flat=True)
    for run, name in zip(runs, names, strict=False):
        StudyRun.objects.filter(run=run).update(configuration=described.configurations[name])


def _take_outputs(source: StudySource, described: DescribedStudy) -> None:
    """Import what a machine said of itself beside its host; study.yaml has entered what it says."""
    for name, host in source.bringing.get("outputs", {}).items():
        offered = FoundInventory.objects.filter(file__in=_brought(described).filter(name=name))
        offered.filter(state=FoundInventory.State.OFFERED).update(
            state=FoundInventory.State.TAKEN, host=described.host_named(host)
        )

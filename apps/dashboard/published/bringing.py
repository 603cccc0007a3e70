"""A published study's files come in as anybody's do: uploaded, read in the confined child, kept as runs.

`bringing.yaml` of a study says which legacy files hold results and of which configurations; the tables of figures say
that themselves, column by column, so their mapping follows from their headings. The other files are read and not kept:
they are the same figures in another form, commands, or what a machine said of itself.
"""

import csv
import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from apps.dashboard.published.adopting import adopt_earlier_runs
from apps.dashboard.published.describing import Described
from apps.studies.models import StudyRun
from apps.studies.source import StudyDataError, StudySource
from apps.uploads.keeping import discard, keep
from apps.uploads.models import FoundInventory, Upload, UploadedFile, UploadedRun
from apps.uploads.parsing import parse
from apps.uploads.receiving import add_files, open_upload

WHO = "published report"
_ROLES = {"rows": "ignore", "run": "label:run"}
Files = Mapping[str, bytes]


def bring_files(source: StudySource, described: Described) -> list[str]:
    """What is not here yet, or not as it lies on disk. Raises `StudyDataError` where a file with results gives none."""
    legacy, kept = source.legacy(), source.bringing["files"]
    results = {**{name: legacy[name] for name in kept}, **source.figures()}
    others = {name: data for name, data in legacy.items() if name not in kept}
    said = _bring(source, described, results, is_kept=True) + _bring(source, described, others, is_kept=False)
    _take_outputs(source, described)
    return said


def mapping_of(table: bytes) -> dict[str, Any]:
    """A figures table's columns are named for what they are."""
    head = next(csv.reader(table.decode().splitlines()))
    columns: dict[str, dict[str, Any]] = {
        str(place): {"word": _ROLES.get(name, name), "unit": "B" if name.endswith("_size") else "", "fixed": {}}
        for place, name in enumerate(head)
    }
    return {"layout": "long", "columns": columns, "decimal": "."}


def _bring(source: StudySource, described: Described, wanted: Files, *, is_kept: bool) -> list[str]:
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


def _not_here(source: StudySource, described: Described, wanted: Files, *, is_kept: bool) -> dict[str, bytes]:
    """Those that are new, that are not as on disk, or whose runs somebody took away; their runs wait to be adopted."""
    here = {one.name: one for one in _brought(described).select_related("artefact").order_by("pk")}
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


def _brought(described: Described) -> Any:
    return UploadedFile.objects.filter(upload__study=described.study, upload__created_by=WHO)


def _run_counts(source: StudySource, wanted: Files) -> dict[str, int]:
    """How many runs each file with results has."""
    counts = {name: len(configurations) for name, configurations in source.bringing["files"].items()}
    return {name: counts.get(name) or _table_runs(data) for name, data in wanted.items()}


def _table_runs(table: bytes) -> int:
    """Lines that differ in configuration and run."""
    head, *lines = csv.reader(table.decode().splitlines())
    places = [place for place, name in enumerate(head) if name in ("configuration", "run")]
    return len({tuple(line[place] for place in places) for line in lines})


def _forget(file: UploadedFile | None) -> None:
    if file is not None:
        UploadedRun.objects.filter(file=file).delete()
        UploadedFile.objects.filter(known_as=file).update(known_as=None)
        file.delete()


def _read(source: StudySource, described: Described, files: Files, what: str) -> Upload:
    name = f"{source.slug}: {what}"
    upload = open_upload(described.lab, name, door=Upload.Door.COMMAND, who=WHO, study=described.study)
    add_files(upload, list(files.items()))
    for file in upload.files.all():
        if file.name in source.figures():
            file.mapping = mapping_of(files[file.name])
            file.save(update_fields=["mapping"])
    upload.claim()
    while not parse(upload):
        upload.claim()
    return upload


def _keep(source: StudySource, described: Described, upload: Upload) -> None:
    for file in upload.files.all():
        if not file.run_count or file.broken:
            raise StudyDataError(f"{source.slug}/{file.name}: found {file.error or file.broken}, expected results")
        names = source.bringing["files"].get(file.name)
        if names:
            _say_whose(file, names, described)
    keep(upload)
    for file in upload.files.all():
        _sort_by_configuration(file, source.bringing["files"].get(file.name, []), described)


def _say_whose(file: UploadedFile, names: list[str], described: Described) -> None:
    """Host, target and configuration of its first run, as a person says it for a file."""
    first = described.configurations[names[0]]
    file.host, file.target, file.guessed = first.host, first.target, ""
    file.labels = {"configuration": first.name}
    file.save(update_fields=["host", "target", "guessed", "labels"])


def _sort_by_configuration(file: UploadedFile, names: Iterable[str], described: Described) -> None:
    runs = file.runs.order_by("number").values_list("run_id", flat=True)
    for run, name in zip(runs, names, strict=False):
        StudyRun.objects.filter(run=run).update(configuration=described.configurations[name])


def _take_outputs(source: StudySource, described: Described) -> None:
    """What a machine said of itself is kept beside its host; study.yaml has entered what it says."""
    for name, host in source.bringing.get("outputs", {}).items():
        offered = FoundInventory.objects.filter(file__in=_brought(described).filter(name=name))
        offered.filter(state=FoundInventory.State.OFFERED).update(
            state=FoundInventory.State.TAKEN, host=described.host_named(host)
        )

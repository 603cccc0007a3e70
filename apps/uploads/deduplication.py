"""Detection of files whose bytes the lab already has, so that nothing is parsed or saved twice.

Files are compared by their bytes, and JSON reports also by what they say (`UploadedFile.content_sha256`): a report that
is written with other blanks, or with its names in another order, is no second result. What a fio log measures stands in
its name only (`job_bw.1.log` and `job_iops.1.log` may have the same bytes), so for these the name is compared too. The
runs that were saved from a known file can be added to the study of the new upload (`join_study`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef

from apps.labs.models import AuditEvent
from apps.parsers.fio.logs.format import NAME as FIO_LOG
from apps.parsers.fio.logs.names import get_measure
from apps.runs.models import Artefact, Run
from apps.studies.run_placement import place
from apps.uploads.models import FileState, Upload, UploadedFile, UploadedRun


@dataclass(frozen=True)
class Before:
    """A file that brought some bytes, and how they were read."""

    pk: int
    name: str
    format: str = ""
    only: str = ""
    mapping: dict[str, Any] | None = None

    def has_name(self, name: str) -> bool:
        """Return whether the same bytes under this name would be parsed to the same values."""
        if not self.format.startswith(FIO_LOG):  # also by somebody's word for its unit
            return True
        mine, other = told_by_name(self.name), told_by_name(name)
        return not mine or not other or mine == other

    def is_reading_of(self, file: UploadedFile) -> bool:
        """Return whether saving the file would give what was saved before.

        It would not where a person chose another format or mapping.
        """
        is_asked = bool(file.only or file.mapping) and (file.only, file.mapping) != (self.only, self.mapping)
        return not is_asked and self.has_name(file.name)


def told_by_name(name: str) -> str:
    """Return the last part of a file's name if the name tells what a fio log measures, else an empty string."""
    last = PurePosixPath(name.replace("\\", "/")).name
    return last if get_measure(last) else ""


def mark_kept(files: Sequence[UploadedFile]) -> set[int]:
    """Mark the files whose bytes are saved already as known, so that they are not saved again.

    Runs in the transaction that saves the others; a worker that saves the same bytes at the same time waits for its
    end.

    Returns:
        The `id()` of each file that is known now.
    """
    stored = _kept(files) if files else {}
    known: dict[int, UploadedFile] = {}
    for file in files:
        same_bytes = stored.setdefault(file.artefact_id, [])
        same_content = stored.setdefault(file.content_sha256, []) if file.content_sha256 else []
        earlier = [*same_bytes, *(item for item in same_content if item.format == file.format)]
        if before := next((item for item in earlier if item.is_reading_of(file)), None):
            _point(file, before.pk)
            known[id(file)] = file
        else:
            new = Before(file.pk, file.name, file.format, file.only, file.mapping)
            same_bytes.append(new)
            same_content.append(new)
    _write(known.values())
    return set(known)


def mark_same_content(files: Sequence[UploadedFile]) -> set[int]:
    """Mark those of these files of a preview as known that say in another form what is saved already.

    A file with runs of its own stays as it is. Returns the `id()` of each file that is known now.
    """
    of_json = [file for file in files if file.content_sha256]
    with_runs = set(UploadedRun.objects.filter(file__in=[file.pk for file in of_json]).values_list("file", flat=True))
    free = [file for file in of_json if file.pk not in with_runs]
    if not free:
        return set()
    with transaction.atomic():
        return mark_kept(free)


def _kept(files: Sequence[UploadedFile]) -> dict[int | str | None, list[Before]]:
    """Return the files that brought the same bytes, or the same content, and have runs, the earliest first.

    By the artefact's id, and by the SHA-256 of the content. The artefacts are locked until the transaction ends, so
    that whoever keeps the same bytes meanwhile comes after it. Two who keep one result in two forms at the same moment
    lock different artefacts, and both count.
    """
    artefacts = {file.artefact_id for file in files if file.artefact_id}
    contents = {file.content_sha256 for file in files} - {""}
    if contents:
        alike = UploadedFile.objects.filter(
            upload__lab_id=files[0].upload.lab_id, content_sha256__in=contents, artefact__isnull=False
        )
        artefacts |= set(alike.values_list("artefact_id", flat=True))
    locked = Artefact.objects.select_for_update(no_key=True).filter(pk__in=artefacts)
    list(locked.order_by("pk").values_list("pk", flat=True))  # in one order, or two would wait for each other
    # in a statement of its own, which sees what whoever held the locks has committed
    has_runs = Exists(UploadedRun.objects.filter(file=OuterRef("pk")))
    stored = UploadedFile.objects.filter(has_runs, artefact__in=artefacts, kept_at__isnull=False)
    others = stored.exclude(pk__in=[file.pk for file in files]).order_by("id")
    result: dict[int | str | None, list[Before]] = {}
    names = ("artefact_id", "content_sha256", "id", "name", "format", "only", "mapping")
    for artefact_id, content, *columns in others.values_list(*names):
        before = Before(*columns)
        result.setdefault(artefact_id, []).append(before)
        if content in contents:
            result.setdefault(content, []).append(before)
    return result


def _point(file: UploadedFile, earlier: int) -> None:
    file.state, file.known_as_id = FileState.KNOWN, earlier
    file.kept_at = file.packed = None
    file.run_count = file.sample_count = 0


def _write(known: Iterable[UploadedFile]) -> None:
    for file in known:
        file.save(update_fields=["state", "known_as", "kept_at", "packed", "run_count", "sample_count"])
        UploadedFile.objects.filter(known_as=file).update(known_as=file.known_as_id)


def join_study(upload: Upload) -> str:
    """Put the earlier runs of an upload's known files into the upload's study, except runs that are in a study already.

    Returns:
        A sentence for people, also stored as `upload.joined`; empty where nothing was found.
    """
    if upload.study_id is None or upload.study is None:
        return ""
    known = UploadedFile.objects.filter(upload=upload, state=FileState.KNOWN).exclude(known_as__upload=upload)
    runs = Run.objects.filter(uploaded_from__file__in=known.values("known_as"))
    free = list(runs.filter(study_run=None).select_related("host", "target", "workload").order_by("id"))
    elsewhere = runs.exclude(study_run=None).exclude(study_run__configuration__study=upload.study).count()
    if free:
        place(free, upload.study)
        AuditEvent.objects.record(
            upload.lab_id,
            "runs put into a study",
            upload.study.slug,
            actor=upload.created_by,
            runs=[run.pk for run in free],
        )
    sentences = [f"{_count_runs(len(free), 'is', 'are')} in the study {upload.study.slug} now"] if free else []
    sentences += [f"{_count_runs(elsewhere, 'stays', 'stay')} in another study"] if elsewhere else []
    sentence = f"{'; '.join(sentences)}." if sentences else ""
    if sentence and sentence != upload.joined:
        upload.joined = sentence
        Upload.objects.filter(pk=upload.pk).update(joined=sentence)
    return sentence


def join_if_decided(upload: Upload) -> str:
    """Call `join_study` once all files of the upload are parsed, unless a person still reviews other files of it.

    While files wait for review, the runs join the study when these files are saved. An upload of a script or a
    command
    that asked for a preview joins nothing before somebody saves its runs.
    """
    if upload.study_id is None:
        return ""
    if not upload.is_kept_at_once:
        waiting = UploadedFile.objects.filter(upload=upload).to_keep()
        if upload.door != Upload.Door.PAGE or waiting.exists():
            return ""
    return join_study(upload)


def _count_runs(count: int, singular: str, plural: str) -> str:
    return f"{count} earlier run {singular}" if count == 1 else f"{count} earlier runs {plural}"

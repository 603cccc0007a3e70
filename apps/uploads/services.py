"""Services of uploads for pages, the REST interface, commands and tasks: receive files, queue them, parse them again.

The bytes of files are stored first; then a worker parses them.
"""

import re
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import groupby
from pathlib import PurePosixPath
from typing import Any

from django.core.files.base import File
from django.db import transaction

from apps.core.pubsub import ring
from apps.inventory.models import Host, Target
from apps.labs.models import AuditEvent, Lab
from apps.parsers.archives.names import UNPRINTABLE
from apps.runs.artefacts.store import SMALL, ArtefactStoreError, keep, keep_all
from apps.studies.models import Study
from apps.uploads.labels import UploadError, checked_labels
from apps.uploads.models import ENDED, FileState, Upload, UploadedFile, UploadState
from apps.uploads.tasks import parse_upload

_DRIVE = re.compile(r"^[A-Za-z]:/")
LONGEST_NAME = 1000
SentFile = tuple[str, "File[bytes]"]  # its name with folders, and its bytes


class PartialUploadError(ArtefactStoreError):
    """The first files of an upload are here and will be read; there was no room for the others."""


def receive_upload(
    lab: Lab, files: Sequence[SentFile], *, name: str, door: str, actor: str, may_be_partial: bool = False, **more: Any
) -> Upload:
    """Store files as a new upload and queue it for parsing.

    Either all of them are kept or none, unless it may be partial. Without files the upload is only opened, for files that follow
    (`add_sent_files`). `more` is what `open_upload` takes besides.

    Raises:
        UploadError: What is said of the files cannot be.
        ArtefactStoreError: The bytes could not be kept, and nothing is here.
        PartialUploadError: Some bytes could not be kept, and it may be partial.
    """
    failure = None
    with transaction.atomic():
        upload = open_upload(lab, name, door=door, actor=actor, **more)
        AuditEvent.objects.record(lab.pk, "files uploaded", upload.name, actor=actor, upload=upload.pk)
        try:
            _keep_sent(upload, files)
        except ArtefactStoreError as error:
            if not (may_be_partial and upload.files.exists()):
                raise
            failure = error
        if files:
            hand_over(upload)
    if failure:
        arrived = upload.files.count()
        words = f"{arrived} file{'s' * (arrived != 1)} arrived before that, in the upload {upload.name}."
        raise PartialUploadError(failure.errno, f"{failure} {words}") from failure
    return upload


@transaction.atomic
def add_sent_files(upload: Upload, files: Sequence[SentFile]) -> None:
    """Store more files of an upload, all or none, and queue it for parsing.

    Raises:
        ArtefactStoreError: The bytes could not be stored.
    """
    _keep_sent(upload, files)
    hand_over(upload)


def _keep_sent(upload: Upload, files: Sequence[SentFile]) -> None:
    """Store files in their order; consecutive small ones are stored together."""
    for is_small, group in groupby(files, lambda pair: (pair[1].size or 0) <= SMALL):
        if is_small:
            add_files(upload, [(name, file.read()) for name, file in group])
            continue
        for name, file in group:
            add_file(upload, name, file.chunks())


def open_upload(
    lab: Lab,
    name: str,
    *,
    door: str,
    actor: str,
    study: Study | None = None,
    host: Host | None = None,
    target: Target | None = None,
    labels: dict[str, str] | None = None,
    keep_at_once: bool = False,
) -> Upload:
    """Create an upload without files.

    Raises:
        UploadError: The target is none of the host's, or the labels are invalid.
    """
    if target and host and target.host_id != host.pk:
        raise UploadError("target", target, f"a target of {host}")
    upload: Upload = Upload.objects.create(
        lab=lab, name=clean_name(name)[:300], door=door, created_by=actor, study=study, target=target,
        host=host or (target.host if target else None), labels=checked_labels(labels or {}), is_kept_at_once=keep_at_once,
    )  # fmt: skip
    return upload


def add_file(upload: Upload, name: str, pieces: bytes | Iterable[bytes]) -> UploadedFile:
    """Store a file's bytes and create its row.

    Raises:
        ArtefactStoreError: The bytes could not be stored; then there is no row.
    """
    artefact = keep(upload.lab_id, pieces)
    file: UploadedFile = UploadedFile.objects.create(
        upload=upload, name=clean_name(name), artefact=artefact, size=artefact.size
    )
    return file


def add_files(upload: Upload, files: Sequence[tuple[str, bytes]]) -> None:
    """Store the bytes of many small files and create their rows."""
    artefacts = keep_all(upload.lab_id, [data for _, data in files])
    UploadedFile.objects.bulk_create(
        UploadedFile(upload=upload, name=clean_name(name), artefact=artefact, size=artefact.size)
        for (name, _), artefact in zip(files, artefacts, strict=True)
    )


def forget_if_empty(upload: Upload) -> int:
    """Delete the upload if it has no files, after an error while they arrived.

    Returns:
        How many files it has.
    """
    if not (here := upload.files.count()):
        upload.delete()
    return here


def hand_over(upload: Upload) -> None:
    """Queue an upload for the workers when the transaction commits; a parsed one continues with its new files."""
    with transaction.atomic():
        Upload.objects.select_for_update().get(pk=upload.pk)  # a worker that is just finishing it goes first
        Upload.objects.filter(pk=upload.pk, state__in=ENDED).update(
            state=UploadState.QUEUED, tries=0, finished_at=None, problem=""
        )
    parse_upload.delay_on_commit(upload.pk)  # while the broker is away the sweeper finds it
    transaction.on_commit(partial(ring, f"upload:{upload.pk}", {"state": UploadState.QUEUED}))


def read_again(file: UploadedFile, *, only: str = "", mapping: dict[str, object] | None = None) -> None:
    """Queue a file to be parsed as one format, or as a table with a mapping.

    Raises:
        UploadError: Its runs are kept, or its bytes are not here.
    """
    if file.kept_at or file.artefact_id is None:
        raise UploadError("file", file.name, "a file whose bytes are here and whose runs are not kept yet")
    file.only, file.mapping, file.state = only, mapping, FileState.WAITING
    file.known_as, file.packed = None, None
    file.save(update_fields=["only", "mapping", "state", "known_as", "packed"])
    hand_over(file.upload)


def read_all_again(upload: Upload) -> None:
    """Queue every file of which nothing is saved to be parsed again."""
    files = UploadedFile.objects.filter(upload=upload, kept_at=None, artefact__isnull=False)
    files.exclude(state=FileState.UNPACKED).update(state=FileState.WAITING, known_as=None, packed=None)
    Upload.objects.filter(pk=upload.pk).update(discarded_at=None)
    hand_over(upload)


def clean_name(name: str) -> str:
    """Return a path for display and sorting, never to open: without control and direction characters, `..`, leading `/` and drive."""
    parts = PurePosixPath(_DRIVE.sub("", UNPRINTABLE.sub("\ufffd", name).replace("\\", "/"))).parts
    stored = [part for part in parts if part.strip("/") not in ("", "..", ".")]
    return "/".join(stored)[-LONGEST_NAME:] or "unnamed"

"""Files come in: their bytes are kept first, then they wait for a worker."""

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import Any

from django.db import transaction

from apps.inventory.models import Host, Target
from apps.labs.models import AuditEvent, Lab
from apps.lib.bell import ring
from apps.lib.handing_over import publish
from apps.parsers.archives.names import UNPRINTABLE
from apps.runs.artefact_store import keep, keep_all
from apps.studies.models import Study
from apps.uploads.models import ENDED, FileState, Upload, UploadedFile, UploadState
from apps.uploads.tasks import parse_upload

_LABEL = re.compile(r'(?:"[^"\n]*"|[^,;\n])+')
_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_MARKS = re.compile(r'[,;"\n]')
_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_DRIVE = re.compile(r"^[A-Za-z]:/")
LONGEST_NAME = 1000
MAX_LABELS = 50


class UploadError(ValueError):
    """What was sent cannot be taken; says which field, what was found and what was expected."""

    def __init__(self, field: str, found: object, expected: str) -> None:
        self.field, self.found, self.expected = field, str(found)[:200], expected
        super().__init__(f"{field}: found {self.found!r}, expected {expected}")


def open_upload(lab: Lab, name: str, *, door: str, who: str, **more: Any) -> Upload:
    """The same as `new_upload`, as a row."""
    upload = new_upload(lab, name, door=door, who=who, **more)
    upload.save(force_insert=True)
    return upload


def new_upload(
    lab: Lab,
    name: str,
    *,
    door: str,
    who: str,
    study: Study | None = None,
    host: Host | None = None,
    target: Target | None = None,
    labels: dict[str, str] | None = None,
    keep_at_once: bool = False,
    is_claimed: bool = False,
) -> Upload:
    """An upload without files yet, which is not in the database; `is_claimed`: by this thread, for its first file. Raises
    `UploadError` where target and host do not belong together.
    """
    if target and host and target.host_id != host.pk:
        raise UploadError("target", target, f"a target of {host}")
    return Upload(
        lab=lab, name=clean_name(name)[:300], door=door, created_by=who, study=study, target=target,
        host=host or (target.host if target else None), labels=checked_labels(labels or {}), is_kept_at_once=keep_at_once,
        **(Upload.claim_of_one() if is_claimed else {}),
    )  # fmt: skip


def in_trail(upload: Upload) -> AuditEvent:
    """The word in the lab's trail that this came; not in the database yet."""
    detail = {"upload": upload.pk}
    return AuditEvent(
        lab_id=upload.lab_id, act="files uploaded", subject=upload.name[:200], who=upload.created_by, detail=detail
    )


def add_file(upload: Upload, name: str, pieces: bytes | Iterable[bytes]) -> UploadedFile:
    """Keep the bytes, then the row. Raises `ArtefactStoreError` where they cannot be kept; then nothing is here."""
    artefact = keep(upload.lab_id, pieces)
    file: UploadedFile = UploadedFile.objects.create(
        upload=upload, name=clean_name(name), artefact=artefact, size=artefact.size
    )
    return file


def add_files(upload: Upload, files: Sequence[tuple[str, bytes]]) -> None:
    """The same for many small ones at once."""
    artefacts = keep_all(upload.lab_id, [data for _, data in files])
    UploadedFile.objects.bulk_create(
        UploadedFile(upload=upload, name=clean_name(name), artefact=artefact, size=artefact.size)
        for (name, _), artefact in zip(files, artefacts, strict=True)
    )


def forget_if_empty(upload: Upload) -> int:
    """How many files arrived before something went wrong. An upload without any is no upload."""
    if not (here := upload.files.count()):
        upload.delete()
    return here


def hand_over(upload: Upload) -> None:
    """To the workers, once the rows can be seen. An upload that was read already goes on with its new files."""
    with transaction.atomic():
        Upload.objects.select_for_update().get(pk=upload.pk)  # a worker that is just finishing it goes first
        Upload.objects.filter(pk=upload.pk, state__in=ENDED).update(state=UploadState.QUEUED, tries=0, finished_at=None)
    transaction.on_commit(lambda: _publish(upload.pk))


def _publish(upload_id: int) -> None:
    publish(parse_upload, upload_id)  # or the sweeper finds it
    ring(f"upload:{upload_id}", {"state": UploadState.QUEUED})


def read_again(file: UploadedFile, *, only: str = "", mapping: dict[str, Any] | None = None) -> None:
    """As a person says: by one format, or a table by its mapping. Kept runs stay."""
    if file.kept_at or file.artefact_id is None:
        raise UploadError("file", file.name, "a file whose bytes are here and whose runs are not kept yet")
    file.only, file.mapping, file.state = only, mapping, FileState.WAITING
    file.known_as, file.packed = None, None
    file.save(update_fields=["only", "mapping", "state", "known_as", "packed"])
    hand_over(file.upload)


def read_all_again(upload: Upload) -> None:
    """Everything of which nothing is kept, from its bytes, as if it came now."""
    files = UploadedFile.objects.filter(upload=upload, kept_at=None, artefact__isnull=False)
    files.exclude(state=FileState.UNPACKED).update(state=FileState.WAITING, known_as=None, packed=None)
    Upload.objects.filter(pk=upload.pk).update(discarded_at=None)
    hand_over(upload)


def clean_name(name: str) -> str:
    """A path to show and to sort by: never one to open. Without control characters and what turns a name round, `..`, a leading `/`
    and a drive.
    """
    parts = PurePosixPath(_DRIVE.sub("", UNPRINTABLE.sub("\ufffd", name).replace("\\", "/"))).parts
    kept = [part for part in parts if part.strip("/") not in ("", "..", ".")]
    return "/".join(kept)[-LONGEST_NAME:] or "unnamed"


def checked_labels(labels: dict[str, str]) -> dict[str, str]:
    """Short words on short words. Raises `UploadError`."""
    if not isinstance(labels, dict) or len(labels) > MAX_LABELS:
        raise UploadError("labels", labels, f"at most {MAX_LABELS} names with a value each")
    for name, value in labels.items():
        if not isinstance(name, str) or not isinstance(value, str) or not 0 < len(name) <= 60 or len(value) > 200:
            raise UploadError("labels", f"{name}={value}", "name=value, of at most 60 and 200 characters")
    return {
        _CONTROL.sub("\ufffd", name.strip()): _CONTROL.sub("\ufffd", value.strip()) for name, value in labels.items()
    }


def labels_from_text(text: str) -> dict[str, str]:
    """`kernel=6.1, configuration="RAID 5, sw"` as people type it; a quote within quotes is doubled. Raises `UploadError`."""
    labels: dict[str, str] = {}
    for word in filter(None, (one.strip() for one in _LABEL.findall(text))):
        name, mark, value = (one.strip() for one in word.partition("="))
        if not mark or not name:
            raise UploadError("labels", word, 'name=value, several apart by commas, a value with commas in "quotes"')
        if name in labels:
            raise UploadError("labels", text[:200], f"one value for {name}")
        labels[name] = value[1:-1].replace('""', '"') if _QUOTED.fullmatch(value) else value
    return checked_labels(labels)


def labels_to_text(labels: dict[str, str]) -> str:
    """What `labels_from_text` reads back."""
    return ", ".join(f"{name}={_quoted(value)}" for name, value in labels.items())


def _quoted(value: str) -> str:
    return '"' + value.replace('"', '""') + '"' if _MARKS.search(value) else value

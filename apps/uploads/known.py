"""Bytes that came before: which file of the lab stands for them, so that nothing is read or kept twice.

A file is known by its bytes. What a log of fio measures stands in its name only, so there the name counts, too: the
bytes of `job_bw.1.log` may be those of `job_iops.1.log`, and say something else.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import orjson

from apps.lib.pipelined import Asking, abreast
from apps.parsers.fio_log_names import measure_of
from apps.parsers.fio_logs import NAME as FIO_LOG
from apps.uploads.models import FileState, UploadedFile

_KEEPING = 0x5B1D  # whose advisory locks these are
# Two statements, because the second one has to see what whoever held the locks has committed.
_HOLD = "SELECT pg_advisory_xact_lock(%(kind)s::int4, key) FROM unnest(%(keys)s::int4[]) AS wanted(key)"
_KEPT = """
SELECT file.artefact_id, file.id, file.name, file.format, file.only, file.mapping FROM uploads_uploadedfile file
WHERE file.artefact_id = ANY(%(artefacts)s::int8[]) AND file.kept_at IS NOT NULL AND file.id <> ALL(%(files)s::int8[])
    AND EXISTS (SELECT FROM uploads_uploadedrun run WHERE run.file_id = file.id)
ORDER BY file.id"""


@dataclass(frozen=True)
class Before:
    """A file that brought some bytes, and how they were read."""

    pk: int
    name: str
    format: str = ""
    only: str = ""
    mapping: dict[str, Any] | None = None

    def has_name(self, name: str) -> bool:
        """Whether these bytes say the same under that name."""
        if not self.format.startswith(FIO_LOG):  # also by somebody's word for its unit
            return True
        mine, other = told_by_name(self.name), told_by_name(name)
        return not mine or not other or mine == other

    def is_reading_of(self, file: UploadedFile) -> bool:
        """Whether this is what would be kept of the file; what somebody asked to be read his way is another reading."""
        is_asked = bool(file.only or file.mapping) and (file.only, file.mapping) != (self.only, self.mapping)
        return not is_asked and self.has_name(file.name)


def told_by_name(name: str) -> str:
    """The last part of a name that may say what the numbers are; nothing of any other."""
    last = PurePosixPath(name.replace("\\", "/")).name
    return last if measure_of(last) else ""


def mark_kept(files: Sequence[UploadedFile]) -> set[int]:
    """Those whose bytes are kept already become known, and are not kept again. Answers the `id()` of each.

    In the transaction that keeps the others: whoever keeps the same bytes meanwhile waits for its end.
    """
    kept = _kept(files) if files else {}
    known: dict[int, UploadedFile] = {}
    for file in files:
        earlier = kept.setdefault(file.artefact_id, [])
        if before := next((one for one in earlier if one.is_reading_of(file)), None):
            _point(file, before.pk)
            known[id(file)] = file
        else:
            earlier.append(Before(file.pk, file.name, file.format, file.only, file.mapping))
    _write(known.values())
    return set(known)


def _kept(files: Sequence[UploadedFile]) -> dict[int | None, list[Before]]:
    """By the artefact, the earliest first. Their runs are there: who deleted them may keep the bytes again."""
    artefacts = sorted({file.artefact_id for file in files if file.artefact_id})
    keys = sorted({one & 0x7FFFFFFF for one in artefacts})  # in one order, or two would wait for each other
    _, rows = abreast(
        _answers(_HOLD, {"kind": _KEEPING, "keys": keys}),
        _answers(_KEPT, {"artefacts": artefacts, "files": [file.pk for file in files]}),
    )
    found: dict[int | None, list[Before]] = {}
    for artefact, pk, name, format_name, only, mapping in rows:
        asked = orjson.loads(mapping) if isinstance(mapping, str | bytes) else mapping
        found.setdefault(artefact, []).append(Before(pk, name, format_name, only, asked))
    return found


def _answers(sql: str, values: dict[str, Any]) -> Asking[list[tuple[Any, ...]]]:
    return (yield sql, values)


def _point(file: UploadedFile, earlier: int) -> None:
    file.state, file.known_as_id = FileState.KNOWN, earlier
    file.kept_at = file.packed = None
    file.run_count = file.sample_count = 0


def _write(known: Iterable[UploadedFile]) -> None:
    for file in known:
        file.save(update_fields=["state", "known_as", "kept_at", "packed", "run_count", "sample_count"])
        UploadedFile.objects.filter(known_as=file).update(known_as=file.known_as_id)

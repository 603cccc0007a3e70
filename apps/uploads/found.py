"""What a reading found, written onto the rows of its file."""

from collections.abc import Sequence
from dataclasses import asdict
from functools import cached_property
from typing import Any

from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from apps.lib.copying import insert
from apps.lib.few_rows import change
from apps.parsers.shape import Broken
from apps.uploads.beside import Beside
from apps.uploads.guessing import Guesser
from apps.uploads.known import Before, told_by_name
from apps.uploads.models import (
    FileState,
    FoundInventory,
    FoundWorkload,
    TableMapping,
    Upload,
    UploadedFile,
    UploadedRun,
)
from apps.uploads.reading import FileReading, ReadRun
from apps.uploads.sandbox.parent import Found, SandboxError

Pair = tuple[UploadedFile, Found]
_MOST_HOSTS = 50
_FOUND_FIELDS = [
    "state", "format", "confidence", "tool", "tool_version", "run_count", "sample_count", "warnings", "broken", "error",
    "printed_hosts", "host", "target", "guessed", "packed", "mapping",
    "kept_at",
]  # fmt: skip


class Finder:
    """For the files of one upload."""

    def __init__(self, upload: Upload) -> None:
        self.upload = upload
        self.guesser = Guesser(upload)
        self.beside = Beside(upload.pk)

    def mark_known(self, files: Sequence[UploadedFile], before: Sequence[UploadedFile] = ()) -> list[UploadedFile]:
        """Those whose bytes came before: kept from another upload, standing in this one, or in the batch `before`, which is
        not stored yet. They need not be read.
        """
        earlier = self._earlier(files)
        known, first = [], {_unread(file): file for file in before}
        for file in files:
            same = next((one for one in earlier.get(file.artefact_id, ()) if one.has_name(file.name)), None)
            if same:
                file.state, file.known_as_id = FileState.KNOWN, same.pk
                known.append(file)
            elif first.setdefault(_unread(file), file) is not file:
                file.state, file.known_as = FileState.KNOWN, first[_unread(file)]
                known.append(file)
        return known

    def _earlier(self, files: Sequence[UploadedFile]) -> dict[int | None, list[Before]]:
        """Artefact → the files that brought it before, the earliest first. One whose runs were deleted is none of them."""
        ids = {file.artefact_id for file in files if not (file.artefact and file.artefact.is_new)}
        if not ids:
            return {}
        has_runs = Exists(UploadedRun.objects.filter(file=OuterRef("pk")))
        kept = Q(has_runs, upload__lab_id=self.upload.lab_id, kept_at__isnull=False)
        here = Q(upload=self.upload, kept_at=None, run_count__gt=0)
        others = UploadedFile.objects.exclude(pk__in=[file.pk for file in files if file.pk])
        found: dict[int | None, list[Before]] = {}
        rows = others.filter(kept | here, artefact__in=ids).order_by("id")
        for artefact, *told in rows.values_list("artefact_id", "id", "name", "format"):
            found.setdefault(artefact, []).append(Before(*told))
        return found

    @cached_property
    def mappings(self) -> dict[str, dict[str, Any]]:
        """By the signature of the tables that they were made for."""
        return dict(TableMapping.objects.filter(lab_id=self.upload.lab_id).values_list("signature", "mapping"))

    def remembered(self, file: UploadedFile, found: Found) -> dict[str, Any] | None:
        """How somebody read the last table of this look; for one that says not enough by itself."""
        if isinstance(found, SandboxError) or found.runs or not found.table or file.only or file.mapping:
            return None
        return self.mappings.get(found.table["signature"])

    def write(self, pairs: Sequence[Pair]) -> None:
        """The rows of these files, with what was found in each. With `kept_at` where all of it is kept at once."""
        read_before = [file.pk for file, _ in pairs if file.pk and (file.format or file.error)]
        for file, found in pairs:
            if isinstance(found, SandboxError):
                file.state, file.error = FileState.FAILED, asdict(Broken(str(found)))
            else:
                self.describe(file, found)
        old = [file for file, _ in pairs if not file._state.adding]
        insert([file for file, _ in pairs if file._state.adding])
        for file in old:
            change(file, _FOUND_FIELDS)
        self._write_beside(pairs, read_before)

    def describe(self, file: UploadedFile, found: FileReading) -> None:
        """The columns of one file; nothing is written."""
        chosen = [one for one in found.runs if one.is_chosen]
        file.format, file.confidence = (found.format or ("table" if found.table else ""))[:40], found.confidence
        count_chosen(file, found)
        file.warnings = list(found.warnings)
        file.broken = [asdict(one) for one in found.broken]
        file.error = asdict(found.error) if found.error else None
        file.state = FileState.FAILED if found.error else FileState.PARTLY if found.broken else FileState.PARSED
        file.printed_hosts = list(dict.fromkeys(one.run.host for one in chosen if one.run.host))[:_MOST_HOSTS]
        is_waiting_for_someone = not self.upload.is_kept_at_once and (found.runs or found.table)
        file.reading = found if is_waiting_for_someone else None
        file.kept_at = timezone.now() if self.upload.is_kept_at_once and chosen else None
        self._guess(file, chosen)

    def _guess(self, file: UploadedFile, chosen: Sequence[ReadRun]) -> None:
        if self.upload.host_id or file.host_id or not chosen:
            return
        guess = self.guesser.guess(file.name, file.printed_hosts, [one.run.target for one in chosen])
        file.host_id, file.target_id, file.guessed = guess.host_id, guess.target_id, guess.reason[:300]

    def _write_beside(self, pairs: Sequence[Pair], read_before: list[int]) -> None:
        readings = [(file, found) for file, found in pairs if isinstance(found, FileReading)]
        if read_before:
            FoundInventory.objects.filter(file__in=read_before, state=FoundInventory.State.OFFERED).delete()
            FoundWorkload.objects.filter(file__in=read_before).delete()
        insert([
            FoundInventory(
                file=file, tool=one.tool[:40], summary=one.summary[:300], content=one.content, line=one.line,
                last_line=one.last_line, printed_host=one.host[:200], host_id=self.upload.host_id or file.host_id,
            )
            for file, found in readings for one in found.inventory
        ], are_numbered=False)  # fmt: skip
        insert([
            FoundWorkload(file=file, name=one.name[:200], jobs=list(one.jobs), refused=[asdict(b) for b in one.refused])
            for file, found in readings for one in found.workloads
        ], are_numbered=False)  # fmt: skip


def _unread(file: UploadedFile) -> tuple[int | None, str]:
    """What two files of which nobody knows the format yet must have in common; the keeping looks again (`known.py`)."""
    return file.artefact_id, told_by_name(file.name)


def count_chosen(file: UploadedFile, found: FileReading) -> None:
    """What would be kept of it."""
    chosen = [one for one in found.runs if one.is_chosen]
    file.tool, file.tool_version = _tool(found, chosen)
    file.run_count, file.sample_count = len(chosen), sum(one.sample_count for one in chosen)


def _tool(found: FileReading, chosen: Sequence[ReadRun]) -> tuple[str, str]:
    """Of one tool its version too; a script's log often holds several."""
    pairs = list(dict.fromkeys((one.run.tool, one.run.tool_version) for one in chosen))
    if not pairs:
        return (found.inventory[0].tool[:40] if found.inventory else ""), ""
    tools = ", ".join(dict.fromkeys(tool for tool, _ in pairs))
    return tools[:40], (pairs[0][1][:60] if len(pairs) == 1 else "")

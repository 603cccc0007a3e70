"""Storage of what the parsers read on the rows of the uploaded files, and the fio reports that give logs their unit.

fio's latency logs do not tell their unit; it depends on fio's version. The version comes from the reports in the nearest
folder, or in the folders below it; where they disagree, the unit stays unknown. Such logs are parsed last.
"""

import re
from collections.abc import Sequence
from dataclasses import asdict
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

from django.db.models import Exists, F, OuterRef, Q
from django.db.models.functions import Coalesce
from django.utils import timezone

from apps.parsers.core.models import Broken
from apps.parsers.fio.logs.format import NAME as FIO_LOG
from apps.parsers.fio.logs.units import UNCERTAIN, is_in_ns
from apps.uploads.deduplication import Before, mark_same_content, told_by_name
from apps.uploads.file_reader import FileReading, ReadRun
from apps.uploads.host_matching import Guesser
from apps.uploads.models import (
    FileState,
    FoundInventory,
    FoundWorkload,
    TableMapping,
    Upload,
    UploadedFile,
    UploadedRun,
)
from apps.uploads.sandbox.parent import NOTHING, Found, SandboxError
from apps.uploads.sandbox.parent import Beside as Said

_LOG = r"(^|[/_.-])[cs]?lat([._-][^/]*)?$"  # in Python's and in PostgreSQL's words
_IS_LOG = re.compile(_LOG, re.IGNORECASE)
LOGS = Q(name__iregex=_LOG)


def is_log(name: str) -> bool:
    """Return whether a file of this name may be a latency log of fio."""
    return _IS_LOG.search(name) is not None


class SiblingReports:
    """The reports of one upload, asked for once, and not before there is a log that needs them."""

    def __init__(self, upload_id: int) -> None:
        self.upload_id = upload_id

    def of(self, name: str) -> Said:
        if not is_log(name):
            return NOTHING
        for folder in PurePosixPath(name).parents:
            if sides := self._reports.get(str(folder)):
                return next(iter(sides.values())) if len(sides) == 1 else NOTHING
        return NOTHING

    @cached_property
    def _reports(self) -> dict[str, dict[bool, Said]]:
        """Return, by folder and by whether the unit is ns, the first report in the folder or below it."""
        result: dict[str, dict[bool, Said]] = {}
        files = UploadedFile.objects.filter(upload=self.upload_id).annotate(
            wrote=Coalesce(F("known_as__tool"), F("tool")), version=Coalesce(F("known_as__tool_version"), F("tool_version"))
        )  # fmt: skip
        for name, version in files.filter(wrote="fio").order_by("id").values_list("name", "version").iterator():
            is_ns = is_in_ns(version)
            if is_ns is None:
                continue
            path = PurePosixPath(name)
            for folder in path.parents:
                result.setdefault(str(folder), {}).setdefault(is_ns, (version, path.name))
        return result


def read_again(upload_id: int, beside: SiblingReports) -> None:
    """Queue the logs of an upload whose unit was unknown and which wait for review: a report may have arrived since."""
    files = UploadedFile.objects.filter(
        LOGS, upload=upload_id, format=FIO_LOG, only="", kept_at=None, packed__isnull=False
    )
    doubtful = files.filter(state__in=(FileState.PARSED, FileState.PARTLY), warnings__icontains=UNCERTAIN[:40])
    sentences = [pk for pk, name in doubtful.values_list("pk", "name") if beside.of(name) != NOTHING]
    files.filter(pk__in=sentences).update(state=FileState.WAITING)


Pair = tuple[UploadedFile, Found]
_MOST_HOSTS = 50
_FOUND_FIELDS = [
    "state", "format", "confidence", "tool", "tool_version", "run_count", "sample_count", "warnings", "broken", "error",
    "printed_hosts", "host", "target", "guessed", "packed", "mapping",
    "kept_at", "content_sha256",
]  # fmt: skip


class ReadingStore:
    """For the files of one upload."""

    def __init__(self, upload: Upload) -> None:
        self.upload = upload
        self.guesser = Guesser(upload)
        self.beside = SiblingReports(upload.pk)

    def mark_known(self, files: Sequence[UploadedFile], before: Sequence[UploadedFile] = ()) -> list[UploadedFile]:
        """Mark and return the files whose bytes came before, so that they are not parsed.

        Args:
            before: A batch that is not stored yet; its bytes count too.
        """
        earlier = self._earlier(files)
        known, first = [], {_unread(file): file for file in before}
        for file in files:
            same = next((item for item in earlier.get(file.artefact_id, ()) if item.has_name(file.name)), None)
            if same:
                file.state, file.known_as_id = FileState.KNOWN, same.pk
                known.append(file)
            elif first.setdefault(_unread(file), file) is not file:
                file.state, file.known_as = FileState.KNOWN, first[_unread(file)]
                known.append(file)
        return known

    def _earlier(self, files: Sequence[UploadedFile]) -> dict[int | None, list[Before]]:
        """Return, by artefact id, the files that brought its bytes before, earliest first.

        Files whose runs were deleted do not count.
        """
        ids = {file.artefact_id for file in files}
        has_runs = Exists(UploadedRun.objects.filter(file=OuterRef("pk")))
        stored = Q(has_runs, upload__lab_id=self.upload.lab_id, kept_at__isnull=False)
        here = Q(upload=self.upload, kept_at=None, run_count__gt=0)
        others = UploadedFile.objects.exclude(pk__in=[file.pk for file in files if file.pk])
        result: dict[int | None, list[Before]] = {}
        rows = others.filter(stored | here, artefact__in=ids).order_by("id")
        for artefact, *reported in rows.values_list("artefact_id", "id", "name", "format"):
            result.setdefault(artefact, []).append(Before(*reported))
        return result

    @cached_property
    def mappings(self) -> dict[str, dict[str, object]]:
        """Return the lab's saved mappings by the signature of their tables."""
        return dict(TableMapping.objects.filter(lab_id=self.upload.lab_id).values_list("signature", "mapping"))

    def remembered(self, file: UploadedFile, result: Found) -> dict[str, Any] | None:
        """Return the saved mapping of a table with these columns, for a table that cannot be read without one."""
        if isinstance(result, SandboxError) or result.runs or not result.table or file.only or file.mapping:
            return None
        return self.mappings.get(result.table["signature"])

    def write(self, pairs: Sequence[Pair]) -> None:
        """Store what was read of these files on their rows."""
        read_before = [file.pk for file, _ in pairs if file.pk and (file.format or file.error)]
        for file, pair in pairs:
            if isinstance(pair, SandboxError):
                file.state, file.error = FileState.FAILED, asdict(Broken(str(pair)))
                file.run_count = file.sample_count = 0
            else:
                self.describe(file, pair)
        old = [file for file, _ in pairs if not file._state.adding]
        UploadedFile.objects.bulk_create([file for file, _ in pairs if file._state.adding])
        for file in old:
            file.save(update_fields=_FOUND_FIELDS)
        self._write_beside(pairs, read_before)
        if not self.upload.is_kept_at_once:  # else it is looked up when they are saved
            mark_same_content([file for file, pair in pairs if isinstance(pair, FileReading) and file.run_count])

    def describe(self, file: UploadedFile, reading: FileReading) -> None:
        """Set the columns of a file from its reading, without saving it."""
        chosen = [run for run in reading.runs if run.is_chosen]
        file.format, file.confidence = (reading.format or ("table" if reading.table else ""))[:40], reading.confidence
        file.content_sha256 = reading.content_sha256
        count_chosen(file, reading)
        file.warnings = list(reading.warnings)
        file.broken = [asdict(item) for item in reading.broken]
        file.error = asdict(reading.error) if reading.error else None
        file.state = FileState.FAILED if reading.error else FileState.PARTLY if reading.broken else FileState.PARSED
        file.printed_hosts = list(dict.fromkeys(item.run.host for item in chosen if item.run.host))[:_MOST_HOSTS]
        is_waiting_for_someone = not self.upload.is_kept_at_once and (reading.runs or reading.table)
        file.reading = reading if is_waiting_for_someone else None
        file.kept_at = timezone.now() if self.upload.is_kept_at_once and chosen else None
        self._guess(file, chosen)

    def _guess(self, file: UploadedFile, chosen: Sequence[ReadRun]) -> None:
        if self.upload.host_id or file.host_id or not chosen:
            return
        guess = self.guesser.guess(file.name, file.printed_hosts, [item.run.target for item in chosen])
        file.host_id, file.target_id, file.guessed = guess.host_id, guess.target_id, guess.reason[:300]

    def _write_beside(self, pairs: Sequence[Pair], read_before: list[int]) -> None:
        readings = [(file, pair) for file, pair in pairs if isinstance(pair, FileReading)]
        if read_before:
            FoundInventory.objects.filter(file__in=read_before, state=FoundInventory.State.OFFERED).delete()
            FoundWorkload.objects.filter(file__in=read_before).delete()
        FoundInventory.objects.bulk_create(
            FoundInventory(
                file=file, tool=item.tool[:40], summary=item.summary[:300], content=item.content, line=item.line,
                last_line=item.last_line, printed_host=item.host[:200], host_id=self.upload.host_id or file.host_id,
            )
            for file, reading in readings for item in reading.inventory
        )  # fmt: skip
        FoundWorkload.objects.bulk_create(
            FoundWorkload(file=file, name=workload.name[:200], jobs=list(workload.jobs), refused=[asdict(b) for b in workload.refused])
            for file, reading in readings for workload in reading.workloads
        )  # fmt: skip


def _unread(file: UploadedFile) -> tuple[int | None, str]:
    """Return what two unparsed files must share to be the same; `deduplication` checks again when they are saved."""
    return file.artefact_id, told_by_name(file.name)


def count_chosen(file: UploadedFile, reading: FileReading) -> None:
    """Set the tool and the numbers of runs and samples of a file from the chosen runs."""
    chosen = [run for run in reading.runs if run.is_chosen]
    file.tool, file.tool_version = _tool(reading, chosen)
    file.run_count, file.sample_count = len(chosen), sum(item.sample_count for item in chosen)


def _tool(reading: FileReading, chosen: Sequence[ReadRun]) -> tuple[str, str]:
    """Return tool and version of the chosen runs; several tools are joined and have no version."""
    pairs = list(dict.fromkeys((item.run.tool, item.run.tool_version) for item in chosen))
    if not pairs:
        return (reading.inventory[0].tool[:40] if reading.inventory else ""), ""
    tools = ", ".join(dict.fromkeys(tool for tool, _ in pairs))
    return tools[:40], (pairs[0][1][:60] if len(pairs) == 1 else "")

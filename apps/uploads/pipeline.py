"""The pipeline that parses an upload: unpack archives, store each member's bytes, parse in the sandbox, store the results.

Latency logs of fio are parsed last, because the reports beside them tell their unit.

Work is done in batches of one transaction each. While one batch is stored, the child process parses the next, so a
worker that dies loses at most two batches, which the next worker repeats, and memory holds two batches at most.

A worker holds a PostgreSQL advisory lock while it parses an upload. The database releases the lock as soon as the
process dies, long before the upload's lease ends, so that `requeue_orphaned` can queue the upload again. The lock does not keep
other workers out; the claim in the row does. Behind a pooler in transaction mode only the lease works.
"""

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from pathlib import PurePosixPath
from typing import IO

from django.db import DatabaseError, connection, transaction
from django.db.models import Exists, Q
from django.utils import timezone
from msgspec import structs

from apps.core.pubsub import ring
from apps.parsers.archives import ArchiveRefusal, detect_archive
from apps.runs.artefacts.store import PIECE, LostBytesError, keep_all, open_stream, read, spooled
from apps.uploads.deduplication import join_if_decided
from apps.uploads.file_reader import FileReading
from apps.uploads.models import GOOD, LEASE, MAX_TRIES, FileState, Upload, UploadedFile, UploadState
from apps.uploads.results import LOGS, ReadingStore, SiblingReports, is_log, read_again
from apps.uploads.sandbox.parent import Found, SandboxError, reader, unpacker
from apps.uploads.save_runs import keep_files

READING = 0x5B1E  # the first key of these advisory locks; the second is the upload's id
_BEGIN = timedelta(seconds=30)  # more than lies between a claim and its lock


@contextmanager
def hold_reading_lock(upload: Upload) -> Iterator[None]:
    """Hold the upload's advisory lock while it is parsed; several workers may hold it."""
    _execute("SELECT pg_advisory_lock_shared(%s, %s)", upload.pk)
    try:
        yield
    finally:
        with suppress(DatabaseError):  # with a broken connection the lock is gone already
            _execute("SELECT pg_advisory_unlock_shared(%s, %s)", upload.pk)


def requeue_orphaned(now: datetime) -> int:
    """Queue the uploads again whose worker died, and return how many."""
    count = 0
    for upload in Upload.objects.filter(state=UploadState.PARSING, lease_until__range=(now, now + LEASE - _BEGIN)):
        with transaction.atomic():
            if _execute("SELECT pg_try_advisory_xact_lock(%s, %s)", upload.pk):  # nobody holds it
                claimed = Upload.objects.filter(pk=upload.pk, state=upload.state, lease_until=upload.lease_until)
                count += claimed.update(state=UploadState.QUEUED, lease_until=None)
    return count


def _execute(statement: str, upload_id: int) -> bool:
    """Call a function of PostgreSQL that the ORM has no words for."""
    with connection.cursor() as cursor:
        cursor.execute(statement, [READING, upload_id & 0x7FFFFFFF])
        return bool(cursor.fetchone()[0])


TASK_S = 240.0  # then another task goes on
FIRST_FILES, BATCH_FILES, BATCH_BYTES = (
    40,
    200,
    8 << 20,
)  # small first, so that storing begins early, then twice as many each time
log = logging.getLogger(__name__)


@dataclass
class Batch:
    """Files with their bytes, on their way into one transaction."""

    files: list[UploadedFile] = field(default_factory=list)
    data: list[bytes] = field(default_factory=list)
    late: list[tuple[UploadedFile, bytes]] = field(default_factory=list)  # to be read when all others are
    refused: list[UploadedFile] = field(default_factory=list)
    size: int = 0

    def is_full(self, most: int) -> bool:
        count = len(self.files) + len(self.late) + len(self.refused)
        return count >= min(most, BATCH_FILES) or self.size >= BATCH_BYTES

    def add(self, file: UploadedFile, data: bytes) -> None:
        self.files.append(file)
        self.data.append(data)
        self.size += len(data)

    def add_late(self, file: UploadedFile, data: bytes) -> None:
        self.late.append((file, data))
        self.size += len(data)

    def pairs(self) -> Iterator[tuple[UploadedFile, bytes]]:
        return zip(self.files, self.data, strict=True)


@dataclass
class Ahead:
    """A batch that the child reads while the one before it is stored."""

    fresh: list[tuple[UploadedFile, bytes]]
    known: list[UploadedFile]
    readings: Callable[[], list[Found]]


def parse(upload: Upload, progress: Callable[[], None] | None = None) -> bool:
    """Read what waits. False when time ran out first: then it is queued again. Errors of single files stay with them.

    `progress` is called after each batch.
    """
    parsing = _Parsing(upload, time.monotonic() + TASK_S, progress or (lambda: None))
    with hold_reading_lock(upload):
        try:
            is_done = parsing.all()
            if is_done:
                join_if_decided(upload)
        except Exception as error:
            log.exception("upload %s could not be read", upload.pk)
            _failed(upload, error)
            return True
        if is_done:
            _excuse_empty_files(upload)
            is_done = upload.finish()
        else:
            upload.go_on_later()
    _tell(upload)
    return is_done


def _excuse_empty_files(upload: Upload) -> None:
    """Mark empty files as parsed where other files had results: fio leaves empty logs of what it did not measure."""
    others = UploadedFile.objects.filter(upload=upload, state__in=(*GOOD, FileState.PARTLY), size__gt=0)
    empty = UploadedFile.objects.filter(Exists(others), upload=upload, state=FileState.FAILED, size=0)
    empty.update(state=FileState.PARSED, error=None, warnings=["nothing is in it (0 bytes)"])


def _failed(upload: Upload, error: Exception) -> None:
    """Queue the upload for another try, or give it up after the last one with the error as its problem."""
    upload.refresh_from_db(fields=["tries"])
    if upload.tries >= MAX_TRIES:
        give_up(upload, f"It could not be read ({error}). Its bytes are kept.")
        return
    problem = f"It could not be read ({error}); it is tried again."
    Upload.objects.filter(pk=upload.pk).update(state=UploadState.QUEUED, problem=problem, lease_until=None)
    _tell(upload)


def _tell(upload: Upload) -> None:
    transaction.on_commit(partial(ring, f"upload:{upload.pk}", {"state": upload.state}))


class _Parsing:
    def __init__(self, upload: Upload, until: float, progress: Callable[[], None]) -> None:
        self.upload, self.until, self.progress = upload, until, progress
        self.finder = ReadingStore(upload)
        self.ahead: Ahead | None = None
        self.most = FIRST_FILES  # in the next batch

    def _tell(self) -> None:
        _tell(self.upload)
        self.progress()

    @property
    def is_late(self) -> bool:
        return time.monotonic() > self.until

    def all(self) -> bool:
        """Parse all waiting files. Return False when time ran out."""
        is_done = self._each(~LOGS) and self._logs()
        self._finish_batches(Batch())
        return is_done

    def _logs(self) -> bool:
        self._finish_batches(Batch())
        self.finder.beside = SiblingReports(self.upload.pk)
        read_again(self.upload.pk, self.finder.beside)
        return self._each(LOGS)

    def _each(self, some: Q) -> bool:
        batch, last = Batch(), 0
        while waiting := self._waiting(some, last):
            for file in waiting:
                if self.is_late or not self._one(file, batch):
                    return False
                if batch.is_full(self.most):
                    batch = self._flush(batch)
            batch, last = self._flush(batch), waiting[-1].pk
        return True

    def _waiting(self, some: Q, last: int) -> list[UploadedFile]:
        files = UploadedFile.objects.filter(some, upload=self.upload, pk__gt=last).waiting()
        return list(files.select_related("artefact__small")[:BATCH_FILES])

    def _one(self, file: UploadedFile, batch: Batch) -> bool:
        """Add a small file to the batch; parse an archive or a big file on its own. Return False when time ran out."""
        assert file.artefact
        try:
            is_big = file.size > PIECE
            head = next(open_stream(file.artefact), b"") if is_big else read(file.artefact)
            if not (file.only or file.mapping) and detect_archive(head):
                return self._archive(file)
            if is_big:
                self._big(file)
            else:
                batch.add(file, head)
        except LostBytesError as error:  # of this file; the others are read
            self._end_with(file, FileState.FAILED, str(error))
        return True

    def _big(self, file: UploadedFile) -> None:
        self._finish_batches(Batch())
        if not self._mark_known([file]):
            with spooled(file.artefact) as whole:  # type: ignore[arg-type]
                result = read_alone(file, whole, self.finder.beside)
                self._store([file], [as_before(self.finder, file, whole, result)])
        self._tell()

    def _mark_known(self, files: list[UploadedFile]) -> list[UploadedFile]:
        """Mark files with known bytes, except those that a person asked to be parsed again, and return them."""
        before = [file for file, _ in self.ahead.fresh] if self.ahead else []
        return self.finder.mark_known([file for file in files if not (file.only or file.mapping)], before)

    def _end_with(self, file: UploadedFile, state: str, message: str) -> None:
        file.state = state
        file.error = file_error(message)
        file.save()

    def _archive(self, file: UploadedFile) -> bool:
        """Unpack an archive into files of the upload.

        Return False when time ran out; the next task skips members that exist.
        """
        here = StoredMembers(file)
        batch = Batch()
        notes: list[str] = []  # of what was left out and nobody misses
        try:
            with spooled(file.artefact) as whole:  # type: ignore[arg-type]
                for item in unpacker().unpack(whole, PurePosixPath(file.name).name):
                    if isinstance(item, ArchiveRefusal) and item.is_note:
                        notes.append(f"{item.path}: {item.reason}" if item.path else item.reason)
                        continue
                    name = name_below(file, item.path)
                    if here.has(name, is_refused=isinstance(item, ArchiveRefusal)):
                        continue
                    self._member(file, name, item, batch)
                    if batch.is_full(self.most):
                        batch = self._flush(batch)
                        if self.is_late:
                            return False
        except SandboxError as error:
            batch.refused.append(refusal(file, f"{file.name} (rest)", str(error)))
        self._finish_batches(batch)
        self._unpacked(file, notes)
        return True

    def _member(self, archive: UploadedFile, name: str, item: object, batch: Batch) -> None:
        if isinstance(item, ArchiveRefusal):
            batch.refused.append(refusal(archive, name, item.reason))
        else:
            data: bytes = item.data  # type: ignore[attr-defined]
            add = batch.add_late if is_log(name) else batch.add
            add(UploadedFile(upload=self.upload, archive=archive, name=name, size=len(data)), data)

    def _unpacked(self, file: UploadedFile, notes: list[str]) -> None:
        file.warnings = notes
        whole = file.members.filter(state=FileState.REFUSED, name=file.name).first()
        if whole:  # the archive itself was refused; one row says so, with what came before it
            file.error, file.state = whole.error, FileState.REFUSED
            whole.delete()
        else:
            file.state = FileState.UNPACKED
        file.save(update_fields=["state", "error", "warnings"])
        self._tell()

    def _flush(self, batch: Batch) -> Batch:
        """Store the batch's bytes, start parsing the new ones, and meanwhile store what was parsed before."""
        UploadedFile.objects.bulk_create(batch.refused)
        if batch.files or batch.late:
            self.most = min(2 * self.most, BATCH_FILES)
            self._keep(batch)
            UploadedFile.objects.bulk_create([file for file, _ in batch.late])
            known = self._mark_known(batch.files)
            known_ids = {id(file) for file in known}
            fresh = [(file, data) for file, data in batch.pairs() if id(file) not in known_ids]
            before, readings = self.ahead, self._readings()
            self.ahead = Ahead(fresh, known, self._begin(fresh))
            self._put(before, readings)
        return Batch()

    def _begin(self, fresh: list[tuple[UploadedFile, bytes]]) -> Callable[[], list[Found]]:
        beside = self.finder.beside
        query = [(data, file.name, file.only, file.mapping, beside.of(file.name)) for file, data in fresh]
        return reader().begin(query)

    def _finish_batches(self, batch: Batch) -> None:
        """Flush the batch and store every batch that is still being parsed."""
        self._flush(batch)
        before, readings = self.ahead, self._readings()
        self.ahead = None
        self._put(before, readings)

    def _readings(self) -> list[Found]:
        """Return what the child parsed of the batch ahead; call it before the child gets another batch."""
        if self.ahead is None:
            return []
        result = zip(self.ahead.fresh, self.ahead.readings(), strict=True)
        return [as_before(self.finder, *pair, reading) for pair, reading in result]

    def _put(self, batch: Ahead | None, readings: list[Found]) -> None:
        """Store a batch and its readings."""
        if batch:
            self._store([file for file, _ in batch.fresh], readings)
            _put_known(batch.known)
            self._tell()

    def _keep(self, batch: Batch) -> None:
        """Store the bytes of an archive's members."""
        new = [(file, data) for file, data in (*batch.pairs(), *batch.late) if file.artefact is None]
        if not new:
            return
        artefacts = keep_all(self.upload.lab_id, [data for _, data in new])
        for (file, _), artefact in zip(new, artefacts, strict=True):
            file.artefact = artefact

    def _store(self, files: list[UploadedFile], readings: list[Found]) -> None:
        """Store readings in one transaction.

        If the database refuses it, store file by file so that one file harms no other.
        """
        pairs = list(zip(files, readings, strict=True))
        try:
            self._write(pairs)
        except (DatabaseError, ValueError):
            log.exception("upload %s: a batch could not be stored at once", self.upload.pk)
            for file, pair in pairs:
                self._write_alone(file, pair)

    def _write_alone(self, file: UploadedFile, result: Found) -> None:
        try:
            self._write([(file, result)])
        except (DatabaseError, ValueError) as error:
            self._write([(file, SandboxError(f"what was read could not be stored: {str(error)[:300]}"))])

    def _write(self, pairs: list[tuple[UploadedFile, Found]]) -> None:
        if not pairs:
            return
        new = [file for file, _ in pairs if file._state.adding]
        try:
            with transaction.atomic():
                self.finder.write(pairs)
                if self.upload.is_kept_at_once:
                    keep_files(self.upload, [(f, r) for f, r in pairs if isinstance(r, FileReading)])
        except Exception:
            for file, _ in pairs:
                file.kept_at = file.new_runs = None
            for file in new:  # their rows went with the transaction
                file.pk, file._state.adding = None, True
            raise


def _put_known(known: list[UploadedFile]) -> None:
    if new := [file for file in known if file._state.adding]:
        UploadedFile.objects.bulk_create(new)
    for file in known:
        if not file._state.adding:
            file.save(update_fields=["state", "known_as"])


_LONGEST_NAME = 1000


def name_below(archive: UploadedFile, path: str) -> str:
    """Return the name of an archive's member with the archive's name in front, cut at the front to `_LONGEST_NAME`."""
    return (f"{archive.name}/{path}" if path else archive.name)[-_LONGEST_NAME:]


def refusal(archive: UploadedFile, name: str, reason: str) -> UploadedFile:
    """Return the unsaved row of a member that was refused."""
    return UploadedFile(
        upload=archive.upload,
        archive=archive,
        name=name[-_LONGEST_NAME:],
        state=FileState.REFUSED,
        error=file_error(reason),
    )


def file_error(message: str) -> dict[str, str | None]:
    """Return an error in the shape of `UploadedFile.error`."""
    return {"message": message, "line": None, "found": "", "expected": ""}


class StoredMembers:
    """An archive's members that are in the database: another worker may have died, or run out of time, behind them."""

    def __init__(self, archive: UploadedFile) -> None:
        rows = archive.members.values_list("name", "state")
        self._counts = Counter((name, state == FileState.REFUSED) for name, state in rows)

    def has(self, name: str, *, is_refused: bool) -> bool:
        """Return whether the archive's next member of this name exists.

        Ask once per member, for a name may come several times.
        """
        key = name, is_refused
        self._counts[key] -= 1
        return self._counts[key] >= 0


def give_up(upload: Upload, reason: str) -> None:
    """Give an upload up as a dead letter, with a reason for people; *Read again* tries it once more."""
    log.error("dead letter: upload %s: %s", upload.pk, reason)
    waiting = UploadedFile.objects.filter(upload=upload, state=FileState.WAITING)
    waiting.update(state=FileState.FAILED, error=file_error("not read: reading the upload was given up"))
    has_found = UploadedFile.objects.filter(upload=upload, run_count__gt=0).exists()
    upload.state = UploadState.PARTLY if has_found else UploadState.FAILED
    Upload.objects.filter(pk=upload.pk).update(
        state=upload.state, problem=reason, lease_until=None, finished_at=timezone.now()
    )
    transaction.on_commit(partial(ring, f"upload:{upload.pk}", {"state": upload.state}))


def give_up_cut_short(now: datetime) -> int:
    """Give up the uploads whose every try was cut short, which a killed worker cannot report, and return how many."""
    result = list(Upload.objects.cut_short(now)[:200])
    for upload in result:
        give_up(
            upload,
            f"Reading it was cut short {MAX_TRIES} times: the worker was killed, or ran out of time or memory. Its bytes are kept.",
        )
    return len(result)


def read_alone(file: UploadedFile, data: bytes | IO[bytes], beside: SiblingReports) -> Found:
    try:
        return reader().read(data, file.name, file.only, file.mapping, beside.of(file.name))
    except SandboxError as error:
        return error


def as_before(finder: ReadingStore, file: UploadedFile, data: bytes | IO[bytes], result: Found) -> Found:
    """Return the reading, or for a table with known columns the reading with the lab's saved mapping.

    The decimal mark is never taken from a saved mapping: `177,456` may be two numbers. Where the cells do not prove
    it, the
    person is asked, and the dialog shows the last answer.
    """
    mapping = finder.remembered(file, result)
    if mapping is None or isinstance(result, SandboxError):
        return result
    file.mapping = mapping | {"decimal": "", "thousands": ""}
    if not isinstance(data, bytes):
        data.seek(0)
    again = read_alone(file, data, finder.beside)
    if isinstance(again, FileReading) and again.runs:
        return again
    file.mapping = None
    return structs.replace(result, error=again.error or result.error) if isinstance(again, FileReading) else result

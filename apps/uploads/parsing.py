"""An upload's files, read one after another: archives are streamed, each member is kept, and the child reads it.

fio's logs of latencies are read last, because reports beside them say their unit (`beside.py`).

Everything goes in batches of one transaction each, so a worker that dies has lost at most two batches, which the next
one does again: while one is stored, the child reads the next. Memory holds these two, however many files there are.
"""

import gc
import logging
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from django.db import DatabaseError, transaction
from django.db.models import Exists, Q

from apps.lib.bell import ring
from apps.lib.later import later
from apps.lib.pipelined import in_one_go
from apps.lib.sql import undurable
from apps.parsers.archives import Refusal, is_archive
from apps.runs.artefact_store import PIECE, LostBytesError, keep_all, open_stream, read
from apps.uploads.alive import alive
from apps.uploads.archive_members import Here, name_below, refusal, said
from apps.uploads.as_before import as_before, read_alone
from apps.uploads.beside import LOGS, Beside, is_log, read_again
from apps.uploads.found import Finder
from apps.uploads.keeping import keep_files
from apps.uploads.known_runs import join_if_decided
from apps.uploads.models import GOOD, MAX_TRIES, FileState, Upload, UploadedFile, UploadState
from apps.uploads.reading import FileReading
from apps.uploads.sandbox.parent import Found, SandboxError, reader, unpacker
from apps.uploads.spooling import spooled

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
    with alive(upload):
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


def parse_at_once(upload: Upload, file: UploadedFile, data: bytes) -> bool:
    """The only file of an upload that is claimed, in this thread and in one transaction. False where that failed: then it is
    a worker's.
    """
    parsing = _Parsing(upload, math.inf, lambda: None, is_only_file=True)
    try:
        parsing.only(file, data)
        if file.state == FileState.KNOWN:
            join_if_decided(upload)
    except Exception:
        log.exception("upload %s could not be read at once", upload.pk)
        upload.go_on_later()
        return False
    file.new_runs = file.new_runs or []
    return True


def _excuse_empty_files(upload: Upload) -> None:
    """A file of no bytes beside others is told, and no failure: fio leaves such logs of what it did not measure."""
    others = UploadedFile.objects.filter(upload=upload, state__in=(*GOOD, FileState.PARTLY), size__gt=0)
    empty = UploadedFile.objects.filter(Exists(others), upload=upload, state=FileState.FAILED, size=0)
    empty.update(state=FileState.PARSED, error=None, warnings=["nothing is in it (0 bytes)"])


def _failed(upload: Upload, error: Exception) -> None:
    """The sweeper tries again; the last try says what is wrong."""
    upload.refresh_from_db(fields=["tries"])
    state = UploadState.FAILED if upload.tries >= MAX_TRIES else UploadState.QUEUED
    problem = f"It could not be read ({error}). Its bytes are kept."
    Upload.objects.filter(pk=upload.pk).update(state=state, problem=problem, lease_until=None)
    _tell(upload)


def _tell(upload: Upload) -> None:
    state = upload.state
    later(lambda: ring(f"upload:{upload.pk}", {"state": state}))


class _Parsing:
    def __init__(
        self, upload: Upload, until: float, progress: Callable[[], None], *, is_only_file: bool = False
    ) -> None:
        self.upload, self.until, self.progress, self.is_only_file = upload, until, progress, is_only_file
        self.finder = Finder(upload)
        self.ahead: Ahead | None = None
        self.most = FIRST_FILES  # in the next batch

    def _tell(self) -> None:
        _tell(self.upload)
        self.progress()

    @property
    def wants_columns(self) -> bool:
        """What waits for somebody is kept as it was read, and one file goes by statements that are few, not by COPY."""
        return self.upload.is_kept_at_once and not self.is_only_file

    @property
    def is_late(self) -> bool:
        return time.monotonic() > self.until

    def all(self) -> bool:
        """False when time ran out."""
        is_done = self._each(~LOGS) and self._logs()
        self._finish_batches(Batch())
        return is_done

    def _logs(self) -> bool:
        self._finish_batches(Batch())
        self.finder.beside = Beside(self.upload.pk)
        read_again(self.upload.pk, self.finder.beside)
        return self._each(LOGS)

    def only(self, file: UploadedFile, data: bytes) -> None:
        batch = Batch()
        batch.add(file, data)
        self._flush(batch)
        self.finder.guesser.look_up()
        self._finish_batches(Batch())

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
        """Small files join the batch; archives and big ones go by themselves."""
        assert file.artefact
        try:
            is_big = file.size > PIECE
            head = next(open_stream(file.artefact), b"") if is_big else read(file.artefact)
            if not (file.only or file.mapping) and is_archive(head):
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
                found = read_alone(file, whole, self.finder.beside)
                self._store([file], [as_before(self.finder, file, whole, found)])
        self._tell()

    def _mark_known(self, files: list[UploadedFile]) -> list[UploadedFile]:
        """What a person asked to be read again is read."""
        before = [file for file, _ in self.ahead.fresh] if self.ahead else []
        return self.finder.mark_known([file for file in files if not (file.only or file.mapping)], before)

    def _end_with(self, file: UploadedFile, state: str, message: str) -> None:
        file.state = state
        file.error = said(message)
        file.save()

    def _archive(self, file: UploadedFile) -> bool:
        """Its members become files of the upload. False when time ran out: the next task skips what is here."""
        here = Here(file)
        batch = Batch()
        notes: list[str] = []  # of what was left out and nobody misses
        try:
            with spooled(file.artefact) as whole:  # type: ignore[arg-type]
                for one in unpacker().unpack(whole, PurePosixPath(file.name).name):
                    if isinstance(one, Refusal) and one.is_note:
                        notes.append(f"{one.path}: {one.reason}" if one.path else one.reason)
                        continue
                    name = name_below(file, one.path)
                    if here.has(name, is_refused=isinstance(one, Refusal)):
                        continue
                    self._member(file, name, one, batch)
                    if batch.is_full(self.most):
                        batch = self._flush(batch)
                        if self.is_late:
                            return False
        except SandboxError as error:
            batch.refused.append(refusal(file, f"{file.name} (rest)", str(error)))
        self._finish_batches(batch)
        self._unpacked(file, notes)
        return True

    def _member(self, archive: UploadedFile, name: str, one: object, batch: Batch) -> None:
        if isinstance(one, Refusal):
            batch.refused.append(refusal(archive, name, one.reason))
        else:
            data: bytes = one.data  # type: ignore[attr-defined]
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
        """Keep the bytes, let the child read those that are new, and store meanwhile what it read before."""
        UploadedFile.objects.bulk_create(batch.refused)
        if batch.files or batch.late:
            self.most = min(2 * self.most, BATCH_FILES)
            with collector_off():
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
        asked = [(data, file.name, file.only, file.mapping, beside.of(file.name)) for file, data in fresh]
        return reader().begin(asked, as_columns=self.wants_columns)

    def _finish_batches(self, batch: Batch) -> None:
        """Until nothing is ahead any more."""
        self._flush(batch)
        with collector_off():
            before, readings = self.ahead, self._readings()
            self.ahead = None
            self._put(before, readings)

    def _readings(self) -> list[Found]:
        """What the child made of the batch ahead; to be asked before it gets another one."""
        if self.ahead is None:
            return []
        found = zip(self.ahead.fresh, self.ahead.readings(), strict=True)
        return [as_before(self.finder, *pair, reading) for pair, reading in found]

    def _put(self, batch: Ahead | None, readings: list[Found]) -> None:
        """All or nothing."""
        if batch:
            self._store([file for file, _ in batch.fresh], readings)
            _put_known(batch.known)
            if self.is_only_file and batch.known:
                self.upload.end(True, lambda: True)
            self._tell()

    def _keep(self, batch: Batch) -> None:
        """The bytes of an archive's members: on the disk they are with the archive, so nobody waits for it here."""
        new = [(file, data) for file, data in (*batch.pairs(), *batch.late) if file.artefact is None]
        if not new:
            return
        with transaction.atomic():
            undurable()
            artefacts = keep_all(self.upload.lab_id, [data for _, data in new])
        for (file, _), artefact in zip(new, artefacts, strict=True):
            file.artefact = artefact

    def _store(self, files: list[UploadedFile], readings: list[Found]) -> None:
        """In one transaction; where the database refuses something, file by file, so that one file harms no other."""
        pairs = list(zip(files, readings, strict=True))
        try:
            self._write(pairs)
        except (DatabaseError, ValueError):
            log.exception("upload %s: a batch could not be stored at once", self.upload.pk)
            for file, found in pairs:
                self._write_alone(file, found)

    def _write_alone(self, file: UploadedFile, found: Found) -> None:
        try:
            self._write([(file, found)])
        except (DatabaseError, ValueError) as error:
            self._write([(file, SandboxError(f"what was read could not be stored: {str(error)[:300]}"))])

    def _write(self, pairs: list[tuple[UploadedFile, Found]]) -> None:
        if not pairs:
            return
        new = [file for file, _ in pairs if file._state.adding]
        try:
            with in_one_go() if self.is_only_file else transaction.atomic():
                self.finder.write(pairs)
                if self.upload.is_kept_at_once:
                    keep_files(self.upload, [(f, r) for f, r in pairs if isinstance(r, FileReading)])
                if self.is_only_file:
                    file, found = pairs[0]
                    self.upload.end(file.state in GOOD, lambda: isinstance(found, FileReading) and found.has_found)
        except Exception:
            for file, _ in pairs:
                file.kept_at = file.new_runs = None
            for file in new:  # their rows went with the transaction
                file.pk, file._state.adding = None, True
            raise


@contextmanager
def collector_off() -> Iterator[None]:
    """A batch makes some ten thousand objects and no rings; looking for those through all of them, time and again, took
    half of the time.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _put_known(known: list[UploadedFile]) -> None:
    if new := [file for file in known if file._state.adding]:
        UploadedFile.objects.bulk_create(new)
    for file in known:
        if not file._state.adding:
            file.save(update_fields=["state", "known_as"])

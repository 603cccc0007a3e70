"""Uploads, read again from their raw bytes when a parser improved: what changed, run by run, and the new values.

    for change in reparse(files, apply=True): print(change)

A run keeps its id, its host, the labels that a person gave and its place in a study; what was read from the text is
replaced. It is found again by what was read of it and by its lines, not by how many runs stand before it. A run that a
parser no longer finds stays as it is, and is named. Runs that are newly found are kept where all of the file was;
where somebody chose among them or deleted some, only with `keep_new`. Of a file that nobody kept the preview changes.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence

from django.db import transaction

from apps.runs.artefact_store import ArtefactStoreError
from apps.uploads.beside import Beside
from apps.uploads.found import Finder
from apps.uploads.keeping import keep_files
from apps.uploads.kept_file import Change, KeptFile, named_runs, said_otherwise, with_chosen
from apps.uploads.models import FileState, UploadedFile
from apps.uploads.pairing import paired
from apps.uploads.places_in_file import places_found
from apps.uploads.reading import FileReading, ReadRun
from apps.uploads.receiving import UploadError
from apps.uploads.replacing import differences_read
from apps.uploads.sandbox.parent import SandboxError, reader
from apps.uploads.spooling import opened


def reparse(files: Iterable[UploadedFile], *, apply: bool, keep_new: bool = False) -> Iterator[Change]:
    """Read these files again. With `apply`, what changed is written, each file in a transaction of its own."""
    beside: Beside | None = None  # of the upload that is read
    for file in files:
        if beside is None or beside.upload_id != file.upload_id:
            beside = Beside(file.upload_id)
        found = _read_again(file, beside)
        if isinstance(found, str):
            yield Change(file, found)
            continue
        with transaction.atomic():
            changes = list(_changes(file, found, apply, keep_new))
        yield from changes


def _read_again(file: UploadedFile, beside: Beside) -> FileReading | str:
    if file.artefact is None:
        return "its bytes are not here"
    try:
        return _read(file, beside)
    except (SandboxError, ArtefactStoreError) as error:
        return f"could not be read again: {error}"


def _read(file: UploadedFile, beside: Beside) -> FileReading:
    assert file.artefact
    with opened(file.artefact) as whole:
        return reader().read(whole, file.name, file.only, file.mapping, beside.of(file.name))


def keep_after_all(before: UploadedFile, wanted: Collection[int]) -> list[int]:
    """Runs of a kept file that somebody left out, by their places there: as they are read now. Says which runs they became. Raises
    `UploadError`, `SandboxError` and `ArtefactStoreError`.
    """
    expected = "runs that were left out of a file whose other runs are kept"
    if before.artefact is None or not before.left_out or not wanted:
        raise UploadError("run", "none of them", expected)
    found = _read(before, Beside(before.upload_id))
    with transaction.atomic():
        locked = UploadedFile.objects.select_related("artefact", "upload").select_for_update(of=("self",))
        file = locked.filter(pk=before.pk, kept_at__isnull=False).first()
        if file is None or file.left_out != before.left_out:
            raise UploadError("run", "a file that was changed meanwhile", expected)
        kept = KeptFile(file, found).keep_left_out(wanted)
    if not kept:
        raise UploadError("run", "runs that are not read of these bytes any more", expected)
    return kept


def _changes(before: UploadedFile, found: FileReading, apply: bool, keep_new: bool) -> Iterator[Change]:
    """Of the file as it is now: somebody may have kept it, or had it read his way, while it was read here."""
    file = UploadedFile.objects.to_read_again().select_for_update(of=("self",)).filter(pk=before.pk).first()
    if file is None or (file.only, file.mapping) != (before.only, before.mapping):
        yield Change(before, "somebody has it read otherwise meanwhile; it is left alone")
    elif file.kept_at:
        yield from KeptFile(file, found).changes(apply, keep_new)
    else:
        yield from _offer(file, found, apply)


def _offer(file: UploadedFile, found: FileReading, apply: bool) -> Iterator[Change]:
    """A file of which nothing is kept: its preview becomes what is read now, without what somebody left out. Where nobody wanted
    a preview, its runs are kept.
    """
    old = file.reading
    runs = old.runs if old else ()
    before, counts = _said(file, runs), (file.state, file.run_count, file.sample_count)
    said_before = file.broken, file.warnings
    found = _without_left_out(runs, found)
    finder = Finder(file.upload)
    finder.describe(file, found)
    if before == _said(file, found.runs if old else ()):
        return
    text = f"{_counted(*counts)} before, {_counted(file.state, file.run_count, file.sample_count)} now"
    if apply:
        finder.write([(file, found)])
        if file.upload.is_kept_at_once:
            keep_files(file.upload, [(file, found)])
            text += f", kept as {named_runs(file.new_runs or [])}" if file.new_runs else ""
            text += f"; the same bytes are kept as {file.known_as}" if file.state == FileState.KNOWN else ""
    yield Change(file, text, values=(*_of_preview(runs, found.runs), *said_otherwise(*said_before, found)))


def _of_preview(before: Sequence[ReadRun], now: Sequence[ReadRun]) -> Iterator[str]:
    pairs = paired(places_found(before), places_found(now))
    for old, new in pairs.items():
        if before[old].digest != now[new].digest:
            yield from differences_read(before[old], now[new])


def _said(file: UploadedFile, runs: Sequence[ReadRun]) -> tuple[object, ...]:
    read_as = [(one.format, one.digest) for one in runs]
    return file.state, file.run_count, file.sample_count, file.warnings, file.broken, file.error, read_as


def _without_left_out(before: Sequence[ReadRun], found: FileReading) -> FileReading:
    """Somebody left out what is not chosen and has no rival."""
    left_out = {place for place, one in enumerate(before) if not (one.is_chosen or one.rivals)}
    if not left_out:
        return found
    pairs = paired(places_found(before), places_found(found.runs))
    again = {new for old, new in pairs.items() if old in left_out}
    return with_chosen(found, [one.is_chosen and new not in again for new, one in enumerate(found.runs)])


def _counted(state: str, runs: int, samples: int) -> str:
    return f"{runs} runs with {samples} samples" if runs else FileState(state).label

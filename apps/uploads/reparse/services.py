"""Parsing of uploaded files again after a parser was improved: what changed, run by run, and the new values.

    for change in reparse(files, apply=True): print(change)

A run keeps its id, its host, a person's labels and its place in a study; what was parsed from the text is replaced. It is
recognised by what was read of it and by its lines, not by its number. A run that a parser no longer finds stays as it is and
is reported. New runs are saved where all runs of the file were; where a person chose among them or deleted some, only with
`keep_new`. Of a file of which nothing was saved the preview changes.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence

from django.db import transaction

from apps.runs.artefacts.store import ArtefactStoreError, opened
from apps.uploads.file_reader import FileReading, ReadRun
from apps.uploads.labels import UploadError
from apps.uploads.models import FileState, UploadedFile
from apps.uploads.reparse.differences import differences_read
from apps.uploads.reparse.run_matching import pair_runs, places_found
from apps.uploads.reparse.stored_file import KeptFile, ReparseChange, describe_message_changes, named_runs, with_chosen
from apps.uploads.results import ReadingStore, SiblingReports
from apps.uploads.sandbox.parent import SandboxError, alone, reader
from apps.uploads.save_runs import keep_files


def reparse(files: Iterable[UploadedFile], *, apply: bool, keep_new: bool = False) -> Iterator[ReparseChange]:
    """Parse the files again and yield what changed; with `apply`, write it, one transaction per file."""
    beside: SiblingReports | None = None  # of the upload that is read
    for file in files:
        if beside is None or beside.upload_id != file.upload_id:
            beside = SiblingReports(file.upload_id)
        result = _read_again(file, beside)
        if isinstance(result, str):
            yield ReparseChange(file, result)
            continue
        with transaction.atomic():
            changes = list(_changes(file, result, apply, keep_new))
        yield from changes


def _read_again(file: UploadedFile, beside: SiblingReports) -> FileReading | str:
    if file.artefact is None:
        return "its bytes are not here"
    try:
        return _read(file, beside)
    except (SandboxError, ArtefactStoreError) as error:
        return f"could not be read again: {error}"


def _read(file: UploadedFile, beside: SiblingReports) -> FileReading:
    assert file.artefact
    with opened(file.artefact) as whole, alone:
        return reader().read(whole, file.name, file.only, file.mapping, beside.of(file.name))


def keep_after_all(before: UploadedFile, wanted: Collection[int]) -> list[int]:
    """Save runs that were left out when the file's other runs were saved, as they are parsed now.

    Args:
        wanted: Indices in the file's `left_out`.

    Returns:
        The ids of the new runs.

    Raises:
        UploadError: The file changed meanwhile, or the runs are not found in it any more.
        SandboxError, ArtefactStoreError: The bytes could not be parsed or read.
    """
    expected = "runs that were left out of a file whose other runs are kept"
    if before.artefact is None or not before.left_out or not wanted:
        raise UploadError("run", "none of them", expected)
    result = _read(before, SiblingReports(before.upload_id))
    with transaction.atomic():
        locked = UploadedFile.objects.select_related("artefact", "upload").select_for_update(of=("self",))
        file = locked.filter(pk=before.pk, kept_at__isnull=False).first()
        if file is None or file.left_out != before.left_out:
            raise UploadError("run", "a file that was changed meanwhile", expected)
        stored = KeptFile(file, result).keep_left_out(wanted)
    if not stored:
        raise UploadError("run", "runs that are not read of these bytes any more", expected)
    return stored


def _changes(before: UploadedFile, reading: FileReading, apply: bool, keep_new: bool) -> Iterator[ReparseChange]:
    """Yield the changes of the file as it is in the database now; skip it where a person changed it meanwhile."""
    file = UploadedFile.objects.to_read_again().select_for_update(of=("self",)).filter(pk=before.pk).first()
    if file is None or (file.only, file.mapping) != (before.only, before.mapping):
        yield ReparseChange(before, "somebody has it read otherwise meanwhile; it is left alone")
    elif file.kept_at:
        yield from KeptFile(file, reading).changes(apply, keep_new)
    else:
        yield from _offer(file, reading, apply)


def _offer(file: UploadedFile, reading: FileReading, apply: bool) -> Iterator[ReparseChange]:
    """Update the preview of a file of which nothing is saved, without runs that a person unticked.

    Save them if no preview was asked for.
    """
    old = file.reading
    runs = old.runs if old else ()
    before, counts = _said(file, runs), (file.state, file.run_count, file.sample_count)
    said_before = file.broken, file.warnings
    reading = _without_left_out(runs, reading)
    finder = ReadingStore(file.upload)
    finder.describe(file, reading)
    if before == _said(file, reading.runs if old else ()):
        return
    text = f"{_counted(*counts)} before, {_counted(file.state, file.run_count, file.sample_count)} now"
    if apply:
        finder.write([(file, reading)])
        if file.upload.is_kept_at_once:
            keep_files(file.upload, [(file, reading)])
            text += f", kept as {named_runs(file.new_runs or [])}" if file.new_runs else ""
            same = "the same result, in another form," if file.is_another_form else "the same bytes"
            text += f"; {same} kept as {file.known_as}" if file.state == FileState.KNOWN else ""
    yield ReparseChange(
        file, text, values=(*_of_preview(runs, reading.runs), *describe_message_changes(*said_before, reading))
    )


def _of_preview(before: Sequence[ReadRun], now: Sequence[ReadRun]) -> Iterator[str]:
    pairs = pair_runs(places_found(before), places_found(now))
    for old, new in pairs.items():
        if before[old].digest != now[new].digest:
            yield from differences_read(before[old], now[new])


def _said(file: UploadedFile, runs: Sequence[ReadRun]) -> tuple[object, ...]:
    read_as = [(run.format, run.digest) for run in runs]
    return file.state, file.run_count, file.sample_count, file.warnings, file.broken, file.error, read_as


def _without_left_out(before: Sequence[ReadRun], reading: FileReading) -> FileReading:
    """Return the reading without the runs that a person unticked: those not chosen and without rivals."""
    left_out = {place for place, item in enumerate(before) if not (item.is_chosen or item.rivals)}
    if not left_out:
        return reading
    pairs = pair_runs(places_found(before), places_found(reading.runs))
    again = {new for old, new in pairs.items() if old in left_out}
    return with_chosen(reading, [run.is_chosen and new not in again for new, run in enumerate(reading.runs)])


def _counted(state: str, runs: int, samples: int) -> str:
    return f"{runs} runs with {samples} samples" if runs else FileState(state).label

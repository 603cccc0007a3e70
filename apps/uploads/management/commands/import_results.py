"""`./manage.py import_results PATH… --lab my-lab [--study …] [--host …]`: old result files from this machine's disk.

Files, folders and archives. The same way as an upload: bytes are kept first, the child process reads, what is
recognised is kept at once (`--preview` leaves that to the page). Runs again without doing anything twice.

Exit status 1: nothing was found in what was named, or not every byte of it could be read from the disk.
"""

import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.inventory.models import Host, Target
from apps.labs.command_line import lab_named, tell_of_data_folder
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from apps.runs.artefacts.store import ArtefactStoreError
from apps.studies.models import Study
from apps.uploads.disk_import import DiskFile, DiskPaths, ImportReport, UnreadableFileError
from apps.uploads.labels import UploadError, labels_from_text
from apps.uploads.models import FileState, Upload, UploadedFile
from apps.uploads.pipeline import parse
from apps.uploads.services import add_file, add_files, forget_if_empty, open_upload

_SMALL = 1 << 20
_AT_ONCE = 500
_HELD = 16 << 20  # bytes
_WIDTH = 30


class Command(BaseCommand):
    help = "Import result files, folders of them, or archives (zip, tar, gz, bz2, xz, zst) into a lab."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
        parser.add_argument("--lab", required=True, help="the lab's short name or name")
        parser.add_argument("--study", help="slug of a study to put the runs into")
        parser.add_argument("--host", help="name of the host that the results are of")
        parser.add_argument("--target", help="name of one of the host's targets")
        parser.add_argument("--labels", default="", help="kernel=6.1, cable=old")
        tell_of_data_folder(parser)
        parser.add_argument("--preview", action="store_true", help="keep nothing yet; look at it on the upload's page")

    def handle(self, *args: Any, **options: Any) -> None:
        missing = [str(path) for path in options["paths"] if not path.is_symlink() and not _exists(path)]
        if missing:
            raise CommandError(f"Not here: {', '.join(missing)}")
        lab = lab_named(options["lab"])
        named = DiskPaths(options["paths"])
        with lab_scope(lab.pk):
            upload = self._open(lab, options)
            self._add(upload, named)
            self._read(upload)
            upload.refresh_from_db(fields=["joined"])
            names = ("study", "host", "target", "labels") if options["preview"] else ("host", "target", "labels")
            report = ImportReport(upload.pk, named, [f"--{name}" for name in names if options[name]], upload.joined)
            for line in report.lines():
                self.stdout.write(line)
            if report.failure:
                raise CommandError(report.failure)

    def _open(self, lab: Lab, options: dict[str, Any]) -> Upload:
        host = _named(Host, "name", options["host"])
        try:
            return open_upload(
                lab,
                str(options["paths"][0]),
                door=Upload.Door.COMMAND,
                actor="command line",
                study=_named(Study, "slug", options["study"]),
                host=host,
                target=_named(Target, "name", options["target"], **({"host": host} if host else {})),
                labels=labels_from_text(options["labels"]),
                keep_at_once=not options["preview"],
            )
        except UploadError as error:
            raise CommandError(str(error)) from error

    def _add(self, upload: Upload, named: DiskPaths) -> None:
        count = 0
        files = named.files()
        try:
            for batch in _batches(files):
                count += _keep(upload, batch, named)
                self._say(f"kept {count} files")
        except ArtefactStoreError as error:
            here = forget_if_empty(upload)
            where = f", in upload {upload.pk}, which a worker reads" if here else ""
            raise CommandError(f"{error} Of what was named, {here} files are here{where}.") from error
        if not count:
            forget_if_empty(upload)
            raise CommandError("\n".join([*named.unreadable, "There are no files in what was named."]))

    def _read(self, upload: Upload) -> None:
        upload.claim()
        files = UploadedFile.objects.filter(upload=upload)
        while not parse(upload, progress=lambda: self._bar(files)):
            upload.claim()
        self._bar(files)
        self._say("", end="\n")

    def _bar(self, files: Any) -> None:
        total, waiting = files.count(), files.filter(state=FileState.WAITING).count()
        done = total - waiting
        filled = _WIDTH * done // max(total, 1)
        self._say(f"[{'#' * filled}{'.' * (_WIDTH - filled)}] {done} of {total} files read")

    def _say(self, text: str, end: str = "\r") -> None:
        """Write a progress line over the last one on a terminal; write nothing to a log."""
        if sys.stderr.isatty():
            self.stderr.write(f"{text:<78}", ending=end)


def _batches(files: Iterator[DiskFile]) -> Iterator[list[DiskFile]]:
    """Yield files in batches that fit into memory."""
    batch: list[DiskFile] = []
    held = 0
    for file in files:
        batch.append(file)
        held += file.size if file.size <= _SMALL else 0
        if len(batch) >= _AT_ONCE or held >= _HELD:
            yield batch
            batch, held = [], 0
    if batch:
        yield batch


def _keep(upload: Upload, files: list[DiskFile], named: DiskPaths) -> int:
    """Store the bytes of files in the upload.

    Returns:
        How many were stored; the others are listed in `named.unreadable`.
    """
    small = []
    for item in (file for file in files if file.size <= _SMALL):
        try:
            small.append((item.name, item.read()))
        except UnreadableFileError as error:
            named.unreadable.append(str(error))
    add_files(upload, small)
    count = len(small)
    for item in (file for file in files if file.size > _SMALL):
        try:
            add_file(upload, item.name, item.pieces())
            count += 1
        except UnreadableFileError as error:
            named.unreadable.append(str(error))
    return count


def _exists(path: Path) -> bool:
    """Return whether a path exists, or may: without permission to look, reading it tells why not."""
    try:
        return path.exists()
    except OSError:
        return True


def _named(model: Any, field: str, text: str | None, **also: Any) -> Any:
    if not text:
        return None
    result = list(model.objects.filter(**{field: text}, **also)[:2])
    if len(result) != 1:
        word = model.__name__.lower()
        known = ", ".join(map(str, model.objects.values_list(field, flat=True)[:20]))
        expected = f"expected one of: {known}" if known else f"and there is no {word} yet; add one on the pages first"
        raise CommandError(f"--{word}: found {text!r}, {expected}")
    return result[0]

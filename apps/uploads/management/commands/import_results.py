"""`./manage.py import_results PATH… --lab my-lab [--study …] [--host …]`: old result files from this machine's disk.

Files, folders and archives. The same way as an upload: bytes are kept first, the child process reads, what is
recognised is kept at once (`--preview` leaves that to the page). Runs again without doing anything twice.
"""

import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.inventory.models import Host, Target
from apps.labs.command_line import lab_named, tell_of_data_folder
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from apps.runs.artefact_store import PIECE
from apps.studies.models import Study
from apps.uploads.models import FileState, Upload, UploadedFile
from apps.uploads.parsing import parse
from apps.uploads.receiving import UploadError, add_file, add_files, labels_from_text, open_upload

_SMALL = 1 << 20
_AT_ONCE = 500
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
        missing = [str(path) for path in options["paths"] if not path.exists()]
        if missing:
            raise CommandError(f"Not here: {', '.join(missing)}")
        lab = lab_named(options["lab"])
        with lab_scope(lab.pk):
            upload = self._open(lab, options)
            self._add(upload, options["paths"])
            self._read(upload)
            self._report(upload)

    def _open(self, lab: Lab, options: dict[str, Any]) -> Upload:
        host = _named(Host, "name", options["host"])
        try:
            return open_upload(
                lab,
                str(options["paths"][0]),
                door=Upload.Door.COMMAND,
                who="command line",
                study=_named(Study, "slug", options["study"]),
                host=host,
                target=_named(Target, "name", options["target"], **({"host": host} if host else {})),
                labels=labels_from_text(options["labels"]),
                keep_at_once=not options["preview"],
            )
        except UploadError as error:
            raise CommandError(str(error)) from error

    def _add(self, upload: Upload, paths: list[Path]) -> None:
        count = 0
        files = _files(paths)
        while batch := list(islice(files, _AT_ONCE)):
            small = [(name, path) for name, path, size in batch if size <= _SMALL]
            add_files(upload, [(name, path.read_bytes()) for name, path in small])
            for name, path, _ in (one for one in batch if one[2] > _SMALL):
                add_file(upload, name, _pieces(path))
            count += len(batch)
            self._say(f"kept {count} files")
        if not count:
            raise CommandError("There are no files in what was named.")

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
        """One line that is written over, where somebody watches; nothing in a log."""
        if sys.stderr.isatty():
            self.stderr.write(f"{text:<78}", ending=end)

    def _report(self, upload: Upload) -> None:
        found = Upload.objects.with_counts().get(pk=upload.pk)
        self.stdout.write(
            f"Upload {found.pk}: {found.get_state_display()}; {found.file_count} files, {found.run_count} runs, "
            f"{found.sample_count} samples."
        )
        for file in UploadedFile.objects.filter(upload=upload, error__isnull=False).light()[:50]:
            where = f" line {file.error['line']}" if file.error["line"] else ""
            self.stdout.write(f"  {file.name}{where}: {file.error['message']}")


def _named(model: Any, field: str, asked: str | None, **also: Any) -> Any:
    if not asked:
        return None
    found = list(model.objects.filter(**{field: asked}, **also)[:2])
    if len(found) != 1:
        known = ", ".join(map(str, model.objects.values_list(field, flat=True)[:20])) or "none"
        raise CommandError(f"--{model.__name__.lower()}: found {asked!r}, expected one of: {known}")
    return found[0]


def _files(paths: list[Path]) -> Iterator[tuple[str, Path, int]]:
    """(name to show, where it lies, its size), sorted; links and devices are left out."""
    for path in paths:
        inside = sorted(path.rglob("*")) if path.is_dir() else [path]
        for one in inside:
            if one.is_file() and not one.is_symlink():
                yield (
                    str(Path(path.name) / one.relative_to(path)) if path.is_dir() else one.name,
                    one,
                    one.stat().st_size,
                )


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            yield piece

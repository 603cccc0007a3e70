"""Files on this machine's disk for `manage.py import_results`, and the report that the command prints about an import.

A symbolic link named on the command line is followed; a link inside a folder is not, because it may lead anywhere.
Files that cannot be read are listed, and the others are imported.
"""

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from django.db.models import Q

from apps.core.text import make_printable
from apps.runs.artefacts.store import PIECE
from apps.uploads.host_matching import named_hosts
from apps.uploads.models import FileQuerySet, FileState, Upload, UploadedFile


class UnreadableFileError(Exception):
    """No error of the artefact store, though it may come up in the middle of keeping: the file itself cannot be read."""


@dataclass(frozen=True)
class DiskFile:
    name: str  # to show: with the folders below the one that was named
    path: Path
    size: int
    is_followed: bool = False  # where it is a link

    def read(self) -> bytes:
        """Return all bytes of a small file.

        Raises:
            UnreadableError: The file cannot be read.
        """
        return b"".join(self.pieces())

    def pieces(self) -> Iterator[bytes]:
        """Yield the file's bytes in pieces.

        Raises:
            UnreadableError: The file cannot be read.
        """
        try:
            with self._opened() as file:
                while piece := file.read(PIECE):
                    yield piece
        except OSError as error:
            raise UnreadableFileError(unreadable(self.path, error)) from error

    def _opened(self) -> IO[bytes]:
        """Open the file without following a link and without waiting for a pipe: the path may be another thing by now."""
        link = 0 if self.is_followed else os.O_NOFOLLOW
        file = os.fdopen(os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | link), "rb")
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            file.close()
            raise UnreadableFileError(no_file(self.path))
        return file


@dataclass
class DiskPaths:
    """What was named, with a sentence for each thing that cannot be read, and how many links and devices lay beside."""

    paths: Sequence[Path]
    unreadable: list[str] = field(default_factory=list)
    left_out: int = 0

    def files(self) -> Iterator[DiskFile]:
        """Yield the files that were named, and the files below each named folder in sorted order."""
        for path in self.paths:
            try:
                is_folder = path.is_dir()
                yield from self._inside(path) if is_folder else self._file(path.name, path, path.stat())
            except OSError as error:
                self._note(path, error)

    def _inside(self, folder: Path) -> Iterator[DiskFile]:
        """Yield the files below a folder, holding the names of one folder per level in memory."""
        levels = [iter(self._names(folder))]
        while levels:
            if (path := next(levels[-1], None)) is None:
                levels.pop()
                continue
            try:
                status = path.lstat()
            except OSError as error:
                self._note(path, error)
                continue
            if stat.S_ISDIR(status.st_mode):
                levels.append(iter(self._names(path)))
            elif stat.S_ISREG(status.st_mode):
                yield DiskFile(str(Path(folder.name) / path.relative_to(folder)), path, status.st_size)
            else:
                self.left_out += 1

    def _names(self, folder: Path) -> list[Path]:
        try:
            with os.scandir(folder) as entries:
                return [folder / name for name in sorted(entry.name for entry in entries)]
        except OSError as error:
            self._note(folder, error)
            return []

    def _file(self, name: str, path: Path, status: os.stat_result) -> Iterator[DiskFile]:
        if stat.S_ISREG(status.st_mode):
            yield DiskFile(name, path, status.st_size, is_followed=True)
        else:
            self.unreadable.append(no_file(path))

    def _note(self, path: Path, error: OSError) -> None:
        self.unreadable.append(unreadable(path, error))


def printable(path: Path) -> str:
    """Return a path on one line of text, with unprintable characters replaced."""
    return make_printable(str(path))


def unreadable(path: Path, error: OSError) -> str:
    return f"{printable(path)}: cannot be read: {error.strerror or error}"


def no_file(path: Path) -> str:
    return f"{printable(path)}: found a pipe or a device, expected a file or a folder"


KNOWN = 50  # named; the others are counted
NAMES = 10  # of hosts
_BROKEN = 5  # runs of one file


class ImportReport:
    """`given`: the options that change nothing of runs that are here already; `joined`: what became of these otherwise."""

    def __init__(self, upload_id: int, named: DiskPaths, given: Sequence[str], joined: str = "") -> None:
        self.upload: Any = Upload.objects.with_counts().get(pk=upload_id)
        self.named, self.given, self.joined = named, given, joined
        self.files = UploadedFile.objects.filter(upload=upload_id)

    @cached_property
    def known(self) -> int:
        return int(self.files.filter(state=FileState.KNOWN).count())

    @property
    def failure(self) -> str:
        """Return why the import is no success, or an empty string.

        Stored bytes can be parsed again; unreadable ones may be lost.
        """
        if not self.upload.has_ended:
            return self.upload.problem or f"Upload {self.upload.pk} is still {self.upload.get_state_display()}."
        if self.named.unreadable:
            return f"Not everything could be read from the disk: {len(self.named.unreadable)} of what was named are not here."
        has_content = (
            Q(run_count__gt=0) | Q(inventory__isnull=False) | Q(workloads__isnull=False) | Q(state=FileState.KNOWN)
        )
        if not self.files.filter(has_content).exists():
            return "No results were found in what was named. The bytes are kept."
        return ""

    def lines(self) -> Iterator[str]:
        upload = self.upload
        known = f", {self.known} known files" if self.known else ""
        yield (
            f"Upload {upload.pk}: {upload.get_state_display()}; {upload.file_count} files, {upload.run_count} runs, "
            f"{upload.sample_count} samples{known}."
        )
        for sentence in self.named.unreadable:
            yield f"  {sentence}"
        if self.named.left_out:
            yield f"  {self.named.left_out} links, pipes or devices inside folders were left out."
        yield from self._known_lines()
        yield from self._host_lines()
        for file in self._failed().light().iterator():
            for problem in [file.error] if file.error else file.broken[:_BROKEN]:
                yield f"  {problem_line(file.name, problem)}"
            if len(file.broken) > _BROKEN and not file.error:
                yield f"  {file.name}: {len(file.broken) - _BROKEN} more runs that could not be read"

    def _host_lines(self) -> Iterator[str]:
        """Yield a line about host names in the files that no host of the lab has."""
        if nobodys := [host.name for host in named_hosts(self.upload) if host.is_a_name and host.known_id is None]:
            more = f" and {len(nobodys) - NAMES} more" if len(nobodys) > NAMES else ""
            yield (
                f"  The lab has no host called {', '.join(nobodys[:NAMES])}{more}: the upload's page asks which hosts they are."
            )

    def _failed(self) -> FileQuerySet:
        files: FileQuerySet = self.files.filter(state__in=(FileState.FAILED, FileState.REFUSED, FileState.PARTLY))
        return files

    def _known_lines(self) -> Iterator[str]:
        known = self.files.filter(state=FileState.KNOWN).light().select_related("known_as")
        for file in known.defer("packed", "known_as__packed")[:KNOWN]:
            yield f"  {file.name}: {_known_as(file)}"
        if self.known > KNOWN:
            yield f"  {self.known - KNOWN} more files are known."
        if self.joined:
            yield f"  {self.joined}"
        if self.given and known.exclude(known_as__upload=self.upload.pk).exists():
            yield f"  {', '.join(self.given)}: the runs of known files stay as they are."


def _known_as(file: UploadedFile) -> str:
    first = file.known_as
    if first is None:
        return "known"
    if first.upload_id == file.upload_id:
        return f"known, the same {'result in another form' if file.is_another_form else 'bytes'} as {first.name}"
    form = ", the same result in another form," if file.is_another_form else ","
    return f"known{form} kept before as {first.name} of upload {first.upload_id}"


def problem_line(name: str, problem: dict[str, object]) -> str:
    """Return a problem of a file in one line, such as `milk.txt line 1: no format recognises this file; found 'buy milk', expected …`."""
    where = f" line {problem['line']}" if problem.get("line") else ""
    found_text = f"; found {problem['found']!r}" if problem.get("found") else ""
    expected = f"{',' if found_text else ';'} expected {problem['expected']}" if problem.get("expected") else ""
    return f"{name}{where}: {problem['message']}{found_text}{expected}"

"""Files of this machine's disk, as a command line names them: files, and folders with all that lies in them.

A link that was named is followed, one inside a folder never: it may lead anywhere. What cannot be read is told, and the
others go on.
"""

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from apps.runs.artefact_store import PIECE


class UnreadableError(Exception):
    """No error of the artefact store, though it may come up in the middle of keeping: the file itself cannot be read."""


@dataclass(frozen=True)
class DiskFile:
    name: str  # to show: with the folders below the one that was named
    path: Path
    size: int
    is_followed: bool = False  # where it is a link

    def read(self) -> bytes:
        """All of a small one. Raises `UnreadableError`."""
        return b"".join(self.pieces())

    def pieces(self) -> Iterator[bytes]:
        """Raises `UnreadableError`."""
        try:
            with self._opened() as file:
                while piece := file.read(PIECE):
                    yield piece
        except OSError as error:
            raise UnreadableError(unreadable(self.path, error)) from error

    def _opened(self) -> IO[bytes]:
        """What lay there may be another thing by now: nobody waits for a pipe, and no link leads out of a folder."""
        link = 0 if self.is_followed else os.O_NOFOLLOW
        file = os.fdopen(os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | link), "rb")
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            file.close()
            raise UnreadableError(no_file(self.path))
        return file


@dataclass
class Named:
    """What was named, with a sentence for each thing that cannot be read, and how many links and devices lay beside."""

    paths: Sequence[Path]
    unreadable: list[str] = field(default_factory=list)
    left_out: int = 0

    def files(self) -> Iterator[DiskFile]:
        """Each folder's sorted."""
        for path in self.paths:
            try:
                is_folder = path.is_dir()
                yield from self._inside(path) if is_folder else self._file(path.name, path, path.stat())
            except OSError as error:
                self._note(path, error)

    def _inside(self, folder: Path) -> Iterator[DiskFile]:
        """However deep and large it is, only the names of one folder in each level are held."""
        levels = [iter(self._names(folder))]
        while levels:
            if (path := next(levels[-1], None)) is None:
                levels.pop()
                continue
            try:
                found = path.lstat()
            except OSError as error:
                self._note(path, error)
                continue
            if stat.S_ISDIR(found.st_mode):
                levels.append(iter(self._names(path)))
            elif stat.S_ISREG(found.st_mode):
                yield DiskFile(str(Path(folder.name) / path.relative_to(folder)), path, found.st_size)
            else:
                self.left_out += 1

    def _names(self, folder: Path) -> list[Path]:
        try:
            with os.scandir(folder) as found:
                return [folder / name for name in sorted(one.name for one in found)]
        except OSError as error:
            self._note(folder, error)
            return []

    def _file(self, name: str, path: Path, found: os.stat_result) -> Iterator[DiskFile]:
        if stat.S_ISREG(found.st_mode):
            yield DiskFile(name, path, found.st_size, is_followed=True)
        else:
            self.unreadable.append(no_file(path))

    def _note(self, path: Path, error: OSError) -> None:
        self.unreadable.append(unreadable(path, error))


def printable(path: Path) -> str:
    """On one line of a log, whatever bytes the name has."""
    return "".join(one if one.isprintable() else "\ufffd" for one in str(path))


def unreadable(path: Path, error: OSError) -> str:
    return f"{printable(path)}: cannot be read: {error.strerror or error}"


def no_file(path: Path) -> str:
    return f"{printable(path)}: found a pipe or a device, expected a file or a folder"

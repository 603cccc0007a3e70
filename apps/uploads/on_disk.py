"""Files of this machine's disk, as a command line names them: files, and folders with all that lies in them.

A link that was named is followed, one inside a folder never: it may lead anywhere. What cannot be read is told, and the
others go on.
"""

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from apps.runs.artefact_store import PIECE


class UnreadableError(Exception):
    """No error of the artefact store, though it may come up in the middle of keeping: the file itself cannot be read."""


@dataclass(frozen=True)
class DiskFile:
    name: str  # to show: with the folders below the one that was named
    path: Path
    size: int

    def read(self) -> bytes:
        """All of a small one. Raises `UnreadableError`."""
        return b"".join(self.pieces())

    def pieces(self) -> Iterator[bytes]:
        """Raises `UnreadableError`."""
        try:
            with self.path.open("rb") as file:
                while piece := file.read(PIECE):
                    yield piece
        except OSError as error:
            raise UnreadableError(unreadable(self.path, error)) from error


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
        walked = os.walk(folder, onerror=lambda error: self._note(Path(error.filename), error))
        for path in sorted(
            Path(below, name) for below, links, names in walked for name in (*names, *_links(below, links))
        ):
            try:
                found = path.lstat()
            except OSError as error:
                self._note(path, error)
                continue
            if stat.S_ISREG(found.st_mode):
                yield from self._file(str(Path(folder.name) / path.relative_to(folder)), path, found)
            else:
                self.left_out += 1

    def _file(self, name: str, path: Path, found: os.stat_result) -> Iterator[DiskFile]:
        if stat.S_ISREG(found.st_mode):
            yield DiskFile(name, path, found.st_size)
        else:
            self.unreadable.append(f"{printable(path)}: found a pipe or a device, expected a file or a folder")

    def _note(self, path: Path, error: OSError) -> None:
        self.unreadable.append(unreadable(path, error))


def printable(path: Path) -> str:
    """On one line of a log, whatever bytes the name has."""
    return "".join(one if one.isprintable() else "\ufffd" for one in str(path))


def unreadable(path: Path, error: OSError) -> str:
    return f"{printable(path)}: cannot be read: {error.strerror or error}"


def _links(folder: str, names: Iterable[str]) -> list[str]:
    """Those of the folders that are links: nobody goes in, so they are counted as files are."""
    return [name for name in names if Path(folder, name).is_symlink()]

"""Where artefacts' bytes lie: ARTEFACT_DIR/aa/bb/<sha256>.z, zlib, named by the SHA-256 of the bytes before
compression.

    artefact = keep(lab.pk, data)          # bytes, or an iterable of them
    data = read(artefact)
    for piece in open_stream(artefact): …

The file is whole on the disk before there is a row: written aside, fsynced, renamed, the folder fsynced. Labs that keep
the same bytes share the file and know nothing of it: the way to it leads through a lab's own row, never through a hash
from a request.
"""

import errno
import hashlib
import os
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO

from django.conf import settings

from apps.runs.models import Artefact

PIECE = 1 << 20
_THREADS = 8
LEVEL = 1  # fio's JSON shrinks to a fifth; higher levels cost more than they save


class ArtefactStoreError(OSError):
    """Bytes could not be kept or read; nothing half-written stays behind."""


def keep(lab_id: int, data: bytes | Iterable[bytes]) -> Artefact:
    """The lab's artefact with these bytes; kept once, however often they come. Needs the lab's scope."""
    sha256, size = (_had(data) or _store([data])) if isinstance(data, bytes) else _store(data)
    artefact: Artefact = Artefact.objects.get_or_create(lab_id=lab_id, sha256=sha256, defaults={"size": size})[0]
    return artefact


def keep_all(lab_id: int, many: Sequence[bytes]) -> list[Artefact]:
    """The same for many at once, in their order: one question and one insert for all of them."""
    hashes = [hashlib.sha256(data).hexdigest() for data in many]
    sizes = dict(zip(hashes, map(len, many), strict=True))
    new_here = {sha256: data for sha256, data in zip(hashes, many, strict=True) if not path_of(sha256).exists()}
    if new_here:  # threads, because each waits for its own fsync, and the disk takes many of them at once
        with ThreadPoolExecutor(min(_THREADS, len(new_here))) as pool:
            list(pool.map(lambda data: _store([data]), new_here.values()))
    mine = Artefact.objects.filter(lab_id=lab_id, sha256__in=sizes)
    missing = sizes.keys() - set(mine.values_list("sha256", flat=True))
    new = [Artefact(lab_id=lab_id, sha256=sha256, size=sizes[sha256]) for sha256 in sorted(missing)]
    Artefact.objects.bulk_create(new, ignore_conflicts=True)
    found = {one.sha256: one for one in mine.all()}
    return [found[sha256] for sha256 in hashes]


def read(artefact: Artefact) -> bytes:
    """All of it, checked against its hash."""
    return b"".join(open_stream(artefact))


def open_stream(artefact: Artefact) -> Iterator[bytes]:
    """The bytes in pieces, in constant memory. `ArtefactStoreError` where the file is gone, or at the end where it was
    altered.
    """
    try:
        file = path_of(artefact.sha256).open("rb")
    except OSError as error:
        message = f"The bytes of artefact {artefact.sha256} cannot be read: {error}"
        raise ArtefactStoreError(error.errno, message) from error
    with file:
        yield from _checked(file, artefact.sha256)


def path_of(sha256: str) -> Path:
    return Path(settings.ARTEFACT_DIR) / sha256[:2] / sha256[2:4] / f"{sha256}.z"


def _had(data: bytes) -> tuple[str, int] | None:
    """Bytes that lie there already need not be written to be found the same."""
    sha256 = hashlib.sha256(data).hexdigest()
    return (sha256, len(data)) if path_of(sha256).exists() else None


def _checked(file: IO[bytes], sha256: str) -> Iterator[bytes]:
    unpacker, digest = zlib.decompressobj(), hashlib.sha256()
    try:
        while packed := file.read(PIECE):
            while packed:
                piece = unpacker.decompress(packed, PIECE)
                digest.update(piece)
                yield piece
                packed = unpacker.unconsumed_tail
        rest = unpacker.flush()
    except zlib.error as error:
        raise ArtefactStoreError(errno.EIO, f"The kept bytes of artefact {sha256} are damaged: {error}") from error
    digest.update(rest)
    yield rest
    if digest.hexdigest() != sha256:
        message = f"The kept bytes of artefact {sha256} were altered: their SHA-256 is {digest.hexdigest()}"
        raise ArtefactStoreError(errno.EIO, message)


def _store(pieces: Iterable[bytes]) -> tuple[str, int]:
    folder = Path(settings.ARTEFACT_DIR)
    try:
        _make_folder(folder)
        handle, name = tempfile.mkstemp(prefix=".new-", dir=folder)
        try:
            with os.fdopen(handle, "wb") as file:
                sha256, size = _write(file, pieces)
            _put_in_place(Path(name), path_of(sha256))
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError as error:
        message = f"The bytes could not be kept in {folder}: {error.strerror or error}. {_way_out(error)}"
        raise ArtefactStoreError(error.errno, message) from error
    return sha256, size


def _write(file: IO[bytes], pieces: Iterable[bytes]) -> tuple[str, int]:
    packer, digest, size = zlib.compressobj(LEVEL), hashlib.sha256(), 0
    for piece in pieces:
        digest.update(piece)
        size += len(piece)
        file.write(packer.compress(piece))
    file.write(packer.flush())
    file.flush()
    os.fsync(file.fileno())
    return digest.hexdigest(), size


def _put_in_place(new: Path, final: Path) -> None:
    _make_folder(final.parent)
    if not final.exists():
        new.rename(final)
        _fsync(final.parent)


def _make_folder(folder: Path) -> None:
    """With every folder that is made fsynced into the one above it."""
    if folder.is_dir():
        return
    _make_folder(folder.parent)
    folder.mkdir(mode=0o750, exist_ok=True)
    _fsync(folder.parent)


def _fsync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _way_out(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "Free some space there; it is tried again, and nothing was lost."
    return "Look at the folder and its owner."

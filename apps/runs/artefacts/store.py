"""The store of artefacts' bytes, compressed: few bytes in the database, many in files named by their SHA-256.

    artefact = keep(lab.pk, data)          # bytes, or an iterable of them
    data = read(artefact)
    for piece in open_stream(artefact): …

Up to `SMALL` bytes are a row of `SmallBytes` and are written by the caller's transaction. More bytes go to
ARTEFACT_DIR/aa/bb/<sha256>.z (zlib), which is complete on disk before its row exists: written to a temporary file,
fsynced, renamed, the folder fsynced. Labs that store the same bytes share the file without knowing; a file is only
reached through a row of one's own lab, never through a hash in a request.
"""

import errno
import hashlib
import os
import tempfile
import zlib
from collections import deque
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from itertools import chain
from pathlib import Path
from typing import IO

import zstandard
from django.conf import settings
from django.db import transaction

from apps.runs.models import Artefact, SmallBytes

PIECE = 1 << 20
SMALL = 64 << 10  # bytes before compression
_THREADS = 8
LEVEL = 1  # fio's JSON shrinks to a fifth; higher levels cost more than they save


class ArtefactStoreError(OSError):
    """Bytes could not be kept or read; nothing half-written stays behind. As text it is a sentence for people."""

    def __str__(self) -> str:
        return str(self.strerror)


class LostBytesError(ArtefactStoreError):
    """Bytes that were kept are gone, damaged or altered. Trying again helps nothing; a backup of the folder does."""


def keep(lab_id: int, data: bytes | Iterable[bytes]) -> Artefact:
    """Store bytes as an artefact of the lab, once however often they come. Needs the lab's scope.

    Raises:
        ArtefactStoreError: They could not be written; nothing half-written stays.
    """
    if isinstance(data, bytes):
        return keep_all(lab_id, [data])[0]
    with closing(_one_after_another(data)) as pieces:  # the database's cursor behind them, too, whatever happens
        head = _head(pieces)
        return _keep_file(lab_id, chain([head], pieces)) if len(head) > SMALL else keep_all(lab_id, [head])[0]


def _one_after_another(pieces: Iterable[bytes]) -> Generator[bytes, None, None]:
    yield from pieces


def keep_all(lab_id: int, many: Sequence[bytes]) -> list[Artefact]:
    """Store many byte strings in a few statements, and return their artefacts in the same order."""
    hashes = [hashlib.sha256(data).hexdigest() for data in many]
    wanted = dict(zip(hashes, many, strict=True))
    artefacts = _held(lab_id, wanted)
    if missing := {sha256: data for sha256, data in wanted.items() if sha256 not in artefacts}:
        _store_all([data for data in missing.values() if len(data) > SMALL])
        artefacts |= _add(lab_id, missing)
    return [artefacts[sha256] for sha256 in hashes]


def _head(pieces: Iterator[bytes]) -> bytes:
    """Return the first bytes, slightly more than `SMALL`, or all of them where there are fewer."""
    head = b""
    for piece in pieces:
        head += piece
        if len(head) > SMALL:
            break
    return head


def _keep_file(lab_id: int, pieces: Iterable[bytes]) -> Artefact:
    sha256, size = _store(pieces)
    artefact: Artefact = Artefact.objects.get_or_create(lab_id=lab_id, sha256=sha256, defaults={"size": size})[0]
    return artefact


def _held(lab_id: int, hashes: Collection[str]) -> dict[str, Artefact]:
    """Return the lab's artefacts with these hashes whose bytes exist.

    Lost ones are missing, so that they are stored again.
    """
    here = Artefact.objects.filter(lab_id=lab_id, sha256__in=hashes).select_related("small").defer("small__packed")
    return {row.sha256: row for row in here if hasattr(row, "small") or path_of(row.sha256).exists()}


def _store_all(many: Sequence[bytes]) -> None:
    if many:  # threads, because each waits for its own fsync, and the disk takes many of them at once
        with ThreadPoolExecutor(min(_THREADS, len(many))) as pool:
            list(pool.map(lambda data: _store([data]), many))


def _add(lab_id: int, new: dict[str, bytes]) -> dict[str, Artefact]:
    """Create rows for all of them, and for the bytes of those that are few; who adds the same at the same time goes first."""
    hashes = sorted(new)  # in one order, or two who keep the same bytes would wait for each other
    pack = zstandard.ZstdCompressor().compress
    with transaction.atomic(savepoint=False):
        rows = [Artefact(lab_id=lab_id, sha256=sha256, size=len(new[sha256])) for sha256 in hashes]
        Artefact.objects.bulk_create(rows, ignore_conflicts=True)
        artefacts = {row.sha256: row for row in Artefact.objects.filter(lab_id=lab_id, sha256__in=hashes)}
        few = [sha256 for sha256 in hashes if len(new[sha256]) <= SMALL]
        SmallBytes.objects.bulk_create(
            (SmallBytes(artefact_id=artefacts[sha256].pk, packed=pack(new[sha256])) for sha256 in few),
            ignore_conflicts=True,
        )
    return artefacts


def read(artefact: Artefact) -> bytes:
    """Return all bytes, checked against the hash.

    Raises:
        LostBytesError: They are gone, damaged or altered.
    """
    return b"".join(open_stream(artefact))


def tail(artefact: Artefact, most: int) -> bytes:
    """Return the last `most` bytes; all bytes are checked, with two pieces in memory."""
    ends: deque[bytes] = deque()
    held = 0
    for piece in open_stream(artefact):
        ends.append(piece)
        held += len(piece)
        while held - len(ends[0]) >= most:
            held -= len(ends.popleft())
    return b"".join(ends)[-most:]


def open_stream(artefact: Artefact) -> Iterator[bytes]:
    """Return the bytes in pieces, in constant memory.

    Raises:
        LostBytesError: At once if the file is gone or not one of ours, at the last piece if it was altered.
    """
    pieces = _pieces(artefact)
    return chain(
        [next(pieces, b"")], pieces
    )  # who answers with a stream learns of a lost file before the answer begins


def _pieces(artefact: Artefact) -> Iterator[bytes]:
    if artefact.size <= SMALL and (small := getattr(artefact, "small", None)) is not None:
        yield _unpacked(small, artefact.sha256)
        return
    try:
        file = path_of(artefact.sha256).open("rb")
    except OSError as error:
        message = f"The bytes of artefact {artefact.sha256} cannot be read: {error.strerror or error}"
        raise LostBytesError(error.errno, message) from error
    with file:
        yield from _checked(file, artefact.sha256)


def path_of(sha256: str) -> Path:
    return Path(settings.ARTEFACT_DIR) / sha256[:2] / sha256[2:4] / f"{sha256}.z"


def _unpacked(small: SmallBytes, sha256: str) -> bytes:
    try:
        data = zstandard.ZstdDecompressor().decompress(small.packed)
    except zstandard.ZstdError as error:
        raise _damaged(sha256, error) from error
    _same(hashlib.sha256(data).hexdigest(), sha256)
    return data


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
    except (zlib.error, OSError) as error:
        raise _damaged(sha256, error) from error
    digest.update(rest)
    yield rest
    _same(digest.hexdigest(), sha256)


def _damaged(sha256: str, error: Exception) -> LostBytesError:
    return LostBytesError(errno.EIO, f"The kept bytes of artefact {sha256} are damaged: {error}")


def _same(digest: str, sha256: str) -> None:
    if digest != sha256:
        message = f"The kept bytes of artefact {sha256} were altered: their SHA-256 is {digest}"
        raise LostBytesError(errno.EIO, message)


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
    """Rename a new file to its final path, also over an existing one, which has the same bytes or lost them."""
    _make_folder(final.parent)
    new.replace(final)
    _fsync(final.parent)


def _make_folder(folder: Path) -> None:
    """Create a folder and its parents, each fsynced into its parent."""
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
        return "Free some space there, then send it again; what is here already is whole."
    return "Look at the folder and its owner."


@contextmanager
def opened(artefact: Artefact) -> Iterator[bytes | IO[bytes]]:
    """Provide all bytes of an artefact: as bytes if they are few, else as an open file.

    Raises:
        ArtefactStoreError: As `spooled`.
    """
    if artefact.size <= PIECE:
        yield read(artefact)
    else:
        with spooled(artefact) as whole:
            yield whole


def spooled(artefact: Artefact) -> IO[bytes]:
    """Return the artefact's bytes in a file without a name, which is gone when closed.

    Raises:
        LostBytesError: The stored bytes are damaged.
        ArtefactStoreError: There is no room for a copy.
    """
    folder = Path(settings.ARTEFACT_DIR)
    try:
        folder.mkdir(mode=0o750, parents=True, exist_ok=True)  # a small archive itself lies in the database
        file = tempfile.TemporaryFile(prefix=".spool-", dir=folder)  # noqa: SIM115  (the caller closes it)
        for piece in open_stream(artefact):
            file.write(piece)
        file.flush()
        file.seek(0)
    except ArtefactStoreError:
        raise
    except OSError as error:
        message = f"The bytes {artefact} could not be put aside in {folder}: {error.strerror or error}"
        raise ArtefactStoreError(error.errno, message) from error
    return file

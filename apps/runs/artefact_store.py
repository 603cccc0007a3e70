"""Where artefacts' bytes lie: up to `SMALL` of them in the database (`SmallBytes`), more in ARTEFACT_DIR/aa/bb/<sha256>.z, zlib, named by
the SHA-256 of the bytes before compression.

    artefact = keep(lab.pk, data)          # bytes, or an iterable of them
    data = read(artefact)
    for piece in open_stream(artefact): …

Few bytes are on the disk when the caller's transaction is. A file is whole on the disk before there is a row: written aside, fsynced,
renamed, the folder fsynced. Labs that keep the same big file share it and know nothing of it: the way to it leads through a lab's own row,
never through a hash from a request.
"""

import errno
import hashlib
import os
import tempfile
import zlib
from collections import deque
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import IO, Any

import zstandard
from django.conf import settings
from django.db import connection

from apps.lib.sql import rows
from apps.runs.models import Artefact, SmallBytes

PIECE = 1 << 20
SMALL = 64 << 10  # bytes before compression
_THREADS = 8
LEVEL = 1  # fio's JSON shrinks to a fifth; higher levels cost more than they save
# Rows and few bytes, as parts of a statement; `given`: what has to be there first.
KEEPING = """
new AS (
    SELECT new.* FROM {given}unnest(%(hashes)s::text[], %(sizes)s::bigint[], %(packed)b::bytea[]) AS new(sha256, size, packed)
), added AS (
    INSERT INTO runs_artefact (lab_id, sha256, size, created_at) SELECT %(lab)s, sha256, size, now() FROM new
    ON CONFLICT (lab_id, sha256) DO UPDATE SET size = EXCLUDED.size RETURNING id, sha256, size, created_at, xmax = 0 AS is_new
), bytes AS (
    INSERT INTO runs_smallbytes (artefact_id, packed) SELECT id, packed FROM added JOIN new USING (sha256)
    WHERE packed IS NOT NULL ON CONFLICT (artefact_id) DO NOTHING
)"""
KEPT = "added.id, added.sha256, added.size, added.created_at, added.is_new"  # the columns of `as_kept`
_ADD = f"WITH {KEEPING.format(given='')} SELECT {KEPT} FROM added"  # noqa: S608  (constant)

_FIELDS = ("id", "lab_id", "sha256", "size", "created_at")


class ArtefactStoreError(OSError):
    """Bytes could not be kept or read; nothing half-written stays behind. As text it is a sentence for people."""

    def __str__(self) -> str:
        return str(self.strerror)


class LostBytesError(ArtefactStoreError):
    """Bytes that were kept are gone, damaged or altered. Trying again helps nothing; a backup of the folder does."""


def keep(lab_id: int, data: bytes | Iterable[bytes]) -> Artefact:
    """The lab's artefact with these bytes; kept once, however often they come. Needs the lab's scope."""
    if isinstance(data, bytes):
        return keep_all(lab_id, [data])[0]
    with closing(_one_after_another(data)) as pieces:  # the database's cursor behind them, too, whatever happens
        head = _head(pieces)
        return _keep_file(lab_id, chain([head], pieces)) if len(head) > SMALL else keep_all(lab_id, [head])[0]


def _one_after_another(pieces: Iterable[bytes]) -> Generator[bytes, None, None]:
    yield from pieces


def keep_all(lab_id: int, many: Sequence[bytes]) -> list[Artefact]:
    """The same for many at once, in their order, in a few statements for all of them."""
    hashes = [hashlib.sha256(data).hexdigest() for data in many]
    wanted = dict(zip(hashes, many, strict=True))
    found = _held(lab_id, wanted)
    if missing := {sha256: data for sha256, data in wanted.items() if sha256 not in found}:
        _store_all([data for data in missing.values() if len(data) > SMALL])
        found |= _add(lab_id, missing)
    return [found[sha256] for sha256 in hashes]


def _head(pieces: Iterator[bytes]) -> bytes:
    """The first bytes; all of them where they are at most `SMALL`."""
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
    """Those whose bytes are here. One that has lost its file is kept again."""
    here = Artefact.objects.filter(lab_id=lab_id, sha256__in=hashes).select_related("small").defer("small__packed")
    return {row.sha256: row for row in here if hasattr(row, "small") or path_of(row.sha256).exists()}


def _store_all(many: Sequence[bytes]) -> None:
    if many:  # threads, because each waits for its own fsync, and the disk takes many of them at once
        with ThreadPoolExecutor(min(_THREADS, len(many))) as pool:
            list(pool.map(lambda data: _store([data]), many))


def _add(lab_id: int, new: dict[str, bytes]) -> dict[str, Artefact]:
    """Rows for all of them, and the bytes of those that are few."""
    found = [as_kept(lab_id, row) for row in rows(_ADD, to_keep(lab_id, new))]
    return {artefact.sha256: artefact for artefact in found}


def to_keep(lab_id: int, new: dict[str, bytes]) -> dict[str, Any]:
    """The values of `KEEPING` for bytes by their hashes."""
    hashes = sorted(new)  # in one order, or two who keep the same bytes would wait for each other
    pack = zstandard.ZstdCompressor().compress
    packed = [pack(new[sha256]) if len(new[sha256]) <= SMALL else None for sha256 in hashes]
    return {"lab": lab_id, "hashes": hashes, "sizes": [len(new[sha256]) for sha256 in hashes], "packed": packed}


def as_kept(lab_id: int, row: Sequence[Any]) -> Artefact:
    pk, sha256, size, created_at, is_new = row
    artefact: Artefact = Artefact.from_db(connection.alias, _FIELDS, (pk, lab_id, sha256, size, created_at))
    artefact.is_new = is_new
    return artefact


def read(artefact: Artefact) -> bytes:
    """All of it, checked against its hash."""
    return b"".join(open_stream(artefact))


def tail(artefact: Artefact, most: int) -> bytes:
    """The last `most` bytes, or all of fewer; checked like all of it, in memory for two pieces."""
    ends: deque[bytes] = deque()
    held = 0
    for piece in open_stream(artefact):
        ends.append(piece)
        held += len(piece)
        while held - len(ends[0]) >= most:
            held -= len(ends.popleft())
    return b"".join(ends)[-most:]


def open_stream(artefact: Artefact) -> Iterator[bytes]:
    """The bytes in pieces, in constant memory. `LostBytesError` here where the file is gone or is no file of ours, and at the
    last piece where it was altered.
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


def _same(found: str, sha256: str) -> None:
    if found != sha256:
        message = f"The kept bytes of artefact {sha256} were altered: their SHA-256 is {found}"
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
    """Also over one that is there: it has the same bytes, or lost them, and who reads it goes on with what he opened."""
    _make_folder(final.parent)
    new.replace(final)
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
        return "Free some space there, then send it again; what is here already is whole."
    return "Look at the folder and its owner."

"""Streams that are read forward in pieces: a window of a file, a part of another stream, the output of a decompressor.

A stream that failed raises the same error at every later read.
"""

import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import BinaryIO

from apps.core.units import size as format_size
from apps.parsers.archives import decoders
from apps.parsers.archives.budget import Budget, describe_too_dense, describe_too_dense_for_long
from apps.parsers.archives.kinds import detect_archive
from apps.parsers.archives.models import ArchiveRefusedError, TooDenseError

PIECE = 1 << 15  # bytes read at once; small, because each gzip member copies what is left of a piece
_OUTPUT = 1 << 17
CUT_OFF = "it is cut off: its end is missing; copy it again from where it was made"


class ArchiveStream(ABC):
    """A stream that is only read forward. `position` counts the bytes that were taken out."""

    def __init__(self) -> None:
        self._piece = b""
        self._at = 0
        self._failure: ArchiveRefusedError | None = None
        self.position = 0

    @abstractmethod
    def _fetch(self, size: int) -> bytes:
        """Return the next bytes, as many as are convenient; none at the end."""

    def _read_next(self, size: int) -> bytes:
        if self._failure:
            raise self._failure.with_traceback(None)
        try:
            return self._fetch(size)
        except ArchiveRefusedError as failure:
            self._failure = failure
            raise

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes; none at the end."""
        if self._at >= len(self._piece):
            self._piece, self._at = b"", 0
            self._piece = self._read_next(size)
        taken = self._piece[self._at : self._at + size]
        self._at += len(taken)
        self.position += len(taken)
        return taken

    def peek(self, size: int) -> bytes:
        """Return the next `size` bytes, or fewer before the end, without taking them out."""
        while len(self._piece) - self._at < size:
            more = self._read_next(size)
            if not more:
                break
            self._piece, self._at = self._piece[self._at :] + more, 0
        return self._piece[self._at : self._at + size]

    def read_exactly(self, size: int) -> bytes:
        """Return `size` bytes; fewer only before the end."""
        taken = self.read(size)
        while len(taken) < size and (more := self.read(size - len(taken))):
            taken += more
        return taken

    def skip(self, count: int) -> None:
        """Skip `count` bytes.

        Raises:
            ArchiveRefusedError: if the stream ends before.
        """
        while count > 0:
            taken = len(self.read(min(count, _OUTPUT)))
            if not taken:
                raise ArchiveRefusedError(CUT_OFF)
            count -= taken


class FileWindow(ArchiveStream):
    """A range of bytes of a seekable file. Several may share one file: each seeks before it reads."""

    def __init__(self, file: BinaryIO, start: int, size: int) -> None:
        super().__init__()
        self._file, self._next_at, self._end = file, start, start + size

    def _fetch(self, size: int) -> bytes:
        self._file.seek(self._next_at)
        data = self._file.read(max(0, min(max(size, PIECE), self._end - self._next_at)))
        self._next_at += len(data)
        return data

    def skip(self, count: int) -> None:
        """Skip `count` bytes without reading them.

        Raises:
            ArchiveRefusedError: if the window ends before.
        """
        inside = min(count, len(self._piece) - self._at)
        self._at += inside
        self._next_at += count - inside
        self.position += count
        if self._next_at > self._end:
            raise ArchiveRefusedError(CUT_OFF)


class StreamPart(ArchiveStream):
    """The next `size` bytes of another stream; `left` is how many of them were not taken out of it yet."""

    def __init__(self, source: ArchiveStream, size: int) -> None:
        super().__init__()
        self._source, self.left = source, size

    def _fetch(self, size: int) -> bytes:
        data = self._source.read(min(max(size, PIECE), self.left))
        if self.left and not data:
            raise ArchiveRefusedError(CUT_OFF)
        self.left -= len(data)
        return data


class CheckedStream(ArchiveStream):
    """A stream that must have the declared length and CRC-32."""

    def __init__(self, source: ArchiveStream, size: int, crc: int) -> None:
        super().__init__()
        self._source, self._size, self._crc = source, size, crc
        self._read = self._sum = 0

    def _fetch(self, size: int) -> bytes:
        data = self._source.read(max(size, PIECE))
        self._read += len(data)
        self._sum = zlib.crc32(data, self._sum)
        if self._read > self._size or (not data and self._read < self._size):
            more = "more" if self._read > self._size else f"only {format_size(self._read)}"
            raise ArchiveRefusedError(f"it declares {format_size(self._size)} and holds {more}; pack it again")
        if not data and self._sum != self._crc:
            raise ArchiveRefusedError("it is damaged: its checksum is another one; copy or pack it again")
        return data


class InflatedStream(ArchiveStream):
    """The output of a decompressor, counted and checked against the limits while it is produced.

    With a `kind` of BY_KIND several compressed streams may follow each other; `note` says what was left out behind
    them.
    """

    def __init__(
        self,
        source: ArchiveStream,
        budget: Budget,
        kind: str,
        make: Callable[[int], decoders.Decoder],
        *,
        is_inside: bool,
    ) -> None:
        super().__init__()
        self._source, self._budget, self._kind, self._make = source, budget, kind, make
        self._memory = decoders.MEMORY_INSIDE if is_inside else decoders.MEMORY
        self._decoder: decoders.Decoder | None = None
        self._rest = b""
        self._consumed = self._made = 0
        self._stretch = self._stretch_from = 0  # bytes made since the last check, and consumed before it
        self._has_begun = False
        self.note = ""

    @property
    def consumed(self) -> int:
        """Return how many bytes of the source belong to what was decompressed."""
        return self._consumed - len(self._rest)

    @property
    def is_dense(self) -> bool:
        """Return whether it has unpacked so far to more than the ratio that is allowed for long stretches."""
        return self._made > self._budget.limits.dense_ratio * self._consumed

    def skip(self, count: int) -> None:
        """Skip `count` decompressed bytes.

        Raises:
            ArchiveRefusedError: if the stream ends before, or that many bytes would be more than is allowed.
        """
        self._budget.foresee(count - len(self._piece) + self._at)
        super().skip(count)

    def _fetch(self, size: int) -> bytes:
        while self._decoder or self._begin():
            if out := self._inflate():
                self._count(len(out))
                return out
        return b""

    def _inflate(self) -> bytes:
        assert self._decoder
        data = b""
        if self._decoder.needs_input:
            data, self._rest = self._rest or self._take(), b""
            if not data:
                raise ArchiveRefusedError(CUT_OFF)
        try:
            out = self._decoder.decompress(data, _OUTPUT)
        except decoders.ERRORS as error:
            raise self._make_damaged(error) from None
        if self._decoder.eof:
            self._rest, self._decoder = self._decoder.unused_data, None
        return out

    def _take(self) -> bytes:
        data = self._source.read(PIECE)
        self._consumed += len(data)
        return data

    def _begin(self) -> bool:
        """Make a decoder for the next compressed stream; return whether there is one."""
        if self._has_begun and not self._find_next():
            return False
        self._has_begun = True
        self._budget.count_part()
        self._decoder = self._make(self._memory)
        return True

    def _find_next(self) -> bool:
        if self._kind not in decoders.BY_KIND or self.note:
            return False
        self._rest = self._rest.lstrip(b"\0") if self._kind != "zst" else self._rest
        while len(self._rest) < 16 and (more := self._take()):  # as many as the longest magic
            self._rest = (self._rest + more).lstrip(b"\0") if self._kind != "zst" else self._rest + more
        if not self._rest or detect_archive(self._rest) == self._kind:
            return bool(self._rest)
        self.note = f"what follows byte {self.consumed:,} of it is not {self._kind} and was left out; the rest is whole"
        return False

    def _count(self, made: int) -> None:
        limits = self._budget.limits
        self._made += made
        if self._made > limits.ratio_from and self._made > limits.ratio * self._consumed:
            raise ArchiveRefusedError(describe_too_dense(limits))
        self._stretch += made
        if self._stretch > limits.dense_from:
            if self._stretch > limits.dense_ratio * (self._consumed - self._stretch_from):
                raise TooDenseError(describe_too_dense_for_long(limits))
            self._stretch, self._stretch_from = 0, self._consumed
        self._budget.count_unpacked(made)

    def _make_damaged(self, error: Exception) -> ArchiveRefusedError:
        words = str(error).lower()
        if "memory" in words:
            return ArchiveRefusedError(
                f"unpacking it needs more than {format_size(self._memory)} of memory; compress it with a smaller window (xz -6)"
            )
        return ArchiveRefusedError(f"it is damaged ({words[:100]}); copy or pack it again")

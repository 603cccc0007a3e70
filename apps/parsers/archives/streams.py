"""Bytes in their order, read in pieces: a window of a file, a part of another stream, the output of a decompressor.

A stream that failed fails again at every later read: whoever reads on learns it too.
"""

import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import BinaryIO

from apps.lib.units import size as shown
from apps.parsers.archives import decoders
from apps.parsers.archives.budget import Budget, too_dense, too_dense_for_long
from apps.parsers.archives.kinds import is_archive
from apps.parsers.archives.shape import DenseError, RefusedError

PIECE = 1 << 15  # what is read at once: small, because each gzip member copies what is left of it
_OUTPUT = 1 << 17
CUT_OFF = "it is cut off: its end is missing; copy it again from where it was made"


class Stream(ABC):
    """Forward only. `position` counts what was taken out."""

    def __init__(self) -> None:
        self._piece = b""
        self._at = 0
        self._failure: RefusedError | None = None
        self.position = 0

    @abstractmethod
    def _fetch(self, size: int) -> bytes:
        """The next bytes, as many as are handy; none at the end."""

    def _next(self, size: int) -> bytes:
        if self._failure:
            raise self._failure.with_traceback(None)
        try:
            return self._fetch(size)
        except RefusedError as failure:
            self._failure = failure
            raise

    def read(self, size: int) -> bytes:
        """Up to `size` bytes; none at the end."""
        if self._at >= len(self._piece):
            self._piece, self._at = b"", 0
            self._piece = self._next(size)
        taken = self._piece[self._at : self._at + size]
        self._at += len(taken)
        self.position += len(taken)
        return taken

    def peek(self, size: int) -> bytes:
        """The next `size` bytes, or fewer before the end; they stay to be read."""
        while len(self._piece) - self._at < size:
            more = self._next(size)
            if not more:
                break
            self._piece, self._at = self._piece[self._at :] + more, 0
        return self._piece[self._at : self._at + size]

    def exactly(self, size: int) -> bytes:
        """`size` bytes; fewer only before the end."""
        taken = self.read(size)
        while len(taken) < size and (more := self.read(size - len(taken))):
            taken += more
        return taken

    def skip(self, count: int) -> None:
        """Past `count` bytes; `RefusedError` where the stream ends before."""
        while count > 0:
            taken = len(self.read(min(count, _OUTPUT)))
            if not taken:
                raise RefusedError(CUT_OFF)
            count -= taken


class Window(Stream):
    """Bytes of a seekable file. Several may lie on one file: each seeks before it reads."""

    def __init__(self, file: BinaryIO, start: int, size: int) -> None:
        super().__init__()
        self._file, self._next_at, self._end = file, start, start + size

    def _fetch(self, size: int) -> bytes:
        self._file.seek(self._next_at)
        data = self._file.read(max(0, min(max(size, PIECE), self._end - self._next_at)))
        self._next_at += len(data)
        return data

    def skip(self, count: int) -> None:
        inside = min(count, len(self._piece) - self._at)
        self._at += inside
        self._next_at += count - inside
        self.position += count
        if self._next_at > self._end:
            raise RefusedError(CUT_OFF)


class Part(Stream):
    """The next `size` bytes of another stream; `left` were not taken out of that yet."""

    def __init__(self, source: Stream, size: int) -> None:
        super().__init__()
        self._source, self.left = source, size

    def _fetch(self, size: int) -> bytes:
        data = self._source.read(min(max(size, PIECE), self.left))
        if self.left and not data:
            raise RefusedError(CUT_OFF)
        self.left -= len(data)
        return data


class Checked(Stream):
    """A stream that must be as long as was said, and have the CRC-32 that was said."""

    def __init__(self, source: Stream, size: int, crc: int) -> None:
        super().__init__()
        self._source, self._size, self._crc = source, size, crc
        self._read = self._sum = 0

    def _fetch(self, size: int) -> bytes:
        data = self._source.read(max(size, PIECE))
        self._read += len(data)
        self._sum = zlib.crc32(data, self._sum)
        if self._read > self._size or (not data and self._read < self._size):
            more = "more" if self._read > self._size else f"only {shown(self._read)}"
            raise RefusedError(f"it declares {shown(self._size)} and holds {more}; pack it again")
        if not data and self._sum != self._crc:
            raise RefusedError("it is damaged: its checksum is another one; copy or pack it again")
        return data


class Inflated(Stream):
    """The output of a decompressor, counted and held against the limits while it comes.

    With a `kind` of BY_KIND several compressed pieces may follow each other; `note` says what was left out behind them.
    """

    def __init__(
        self, source: Stream, budget: Budget, kind: str, make: Callable[[int], decoders.Decoder], *, is_inside: bool
    ) -> None:
        super().__init__()
        self._source, self._budget, self._kind, self._make = source, budget, kind, make
        self._memory = decoders.MEMORY_INSIDE if is_inside else decoders.MEMORY
        self._decoder: decoders.Decoder | None = None
        self._rest = b""
        self._consumed = self._made = 0
        self._stretch = self._stretch_from = 0  # bytes made since the last look, and consumed before it
        self._has_begun = False
        self.note = ""

    @property
    def consumed(self) -> int:
        """Bytes of the source up to the end of what was decompressed."""
        return self._consumed - len(self._rest)

    @property
    def is_dense(self) -> bool:
        """Whether it has unpacked so far to more than what is read for long."""
        return self._made > self._budget.limits.dense_ratio * self._consumed

    def skip(self, count: int) -> None:
        self._budget.foresee(count - len(self._piece) + self._at)
        super().skip(count)

    def _fetch(self, size: int) -> bytes:
        while self._decoder or self._begin():
            if out := self._step():
                self._count(len(out))
                return out
        return b""

    def _step(self) -> bytes:
        assert self._decoder
        data = b""
        if self._decoder.needs_input:
            data, self._rest = self._rest or self._take(), b""
            if not data:
                raise RefusedError(CUT_OFF)
        try:
            out = self._decoder.decompress(data, _OUTPUT)
        except decoders.ERRORS as error:
            raise self._damaged(error) from None
        if self._decoder.eof:
            self._rest, self._decoder = self._decoder.unused_data, None
        return out

    def _take(self) -> bytes:
        data = self._source.read(PIECE)
        self._consumed += len(data)
        return data

    def _begin(self) -> bool:
        """A decoder for the next compressed piece; whether there is one."""
        if self._has_begun and not self._finds_another():
            return False
        self._has_begun = True
        self._budget.part()
        self._decoder = self._make(self._memory)
        return True

    def _finds_another(self) -> bool:
        if self._kind not in decoders.BY_KIND or self.note:
            return False
        self._rest = self._rest.lstrip(b"\0") if self._kind != "zst" else self._rest
        while len(self._rest) < 16 and (more := self._take()):  # as many as the longest magic
            self._rest = (self._rest + more).lstrip(b"\0") if self._kind != "zst" else self._rest + more
        if not self._rest or is_archive(self._rest) == self._kind:
            return bool(self._rest)
        self.note = f"what follows byte {self.consumed:,} of it is not {self._kind} and was left out; the rest is whole"
        return False

    def _count(self, made: int) -> None:
        limits = self._budget.limits
        self._made += made
        if self._made > limits.ratio_from and self._made > limits.ratio * self._consumed:
            raise RefusedError(too_dense(limits))
        self._stretch += made
        if self._stretch > limits.dense_from:
            if self._stretch > limits.dense_ratio * (self._consumed - self._stretch_from):
                raise DenseError(too_dense_for_long(limits))
            self._stretch, self._stretch_from = 0, self._consumed
        self._budget.make(made)

    def _damaged(self, error: Exception) -> RefusedError:
        words = str(error).lower()
        if "memory" in words:
            return RefusedError(
                f"unpacking it needs more than {shown(self._memory)} of memory; compress it with a smaller window (xz -6)"
            )
        return RefusedError(f"it is damaged ({words[:100]}); copy or pack it again")

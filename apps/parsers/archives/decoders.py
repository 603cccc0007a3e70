"""Decompressors behind one interface, that of `bz2.BZ2Decompressor`: each call returns a bounded piece of output."""

import bz2
import lzma
import zlib
from collections.abc import Callable
from typing import Protocol

import zstandard

from apps.parsers.archives.models import MIB

# The largest window that a stream may need: `xz -9` uses 65 MiB, `zstd --long=26` 64 MiB; less for a stream inside another one.
MEMORY = 70 * MIB
MEMORY_INSIDE = 20 * MIB
_ZST_STEP = 512  # a zst block of 4 bytes may stand for 128 KiB, and `decompress` returns all of them: 16 MiB at most
ERRORS = (zlib.error, lzma.LZMAError, zstandard.ZstdError, OSError, EOFError, ValueError)


class Decoder(Protocol):
    """The interface of `bz2.BZ2Decompressor`."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class _Zlib:
    def __init__(self, window: int) -> None:
        self._inner = zlib.decompressobj(window)
        self._is_full = False  # the last piece was as long as allowed, so zlib may hold more of what it was given

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def needs_input(self) -> bool:
        return not (self._inner.unconsumed_tail or self._is_full)

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        out = self._inner.decompress(self._inner.unconsumed_tail + data, max_length)
        self._is_full = len(out) == max_length
        return out


class _Zst:
    def __init__(self, memory: int) -> None:
        window = 1 << (memory.bit_length() - 1)
        self._inner = zstandard.ZstdDecompressor(max_window_size=window).decompressobj()
        self._waiting = memoryview(b"")

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def needs_input(self) -> bool:
        return not self._waiting

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data + bytes(self._waiting)

    def decompress(self, data: bytes, max_length: int) -> bytes:
        if data:
            self._waiting = memoryview(bytes(self._waiting) + data)
        out = b""
        while self._waiting and not out and not self._inner.eof:
            step, self._waiting = self._waiting[:_ZST_STEP], self._waiting[_ZST_STEP:]
            out = self._inner.decompress(step)
        return out


class _ZipLzma:
    """Zip's method 14: four bytes of its own and the LZMA properties, then what an .lzma file holds behind its header."""

    def __init__(self, memory: int, size: int, has_end_mark: bool) -> None:
        self._inner = lzma.LZMADecompressor(lzma.FORMAT_ALONE, memlimit=memory)
        self._size = b"\xff" * 8 if has_end_mark else size.to_bytes(8, "little")
        self._head: bytes | None = b""

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def needs_input(self) -> bool:
        return self._head is not None or self._inner.needs_input

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        if self._head is not None:
            self._head += data
            if len(self._head) < 9:
                return b""
            if self._head[2:4] != b"\x05\x00":
                raise lzma.LZMAError("its LZMA properties are not five bytes")
            data, self._head = self._head[4:9] + self._size + self._head[9:], None
        return self._inner.decompress(data, max_length)


def make_gz_decoder(memory: int) -> Decoder:
    """Return a decoder of gzip."""
    return _Zlib(31)


def make_bz2_decoder(memory: int) -> Decoder:
    """Return a decoder of bzip2; its window is never larger than 900 KiB."""
    return bz2.BZ2Decompressor()


def make_xz_decoder(memory: int) -> Decoder:
    """Return a decoder of xz that uses at most `memory` bytes."""
    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=memory)


def make_zst_decoder(memory: int) -> Decoder:
    """Return a decoder of zst whose window is at most `memory` bytes."""
    return _Zst(memory)


def make_deflate_decoder(memory: int) -> Decoder:
    """Return a decoder of raw deflate, as zip holds it."""
    return _Zlib(-15)


def get_zip_lzma_maker(size: int, has_end_mark: bool) -> Callable[[int], Decoder]:
    """Return a function that makes decoders for a zip member of `size` bytes packed with LZMA."""
    return lambda memory: _ZipLzma(memory, size, has_end_mark)


BY_KIND: dict[str, Callable[[int], Decoder]] = {
    "gz": make_gz_decoder,
    "bz2": make_bz2_decoder,
    "xz": make_xz_decoder,
    "zst": make_zst_decoder,
}

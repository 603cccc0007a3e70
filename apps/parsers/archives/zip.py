"""zip, by its directory; where that is missing because the file is cut off, by the headers in front of the members."""

import stat
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from apps.parsers.archives import decoders, zip_directory
from apps.parsers.archives.budget import Budget, too_dense
from apps.parsers.archives.entry import LOCKED, Entry
from apps.parsers.archives.shape import RefusedError
from apps.parsers.archives.streams import CUT_OFF, PIECE, Checked, Inflated, Stream, Window
from apps.parsers.archives.zip_directory import OVERLAPPING, Header, extra_field, widened

_LOCAL = struct.Struct("<4s5H3I2H")
_FARTHEST = 1 << 32  # beyond the end is for the caller to see
_ENCRYPTED, _END_MARK, _SIZES_BEHIND, _UTF_8 = 0x1, 0x2, 0x8, 0x800
_STORED, _LZMA = 0, 14
_METHODS: dict[int, Callable[[int], decoders.Decoder]] = {
    8: decoders.of_deflate, 12: decoders.of_bz2, 93: decoders.of_zst, 95: decoders.of_xz,
}  # fmt: skip
_NAMES = {
    1: "shrink", 2: "reduce", 3: "reduce", 4: "reduce", 5: "reduce", 6: "implode", 9: "Deflate64", 97: "WavPack",
    98: "PPMd", 99: "AES",
}  # fmt: skip
_VOLUMES = (b"PK\x07\x08", b"PK00")  # before the first header, where the zip was, or might have become, several volumes
_UNIX, _UNICODE_PATH = 3, 0x7075
_NO_FILE = {
    stat.S_IFLNK: "it is a symbolic link, which is not followed", stat.S_IFIFO: "it is a named pipe, no file",
    stat.S_IFCHR: "it is a character device, no file", stat.S_IFBLK: "it is a block device, no file",
    stat.S_IFSOCK: "it is a socket, no file",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Local:
    """What stands in front of a member's data, which begin at `data`."""

    raw_name: bytes
    flags: int
    method: int
    crc: int
    packed: int
    size: int
    data: int


class Zip:
    """One zip on a seekable file of `size` bytes."""

    def __init__(self, file: BinaryIO, size: int, budget: Budget, *, is_inside: bool) -> None:
        self._file, self._size, self._budget, self._is_inside = file, size, budget, is_inside

    def entries(self) -> Iterator[Entry]:
        """Every entry that is no directory. `RefusedError` where the archive can not be read at all, or no further."""
        directory = zip_directory.find(self._file, self._size, self._budget)
        if directory is None:
            yield from self._without_directory()
            return
        bounds = zip_directory.ranges(directory, self._budget, self._size)
        for where, count in (("before", directory.prepended), ("after", directory.behind)):
            if count:
                yield Entry(None, refused=f"{count:,} bytes {where} the zip itself were left out")
        for header, bound in zip(directory.headers(), bounds, strict=True):
            self._budget.entry()
            is_folder = header.raw_name.endswith((b"/", b"\\")) and not header.size
            if not is_folder:
                yield self._entry(header, bound)

    def _entry(self, header: Header, bound: int) -> Entry:
        name = _name(header)
        local = self._local(header.start, bound - header.packed)
        if refused := _why_not(header) or _difference(header, local):
            return Entry(name, refused=refused)
        assert local
        if zip_directory.is_dense(header, self._budget.limits):
            return Entry(name, refused=too_dense(self._budget.limits))
        packed = Window(self._file, local.data, header.packed)
        return Entry(name, header.size, Checked(self._unpacked(packed, header), header.size, header.crc))

    def _unpacked(self, packed: Stream, header: Header | _Local) -> Stream:
        if header.method == _STORED:
            return packed
        make = _METHODS.get(header.method) or decoders.of_zip_lzma(header.size, bool(header.flags & _END_MARK))
        return Inflated(packed, self._budget, "", make, is_inside=self._is_inside)

    def _local(self, start: int, latest: int) -> _Local | None:
        """The header at `start`, None where there is none; its data must begin at `latest` at the latest."""
        self._file.seek(start)
        fixed = self._file.read(_LOCAL.size)
        if len(fixed) < _LOCAL.size or fixed[:4] != b"PK\x03\x04":
            return None
        _, _, flags, method, _, _, crc, packed, size, name_length, extra_length = _LOCAL.unpack(fixed)
        data = start + _LOCAL.size + name_length + extra_length
        if data > latest:
            raise RefusedError(OVERLAPPING)
        rest = self._file.read(name_length + extra_length)
        if 0xFFFFFFFF in (packed, size):
            size, packed = widened(rest[name_length:], size, packed)
        return _Local(rest[:name_length], flags, method, crc, packed, size, data)

    def _without_directory(self) -> Iterator[Entry]:
        """The members that came whole, one behind the other; ends with `RefusedError`."""
        self._file.seek(0)
        at = 4 if self._file.read(4) in _VOLUMES else 0
        if not self._local(at, self._size + _FARTHEST):
            raise RefusedError("it is a program and no zip is behind it; upload the results themselves")
        while (local := self._local(at, self._size + _FARTHEST)) and local.data + local.packed <= self._size:
            self._budget.entry()
            name = _decoded(local.raw_name, local.flags)
            if local.flags & _ENCRYPTED or (local.method == _STORED and local.flags & _SIZES_BEHIND):
                break
            if local.flags & _SIZES_BEHIND and not local.packed:
                stream = Inflated(
                    Window(self._file, local.data, self._size - local.data), self._budget, "",
                    _METHODS.get(local.method, decoders.of_deflate), is_inside=self._is_inside,
                )  # fmt: skip
                yield Entry(name, None, stream)
                at = self._behind_descriptor(local.data + _drained(stream))
            else:
                stream_of_known = self._unpacked(Window(self._file, local.data, local.packed), local)
                if not name.endswith("/"):
                    yield Entry(name, local.size, Checked(stream_of_known, local.size, local.crc))
                at = local.data + local.packed
        raise RefusedError(CUT_OFF)

    def _behind_descriptor(self, at: int) -> int:
        """Sizes of 4 or 8 bytes, with a mark or without: where the next header begins."""
        self._file.seek(at)
        following = self._file.read(28)
        lengths = [length for length in (16, 12, 24, 20) if following[length : length + 4] == b"PK\x03\x04"]
        return at + (lengths[0] if lengths else self._size)


def _drained(stream: Inflated) -> int:
    while stream.read(PIECE):
        pass
    return stream.consumed


def _why_not(header: Header) -> str:
    mode = stat.S_IFMT(header.attributes >> 16)
    is_piped = mode == stat.S_IFIFO and header.size  # `… | zip out.zip -`: what came through the pipe is a file here
    if header.made_by >> 8 == _UNIX and mode in _NO_FILE and not is_piped:
        return _NO_FILE[mode]
    if header.flags & _ENCRYPTED:
        return LOCKED
    if header.method not in _METHODS and header.method not in (_STORED, _LZMA):
        name = _NAMES.get(header.method, "unknown")
        return f"it is packed by method {header.method} ({name}); stored, deflate, bzip2, lzma, xz and zst are read"
    return ""


def _difference(header: Header, local: _Local | None) -> str:
    """Where a member's own header is not what the directory says of it."""
    again = "which programs would read differently; pack it again"
    if local is None:
        return "the directory leads to no member; copy or pack it again"
    if local.raw_name != header.raw_name:
        inner = _decoded(local.raw_name, local.flags)[:100]
        return f"the directory calls it so and its own header {inner!r}, {again}"
    if (local.method, local.flags & _ENCRYPTED) != (header.method, header.flags & _ENCRYPTED):
        return f"the directory and its own header differ in how it is packed, {again}"
    if local.flags & _SIZES_BEHIND:
        return ""
    if (local.packed, local.size, local.crc) != (header.packed, header.size, header.crc):
        return f"the directory and its own header differ in size or checksum, {again}"
    return ""


def _name(header: Header) -> str:
    """Info-ZIP writes an UTF-8 name beside the old one, with the checksum of that."""
    field = extra_field(header.extra, _UNICODE_PATH)
    if field and field[0] == 1 and int.from_bytes(field[1:5], "little") == zlib.crc32(header.raw_name):
        return field[5:].decode("utf-8", "replace")
    return _decoded(header.raw_name, header.flags)


def _decoded(raw_name: bytes, flags: int) -> str:
    try:
        return raw_name.decode("utf-8")
    except UnicodeDecodeError:
        return raw_name.decode("utf-8", "replace") if flags & _UTF_8 else raw_name.decode("cp437")

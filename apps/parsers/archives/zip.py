"""Reading of zip by its directory, or by the headers in front of the members where the file is cut off.

The directory is checked against itself before a single member is read. Programs that read an ambiguous zip in different
ways are how files are smuggled, so an ambiguous one is refused. Layout: PKWARE's APPNOTE.TXT 6.3.10, sections 4.3 and
4.4.
"""

import stat
import struct
import zlib
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import BinaryIO

from apps.core.units import size as format_size
from apps.parsers.archives import decoders
from apps.parsers.archives.budget import (
    Budget,
    describe_too_dense,
    describe_too_many,
    describe_too_much,
    get_most_unpacked,
)
from apps.parsers.archives.entry import LOCKED, ArchiveEntry
from apps.parsers.archives.models import MIB, ArchiveLimits, ArchiveRefusedError
from apps.parsers.archives.streams import CUT_OFF, PIECE, ArchiveStream, CheckedStream, FileWindow, InflatedStream

_END = struct.Struct("<4s4H2IH")
_END_64 = struct.Struct("<4sQ2H2I4Q")
_LOCATOR = struct.Struct("<4sIQI")
_HEADER = struct.Struct("<4s6H3I5H2I")
_LONGEST_COMMENT = 65535
_LARGEST_DIRECTORY = 24 * MIB
_LOCATOR_MARK = b"PK\x06\x07"
_RECORDS_OF_A_HEADER = 4  # a header takes four times as long as a record of pax
_FULL_16, _FULL_32 = 0xFFFF, 0xFFFFFFFF
OVERLAPPING = "its entries lie over each other or over its directory, as in a bomb; pack the files again"
_TWO = "it has two directories and programs would read either; pack the files again"
_AGAIN = "copy or pack it again"


@dataclass(frozen=True, slots=True)
class ZipHeader:
    """One entry as the directory describes it; `start` is the offset of its local header in the file."""

    raw_name: bytes
    made_by: int
    flags: int
    method: int
    crc: int
    packed: int
    size: int
    attributes: int
    start: int
    extra: bytes


@dataclass(frozen=True, slots=True)
class ZipDirectory:
    """The directory of a zip, and where it lies."""

    begin: int  # offset in the file
    size: int
    prepended: int  # bytes before the archive, which its own offsets do not count
    behind: int  # bytes after it
    count: int
    is_wide: bool  # zip64, whose count has 64 bits instead of 16
    raw: bytes = b""

    def iterate_headers(self) -> Iterator[ZipHeader]:
        """Yield the headers of the entries, in their order."""
        offset = 0
        while offset < len(self.raw):
            header, offset = _parse_header(self.raw, offset, self.prepended)
            yield header


def find_directory(file: BinaryIO, size: int, budget: Budget) -> ZipDirectory | None:
    """Return the directory, None where there is none.

    Raises:
        ArchiveRefusedError: if there are two, or if it is longer than is allowed.
    """
    tail_at = max(0, size - _END.size - _LONGEST_COMMENT - _LOCATOR.size)
    file.seek(tail_at)
    tail = file.read(size - tail_at)
    exact: list[ZipDirectory] = []
    loose: list[ZipDirectory] = []
    offset = len(tail) - _END.size + 1
    while (offset := tail.rfind(b"PK\x05\x06", 0, offset + 3)) >= 0:
        budget.count_records(1)
        behind = len(tail) - offset - _END.size - int.from_bytes(tail[offset + 20 : offset + 22], "little")
        has_locator = tail.startswith(_LOCATOR_MARK, max(0, offset - _LOCATOR.size), offset)
        end = _END.unpack_from(tail, offset)
        if behind >= 0 and (directory := _locate(file, tail_at + offset, end, behind, has_locator=has_locator)):
            (loose if behind else exact).append(directory)
    # a directory that neither begins nor ends with the file belongs to another archive inside it
    candidates = exact or [directory for directory in loose if not directory.prepended]
    if len(candidates) > 1:
        raise ArchiveRefusedError(_TWO)
    return _read_directory(file, candidates[0], budget.limits) if candidates else None


def get_bounds(directory: ZipDirectory, budget: Budget, file_size: int) -> "array[int]":
    """Return the offset at which each entry must end, in the directory's order.

    Raises:
        ArchiveRefusedError: if entries overlap (the bombs of D. Fifield), or the directory declares more than the limits allow.
    """
    starts, ends, total = array("Q"), array("Q"), 0
    limits = budget.limits
    for header in directory.iterate_headers():
        budget.count_records(_RECORDS_OF_A_HEADER)
        if len(starts) == limits.members:
            raise ArchiveRefusedError(describe_too_many(limits.members))
        starts.append(min(header.start, directory.begin))
        ends.append(min(header.start + 30 + len(header.raw_name) + header.packed, 1 << 63))
        if header.size <= limits.member_bytes and not is_dense(header, limits):
            total += header.size
    if directory.count != (len(starts) if directory.is_wide else len(starts) & _FULL_16):
        raise ArchiveRefusedError(
            f"it says {directory.count:,} entries and its directory has {len(starts):,}; {_AGAIN}"
        )
    bounds = _compute_bounds(starts, ends, directory.begin)
    if total > get_most_unpacked(limits, file_size):
        raise ArchiveRefusedError(describe_too_much(total, limits))
    return bounds


def is_dense(header: ZipHeader, limits: ArchiveLimits) -> bool:
    """Return whether an entry declares more than the allowed ratio."""
    return header.size > limits.ratio_from and header.size > limits.ratio * header.packed


def _compute_bounds(starts: "array[int]", ends: "array[int]", begin: int) -> "array[int]":
    bounds = array("Q", bytes(8 * len(starts)))
    following = begin
    for index in sorted(range(len(starts)), key=starts.__getitem__, reverse=True):
        if ends[index] > following:
            raise ArchiveRefusedError(OVERLAPPING)
        bounds[index], following = following, starts[index]
    return bounds


def _locate(
    file: BinaryIO, end_at: int, end: tuple[int, ...], behind: int, *, has_locator: bool
) -> ZipDirectory | None:
    """Return the directory that the end record at `end_at` points to; None where there is none."""
    _, disk, first_disk, _, count, size, offset, _ = end
    directory_end, wide = end_at, _read_end_64(file, end_at) if has_locator else None
    if wide:
        narrow = (disk, first_disk, count, size, offset)
        directory_end, disk, first_disk, count, size, offset = wide
        if any(
            value not in (wide_value, _FULL_16, _FULL_32) for value, wide_value in zip(narrow, wide[1:], strict=True)
        ):
            raise ArchiveRefusedError(_TWO)
    begin = directory_end - size
    if begin < 0 or begin < offset:
        return None
    file.seek(begin)
    if size and file.read(4) != b"PK\x01\x02":
        return None
    if disk or first_disk:
        raise ArchiveRefusedError("it is one of several volumes; join them to one file first")
    return ZipDirectory(begin, size, begin - offset, behind, count, wide is not None)


def _read_end_64(file: BinaryIO, end_at: int) -> tuple[int, int, int, int, int, int] | None:
    at = end_at - _LOCATOR.size
    file.seek(max(0, at))
    locator = file.read(_LOCATOR.size)
    if at < 0 or locator[:4] != _LOCATOR_MARK:
        return None
    for start in (at - _END_64.size, _LOCATOR.unpack(locator)[2]):
        if 0 <= start <= at - _END_64.size:
            file.seek(start)
            record = file.read(_END_64.size)
            if record[:4] == b"PK\x06\x06":
                _, _, _, _, disk, first_disk, _, count, size, offset = _END_64.unpack(record)
                return start, disk, first_disk, count, size, offset
    return None


def _read_directory(file: BinaryIO, directory: ZipDirectory, limits: ArchiveLimits) -> ZipDirectory:
    if directory.count > limits.members:
        raise ArchiveRefusedError(describe_too_many(limits.members))
    if directory.size > _LARGEST_DIRECTORY:
        actual, most = format_size(directory.size), format_size(_LARGEST_DIRECTORY)
        raise ArchiveRefusedError(f"its directory has {actual}, at most {most} is read; upload it in parts")
    file.seek(directory.begin)
    return replace(directory, raw=file.read(directory.size))


def _parse_header(raw: bytes, offset: int, prepended: int) -> tuple[ZipHeader, int]:
    if len(raw) - offset < _HEADER.size or raw[offset : offset + 4] != b"PK\x01\x02":
        raise ArchiveRefusedError(f"its directory is damaged at byte {offset:,} of {len(raw):,}; {_AGAIN}")
    fields = _HEADER.unpack_from(raw, offset)
    _, made_by, _, flags, method, _, _, crc, packed, size, name_length, extra_length, comment_length = fields[:13]
    attributes, local_offset = fields[15], fields[16]
    name_at = offset + _HEADER.size
    extra_at = name_at + name_length
    end = extra_at + extra_length + comment_length
    if end > len(raw):
        raise ArchiveRefusedError(f"its directory is cut off at byte {offset:,} of {len(raw):,}; {_AGAIN}")
    extra = raw[extra_at : extra_at + extra_length]
    if _FULL_32 in (packed, size, local_offset):
        size, packed, local_offset = widen_values(extra, size, packed, local_offset)
    name = raw[name_at:extra_at]
    return ZipHeader(name, made_by, flags, method, crc, packed, size, attributes, local_offset + prepended, extra), end


def get_extra_field(extra: bytes, kind_wanted: int) -> bytes | None:
    """Return the content of the extra field of this kind, None where there is none."""
    offset = 0
    while offset + 4 <= len(extra):
        kind, length = struct.unpack_from("<2H", extra, offset)
        if kind == kind_wanted:
            return extra[offset + 4 : offset + 4 + length]
        offset += 4 + length
    return None


def widen_values(extra: bytes, *values: int) -> tuple[int, ...]:
    """Return the values with those of zip64 in place of the full ones, which the extra field holds in this order."""
    field, offset, wide = get_extra_field(extra, 1) or b"", 0, []
    for value in values:
        if value == _FULL_32 and offset + 8 <= len(field):
            value = int.from_bytes(field[offset : offset + 8], "little")
            offset += 8
        wide.append(value)
    return tuple(wide)


_LOCAL = struct.Struct("<4s5H3I2H")
_FARTHEST = 1 << 32  # no bound: the caller checks whether data end beyond the file
_ENCRYPTED, _END_MARK, _SIZES_BEHIND, _UTF_8 = 0x1, 0x2, 0x8, 0x800
_STORED, _LZMA = 0, 14
_METHODS: dict[int, Callable[[int], decoders.Decoder]] = {
    8: decoders.make_deflate_decoder, 12: decoders.make_bz2_decoder, 93: decoders.make_zst_decoder, 95: decoders.make_xz_decoder,
}  # fmt: skip
_NAMES = {
    1: "shrink", 2: "reduce", 3: "reduce", 4: "reduce", 5: "reduce", 6: "implode", 9: "Deflate64", 97: "WavPack",
    98: "PPMd", 99: "AES",
}  # fmt: skip
_VOLUMES = (
    b"PK\x07\x08",
    b"PK00",
)  # stands before the first header of a zip that was, or could have been, split into volumes
_UNIX, _UNICODE_PATH = 3, 0x7075
_NO_FILE = {
    stat.S_IFLNK: "it is a symbolic link, which is not followed", stat.S_IFIFO: "it is a named pipe, no file",
    stat.S_IFCHR: "it is a character device, no file", stat.S_IFBLK: "it is a block device, no file",
    stat.S_IFSOCK: "it is a socket, no file",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _LocalHeader:
    """The header in front of a member's data, which begin at offset `data`."""

    raw_name: bytes
    flags: int
    method: int
    crc: int
    packed: int
    size: int
    data: int


class ZipReader:
    """One zip on a seekable file of `size` bytes."""

    def __init__(self, file: BinaryIO, size: int, budget: Budget, *, is_inside: bool) -> None:
        self._file, self._size, self._budget, self._is_inside = file, size, budget, is_inside

    def iterate_entries(self) -> Iterator[ArchiveEntry]:
        """Yield every entry that is no directory.

        Raises:
            ArchiveRefusedError: if the archive can not be read at all, or no further.
        """
        directory = find_directory(self._file, self._size, self._budget)
        if directory is None:
            yield from self._iterate_without_directory()
            return
        bounds = get_bounds(directory, self._budget, self._size)
        for where, count in (("before", directory.prepended), ("after", directory.behind)):
            if count:
                yield ArchiveEntry(None, refused=f"{count:,} bytes {where} the zip itself were left out")
        for header, bound in zip(directory.iterate_headers(), bounds, strict=True):
            self._budget.count_entry()
            is_folder = header.raw_name.endswith((b"/", b"\\")) and not header.size
            if not is_folder:
                yield self._make_entry(header, bound)

    def _make_entry(self, header: ZipHeader, bound: int) -> ArchiveEntry:
        name = _decode_header_name(header)
        local = self._read_local_header(header.start, bound - header.packed)
        if refused := _describe_refusal(header) or _describe_difference(header, local):
            return ArchiveEntry(name, refused=refused)
        assert local
        if is_dense(header, self._budget.limits):
            return ArchiveEntry(name, refused=describe_too_dense(self._budget.limits))
        packed = FileWindow(self._file, local.data, header.packed)
        return ArchiveEntry(name, header.size, CheckedStream(self._unpack(packed, header), header.size, header.crc))

    def _unpack(self, packed: ArchiveStream, header: ZipHeader | _LocalHeader) -> ArchiveStream:
        if header.method == _STORED:
            return packed
        make = _METHODS.get(header.method) or decoders.get_zip_lzma_maker(header.size, bool(header.flags & _END_MARK))
        return InflatedStream(packed, self._budget, "", make, is_inside=self._is_inside)

    def _read_local_header(self, start: int, latest: int) -> _LocalHeader | None:
        """Return the local header at offset `start`, None where there is none; its data must begin at `latest` at the latest."""
        self._file.seek(start)
        fixed = self._file.read(_LOCAL.size)
        if len(fixed) < _LOCAL.size or fixed[:4] != b"PK\x03\x04":
            return None
        _, _, flags, method, _, _, crc, packed, size, name_length, extra_length = _LOCAL.unpack(fixed)
        data = start + _LOCAL.size + name_length + extra_length
        if data > latest:
            raise ArchiveRefusedError(OVERLAPPING)
        rest = self._file.read(name_length + extra_length)
        if 0xFFFFFFFF in (packed, size):
            size, packed = widen_values(rest[name_length:], size, packed)
        return _LocalHeader(rest[:name_length], flags, method, crc, packed, size, data)

    def _iterate_without_directory(self) -> Iterator[ArchiveEntry]:
        """Yield the members that are complete, one after the other; always ends with ArchiveRefusedError."""
        self._file.seek(0)
        at = 4 if self._file.read(4) in _VOLUMES else 0
        if not self._read_local_header(at, self._size + _FARTHEST):
            raise ArchiveRefusedError("it is a program and no zip is behind it; upload the results themselves")
        while (
            local := self._read_local_header(at, self._size + _FARTHEST)
        ) and local.data + local.packed <= self._size:
            self._budget.count_entry()
            name = _decode_name(local.raw_name, local.flags)
            if local.flags & _ENCRYPTED or (local.method == _STORED and local.flags & _SIZES_BEHIND):
                break
            if local.flags & _SIZES_BEHIND and not local.packed:
                stream = InflatedStream(
                    FileWindow(self._file, local.data, self._size - local.data), self._budget, "",
                    _METHODS.get(local.method, decoders.make_deflate_decoder), is_inside=self._is_inside,
                )  # fmt: skip
                yield ArchiveEntry(name, None, stream)
                at = self._find_next_header(local.data + _read_to_end(stream))
            else:
                stream_of_known = self._unpack(FileWindow(self._file, local.data, local.packed), local)
                if not name.endswith("/"):
                    yield ArchiveEntry(name, local.size, CheckedStream(stream_of_known, local.size, local.crc))
                at = local.data + local.packed
        raise ArchiveRefusedError(CUT_OFF)

    def _find_next_header(self, at: int) -> int:
        """Return where the next header begins behind a data descriptor, which has sizes of 4 or 8 bytes, with a mark or without."""
        self._file.seek(at)
        following = self._file.read(28)
        lengths = [length for length in (16, 12, 24, 20) if following[length : length + 4] == b"PK\x03\x04"]
        return at + (lengths[0] if lengths else self._size)


def _read_to_end(stream: InflatedStream) -> int:
    while stream.read(PIECE):
        pass
    return stream.consumed


def _describe_refusal(header: ZipHeader) -> str:
    mode = stat.S_IFMT(header.attributes >> 16)
    is_piped = mode == stat.S_IFIFO and header.size  # written by `… | zip out.zip -`: the member is a file
    if header.made_by >> 8 == _UNIX and mode in _NO_FILE and not is_piped:
        return _NO_FILE[mode]
    if header.flags & _ENCRYPTED:
        return LOCKED
    if header.method not in _METHODS and header.method not in (_STORED, _LZMA):
        name = _NAMES.get(header.method, "unknown")
        return f"it is packed by method {header.method} ({name}); stored, deflate, bzip2, lzma, xz and zst are read"
    return ""


def _describe_difference(header: ZipHeader, local: _LocalHeader | None) -> str:
    """Return the sentence that says how a member's own header differs from the directory, "" where it does not."""
    again = "which programs would read differently; pack it again"
    if local is None:
        return "the directory leads to no member; copy or pack it again"
    if local.raw_name != header.raw_name:
        inner = _decode_name(local.raw_name, local.flags)[:100]
        return f"the directory calls it so and its own header {inner!r}, {again}"
    if (local.method, local.flags & _ENCRYPTED) != (header.method, header.flags & _ENCRYPTED):
        return f"the directory and its own header differ in how it is packed, {again}"
    if local.flags & _SIZES_BEHIND:
        return ""
    if (local.packed, local.size, local.crc) != (header.packed, header.size, header.crc):
        return f"the directory and its own header differ in size or checksum, {again}"
    return ""


def _decode_header_name(header: ZipHeader) -> str:
    """Return the name of a member.

    Info-ZIP writes a UTF-8 name beside the old one, with the checksum of the latter.
    """
    field = get_extra_field(header.extra, _UNICODE_PATH)
    if field and field[0] == 1 and int.from_bytes(field[1:5], "little") == zlib.crc32(header.raw_name):
        return field[5:].decode("utf-8", "replace")
    return _decode_name(header.raw_name, header.flags)


def _decode_name(raw_name: bytes, flags: int) -> str:
    try:
        return raw_name.decode("utf-8")
    except UnicodeDecodeError:
        return raw_name.decode("utf-8", "replace") if flags & _UTF_8 else raw_name.decode("cp437")

"""Where a zip's directory lies and what it says, held against itself before a single member is read.

Layout: PKWARE's APPNOTE.TXT 6.3.10, sections 4.3 and 4.4. Programs that read a doubtful zip in different ways are how
files are smuggled, so a doubtful one is refused.
"""

import struct
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import BinaryIO

from apps.lib.units import size as shown
from apps.parsers.archives.budget import Budget, most_made, too_many, too_much
from apps.parsers.archives.shape import MIB, Limits, RefusedError

_END = struct.Struct("<4s4H2IH")
_END_64 = struct.Struct("<4sQ2H2I4Q")
_LOCATOR = struct.Struct("<4sIQI")
_HEADER = struct.Struct("<4s6H3I5H2I")
_LONGEST_COMMENT = 65535
_LARGEST_DIRECTORY = 24 * MIB
_LOCATOR_MARK = b"PK\x06\x07"
_OF_A_HEADER = 4  # times as long as of a record of pax
_FULL_16, _FULL_32 = 0xFFFF, 0xFFFFFFFF
OVERLAPPING = "its entries lie over each other or over its directory, as in a bomb; pack the files again"
_TWO = "it has two directories and programs would read either; pack the files again"
_AGAIN = "copy or pack it again"


@dataclass(frozen=True, slots=True)
class Header:
    """One entry as the directory describes it; `start` is where its local header lies in the file."""

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
class Directory:
    begin: int  # where it lies in the file
    size: int
    prepended: int  # bytes before the archive, which its own offsets do not count
    behind: int  # bytes after it
    count: int
    is_wide: bool  # zip64: the count stands in 64 bits, else in 16
    raw: bytes = b""

    def headers(self) -> Iterator[Header]:
        place = 0
        while place < len(self.raw):
            header, place = _header(self.raw, place, self.prepended)
            yield header


def find(file: BinaryIO, size: int, budget: Budget) -> Directory | None:
    """The directory, None where there is none; `RefusedError` where there are two, or more in it than may be."""
    tail_at = max(0, size - _END.size - _LONGEST_COMMENT - _LOCATOR.size)
    file.seek(tail_at)
    tail = file.read(size - tail_at)
    exact: list[Directory] = []
    loose: list[Directory] = []
    place = len(tail) - _END.size + 1
    while (place := tail.rfind(b"PK\x05\x06", 0, place + 3)) >= 0:
        budget.look(1)
        behind = len(tail) - place - _END.size - int.from_bytes(tail[place + 20 : place + 22], "little")
        has_locator = tail.startswith(_LOCATOR_MARK, max(0, place - _LOCATOR.size), place)
        end = _END.unpack_from(tail, place)
        if behind >= 0 and (found := _located(file, tail_at + place, end, behind, has_locator=has_locator)):
            (loose if behind else exact).append(found)
    # one that neither begins nor ends with the file is that of another archive inside
    candidates = exact or [one for one in loose if not one.prepended]
    if len(candidates) > 1:
        raise RefusedError(_TWO)
    return _read(file, candidates[0], budget.limits) if candidates else None


def ranges(directory: Directory, budget: Budget, file_size: int) -> "array[int]":
    """Where each entry must end, in the directory's order. `RefusedError` for entries that lie over each other (the bombs of
    D. Fifield), and for more than the limits in what the directory declares.
    """
    starts, ends, total = array("Q"), array("Q"), 0
    limits = budget.limits
    for header in directory.headers():
        budget.look(_OF_A_HEADER)
        if len(starts) == limits.members:
            raise RefusedError(too_many(limits.members))
        starts.append(min(header.start, directory.begin))
        ends.append(min(header.start + 30 + len(header.raw_name) + header.packed, 1 << 63))
        if header.size <= limits.member_bytes and not is_dense(header, limits):
            total += header.size
    if directory.count != (len(starts) if directory.is_wide else len(starts) & _FULL_16):
        raise RefusedError(f"it says {directory.count:,} entries and its directory has {len(starts):,}; {_AGAIN}")
    bounds = _bounds(starts, ends, directory.begin)
    if total > most_made(limits, file_size):
        raise RefusedError(too_much(total, limits))
    return bounds


def is_dense(header: Header, limits: Limits) -> bool:
    return header.size > limits.ratio_from and header.size > limits.ratio * header.packed


def _bounds(starts: "array[int]", ends: "array[int]", begin: int) -> "array[int]":
    bounds = array("Q", bytes(8 * len(starts)))
    following = begin
    for index in sorted(range(len(starts)), key=starts.__getitem__, reverse=True):
        if ends[index] > following:
            raise RefusedError(OVERLAPPING)
        bounds[index], following = following, starts[index]
    return bounds


def _located(file: BinaryIO, end_at: int, end: tuple[int, ...], behind: int, *, has_locator: bool) -> Directory | None:
    """Where the record at `end_at` says that the directory is; None where there is none."""
    _, disk, first_disk, _, count, size, offset, _ = end
    directory_end, wide = end_at, _end_64(file, end_at) if has_locator else None
    if wide:
        narrow = (disk, first_disk, count, size, offset)
        directory_end, disk, first_disk, count, size, offset = wide
        if any(one not in (other, _FULL_16, _FULL_32) for one, other in zip(narrow, wide[1:], strict=True)):
            raise RefusedError(_TWO)
    begin = directory_end - size
    if begin < 0 or begin < offset:
        return None
    file.seek(begin)
    if size and file.read(4) != b"PK\x01\x02":
        return None
    if disk or first_disk:
        raise RefusedError("it is one of several volumes; join them to one file first")
    return Directory(begin, size, begin - offset, behind, count, wide is not None)


def _end_64(file: BinaryIO, end_at: int) -> tuple[int, int, int, int, int, int] | None:
    at = end_at - _LOCATOR.size
    file.seek(max(0, at))
    locator = file.read(_LOCATOR.size)
    if at < 0 or locator[:4] != _LOCATOR_MARK:
        return None
    for place in (at - _END_64.size, _LOCATOR.unpack(locator)[2]):
        if 0 <= place <= at - _END_64.size:
            file.seek(place)
            record = file.read(_END_64.size)
            if record[:4] == b"PK\x06\x06":
                _, _, _, _, disk, first_disk, _, count, size, offset = _END_64.unpack(record)
                return place, disk, first_disk, count, size, offset
    return None


def _read(file: BinaryIO, directory: Directory, limits: Limits) -> Directory:
    if directory.count > limits.members:
        raise RefusedError(too_many(limits.members))
    if directory.size > _LARGEST_DIRECTORY:
        found, most = shown(directory.size), shown(_LARGEST_DIRECTORY)
        raise RefusedError(f"its directory has {found}, at most {most} is read; upload it in parts")
    file.seek(directory.begin)
    return replace(directory, raw=file.read(directory.size))


def _header(raw: bytes, place: int, prepended: int) -> tuple[Header, int]:
    if len(raw) - place < _HEADER.size or raw[place : place + 4] != b"PK\x01\x02":
        raise RefusedError(f"its directory is damaged at byte {place:,} of {len(raw):,}; {_AGAIN}")
    fields = _HEADER.unpack_from(raw, place)
    _, made_by, _, flags, method, _, _, crc, packed, size, name_length, extra_length, comment_length = fields[:13]
    attributes, offset = fields[15], fields[16]
    name_at = place + _HEADER.size
    extra_at = name_at + name_length
    end = extra_at + extra_length + comment_length
    if end > len(raw):
        raise RefusedError(f"its directory is cut off at byte {place:,} of {len(raw):,}; {_AGAIN}")
    extra = raw[extra_at : extra_at + extra_length]
    if _FULL_32 in (packed, size, offset):
        size, packed, offset = widened(extra, size, packed, offset)
    name = raw[name_at:extra_at]
    return Header(name, made_by, flags, method, crc, packed, size, attributes, offset + prepended, extra), end


def extra_field(extra: bytes, wanted: int) -> bytes | None:
    place = 0
    while place + 4 <= len(extra):
        kind, length = struct.unpack_from("<2H", extra, place)
        if kind == wanted:
            return extra[place + 4 : place + 4 + length]
        place += 4 + length
    return None


def widened(extra: bytes, *values: int) -> tuple[int, ...]:
    """zip64: those that are full in 32 bits stand in the extra field, in this order."""
    field, place, wide = extra_field(extra, 1) or b"", 0, []
    for value in values:
        if value == _FULL_32 and place + 8 <= len(field):
            value = int.from_bytes(field[place : place + 8], "little")
            place += 8
        wide.append(value)
    return tuple(wide)

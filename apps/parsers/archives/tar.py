"""Reading of tar in one forward pass: ustar, pax, GNU tar and the older formats."""

from collections.abc import Iterator

from apps.core.units import size as format_size
from apps.parsers.archives.budget import Budget
from apps.parsers.archives.entry import ArchiveEntry
from apps.parsers.archives.kinds import has_checksum
from apps.parsers.archives.models import MIB, ArchiveRefusedError
from apps.parsers.archives.streams import CUT_OFF, PIECE, ArchiveStream, StreamPart
from apps.parsers.archives.tar_header import (
    BLOCK,
    LEFT_OUT,
    ZEROS,
    TarHeader,
    decode_name,
    override_header,
    parse_header,
    parse_pax,
)

_LONGEST_EXTENDED = MIB
_IGNORED = "5DV"  # directories, listings of directories (GNU tar), volume labels
_EXTENDED = "xgXLKN"


def iterate_entries(stream: ArchiveStream, budget: Budget) -> Iterator[ArchiveEntry]:
    """Yield every entry that is no directory.

    Raises:
        ArchiveRefusedError: if the archive can not be read any further.
    """
    common: dict[str, str] = {}
    extended: dict[str, str] = {}
    long_name = ""
    has_ended = False
    while block := stream.read_exactly(BLOCK):
        if block == ZEROS:
            has_ended = True
            skip_zeros(stream)
            continue
        at = stream.position - len(block)
        if has_ended and (len(block) < BLOCK or not has_checksum(block)):
            yield ArchiveEntry(
                None, refused=f"what follows its end at byte {at:,} is no tar and was left out; the rest is whole"
            )
            return
        if len(block) < BLOCK:
            raise ArchiveRefusedError(CUT_OFF)
        has_ended = False
        budget.count_entry()
        header = parse_header(block, at)
        if header.kind in _EXTENDED:
            data = _read_extended(stream, budget, header, at)
            if header.kind == "g":
                common |= parse_pax(data, at)
            elif header.kind in "xX":
                extended = parse_pax(data, at)
            elif header.kind == "L":
                long_name = decode_name(data.split(b"\0", 1)[0])
            continue
        yield from _read_entry(stream, override_header(header, common | extended, long_name, at))
        extended, long_name = {}, ""
    if not has_ended:
        raise ArchiveRefusedError(CUT_OFF)


def _read_entry(stream: ArchiveStream, header: TarHeader) -> Iterator[ArchiveEntry]:
    while header.has_more:  # skip the map of a sparse file; its last block is marked
        block = stream.read_exactly(BLOCK)
        if len(block) < BLOCK:
            raise ArchiveRefusedError(CUT_OFF)
        if not block[504]:
            break
    part = StreamPart(stream, header.size)
    if header.kind == "0":
        yield ArchiveEntry(header.name, header.size, part)
    elif header.kind not in _IGNORED:
        yield ArchiveEntry(
            header.name, refused=LEFT_OUT.get(header.kind, f"it is of the unknown kind {header.kind!r}, no file")
        )
    stream.skip(part.left + -header.size % BLOCK)


def _read_extended(stream: ArchiveStream, budget: Budget, header: TarHeader, at: int) -> bytes:
    if header.size > _LONGEST_EXTENDED:
        raise ArchiveRefusedError(
            f"its extended header at byte {at:,} has {format_size(header.size)}, at most {format_size(_LONGEST_EXTENDED)} is read; "
            "pack the files again"
        )
    data = stream.read_exactly(header.size)
    if len(data) < header.size:
        raise ArchiveRefusedError(CUT_OFF)
    stream.skip(-header.size % BLOCK)
    budget.count_records(data.count(b"\n"))  # each record of pax ends with one
    return data


def skip_zeros(stream: ArchiveStream) -> None:
    """Skip blocks of zeros."""
    while len(ahead := stream.peek(PIECE)) >= BLOCK and not ahead.strip(b"\0"):
        stream.skip(len(ahead) // BLOCK * BLOCK)

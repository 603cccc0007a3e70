"""tar, read forward once: ustar, pax, GNU and the old ones."""

from collections.abc import Iterator

from apps.lib.units import size as shown
from apps.parsers.archives.budget import Budget
from apps.parsers.archives.entry import Entry
from apps.parsers.archives.kinds import has_checksum
from apps.parsers.archives.shape import MIB, RefusedError
from apps.parsers.archives.streams import CUT_OFF, PIECE, Part, Stream
from apps.parsers.archives.tar_header import BLOCK, LEFT_OUT, ZEROS, Header, decoded, overridden, parse, pax

_LONGEST_EXTENDED = MIB
_SILENT = "5DV"  # directories, GNU's listings of them, the volume's label
_EXTENDED = "xgXLKN"


def entries(stream: Stream, budget: Budget) -> Iterator[Entry]:
    """Every entry that is no directory. `RefusedError` where the archive can not be read any further."""
    common: dict[str, str] = {}
    extended: dict[str, str] = {}
    long_name = ""
    has_ended = False
    while block := stream.exactly(BLOCK):
        if block == ZEROS:
            has_ended = True
            skip_zeros(stream)
            continue
        at = stream.position - len(block)
        if has_ended and (len(block) < BLOCK or not has_checksum(block)):
            yield Entry(
                None, refused=f"what follows its end at byte {at:,} is no tar and was left out; the rest is whole"
            )
            return
        if len(block) < BLOCK:
            raise RefusedError(CUT_OFF)
        has_ended = False
        budget.entry()
        header = parse(block, at)
        if header.kind in _EXTENDED:
            data = _extended(stream, budget, header, at)
            if header.kind == "g":
                common |= pax(data, at)
            elif header.kind in "xX":
                extended = pax(data, at)
            elif header.kind == "L":
                long_name = decoded(data.split(b"\0", 1)[0])
            continue
        yield from _entry(stream, overridden(header, common | extended, long_name, at))
        extended, long_name = {}, ""
    if not has_ended:
        raise RefusedError(CUT_OFF)


def _entry(stream: Stream, header: Header) -> Iterator[Entry]:
    while header.has_more:  # the map of a sparse file; its last block says so
        block = stream.exactly(BLOCK)
        if len(block) < BLOCK:
            raise RefusedError(CUT_OFF)
        if not block[504]:
            break
    part = Part(stream, header.size)
    if header.kind == "0":
        yield Entry(header.name, header.size, part)
    elif header.kind not in _SILENT:
        yield Entry(
            header.name, refused=LEFT_OUT.get(header.kind, f"it is of the unknown kind {header.kind!r}, no file")
        )
    stream.skip(part.left + -header.size % BLOCK)


def _extended(stream: Stream, budget: Budget, header: Header, at: int) -> bytes:
    if header.size > _LONGEST_EXTENDED:
        raise RefusedError(
            f"its extended header at byte {at:,} has {shown(header.size)}, at most {shown(_LONGEST_EXTENDED)} is read; "
            "pack the files again"
        )
    data = stream.exactly(header.size)
    if len(data) < header.size:
        raise RefusedError(CUT_OFF)
    stream.skip(-header.size % BLOCK)
    budget.look(data.count(b"\n"))  # each record of pax ends with one
    return data


def skip_zeros(stream: Stream) -> None:
    while len(ahead := stream.peek(PIECE)) >= BLOCK and not ahead.strip(b"\0"):
        stream.skip(len(ahead) // BLOCK * BLOCK)

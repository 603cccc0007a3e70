"""A first look through a tar before any of it is given out: a bomb, or more entries than are read, is refused before its first
members are kept somewhere.

A zip says all this in its directory. The headers of a tar are counted to its end, wherever the many stand: over the data of
one that is not compressed the file is sought, and to unpack another one twice takes hardly any time beside reading what is in
it. What unpacks to too much is refused here only where it looks so from its beginning; of any other, what fits is read first.
"""

from typing import BinaryIO

from apps.parsers.archives.budget import Budget
from apps.parsers.archives.decoders import BY_KIND
from apps.parsers.archives.kinds import HEAD, is_archive
from apps.parsers.archives.shape import MIB, DenseError, Limits, RefusedError, SpentError
from apps.parsers.archives.streams import Inflated, Stream, Window
from apps.parsers.archives.tar import skip_zeros
from apps.parsers.archives.tar_header import BLOCK, ZEROS

_BEGINNING = 32 * MIB  # unpacked
_SMALL = 4096  # bytes an entry, on the average
_PIECE = MIB


def look_through(file: BinaryIO, size: int, limits: Limits) -> None:
    """Raises `SpentError` or `DenseError` for what is refused as a whole; whatever else is wrong is for who reads it."""
    window: Stream = Window(file, 0, size)
    budget = Budget(limits, size)
    stream = window
    try:
        kind = is_archive(window.peek(HEAD))
        if kind in BY_KIND:
            stream = Inflated(window, budget, kind, BY_KIND[kind], is_inside=False)
        if is_archive(stream.peek(HEAD)) == "tar":
            _count(stream, budget)
    except (SpentError, DenseError):
        if budget.entries > limits.members or _looks_wrong(stream, budget):
            raise
    except RefusedError:
        return


def _count(tar: Stream, budget: Budget) -> None:
    while len(block := tar.exactly(BLOCK)) == BLOCK:
        if block == ZEROS:
            skip_zeros(tar)
            continue
        budget.entry()
        size = _size(block)
        left = size + -size % BLOCK
        while left > 0:
            tar.skip(min(left, _PIECE))
            left -= _PIECE


def _looks_wrong(tar: Stream, budget: Budget) -> bool:
    """Entries that are small and many, bytes that unpack to very many; or it is not told yet."""
    is_dense = isinstance(tar, Inflated) and tar.is_dense
    return is_dense or tar.position <= max(_BEGINNING, _SMALL * budget.entries)


def _size(block: bytes) -> int:
    """What follows a header; no more than a guess where that is odd, as nothing is read by it."""
    digits = block[124:136].strip(b" \0")
    is_plain = digits.isdigit() and block[156:157] not in b"123456"
    try:
        return int(digits, 8) if is_plain else 0
    except ValueError:
        return 0

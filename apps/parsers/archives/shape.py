"""What comes out of an archive, and how much may."""

from dataclasses import dataclass

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """What one upload may hold, all levels of archives in archives counted together.

    Logs with times in them shrink to between 1/4 and 1/60, with `zstd -19` to 1/180; a log that repeats one line shrinks to
    1/400 and may be long, but not without end; zeros shrink to 1/1000 by deflate and to far less by the others.
    """

    members: int = 100_000  # entries, directories and links included
    member_bytes: int = 256 * MIB
    total_bytes: int = 2048 * MIB
    ratio: int = 500  # unpacked : packed, held against what is over `ratio_from`
    ratio_from: int = 10 * MIB
    dense_ratio: int = 100  # the same for every stretch of `dense_from` bytes, and for all of it beyond so many
    dense_from: int = 256 * MIB
    depth: int = 2  # archives in archives: logs.zip / host3.tar.gz / run.log.gz
    held_bytes: int = 48 * MIB  # archives in archives that are kept in memory because zip is read from its end
    records: int = 1_000_000  # that archives say of themselves beside their entries, about a microsecond each
    parts: int = 50_000  # gzip members, xz streams, zst frames written one behind the other
    path_length: int = 1024


@dataclass(frozen=True, slots=True)
class Member:
    """One file. `path` is relative, without `..`, control characters or backslashes, and unique within the upload."""

    path: str
    size: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Refusal:
    """What was not read, and why: what was found, what is allowed, the way out. Not a fault where `is_whole` is False
    and the words say that something was left out.
    """

    path: str  # as in the archive, made printable; "" is the archive itself
    reason: str
    is_whole: bool = False  # nothing more comes
    is_note: bool = False  # something was left out that nobody misses, such as empty files


class RefusedError(Exception):
    """A member, or the archive it is raised for, is not read any further."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class DenseError(RefusedError):
    """A compressed file unpacks as a bomb does, for a long stretch."""


class SpentError(RefusedError):
    """The upload has used up what it may: nothing more is read at any level."""

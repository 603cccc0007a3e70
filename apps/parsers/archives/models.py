"""The limits of an upload, what an archive yields, and the errors that end the reading."""

from dataclasses import dataclass

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class ArchiveLimits:
    """What one upload may hold, all levels of archives in archives counted together.

    Logs with times in them shrink to between 1/4 and 1/60, with `zstd -19` to 1/180. A log that repeats one line
    shrinks to 1/400 and may be long, but not without end. Zeros shrink to 1/1000 by deflate and to far less by the
    others.
    """

    members: int = 100_000  # entries, directories and links included
    member_bytes: int = 256 * MIB
    total_bytes: int = 2048 * MIB
    ratio: int = 500  # unpacked : packed, checked once a file is over `ratio_from`
    ratio_from: int = 10 * MIB
    dense_ratio: int = 100  # the same for every stretch of `dense_from` bytes, and for a whole file beyond so many
    dense_from: int = 256 * MIB
    depth: int = 2  # archives in archives: logs.zip / host3.tar.gz / run.log.gz
    held_bytes: int = 48 * MIB  # archives in archives that are held in memory because zip is read from its end
    records: int = 1_000_000  # metadata beside the entries (pax records …), about a microsecond each
    parts: int = 50_000  # gzip members, xz streams, zst frames written one behind the other
    path_length: int = 1024


@dataclass(frozen=True, slots=True)
class ArchiveMember:
    """One file. `path` is relative, without `..`, control characters or backslashes, and unique within the upload."""

    path: str
    size: int
    data: bytes


@dataclass(frozen=True, slots=True)
class ArchiveRefusal:
    """Something that was not read, and why: what is there, what is allowed, and what the user can do.

    It is no failure where `is_whole` is False and the reason says that something was left out.
    """

    path: str  # as in the archive, made printable; "" is the archive itself
    reason: str
    is_whole: bool = False  # the archive is refused as a whole
    is_note: bool = False  # only something of no use was left out, such as empty files


class ArchiveRefusedError(Exception):
    """Raised where a member, or the archive it is raised for, is not read any further."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class TooDenseError(ArchiveRefusedError):
    """Raised where a compressed file unpacks to too many times its size for a long stretch."""


class LimitsSpentError(ArchiveRefusedError):
    """Raised where the upload has used up a limit: nothing more is read at any level."""

"""An entry of an archive as the readers of zip and tar yield it, before it is decided whether it is read."""

from dataclasses import dataclass

from apps.parsers.archives.streams import ArchiveStream

LOCKED = "it is encrypted, and no passwords are asked for; pack it again without one"


@dataclass(frozen=True, slots=True)
class ArchiveEntry:
    """One entry of an archive.

    `name` is as it stands in the archive. The stream has to be read before the next entry is requested, or not at all.
    """

    name: str | None  # None for a remark about the archive itself, which stands in `refused`
    size: int | None = None  # as declared; None where it is not
    stream: ArchiveStream | None = None
    refused: str = ""  # why the entry is not read, or what was left out

"""What the readers of zip and tar hand on: an entry, not judged yet."""

from dataclasses import dataclass

from apps.parsers.archives.streams import Stream

LOCKED = "it is encrypted, and no passwords are asked for; pack it again without one"


@dataclass(frozen=True, slots=True)
class Entry:
    """`name` as it stands in the archive. The stream is read before the next entry is asked for, or not at all."""

    name: str | None  # None for words about the archive itself, which stand in `refused`
    size: int | None = None  # as declared; None where nothing says so
    stream: Stream | None = None
    refused: str = ""  # why it is not read, or what was left out

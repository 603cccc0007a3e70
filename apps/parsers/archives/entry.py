"""What the readers of zip and tar hand on: an entry, not judged yet."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from apps.parsers.archives.names import is_of_the_desktop, printable, relative
from apps.parsers.archives.shape import RefusedError
from apps.parsers.archives.streams import Stream


@dataclass(frozen=True, slots=True)
class Entry:
    """`name` as it stands in the archive. The stream is read before the next entry is asked for, or not at all."""

    name: str | None  # None for words about the archive itself, which stand in `refused`
    size: int | None = None  # as declared; None where nothing says so
    stream: Stream | None = None
    refused: str = ""  # why it is not read, or what was left out


_NAMED = 5  # of the members that are refused for one reason, by name
_REASONS = 100  # that are counted; some of them name what they found, and there may be as many as members
_MORE = 32  # characters that stand behind the first one's name, at the most


@dataclass
class Together:
    """Members that are refused for the same reason: a hundred lines of the same words would hide what else is wrong."""

    in_one: dict[str, str]  # reason → the same of several, behind their number
    names: dict[str, list[str]] = field(default_factory=dict)  # by reason, the first of them
    counts: dict[str, int] = field(default_factory=dict)

    def takes(self, refused: Entry, longest: int) -> bool:
        """False for one that must be told by itself: its name or its reason is nothing that others share."""
        name = refused.name or ""
        try:
            relative(name, longest - _MORE)
        except RefusedError:
            return False
        if is_of_the_desktop(name) or (refused.refused not in self.counts and len(self.counts) >= _REASONS):
            return False
        self._add(refused)
        return True

    def _add(self, refused: Entry) -> None:
        self.counts[refused.refused] = self.counts.get(refused.refused, 0) + 1
        names = self.names.setdefault(refused.refused, [])
        if len(names) < _NAMED:
            names.append(refused.name or "")

    def only_reason(self) -> str:
        """Why nothing at all was read, where that is one reason of several members."""
        reasons = [self._of_all(reason) for reason, count in self.counts.items() if count > 1]
        return reasons[0] if len(self.counts) == len(reasons) == 1 else ""

    def entries(self) -> Iterator[Entry]:
        """One for each reason; of several members it has the first one's name."""
        for reason, count in self.counts.items():
            first = self.names[reason][0]
            is_one = count == 1
            yield Entry(
                first if is_one else f"{first} and {count - 1:,} more",
                refused=reason if is_one else self._of_all(reason),
            )

    def _of_all(self, reason: str) -> str:
        count, names = self.counts[reason], self.names[reason]
        words = self.in_one.get(reason) or f"members are not read, each because {reason}"
        more = f" and {count - len(names):,} more" if count > len(names) else ""
        return f"{count:,} {words}: {', '.join(map(printable, names))}{more}"

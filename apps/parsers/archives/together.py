"""Members that are refused for the same reason: a hundred lines of the same words would hide what else is wrong."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from apps.parsers.archives.entry import LOCKED
from apps.parsers.archives.names import printable

_NAMED = 5  # of the members that are refused for one reason, by name
_REASONS = 100  # that are told; some of them name what they found, and there may be as many as members
_OTHERS = "it is refused as others are, each for a reason of its own"
_IN_ONE = {LOCKED: "members are encrypted, and no passwords are asked for; pack them again without one"}


@dataclass
class Together:
    names: dict[str, list[str]] = field(default_factory=dict)  # by reason, the first of them
    counts: dict[str, int] = field(default_factory=dict)

    def add(self, path: str, reason: str) -> None:
        if reason not in self.counts and len(self.counts) >= _REASONS:
            reason = _OTHERS
        self.counts[reason] = self.counts.get(reason, 0) + 1
        names = self.names.setdefault(reason, [])
        if len(names) < _NAMED:
            names.append(path)

    def only_reason(self) -> str:
        """Why nothing at all was read, where that is one reason of several members."""
        reasons = [self._of_all(reason) for reason, count in self.counts.items() if count > 1]
        return reasons[0] if len(self.counts) == len(reasons) == 1 else ""

    def told(self) -> Iterator[tuple[str, str]]:
        """(path, reason) for each reason; of several members the path is the first one's, with their number."""
        for reason, count in self.counts.items():
            first = self.names[reason][0]
            if count == 1:
                yield first, reason
            else:
                yield f"{first} and {count - 1:,} more", self._of_all(reason)

    def _of_all(self, reason: str) -> str:
        count, names = self.counts[reason], self.names[reason]
        words = _IN_ONE.get(reason) or f"members are not read, each because {reason}"
        more = f" and {count - len(names):,} more" if count > len(names) else ""
        return f"{count:,} {words}: {', '.join(map(printable, names))}{more}"

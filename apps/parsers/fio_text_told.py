"""What is told of a file of fio's normal reports: up to twenty warnings, and as many places that cannot be read."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from apps.parsers.shape import Broken

_MOST = 20
DIRECTIONS = "read, write, trim or mixed, a colon, and IOPS="


@dataclass(slots=True)
class Told:
    warnings: list[str] = field(default_factory=list)
    broken: list[Broken] = field(default_factory=list)

    def warn(self, line: int, message: str) -> None:
        if len(self.warnings) < _MOST:
            self.warnings.append(f"line {line}: {message}")

    def tell(self, message: str, line: int, found: str, expected: str) -> None:
        self.take([Broken(message, line, found.strip()[:120], expected)])

    def take(self, faults: Sequence[Broken]) -> None:
        if len(self.broken) < _MOST:
            self.broken += faults

    def cut(self, line: int, text: str, expected: str) -> None:
        shown = " ".join(text.split())[-80:]
        self.warn(line, f"fio's report breaks off here; found {shown!r}, expected {expected}")

    def orphan(self, line: int, text: str) -> None:
        self.tell("figures below no line of a direction", line, text, DIRECTIONS)

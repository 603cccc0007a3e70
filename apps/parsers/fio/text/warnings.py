"""Messages about a text with fio's normal reports: up to twenty warnings, and as many places that can not be read."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from apps.parsers.core.models import Broken

_MOST = 20
DIRECTIONS = "read, write, trim or mixed, a colon, and IOPS="


@dataclass(slots=True)
class ReportMessages:
    """The warnings and broken places of a text."""

    warnings: list[str] = field(default_factory=list)
    broken: list[Broken] = field(default_factory=list)

    def warn(self, line: int, message: str) -> None:
        """Add a warning."""
        if len(self.warnings) < _MOST:
            self.warnings.append(f"line {line}: {message}")

    def add_broken(self, message: str, line: int, excerpt: str, expected: str) -> None:
        """Add a place that can not be read."""
        self.extend_broken([Broken(message, line, excerpt.strip()[:120], expected)])

    def extend_broken(self, faults: Sequence[Broken]) -> None:
        """Add several such places."""
        if len(self.broken) < _MOST:
            self.broken += faults

    def warn_of_cut(self, line: int, text: str, expected: str) -> None:
        """Add a warning that the report breaks off in this line."""
        end = " ".join(text.split())[-80:]
        self.warn(line, f"fio's report breaks off here; found {end!r}, expected {expected}")

    def add_orphan(self, line: int, text: str) -> None:
        """Add figures that stand below no direction."""
        self.add_broken("figures below no line of a direction", line, text, DIRECTIONS)

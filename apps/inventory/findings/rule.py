"""The shape of a rule about how a host is put together, and of what it finds."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass

from apps.core.quantities import written
from apps.inventory.findings.machine import MachineFacts

SERIOUS, WARNING, NOTE = "serious", "warning", "note"
SEVERITIES = (SERIOUS, WARNING, NOTE)


@dataclass(frozen=True, order=True)
class PartName:
    """A part of the inventory by kind (`array`, `disk`, `controller`, `nic`, `switch`, `host`), id and name."""

    kind: str
    id: int
    name: str


@dataclass(frozen=True)
class FindingHit:
    """A hit of a rule: `line` is the arithmetic in words; an empty `severity` means the rule's own."""

    line: str
    parts: tuple[PartName, ...]
    severity: str = ""


@dataclass(frozen=True)
class FindingRule:
    """A rule; `check` yields what is wrong with a machine and never raises or reports anything for missing facts."""

    name: str
    title: str
    text: str
    severity: str
    check: Callable[[MachineFacts], Iterator[FindingHit]]


@dataclass(frozen=True)
class Finding:
    """What is wrong or doubtful about one thing, with the sum that shows it (quantities written late) and the parts that it is about."""

    rule: str
    title: str
    text: str
    severity: str
    arithmetic: str
    parts: tuple[PartName, ...]

    def is_about(self, kind: str, pk: int) -> bool:
        return any((part.kind, part.id) == (kind, pk) for part in self.parts)

    def as_json(self, base: int = 1000) -> dict[str, object]:
        more = {"arithmetic": written(self.arithmetic, base), "parts": [asdict(part) for part in self.parts]}
        return asdict(self) | more

"""The shape of a rule about how a host is put together, and of what it finds."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from apps.inventory.findings.machine import Machine
from apps.lib.quantities import written

SERIOUS, WARNING, NOTE = "serious", "warning", "note"
SEVERITIES = (SERIOUS, WARNING, NOTE)


@dataclass(frozen=True, order=True)
class PartName:
    """A part of the inventory by kind (`array`, `disk`, `controller`, `nic`, `switch`, `host`), id and name."""

    kind: str
    id: int
    name: str


@dataclass(frozen=True)
class Hit:
    """`line`: the arithmetic in words. `severity` empty: the rule's own."""

    line: str
    parts: tuple[PartName, ...]
    severity: str = ""


@dataclass(frozen=True)
class Rule:
    """`check` yields what is found on a machine; it never raises for what is missing, and is silent about it."""

    name: str
    title: str
    text: str
    severity: str
    check: Callable[[Machine], Iterator[Hit]]


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

    def as_json(self, base: int = 1000) -> dict[str, Any]:
        said = {"arithmetic": written(self.arithmetic, base), "parts": [asdict(part) for part in self.parts]}
        return asdict(self) | said

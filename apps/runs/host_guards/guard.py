"""What a guard is that a host's agent checks right before fio starts: its name, its parameters, its evidence in words."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from apps.runs.host_guards.labels import label_guard


@dataclass(frozen=True)
class GuardParameter:
    """A number that a guard takes.

    Args:
        usual: What is taken where none is given; None where there is no usual one.
        scale: How many base units one of the form is: 1,000,000 where people type MB/s.
    """

    name: str
    label: str
    low: float
    high: float
    usual: float | None = None
    scale: float = 1


@dataclass(frozen=True)
class HostGuard:
    """A guard by its kind.

    Args:
        kind: Its name in the agent protocol and in plans.
        sentence: What shall hold.
        parameters: The numbers that it takes.
        describe: The figures and limits of its evidence in one sentence with quantities, where the agent's own sentence
            has bare bytes; an empty text where they do not suffice.
        seconds: How long one look takes.
    """

    kind: str
    sentence: str
    parameters: tuple[GuardParameter, ...] = ()
    describe: Callable[[Mapping[str, Any], Mapping[str, Any]], str] | None = None
    seconds: float = 0.0

    @property
    def label(self) -> str:
        """Return what people call it."""
        return label_guard(self.kind)

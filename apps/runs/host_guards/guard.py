"""What a guard is that a host's agent checks right before fio starts: its name, its parameters, its evidence in words."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class GuardParameter:
    """A number that a guard takes. `usual` is what the agent takes where none is given; None where there is no usual one."""

    name: str
    label: str
    low: float
    high: float
    usual: float | None = None


@dataclass(frozen=True)
class HostGuard:
    """A guard by its kind.

    Args:
        kind: Its name in the agent protocol and in plans.
        label: What people call it.
        sentence: What shall hold.
        parameters: The numbers that it takes.
        describe: The figures and limits of its evidence in one sentence with quantities, where the agent's own sentence
            has bare bytes; an empty text where they do not suffice.
        seconds: How long one look takes.
    """

    kind: str
    label: str
    sentence: str
    parameters: tuple[GuardParameter, ...] = ()
    describe: Callable[[Mapping[str, Any], Mapping[str, Any]], str] | None = None
    seconds: float = 0.0

"""The shape of a caveat rule and of what it finds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from apps.comparison.readings import Reading


@dataclass(frozen=True)
class Rule:
    """A rule looks at one reading, or at all readings of one cell, and answers with its arithmetic in words, or None:
    silent.
    """

    name: str
    title: str
    text: str  # what it means, in one or two sentences
    of_reading: Callable[[Reading], str | None] | None = None
    of_cell: Callable[[Sequence[Reading]], str | None] | None = None

    def arithmetic(self, readings: Sequence[Reading], *, alone: bool = False) -> list[str]:
        """The sentences for one cell's readings, each once. `alone`: a run by itself, where rules about cells say
        nothing.
        """
        found = [self.of_reading(reading) for reading in readings] if self.of_reading else []
        if self.of_cell and not alone:
            found.append(self.of_cell(readings))
        return [sentence for sentence in dict.fromkeys(found) if sentence]


@dataclass(frozen=True)
class Caveat:
    """A rule's finding about a run or a comparison: which cells (x, series) and runs it is about, and the arithmetic
    that led to it.
    """

    rule: str
    title: str
    text: str
    arithmetic: tuple[str, ...]
    runs: tuple[int, ...]
    cells: tuple[tuple[Any, str], ...] = ()
    series: tuple[str, ...] = ()

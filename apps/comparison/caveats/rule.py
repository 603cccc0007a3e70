"""The shape of a caveat rule and of what it finds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.comparison.readings import Machine, Reading

Key = tuple[Any, str]  # x and series
Cells = Mapping[Key, Sequence[Reading]]
BANDWIDTH = ("bandwidth",)


@dataclass(frozen=True)
class Rule:
    """A rule looks at one reading, at the machine it was taken on, at all readings of one cell, or at all cells, and
    answers with its arithmetic in words, or None: silent.
    """

    name: str
    title: str
    text: str  # what it means, in one or two sentences
    of_reading: Callable[[Reading], str | None] | None = None
    of_machine: Callable[[Machine], str | None] | None = None
    of_cell: Callable[[Sequence[Reading]], str | None] | None = None
    of_cells: Callable[[Cells], Mapping[Key, str]] | None = None
    metrics: tuple[str, ...] = ()  # that it speaks of; empty: of all

    def speaks_of(self, readings: Sequence[Reading]) -> list[Reading]:
        return [one for one in readings if one.metric in self.metrics] if self.metrics else list(readings)

    def arithmetic(self, readings: Sequence[Reading], *, alone: bool = False) -> list[str]:
        """The sentences for one cell's readings, each once. `alone`: a run by itself, where rules about cells say
        nothing.
        """
        readings = self.speaks_of(readings)
        found = [*self.of_each(readings), *self.of_machines(readings)]
        if self.of_cell and not alone and (sentence := self.of_cell(readings)):
            found.append(sentence)
        return list(dict.fromkeys(found))

    def of_each(self, readings: Sequence[Reading]) -> list[str]:
        """The sentences about single readings that it speaks of."""
        found = map(self.of_reading, readings) if self.of_reading else ()
        return [sentence for sentence in found if sentence]

    def of_machines(self, readings: Sequence[Reading]) -> list[str]:
        """The sentences about the machines under readings that it speaks of."""
        found = map(self.of_machine, {one.machine: None for one in readings if one.machine}) if self.of_machine else ()
        return [sentence for sentence in found if sentence]


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
    cells: tuple[Key, ...] = ()
    series: tuple[str, ...] = ()

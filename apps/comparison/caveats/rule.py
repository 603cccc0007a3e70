"""The shape of a caveat rule and of what it finds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.comparison.readings import MeasuredMachine, Reading

Key = tuple[Any, str]  # x and series
Cells = Mapping[Key, Sequence[Reading]]
BANDWIDTH = ("bandwidth",)


@dataclass(frozen=True)
class CaveatRule:
    """A rule returns its arithmetic in words, or None where it has nothing to report.

    It looks at one reading, at the machine it was taken on, at all readings of one cell, or at all cells.
    """

    name: str
    title: str
    text: str  # what it means, in one or two sentences
    of_reading: Callable[[Reading], str | None] | None = None
    of_machine: Callable[[MeasuredMachine], str | None] | None = None
    of_cell: Callable[[Sequence[Reading]], str | None] | None = None
    of_cells: Callable[[Cells], Mapping[Key, str]] | None = None
    metrics: tuple[str, ...] = ()  # that it speaks of; empty: of all

    def speaks_of(self, readings: Sequence[Reading]) -> list[Reading]:
        return [reading for reading in readings if reading.metric in self.metrics] if self.metrics else list(readings)

    def arithmetic(self, readings: Sequence[Reading], *, alone: bool = False) -> list[str]:
        """Return the sentences for one cell's readings, each once.

        `alone` is for a run by itself, about which rules of cells say nothing.
        """
        readings = self.speaks_of(readings)
        hits = [*self.of_each(readings), *self.of_machines(readings)]
        if self.of_cell and not alone and (sentence := self.of_cell(readings)):
            hits.append(sentence)
        return list(dict.fromkeys(hits))

    def of_each(self, readings: Sequence[Reading]) -> list[str]:
        """Return the rule's sentences about single readings."""
        hits = map(self.of_reading, readings) if self.of_reading else ()
        return [sentence for sentence in hits if sentence]

    def of_machines(self, readings: Sequence[Reading]) -> list[str]:
        """Return the rule's sentences about the machines under the readings."""
        hits = (
            map(self.of_machine, {reading.machine: None for reading in readings if reading.machine})
            if self.of_machine
            else ()
        )
        return [sentence for sentence in hits if sentence]


@dataclass(frozen=True)
class Caveat:
    """A rule's finding about a run or a comparison: which cells (x, series) and runs it is about, and the arithmetic that led to it."""

    rule: str
    title: str
    text: str
    arithmetic: tuple[str, ...]
    runs: tuple[int, ...]
    cells: tuple[Key, ...] = ()
    series: tuple[str, ...] = ()

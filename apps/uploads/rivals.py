"""Which readings of one file quarrel: two formats that read values from the same lines.

A tool that ran while another one did prints in the middle of the other's report (both write into one log). Its lines
are its own: a report that goes around them has read nothing there. So only lines that values were read from count, and
where a run tells none of them (its figures are a series), all from its first line to its last.
"""

from bisect import bisect_left
from collections.abc import Sequence
from typing import Protocol

from apps.parsers.shape import ParsedRun, ParsedTable

_MOST_NEAR = 64  # runs of another format that are compared with one
MOST_TOLD = 20


class Read(Protocol):
    """A run as one format reads it."""

    @property
    def run(self) -> ParsedRun: ...
    @property
    def format(self) -> str: ...


Lines = frozenset[int]


def overlaps(runs: Sequence[Read]) -> list[tuple[int, ...]]:
    """For each run, in the order of their first lines, the places of the other formats' runs that read a line of its own."""
    found: list[set[int]] = [set() for _ in runs]
    lines: dict[int, Lines] = {}
    for name in {one.format for one in runs}:
        others = [
            (one.run.line, _last(one.run), place)
            for place, one in enumerate(runs)
            if one.format != name and one.run.line is not None
        ]
        starts = [line for line, _, _ in others]
        for place, one in enumerate(runs):
            if one.format == name and one.run.line is not None:
                behind = bisect_left(starts, _last(one.run) + 1)
                for _, end, other in others[max(0, behind - _MOST_NEAR) : behind]:
                    if end >= one.run.line and _quarrel(runs, place, other, lines):
                        found[place].add(other)
                        found[other].add(place)
    return [tuple(sorted(one)) for one in found]


def _last(run: ParsedRun) -> int:
    return run.last_line or run.line or 0


def _quarrel(runs: Sequence[Read], place: int, other: int, known: dict[int, Lines]) -> bool:
    """Of two runs that share lines, whether both read values there."""
    for each in (place, other):
        if each not in known:
            known[each] = _lines(runs[each].run)
    mine, others = known[place], known[other]
    if mine and others:
        return not mine.isdisjoint(others)
    if not mine and not others:
        return True
    without, lines = (place, others) if others else (other, mine)
    run = runs[without].run
    return any((run.line or 0) <= line <= _last(run) for line in lines)


def _lines(run: ParsedRun) -> Lines:
    if isinstance(run.samples, ParsedTable):
        return frozenset(run.samples.lines)
    return frozenset(sample.line for sample in run.samples if sample.line is not None)


def told(runs: Sequence[Read], rivals: Sequence[tuple[int, ...]], chosen: Sequence[bool]) -> list[str]:
    """A sentence for each run that was chosen before others: who keeps all at once sees that there is a choice."""
    said: list[str] = []
    for place, others in enumerate(rivals):
        if chosen[place] and others and len(said) < MOST_TOLD:
            names = " and ".join(sorted({runs[other].format for other in others}))
            name = runs[place].format
            said.append(f"line {runs[place].run.line}: {name} and {names} read the same lines; {name} was chosen")
    return said


__all__ = ["overlaps", "told"]

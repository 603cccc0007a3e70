"""Sides that are no mixture of what comes with a factor: write-back and write-through in one side of disk interfaces. Pure.

What comes with a factor may differ between its levels, but where runs of one level differ in it themselves, their mean
tells of the mixture and not of the level: of unlike shares of write-back the interface would seem to be faster.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from apps.comparison.like_for_like.fact_codes import FactCodes

ENOUGH = 3  # runs on each side, for a variance of its own
Sides = Mapping[str, Sequence[int]]  # rows of each level


@dataclass(frozen=True)
class CleanSides:
    """Rows of each level; `held` are implied columns that are equal on both sides here.

    `shared_by` tells of a level in how many of such sides with enough runs its same rows are. `part` are the facts that
    tell this part of a level from its other parts.
    """

    rows: Sides
    held: tuple[int, ...] = ()
    shared_by: Mapping[str, int] = field(default_factory=dict)
    part: Mapping[str, str] = field(default_factory=dict)


class Mixtures:
    """Divides the sides of a stratum by the implied facts in these columns; `never_held` names some of them."""

    def __init__(self, codes: FactCodes, columns: tuple[int, ...], never_held: Collection[str] = ()) -> None:
        self.codes = codes
        self.columns = columns
        self._may_be_held = tuple(column for column in columns if codes.names[column] not in never_held)
        self._keys = codes.keys(columns, is_unknown_alike=True)

    def divide(self, sides: Sides) -> Iterator[CleanSides]:
        """Yield the sides as they are where no level is a mixture, else two by two without what mixes them."""
        if not self.columns or not any(self._is_mixed(rows) for rows in sides.values()):
            yield CleanSides(sides)
            return
        for ours, theirs in combinations(sorted(sides), 2):
            yield from self._of_pair({ours: sides[ours], theirs: sides[theirs]}, self._may_be_held, ())

    def _is_mixed(self, rows: Sequence[int]) -> bool:
        return len({int(self._keys[row]) for row in rows}) > 1

    def _of_pair(self, sides: Sides, columns: tuple[int, ...], held: tuple[int, ...]) -> Iterator[CleanSides]:
        """Yield two sides with what both can have equal held equal, the rest by the parts of a level."""
        for column in columns:
            if values := self._values_of_both(sides, column):
                others = tuple(other for other in columns if other != column)
                for value in values:
                    own = {level: self._with_value(rows, column, value) for level, rows in sides.items()}
                    yield from self._of_pair(own, others, (*held, column))
                return
        yield from self._by_parts(sides, held)

    def _with_value(self, rows: Sequence[int], column: int, value: int) -> list[int]:
        return [row for row in rows if int(self.codes.codes[row, column]) == value]

    def _values_of_both(self, sides: Sides, column: int) -> list[int]:
        """Return the known values of which each side has enough runs, where a side has several values."""
        runs: list[dict[int, int]] = []
        is_mixed = False
        for rows in sides.values():
            own: dict[int, int] = defaultdict(int)
            seen = set()
            for row in rows:
                is_unknown = bool(self.codes.unknown[row, column])
                seen.add(0 if is_unknown else int(self.codes.codes[row, column]))
                if not is_unknown:
                    own[int(self.codes.codes[row, column])] += self.codes.groups[row].n
            is_mixed = is_mixed or len(seen) > 1
            runs.append(own)
        if not is_mixed:
            return []
        return sorted(value for value in runs[0] if all(own.get(value, 0) >= ENOUGH for own in runs))

    def _by_parts(self, sides: Sides, held: tuple[int, ...]) -> Iterator[CleanSides]:
        """Yield each part of a level that is a mixture against the other level, where that one is none."""
        mixed = [level for level, rows in sides.items() if self._is_mixed(rows)]
        parts = self._parts(sides[mixed[0]]) if len(mixed) == 1 else []
        enough = sum(self._runs(part) >= ENOUGH for part in parts)
        if not enough:
            yield CleanSides(sides, held)
            return
        other = next(level for level in sides if level != mixed[0])
        names = self._names_between(parts)
        for part in parts:
            facts = self.codes.groups[part[0]].facts
            told = {name: facts[name] for name in names if name in facts}
            yield CleanSides({mixed[0]: part, other: sides[other]}, held, {other: enough}, told)

    def _parts(self, rows: Sequence[int]) -> list[list[int]]:
        parts: dict[int, list[int]] = defaultdict(list)
        for row in rows:
            parts[int(self._keys[row])].append(row)
        return list(parts.values())

    def _runs(self, rows: Sequence[int]) -> int:
        return sum(self.codes.groups[row].n for row in rows)

    def _names_between(self, parts: Sequence[Sequence[int]]) -> list[str]:
        """Return the names of the implied facts that tell parts of a level from each other."""
        facts = [self.codes.groups[part[0]].facts for part in parts]
        names = [self.codes.names[column] for column in self.columns]
        return [name for name in names if len({some.get(name) for some in facts}) > 1]

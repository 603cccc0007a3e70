"""The facts of many groups as numbers, so that groups with equal held facts are found at once. Pure; NumPy.

A fact that is not known equals only itself on the same target, or where it is a controller's own, on the same controller:
two filesystems on an HBA whose cache nobody told are comparable. Names that no group knows are not held: nobody can tell
them apart, and the answer lists those of them that every run has. So it is for each lab and each published report: what
none of its groups knows is equal among them, whatever others know.
"""

from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from apps.comparison.like_for_like.run_group import MACHINE_FACTS, WORKLOAD_FACTS, Facts, RunGroup, inapplicable
from apps.comparison.readings import POINT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Codes = NDArray[Any]

SEED = 20_130_517
NONE = "none"
_ONE_OF_A_HOST = frozenset({"architecture", "board"})
_ONE_OF_A_CONTROLLER = frozenset({"controller_cache"})
_BY_TOOL = frozenset({*WORKLOAD_FACTS, *POINT})  # that some tools do not have: known or unknown by tool


class FactCodes:
    """The facts of these groups: one row for each group, one column for each name that some group knows.

    `always` names facts that have a column although no group knows them; `nowhere` are those that none knows.
    """

    def __init__(self, groups: Sequence[RunGroup], always: Collection[str] = ()) -> None:
        import numpy as np

        self.groups = groups
        places: dict[tuple[int, str], int] = {}
        for group in groups:
            places.setdefault((id(group.configuration), group.target), len(places))
        self._place = np.array([places[id(group.configuration), group.target] for group in groups], dtype=np.intp)
        self._first = {place: row for row, place in reversed(list(enumerate(self._place.tolist())))}
        firsts = [groups[self._first[place]] for place in range(len(places))]
        lacking = [inapplicable(group.configuration) for group in firsts]
        known_of: dict[str, set[str]] = {}
        for group, never in zip(firsts, lacking, strict=True):
            known_of.setdefault(group.source, set()).update(group.configuration.keys() - never)
        known = set().union(*known_of.values())
        of_points = {name for group in groups for name in group.point}
        self.names: tuple[str, ...] = tuple(sorted(known | of_points | set(always)))
        self.nowhere = frozenset(always) - known  # of `always`, what no group knows
        self._held_of = {source: some | set(always) for source, some in known_of.items()}
        tools: dict[str, set[str]] = {}
        for group in groups:
            for name in _BY_TOOL & group.point.keys():
                tools.setdefault(name, set()).add(group.configuration.get("tool", ""))
        for group in firsts:
            for name in _BY_TOOL & group.configuration.keys():
                tools.setdefault(name, set()).add(group.configuration.get("tool", ""))
        self._tools = tools
        self.codes: Codes = np.empty((len(groups), len(self.names)), dtype=np.uint64)
        self.unknown: Codes = np.zeros((len(groups), len(self.names)), dtype=bool)
        self._levels: dict[tuple[Callable[[Facts], str | None], bool], list[str | None]] = {}
        for column, name in enumerate(self.names):
            if name in of_points:
                values = [group.point.get(name) or group.configuration.get(name) for group in groups]
                codes, unknown = self._column(name, groups, values)
                self.codes[:, column], self.unknown[:, column] = codes, unknown
            else:
                values = [
                    NONE if name in never else group.configuration.get(name)
                    for group, never in zip(firsts, lacking, strict=True)
                ]
                codes, unknown = self._column(name, firsts, values)
                self.codes[:, column], self.unknown[:, column] = codes[self._place], unknown[self._place]

    def _column(self, name: str, groups: Sequence[RunGroup], values: Sequence[str | None]) -> "tuple[Codes, Codes]":
        """Return the numbers of a fact's values, and which of them are unknown.

        One is unknown where every machine has it, or where this tool tells it of other runs. What a host has one of for
        good is the same in all its runs that do not tell it.
        """
        import numpy as np

        tools = self._tools.get(name, set()) if name in _BY_TOOL else set()
        numbers: dict[str, int] = {}
        codes, unknown = [], np.zeros(len(groups), dtype=bool)
        for place, value in enumerate(values):
            text = value
            if text is None:
                text, unknown[place] = self._stand_in(name, groups[place], place, tools)
            codes.append(numbers.setdefault(text, len(numbers) + 1))
        return np.array(codes, dtype=np.uint64), unknown

    def _stand_in(self, name: str, group: RunGroup, place: int, tools: Collection[str]) -> tuple[str, bool]:
        """Return what stands for a fact that a group does not tell, and whether it is unknown."""
        configuration = group.configuration
        host = configuration.get("host")
        if name in _ONE_OF_A_HOST and host:
            return f"\0of {host}", False
        if name in MACHINE_FACTS and name not in self._held_of[group.source]:
            return f"\0nowhere in {group.source}", True
        if name in _ONE_OF_A_CONTROLLER and host and (controller := configuration.get("controller")):
            return f"\0unknown of {controller} in {host}", True
        if name in MACHINE_FACTS or configuration.get("tool", "") in tools:
            return f"\0unknown {group.target or place}", True
        return "\0not labelled", False

    def levels(self, level_of: Callable[[Facts], str | None], *, of_points: bool = False) -> list[str | None]:
        """Return the level of each group; it depends on the configuration alone, or on the point as well."""
        asked = level_of, of_points
        if asked not in self._levels:
            if of_points:
                self._levels[asked] = [level_of(group.facts) for group in self.groups]
            else:
                by_place = [level_of(self.groups[row].configuration) for _, row in sorted(self._first.items())]
                self._levels[asked] = [by_place[place] for place in self._place.tolist()]
        return self._levels[asked]

    @cached_property
    def _factors(self) -> "Codes":
        import numpy as np

        drawn = np.random.default_rng(SEED).integers(0, 2**63, size=len(self.names), dtype=np.uint64)
        odd: Codes = drawn * np.uint64(2) + np.uint64(1)
        return odd

    def columns(self, left_out: Collection[str]) -> list[int]:
        """Return the columns of all names but these; a name that ends in `*` stands for all that begin so."""
        return [column for column, name in enumerate(self.names) if not matches(name, left_out)]

    def keys(self, columns: Sequence[int], *, is_unknown_alike: bool = False) -> "Codes":
        """Return a number for each group that is equal where these facts are equal (a hash of 64 bits).

        `is_unknown_alike`: all groups that do not know a fact are alike in it, on whatever target.
        """
        import numpy as np

        columns = list(columns)
        own = self.codes[:, columns]
        if is_unknown_alike:
            own = np.where(self.unknown[:, columns], np.uint64(0), own)
        mixed = own * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(29))) * self._factors[columns]
        keys: Codes = mixed.sum(axis=1, dtype=np.uint64)
        return keys

    def unknown_names(self, rows: Sequence[int], columns: Sequence[int]) -> list[tuple[str, ...]]:
        """Return for each of these groups the names of these facts that are not known of it."""
        return _names([self.names[column] for column in columns], self.unknown[list(rows)][:, columns])

    def differing(self, sets: Sequence[Sequence[int]]) -> list[tuple[str, ...]]:
        """Return for each set of groups the names of the facts that differ between them."""
        import numpy as np

        own = self.codes[[row for some in sets for row in some]]
        starts = np.cumsum([0, *(len(some) for some in sets[:-1])])
        return _names(self.names, np.minimum.reduceat(own, starts) != np.maximum.reduceat(own, starts))


def _names(names: Sequence[str], marks: "Codes") -> list[tuple[str, ...]]:
    """Return the names that each row of marks has; rows are mostly alike."""
    alike: dict[bytes, tuple[str, ...]] = {}
    result = []
    for row in marks:
        key = row.tobytes()
        if key not in alike:
            alike[key] = tuple(name for name, is_marked in zip(names, row.tolist(), strict=True) if is_marked)
        result.append(alike[key])
    return result


def matches(name: str, patterns: Collection[str]) -> bool:
    """Return whether a name is one of these; a pattern that ends in `*` stands for all that begin so."""
    return any(name.startswith(one[:-1]) if one.endswith("*") else name == one for one in patterns)

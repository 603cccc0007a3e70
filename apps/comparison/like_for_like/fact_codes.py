"""The facts of many groups as numbers, so that groups with equal held facts are found at once. Pure; NumPy.

A fact that is not known equals only itself on the same target. Names that no group knows are not held: nobody can tell
them apart, and the answer lists those of them that every run has.
"""

from collections.abc import Collection, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from apps.comparison.like_for_like.run_group import MACHINE_FACTS, WORKLOAD_FACTS, RunGroup, inapplicable
from apps.comparison.readings import POINT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Codes = NDArray[Any]

SEED = 20_130_517
NONE = "none"
_BY_TOOL = frozenset({*WORKLOAD_FACTS, *POINT})  # that some tools do not have: known or unknown by tool


class FactCodes:
    """The facts of these groups: one row for each group, one column for each name that some group knows."""

    def __init__(self, groups: Sequence[RunGroup], always: Collection[str] = ()) -> None:
        import numpy as np

        self.groups = groups
        lacking = [inapplicable(group.facts) for group in groups]
        known = {name for group, never in zip(groups, lacking, strict=True) for name in group.facts.keys() - never}
        self.names: tuple[str, ...] = tuple(sorted(known | set(always)))
        self.codes: Codes = np.empty((len(groups), len(self.names)), dtype=np.uint64)
        self.unknown: Codes = np.zeros((len(groups), len(self.names)), dtype=bool)
        self._tools = {name: {g.facts.get("tool", "") for g in groups if name in g.facts} for name in _BY_TOOL}
        for column, name in enumerate(self.names):
            codes: dict[str, int] = {}
            for row, group in enumerate(groups):
                value = NONE if name in lacking[row] else group.facts.get(name)
                if value is None:
                    self.unknown[row, column] = is_unknown = self._is_unknown(name, group)
                    value = f"\0unknown {group.target or row}" if is_unknown else "\0not labelled"
                self.codes[row, column] = codes.setdefault(value, len(codes) + 1)

    def _is_unknown(self, name: str, group: RunGroup) -> bool:
        """Return whether a missing fact is unknown: every machine has it, or this tool tells it of other runs."""
        return name in MACHINE_FACTS or (name in _BY_TOOL and group.facts.get("tool", "") in self._tools[name])

    @cached_property
    def _factors(self) -> "Codes":
        import numpy as np

        drawn = np.random.default_rng(SEED).integers(0, 2**63, size=len(self.names), dtype=np.uint64)
        odd: Codes = drawn * np.uint64(2) + np.uint64(1)
        return odd

    def columns(self, left_out: Collection[str]) -> list[int]:
        """Return the columns of all names but these; a name that ends in `*` stands for all that begin so."""
        return [column for column, name in enumerate(self.names) if not matches(name, left_out)]

    def keys(self, columns: Sequence[int]) -> "Codes":
        """Return a number for each group that is equal where these facts are equal (a hash of 64 bits)."""
        import numpy as np

        mixed = self.codes[:, columns] * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(29))) * self._factors[columns]
        keys: Codes = mixed.sum(axis=1, dtype=np.uint64)
        return keys

    def unknown_names(self, row: int, columns: Sequence[int]) -> tuple[str, ...]:
        """Return the names of these facts that are not known of a group."""
        return tuple(self.names[column] for column in columns if self.unknown[row, column])

    def differing(self, rows: Sequence[int]) -> tuple[str, ...]:
        """Return the names of the facts that differ between these groups."""
        own = self.codes[list(rows)]
        return tuple(name for name, is_unlike in zip(self.names, (own != own[0]).any(axis=0), strict=True) if is_unlike)


def matches(name: str, patterns: Collection[str]) -> bool:
    """Return whether a name is one of these; a pattern that ends in `*` stands for all that begin so."""
    return any(name.startswith(one[:-1]) if one.endswith("*") else name == one for one in patterns)

"""What an array spans: how many controllers, how many members share one, and what the loss of a controller would do."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from apps.inventory.topology.redundancy import Node, leaves, places_lost, survives_any

MOST_MATCHED = 500  # controllers; more would nest the matching too deep


@dataclass(frozen=True)
class SlotSpan:
    """The controllers that an array spans.

    `by_place` maps a controller to how many of the array's disks are there. `at_most` is how many controllers the array
    can span if device names are inferred and only the printed ones hold; None where nothing is inferred.
    """

    name: str
    level: str
    disks: int
    by_place: tuple[tuple[str, int], ...]
    unknown: int
    survives: tuple[str, ...]
    dies: tuple[str, ...]
    any_disks: int | None
    at_most: int | None = None

    @property
    def sentence(self) -> str:
        """Return a sentence such as `md4 (RAID 6): 8 disks on 5 controllers (1, 2, 3, 4, 5), at most 2 on one. …`."""
        return " ".join(filter(None, [self._where(), self._loss(), self._certain()]))

    def _where(self) -> str:
        title = f"{self.name} ({self.level})" if self.level else self.name
        disks = _counted(self.disks, "disk")
        if not self.by_place:
            return f"{title}: {disks}; their controllers are not known."
        places = ", ".join(place for place, _ in self.by_place)
        many = max(count for _, count in self.by_place)
        on = "the one controller" if len(self.by_place) == 1 else f"{len(self.by_place)} controllers"
        most = "" if len(self.by_place) == 1 else f", at most {many} on one"
        missing = f"; the controller of {_counted(self.unknown, 'disk')} is not known" if self.unknown else ""
        return f"{title}: {disks} on {on} ({places}){most}{missing}."

    def _loss(self) -> str:
        if self.unknown or not self.by_place:
            return ""
        if self.dies and not self.survives:
            return "It does not survive the loss of a controller."
        if self.survives and not self.dies:
            if len(self.survives) < len(self.by_place):
                return f"It survives the loss of controller {_listed(self.survives)}; of the others it is not known."
            return "It survives the loss of any one of them."
        if not self.survives:
            return ""
        return f"It survives the loss of controller {_listed(self.survives)}, not of {_listed(self.dies)}."

    def _certain(self) -> str:
        if self.at_most is None:
            return ""
        return f"Device names are inferred here: by the printed ones alone it can touch {self.at_most} controllers at most."


def span_of(name: str, level: str, node: Node, at_most: int | None = None) -> SlotSpan:
    disks = list({leaf.key: leaf for leaf in leaves(node)}.values())
    counts = Counter(leaf.place for leaf in disks)
    unknown = counts.pop("", 0)
    lost = places_lost(node)
    ordered = sorted(counts, key=natural)
    return SlotSpan(
        name,
        level,
        len(disks),
        tuple((place, counts[place]) for place in ordered),
        unknown,
        tuple(place for place in ordered if lost[place] is True),
        tuple(place for place in ordered if lost[place] is False),
        survives_any(node),
        at_most,
    )


def most_controllers(possible: Sequence[Collection[int]]) -> int:
    """Return the largest number of different controllers that the disks can sit on.

    `possible` has the possible controllers of each disk. This is a maximum matching, found by augmenting paths.
    """
    every = {controller for some in possible for controller in some}
    if len(every) > MOST_MATCHED:
        return min(len(every), len(possible))
    taken: dict[int, int] = {}

    def place(disk: int, seen: set[int]) -> bool:
        for controller in possible[disk]:
            if controller not in seen:
                seen.add(controller)
                if controller not in taken or place(taken[controller], seen):
                    taken[controller] = disk
                    return True
        return False

    return sum(place(disk, set()) for disk in range(len(possible)))


def natural(text: str) -> tuple[int, int, str]:
    """Return a sort key that orders numbers as numbers and before words."""
    return (0, int(text), "") if text.isascii() and text.isdigit() else (1, 0, text)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"

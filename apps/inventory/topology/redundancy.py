"""What an array survives: of any disks, of the best ones, of a controller with all its disks.

The rules are those of the levels (SNIA, Common RAID Disk Data Format) and of md's layouts (`md(4)`): RAID 0, linear and JBOD
need every member; RAID 1 one of them; RAID 4 and 5 lose one, RAID 6 two; of RAID 10 with k copies each run of k neighbours
holds one chunk's copies. A RAID 10, 50 or 60 of a controller that does not print its groups survives what is certain; beyond
that the answer is None.
"""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from itertools import islice

from apps.inventory.topology.geometry import PARITY
from apps.inventory.topology.geometry import STRIPED as ALL_NEEDED

CERTAIN = {"10": 1, "50": 1, "60": 2}  # whatever the groups are


@dataclass(frozen=True)
class Leaf:
    """A disk.

    `key` tells it from others, `place` is what it shares with others (a controller), "" if not known. `is_gone` means
    that it has failed already.
    """

    key: Hashable
    place: str = ""
    is_gone: bool = False


@dataclass(frozen=True)
class Group:
    """An array.

    `copies` and `is_near` are for RAID 10; `knows_groups` is False if one row stands for a nested array whose groups
    are not printed.
    """

    level: str
    members: tuple["Node", ...]
    copies: int = 2
    is_near: bool = True
    knows_groups: bool = True


Node = Leaf | Group


def leaves(node: Node) -> Iterator[Leaf]:
    if isinstance(node, Leaf):
        yield node
    else:
        for member in node.members:
            yield from leaves(member)


def is_alive(node: Node, lost: frozenset[Hashable]) -> bool | None:
    """Return whether the data are intact without the disks in `lost`; None if what is known does not tell."""
    if isinstance(node, Leaf):
        return not node.is_gone and node.key not in lost
    states = [is_alive(member, lost) for member in node.members]
    best, worst = [state is not False for state in states], [state is True for state in states]
    hopeful, fearful = _stands(node, best), _stands(node, worst)
    return hopeful if hopeful == fearful or hopeful is False else None


def _stands(group: Group, alive: list[bool]) -> bool | None:
    gone = alive.count(False)
    if gone == 0:
        return True
    if group.level in ALL_NEEDED:
        return False
    if group.level == "1":
        return gone < len(alive)
    if group.level in PARITY:
        return gone <= PARITY[group.level]
    if group.level == "10" and group.knows_groups:
        return all(any(alive[place] for place in places) for places in _copies_of(group))
    if group.level in CERTAIN:
        return True if gone <= CERTAIN[group.level] else None
    return None


def _copies_of(group: Group) -> list[tuple[int, ...]]:
    """Return the sets of members that hold the copies of one chunk, each set once."""
    count = len(group.members)
    copies = min(group.copies, count)
    starts = range(0, count * copies, copies) if group.is_near else range(count)
    return list({tuple(sorted((start + n) % count for n in range(copies))) for start in starts})


def survives_any(node: Node) -> int | None:
    """Return how many more disks may fail whichever they are; None if the level is not known."""
    least = _least_that_kill(node)
    return None if least is None else max(0, least - 1)


def _least_that_kill(node: Node) -> int | None:
    if isinstance(node, Leaf):
        return 0 if node.is_gone else 1
    if not node.members:
        return None
    if node.level in CERTAIN and not (node.level == "10" and node.knows_groups):
        return CERTAIN[node.level] + 1
    below = [_least_that_kill(member) for member in node.members]
    costs = sorted(cost for cost in below if cost is not None)
    if len(costs) < len(below):
        return None
    if node.level in ALL_NEEDED:
        return costs[0]
    if node.level == "1":
        return sum(costs)
    if node.level in PARITY:
        return sum(islice(costs, PARITY[node.level] + 1))
    if node.level == "10":
        return min(sum(below[place] or 0 for place in places) for places in _copies_of(node))
    return None


def survives_at_best(node: Node) -> int | None:
    """Return how many disks of a whole array may fail if it is the right ones; None if not known."""
    if isinstance(node, Leaf):
        return 0
    below = [survives_at_best(member) for member in node.members]
    if None in below or not below:
        return None
    sizes = [sum(1 for _ in leaves(member)) for member in node.members]
    least = sum(count or 0 for count in below)
    more = sorted((size - (count or 0) for size, count in zip(sizes, below, strict=True)), reverse=True)
    if node.level in ALL_NEEDED:
        return least
    if node.level == "1":
        return least + sum(more[:-1])
    if node.level in PARITY:
        return least + sum(more[: PARITY[node.level]])
    if node.level == "10" and node.knows_groups and len(set(more)) == 1:
        stored = -(-len(more) // min(node.copies, len(more)))
        return least + (len(more) - stored) * more[0]
    return None


def places_lost(node: Node) -> dict[str, bool | None]:
    """Place → whether the data survive the loss of all disks there. Disks whose place is not known are in none."""
    by_place: dict[str, set[Hashable]] = {}
    for leaf in leaves(node):
        if leaf.place:
            by_place.setdefault(leaf.place, set()).add(leaf.key)
    return {place: is_alive(node, frozenset(keys)) for place, keys in by_place.items()}

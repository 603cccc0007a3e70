"""What a RAID level makes of its members: how few it can have, what it can hold, how many may fail. Pure arithmetic.

`members` are those that hold data or parity; spares and journals are not among them. Sizes in bytes.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

PARITY = {"4": 1, "5": 1, "6": 2}
GROUPED = {"50": 1, "60": 2}  # parity members of each group
STRIPED = ("0", "jbod", "linear", "single")
_LEAST = {"0": 1, "1": 2, "4": 3, "5": 3, "6": 4, "10": 4, "50": 6, "60": 8}
_LEAST_MD = {"4": 2, "5": 2, "10": 2}  # mdadm makes RAID 5 of two members, and RAID 10 of two or three
_IDLE = ("spare", "journal")
GONE = ("faulty", "removed", "failed", "missing", "offline")
_GROUPS = re.compile(
    r"\b(\d{1,3}) (?:parity[- ])?(?:spans?|groups?|legs?)\b|\b(?:span[- ]depth|spans|groups|legs)[=: ]+(\d{1,3})\b",
    re.IGNORECASE,
)
_EACH = re.compile(r"\d{1,4}(?: ?\+ ?\d{1,4})+")


@dataclass(frozen=True)
class ArraySpan:
    """Least and most bytes that an array can have, and the sum that says so, `{size}` standing for its smallest member."""

    least: int
    most: int
    count: int
    text: str


def is_idle(state: str | None) -> bool:
    """Return whether a member in this state holds no data by intent."""
    return (state or "").lower() in _IDLE


def is_gone(state: str | None) -> bool:
    """Return whether a member has failed or was removed, in the words of md and the RAID tools."""
    return (state or "").lower() in GONE


def least_members(level: str, software: str) -> int | None:
    """Return the fewest members that an array of this level can have; None for levels without such a limit."""
    return _LEAST_MD.get(level, _LEAST.get(level)) if software == "md" else _LEAST.get(level)


def must_be_even(level: str, software: str) -> bool:
    """Return whether the level needs an even number of members: a controller's RAID 10 pairs them.

    RAID 50 does not: it may have three groups of three.
    """
    return level == "10" and software != "md"


def survives(level: str, members: int, copies: int = 2) -> int:
    """Return how many members may fail, whichever they are."""
    if level == "1":
        return max(0, members - 1)
    if level == "10":
        return copies - 1
    return PARITY.get(level) or GROUPED.get(level, 0)


def data_members(level: str, members: int, groups: int = 1, copies: int = 2) -> Fraction:
    """Return how many members carry data.

    RAID 50 and 60 give up one or two in each of their `groups`, alike or not; RAID 10 keeps `copies` of everything.
    """
    if level == "1":
        return Fraction(1)
    if level == "10":
        return Fraction(members, copies)
    return Fraction(members - PARITY.get(level, 0) - groups * GROUPED.get(level, 0))


def groups_of(level: str, layout: str, members: int) -> int | None:
    """Return how many groups a RAID 50 or 60 has, going by the text of its layout.

    The text is `2 spans`, `span depth 2`, or a sum of the groups' members, `4 + 4 + 3`. None where it does not say, and
    for a number that these members cannot make.
    """
    if level not in GROUPED:
        return None
    if match := _EACH.search(layout):
        each = [int(word) for word in match[0].split("+")]
        fits = sum(each) == members and min(each) >= _least_of_group(level)
        return len(each) if fits else None
    match = _GROUPS.search(layout)
    groups = int(match[1] or match[2]) if match else 0
    return groups if groups > 1 and groups * _least_of_group(level) <= members else None


def _least_of_group(level: str) -> int:
    return GROUPED[level] + 2


def span_of(level: str, sizes: Sequence[int], copies: int = 2, groups: int | None = None) -> ArraySpan | None:
    """Return the capacity that members of these sizes give, with the arithmetic.

    None for levels without a rule, and for too few members to hold anything. If a RAID 50 or 60 does not say how many
    `groups` it has, the result spans from two to as many as there can be.
    """
    n, small = len(sizes), min(sizes, default=0)
    if small <= 0 or n <= PARITY.get(level, 2 * GROUPED.get(level, 0)):
        return None
    if level in STRIPED:
        return ArraySpan(n * small, sum(sizes), n, f"{n} × {{size}}")
    if level == "1":
        return ArraySpan(small, small, 1, "1 × {size}")
    if level == "10":
        return ArraySpan(n * small // copies, n * small // copies, n, f"{n} ÷ {copies} × {{size}}")
    if level in PARITY:
        data = int(data_members(level, n))
        return ArraySpan(data * small, data * small, data, f"({n} − {PARITY[level]}) × {{size}}")
    return _grouped(level, n, small, groups) if level in GROUPED else None


def _grouped(level: str, n: int, small: int, groups: int | None) -> ArraySpan:
    fewest = groups or 2
    most = int(data_members(level, n, fewest))
    least = int(data_members(level, n, groups or n // _least_of_group(level)))
    return ArraySpan(least * small, most * small, most, f"({n} − {fewest} × {GROUPED[level]}) × {{size}}")


def clash(item: str | None, other: str | None) -> bool:
    """Return whether two places on one disk share bytes: the same partition, or one of them is the whole disk."""
    return (item or "") == (other or "") or not (item and other)

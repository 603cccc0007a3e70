"""What a RAID level makes of its members: how few it can have, what it can hold, how many may fail. Pure arithmetic.

`members` are those that hold data or parity; spares and journals are not among them. Sizes in bytes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

PARITY = {"4": 1, "5": 1, "6": 2}
GROUPED = {"50": 1, "60": 2}  # parity members of each group
STRIPED = ("0", "jbod", "linear", "single")
_LEAST = {"0": 1, "1": 2, "4": 3, "5": 3, "6": 4, "10": 4, "50": 6, "60": 8}
_LEAST_MD = {"4": 2, "5": 2, "10": 2}  # mdadm makes RAID 5 of two members, and RAID 10 of two or three
_IDLE = ("spare", "journal")
GONE = ("faulty", "removed", "failed", "missing", "offline")


@dataclass(frozen=True)
class Span:
    """Least and most bytes that an array can have, and the sum that says so, `{size}` standing for its smallest member."""

    least: int
    most: int
    count: int
    text: str


def is_idle(state: str | None) -> bool:
    """Whether a place holds no data by intent."""
    return (state or "").lower() in _IDLE


def is_gone(state: str | None) -> bool:
    """Whether a member has failed or was taken away, in md's and the RAID tools' words."""
    return (state or "").lower() in GONE


def least_members(level: str, software: str) -> int | None:
    """None for levels that any number will do."""
    return _LEAST_MD.get(level, _LEAST.get(level)) if software == "md" else _LEAST.get(level)


def must_be_even(level: str, software: str) -> bool:
    return level in ("10", "50", "60") and software != "md"


def survives(level: str, members: int, copies: int = 2) -> int:
    """How many members may fail, whichever they are."""
    if level == "1":
        return max(0, members - 1)
    if level == "10":
        return copies - 1
    return PARITY.get(level) or GROUPED.get(level, 0)


def span_of(level: str, sizes: Sequence[int], copies: int = 2) -> Span | None:
    """None for levels without a rule, and for members too few to hold anything. RAID 50 and 60 do not say how many
    groups: from two to as many as there can be.
    """
    n, small = len(sizes), min(sizes, default=0)
    if small <= 0 or n <= PARITY.get(level, 2 * GROUPED.get(level, 0)):
        return None
    if level in STRIPED:
        return Span(n * small, sum(sizes), n, f"{n} × {{size}}")
    if level == "1":
        return Span(small, small, 1, "1 × {size}")
    if level == "10":
        return Span(n * small // copies, n * small // copies, n, f"{n} ÷ {copies} × {{size}}")
    if level in PARITY:
        data = n - PARITY[level]
        return Span(data * small, data * small, data, f"({n} − {PARITY[level]}) × {{size}}")
    return _grouped(level, n, small) if level in GROUPED else None


def _grouped(level: str, n: int, small: int) -> Span:
    each = GROUPED[level]
    most = n - 2 * each
    fewest = n - each * (n // (each + 2))
    return Span(fewest * small, most * small, most, f"({n} − 2 × {each}) × {{size}}")


def clash(one: str | None, other: str | None) -> bool:
    """Whether two places on one disk are the same bytes: the same partition, or one of them is the whole disk."""
    return (one or "") == (other or "") or not (one and other)

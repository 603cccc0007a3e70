"""In which order a plan's steps are made. The same plan gives the same steps, always.

interleaved   all configurations at one point, then the next point, then again from the first (the CRS4 way)
randomized    every round all cells, each round shuffled by the plan's seed
sequential    one configuration after the other, each point with all its rounds
not_printed   a report that does not say; drawn as interleaved, and said so
"""

import hashlib
from collections.abc import Collection
from dataclasses import dataclass

ORDERS = {
    "interleaved": "interleaved",
    "randomized": "randomized",
    "sequential": "sequential",
    "not_printed": "not printed",
}
ORDER_WORDS = {
    "interleaved": (
        "Interleaved: all configurations at one point, then the next point, then again from the first one. A passing disturbance then hits "
        "every configuration and not only one."
    ),
    "randomized": "Randomized: every round has all cells, shuffled by the stored seed, so that the same plan gives the same order.",
    "sequential": "Sequential: one configuration after the other, each point with all its rounds.",
    "not_printed": "The order is not printed.",
}
Cell = tuple[int, int]  # (row, point), by position


@dataclass(frozen=True)
class Step:
    """`position` from 1 through the whole plan, `round` from 1."""

    position: int
    round: int
    row: int
    point: int


def steps(cells: Collection[Cell], order: str, rounds: int, seed: int = 0) -> list[Step]:
    """Every cell `rounds` times. `cells`: those that are run; holes are simply not among them."""
    by_round = [(number, cell) for number in range(1, rounds + 1) for cell in _round(cells, order, number, seed)]
    if order == "sequential":
        by_round.sort(key=lambda one: (one[1], one[0]))
    return [Step(at, number, *cell) for at, (number, cell) in enumerate(by_round, 1)]


def _round(cells: Collection[Cell], order: str, number: int, seed: int) -> list[Cell]:
    if order == "randomized":
        return sorted(cells, key=lambda cell: _drawn(seed, number, cell))
    return sorted(cells, key=lambda cell: (cell[1], cell[0]))


def _drawn(seed: int, number: int, cell: Cell) -> bytes:
    """A number that looks random, the same with every Python: the library's shuffle may change between versions."""
    return hashlib.sha256(f"{seed}/{number}/{cell[0]}/{cell[1]}".encode()).digest()

"""In which order a plan's steps are made. The same plan gives the same steps, always.

interleaved   all configurations at one point, then the next point, then again from the first (the CRS4 way)
randomized    every round all cells, each round shuffled by the plan's seed
sequential    one configuration after the other, each point with all its rounds
not_printed   a report that does not say; drawn as interleaved, and said so
"""

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import groupby

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
    """Return every cell `rounds` times in the plan's order; `cells` are those that are run."""
    by_round = [(number, cell) for number in range(1, rounds + 1) for cell in _round(cells, order, number, seed)]
    if order == "sequential":
        by_round.sort(key=lambda entry: (entry[1], entry[0]))
    return [Step(at, number, *cell) for at, (number, cell) in enumerate(by_round, 1)]


def _round(cells: Collection[Cell], order: str, number: int, seed: int) -> list[Cell]:
    if order == "randomized":
        return sorted(cells, key=lambda cell: _drawn(seed, number, cell))
    return sorted(cells, key=lambda cell: (cell[1], cell[0]))


def _drawn(seed: int, number: int, cell: Cell) -> bytes:
    """Return a pseudo-random number that is the same with every Python.

    The library's shuffle may change between versions.
    """
    return hashlib.sha256(f"{seed}/{number}/{cell[0]}/{cell[1]}".encode()).digest()


PITCH, LINE, LEFT, TOP = 16, 20, 8, 26
MOST_STEPS = 120
LETTER, MOST_LETTERS = 7, 36  # of a configuration's name


@dataclass(frozen=True)
class Dot:
    x: int
    y: int
    number: int
    label: str


@dataclass(frozen=True)
class Band:
    x: int
    width: int
    label: str
    is_odd: bool


@dataclass(frozen=True)
class OrderPicture:
    width: int
    height: int
    dots: list[Dot]
    bands: list[Band]
    lines: list[tuple[int, str]]
    names: int  # how wide they are
    path: str
    again: str
    band_height: int

    @property
    def whole_width(self) -> int:
        return self.names + self.width


def sequence(
    steps: Sequence[Step], rows: Sequence[str], points: Sequence[str], *, is_repeated: bool
) -> OrderPicture | None:
    """Return the picture of one round's steps; None where there is nothing to draw, or too much to read."""
    if not 2 <= len(steps) <= MOST_STEPS:
        return None
    used = sorted({step.row for step in steps})
    dots = [
        Dot(
            _x(at),
            TOP + used.index(step.row) * LINE + LINE // 2,
            step.position,
            f"{rows[step.row]}, {points[step.point]}",
        )
        for at, step in enumerate(steps)
    ]
    bottom = TOP + len(used) * LINE
    path = "M" + " L".join(f"{dot.x} {dot.y}" for dot in dots)
    again = f"M{dots[-1].x} {dots[-1].y} V{bottom + 12} H{dots[0].x} V{bottom + 2}" if is_repeated else ""
    lines = [(TOP + at * LINE + LINE // 2 + 4, _cut(rows[row])) for at, row in enumerate(used)]
    return OrderPicture(
        _x(len(steps)) + LEFT,
        bottom + (20 if again else 6),
        dots,
        _bands(steps, points),
        lines,
        max(len(name) for _, name in lines) * LETTER,
        path,
        again,
        bottom - 20,
    )


def _cut(name: str) -> str:
    return name if len(name) <= MOST_LETTERS else f"{name[: MOST_LETTERS - 1].rstrip()}…"


def _x(at: int) -> int:
    return LEFT + at * PITCH + PITCH // 2


def _bands(steps: Sequence[Step], points: Sequence[str]) -> list[Band]:
    """Return a band for adjacent steps at the same point; a label that would not fit is left out."""
    bands: list[Band] = []
    at = 0
    for place, group in groupby(steps, key=lambda step: step.point):
        count = len(list(group))
        label = points[place] if len(points[place]) * 7 <= count * PITCH else ""
        bands.append(Band(LEFT + at * PITCH, count * PITCH, label, bool(len(bands) % 2)))
        at += count
    return bands

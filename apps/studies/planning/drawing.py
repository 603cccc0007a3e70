"""A plan's order as a small picture: one column for each step of the first round, one line for each configuration. Coordinates alone, in px,
from where the names end; these stand to the left of it.

The line leads from step to step; bands name the point. Where more rounds follow, an arrow leads back to the first step.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from apps.studies.planning.order import Step

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
    """`steps`: those of one round, in order. None where there is nothing to draw, or too much to be read."""
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
    """Steps at the same point, one after the other, share a band; a label that would not fit is left out."""
    bands: list[Band] = []
    at = 0
    for place, group in groupby(steps, key=lambda step: step.point):
        count = len(list(group))
        label = points[place] if len(points[place]) * 7 <= count * PITCH else ""
        bands.append(Band(LEFT + at * PITCH, count * PITCH, label, bool(len(bands) % 2)))
        at += count
    return bands

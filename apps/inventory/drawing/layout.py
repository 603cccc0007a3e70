"""Where the boxes of a drawing stand: columns from left to right by kind, rows so that few lines cross. Pure arithmetic.

Lines that pass a column go through a place of their own there, so that they do not run behind boxes. Units are those of the SVG.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import fmean

from apps.inventory.drawing.boxes import Boxes
from apps.inventory.drawing.graph import Graph, Part, in_order, neighbours

WIDTH, HEIGHT, PASSAGE = 180, 42, 10  # of a box, and of a line's place between boxes
ACROSS, BETWEEN, MARGIN, HEAD = 40, 10, 14, 24
SWEEPS, STRAIGHTENINGS = 10, 8
COLUMNS = (
    "far-target", "far", "switch", "nic", "host", "path", "place", "disk", "array", "filesystem", "target",
)  # fmt: skip
_SAME_COLUMN = {"controller": "path"}


@dataclass
class Spot:
    """A box, or a line's passage through a column (`box` empty). `y` is its middle."""

    key: str
    column: int
    is_box: bool
    y: float = 0.0

    @property
    def height(self) -> int:
        return HEIGHT if self.is_box else PASSAGE

    @property
    def x(self) -> int:
        return MARGIN + self.column * (WIDTH + ACROSS)


@dataclass
class Layout:
    spots: dict[str, Spot]
    lines: list[tuple[str, str, list[Spot]]]  # left box, right box, every spot on the way
    kinds: list[str]  # of each column
    width: int = 0
    height: int = 0
    columns: list[list[Spot]] = field(default_factory=list)

    @property
    def crossings(self) -> int:
        rows = {id(spot): row for column in self.columns for row, spot in enumerate(column)}
        between: dict[int, list[tuple[int, int]]] = {}
        for a, b in self.steps():
            between.setdefault(a.column, []).append((rows[id(a)], rows[id(b)]))
        return sum(_inversions([b for _, b in sorted(some)]) for some in between.values())

    def steps(self) -> Iterator[tuple[Spot, Spot]]:
        for _, _, way in self.lines:
            yield from pairwise(way)


def layout_of(boxes: Boxes) -> Layout:
    columns, kinds = _columns(boxes)
    spots = {key: Spot(key, column, True) for key, column in columns.items()}
    found = Layout(spots, [_line(spots, a, b) for a, b in boxes.edges], kinds)
    passages = [spot for _, _, way in found.lines for spot in way[1:-1]]
    found.columns = [[spot for spot in [*spots.values(), *passages] if spot.column == n] for n in range(len(kinds))]
    _untangle(found)
    _straighten(found)
    _measure(found)
    return found


def _columns(boxes: Boxes) -> tuple[dict[str, int], list[str]]:
    """Box → column. Parts of one kind that lie on each other (nested arrays, switches behind switches) take several."""
    kind = {box.key: _SAME_COLUMN.get(box.kind, box.kind) for box in boxes.boxes}
    graph = Graph({key: Part(key, kind[key], "") for key in kind}, dict(boxes.edges))
    left = neighbours(graph.edges, to_the_left=True)
    depth: dict[str, int] = dict.fromkeys(kind, 0)
    for key in in_order(graph):
        depth[key] = max((depth[a] + 1 for a in left.get(key, ()) if kind[a] == kind[key]), default=0)
    every = sorted({(COLUMNS.index(kind[key]), depth[key]) for key in kind})
    number = {place: column for column, place in enumerate(every)}
    columns = {key: number[COLUMNS.index(kind[key]), depth[key]] for key in kind}
    return columns, [COLUMNS[rank] for rank, _ in every]


def _line(spots: Mapping[str, Spot], left: str, right: str) -> tuple[str, str, list[Spot]]:
    a, b = spots[left], spots[right]
    passages = [Spot(f"{left} {right}", column, False) for column in range(a.column + 1, b.column)]
    return left, right, [a, *passages, b]


def _untangle(layout: Layout) -> None:
    """Barycentres, to and fro; the order with the fewest crossings is kept."""
    left, right = _beside(layout)
    best, fewest = [list(column) for column in layout.columns], layout.crossings
    for sweep in range(SWEEPS):
        if not fewest:
            break
        beside, columns = (left, layout.columns[1:]) if sweep % 2 == 0 else (right, layout.columns[-2::-1])
        for column in columns:
            _sort(column, beside, layout)
        if (now := layout.crossings) < fewest:
            best, fewest = [list(column) for column in layout.columns], now
    layout.columns = best


def _sort(column: list[Spot], beside: Mapping[int, list[Spot]], layout: Layout) -> None:
    rows = {id(spot): row for other in layout.columns for row, spot in enumerate(other)}
    middle = {
        id(spot): fmean(rows[id(other)] for other in beside[id(spot)]) if id(spot) in beside else float(rows[id(spot)])
        for spot in column
    }
    column.sort(key=lambda spot: middle[id(spot)])


def _beside(layout: Layout) -> tuple[dict[int, list[Spot]], dict[int, list[Spot]]]:
    left: dict[int, list[Spot]] = {}
    right: dict[int, list[Spot]] = {}
    for a, b in layout.steps():
        right.setdefault(id(a), []).append(b)
        left.setdefault(id(b), []).append(a)
    return left, right


def _inversions(values: list[int]) -> int:
    """Pairs in the wrong order, by merging."""
    if len(values) < 2:
        return 0
    half = len(values) // 2
    one, other = values[:half], values[half:]
    count = _inversions(one) + _inversions(other)
    one.sort()
    other.sort()
    row = 0
    for value in one:
        while row < len(other) and other[row] < value:
            row += 1
        count += row
    return count


def _straighten(layout: Layout) -> None:
    """Each column as near to the middle of its neighbours as the boxes' heights let it."""
    left, right = _beside(layout)
    for column in layout.columns:
        _place(column, [0.0] * len(column))
    for turn in range(STRAIGHTENINGS):
        columns = layout.columns if turn % 2 == 0 else layout.columns[::-1]
        for column in columns:
            wanted = [[*left.get(id(spot), ()), *right.get(id(spot), ())] for spot in column]
            _place(
                column,
                [fmean(o.y for o in some) if some else spot.y for some, spot in zip(wanted, column, strict=True)],
            )


def _place(column: Sequence[Spot], wanted: Sequence[float]) -> None:
    """The least squares from what is wanted that keeps order and distances (pool adjacent violators)."""
    offsets, offset = [], 0.0
    for above, spot in zip([None, *column], column, strict=False):
        offset += (above.height + spot.height) / 2 + BETWEEN if above else 0.0
        offsets.append(offset)
    blocks: list[tuple[float, int]] = []
    for want, down in zip(wanted, offsets, strict=True):
        blocks.append((want - down, 1))
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (a, m), (b, n) = blocks[-2:]
            blocks[-2:] = [((a * m + b * n) / (m + n), m + n)]
    base = [value for value, count in blocks for _ in range(count)]
    for spot, value, down in zip(column, base, offsets, strict=True):
        spot.y = value + down


def _measure(layout: Layout) -> None:
    every = [spot for column in layout.columns for spot in column]
    top = min(spot.y - spot.height / 2 for spot in every)
    for spot in every:
        spot.y = round(spot.y - top + MARGIN + HEAD, 1)
    layout.width = 2 * MARGIN + len(layout.kinds) * (WIDTH + ACROSS) - ACROSS
    layout.height = round(max(spot.y + spot.height / 2 for spot in every) + MARGIN)

"""The drawing of a host in the numbers and words of SVG, which templates (`inventory/drawing.svg`) write down. Pure.

Where the boxes of a drawing stand: columns from left to right by kind, rows so that few lines cross. Pure arithmetic.

Lines that pass a column go through a place of their own there, so that they do not run behind boxes. Units are those of the SVG.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import fmean

from apps.inventory.drawing.boxes import Box, Boxes, boxes_of
from apps.inventory.drawing.graph import DrawingPart, Graph, in_order, neighbours

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
class DrawingLayout:
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


def layout_of(boxes: Boxes) -> DrawingLayout:
    columns, kinds = _columns(boxes)
    spots = {key: Spot(key, column, True) for key, column in columns.items()}
    drawing_layout = DrawingLayout(spots, [_line(spots, a, b) for a, b in boxes.edges], kinds)
    passages = [spot for _, _, way in drawing_layout.lines for spot in way[1:-1]]
    drawing_layout.columns = [
        [spot for spot in [*spots.values(), *passages] if spot.column == n] for n in range(len(kinds))
    ]
    _untangle(drawing_layout)
    _straighten(drawing_layout)
    _measure(drawing_layout)
    return drawing_layout


def _columns(boxes: Boxes) -> tuple[dict[str, int], list[str]]:
    """Map each box to its column.

    Parts of one kind that lie on each other (nested arrays, switches behind switches) take several columns.
    """
    kind = {box.key: _SAME_COLUMN.get(box.kind, box.kind) for box in boxes.boxes}
    graph = Graph({key: DrawingPart(key, kind[key], "") for key in kind}, dict(boxes.edges))
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


def _untangle(layout: DrawingLayout) -> None:
    """Reorder the columns by barycentres, to and fro, and keep the order with the fewest crossings."""
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


def _sort(column: list[Spot], beside: Mapping[int, list[Spot]], layout: DrawingLayout) -> None:
    rows = {id(spot): row for other in layout.columns for row, spot in enumerate(other)}
    middle = {
        id(spot): fmean(rows[id(other)] for other in beside[id(spot)]) if id(spot) in beside else float(rows[id(spot)])
        for spot in column
    }
    column.sort(key=lambda spot: middle[id(spot)])


def _beside(layout: DrawingLayout) -> tuple[dict[int, list[Spot]], dict[int, list[Spot]]]:
    left: dict[int, list[Spot]] = {}
    right: dict[int, list[Spot]] = {}
    for a, b in layout.steps():
        right.setdefault(id(a), []).append(b)
        left.setdefault(id(b), []).append(a)
    return left, right


def _inversions(values: list[int]) -> int:
    """Return the number of pairs in the wrong order, by merge sort."""
    if len(values) < 2:
        return 0
    half = len(values) // 2
    left, right = values[:half], values[half:]
    count = _inversions(left) + _inversions(right)
    left.sort()
    right.sort()
    row = 0
    for value in left:
        while row < len(right) and right[row] < value:
            row += 1
        count += row
    return count


def _straighten(layout: DrawingLayout) -> None:
    """Move the boxes of each column as near to the middle of their neighbours as their heights allow."""
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
    """Place a column by least squares from the wanted heights, keeping order and distances.

    The method is pool adjacent violators.
    """
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


def _measure(layout: DrawingLayout) -> None:
    every = [spot for column in layout.columns for spot in column]
    top = min(spot.y - spot.height / 2 for spot in every)
    for spot in every:
        spot.y = round(spot.y - top + MARGIN + HEAD, 1)
    layout.width = 2 * MARGIN + len(layout.kinds) * (WIDTH + ACROSS) - ACROSS
    layout.height = round(max(spot.y + spot.height / 2 for spot in every) + MARGIN)


Address = Callable[[Box], str]
NAMED = 12
ROOM, NAME_SIZE, DETAIL_SIZE = WIDTH - 18, 13, 11
FITS = 1600  # drawings up to so wide are shrunk a little on wide screens, so that nobody needs to scroll
HEADINGS = {
    "far-target": "Network targets", "far": "Far hosts", "switch": "Switches", "nic": "Network", "host": "Host",
    "path": "Controllers", "place": "Shelves", "disk": "Disks", "array": "Arrays", "filesystem": "Filesystems",
    "target": "Targets",
}  # fmt: skip
KINDS = {
    "far": "far host",
    "far-target": "network target",
    "nic": "network interface",
    "path": "path section",
    "place": "shelf",
}


@dataclass(frozen=True, slots=True)
class DrawnLine:
    """A curve from one box to another; `path` is the `d` of SVG's path."""

    left: str
    right: str
    path: str


@dataclass(frozen=True, slots=True)
class DrawnBox:
    """A box with its texts, cut to its width; `x` and `y` of its upper left corner. `href` is empty where it leads nowhere."""

    key: str
    kind: str
    state: str
    href: str
    in_full: str
    name: str
    detail: str
    x: int
    y: float

    @property
    def places(self) -> dict[str, str]:
        """Return where its parts stand, as SVG writes numbers."""
        return {
            "top": f"{self.y:g}", "bar_top": f"{self.y + 5:g}", "text": f"{self.x + 11}",
            "name": f"{self.y + 18:g}", "detail": f"{self.y + 33:g}",
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class DrawnColumn:
    x: int
    heading: str  # empty where the column before has the same
    boxes: list[DrawnBox]


@dataclass(frozen=True, slots=True)
class Drawing:
    title: str
    width: int
    height: int
    lines: list[DrawnLine]
    columns: list[DrawnColumn]
    heading_y: int = MARGIN + 6
    box_width: int = WIDTH
    box_height: int = HEIGHT
    bar_height: int = HEIGHT - 10

    @property
    def is_narrow(self) -> bool:
        return self.width <= FITS


def drawing_of(graph: Graph, title: str, address: Address, opened: Collection[str] = ()) -> Drawing:
    """Lay a graph out and add its texts.

    `address` gives the address that a box leads to, empty for none; `opened` are the keys of boxes shown part by part.
    """
    result = boxes_of(graph, opened)
    layout, boxes = layout_of(result), {box.key: box for box in result.boxes}
    lines = [DrawnLine(left, right, _curve(way)) for left, right, way in layout.lines]
    columns, last = list[DrawnColumn](), ""
    for column, kind in enumerate(layout.kinds):
        drawn = [_box(boxes[spot.key], spot, address) for spot in layout.columns[column] if spot.is_box]
        heading = HEADINGS[kind] if kind != last else ""
        columns.append(DrawnColumn(MARGIN + column * (WIDTH + ACROSS), heading, drawn))
        last = kind
    return Drawing(title, layout.width, layout.height, lines, columns)


def _curve(way: list[Spot]) -> str:
    """Return the path from one box's right side to the other's left side, level where it passes a column."""
    x, y = way[0].x + WIDTH, way[0].y
    steps = [f"M{x} {y:g}"]
    for spot in way[1:]:
        half = ACROSS / 2
        steps.append(f"C{x + half:g} {y:g} {spot.x - half:g} {spot.y:g} {spot.x} {spot.y:g}")
        x, y = spot.x, spot.y
        if not spot.is_box:
            x += WIDTH
            steps.append(f"H{x}")
    return "".join(steps)


def _box(box: Box, spot: Spot, address: Address) -> DrawnBox:
    name, detail = words_of(box)
    return DrawnBox(
        key=box.key,
        kind=box.kind,
        state=box.parts[0].state,
        href=address(box),
        in_full=in_full(box),
        name=_short(name, NAME_SIZE * 1.09),
        detail=_short(detail, DETAIL_SIZE),
        x=spot.x,
        y=spot.y - HEIGHT / 2,
    )


def words_of(box: Box) -> tuple[str, str]:
    """Return the name and detail of a box; for several parts their number and kind, and some of their names."""
    first = box.parts[0]
    state = "" if first.state in ("", "clean") else first.state
    if box.count == 1:
        return first.name, ", ".join(filter(None, [state, first.detail]))
    names = f"{first.name} … {box.parts[-1].name}"
    return f"{box.count} × {first.plural or KINDS.get(box.kind, box.kind)}", ", ".join(filter(None, [state, names]))


def in_full(box: Box) -> str:
    """Describe a box for pointers and screen readers: kind, name, detail, and the first names if it stands for many."""
    name, detail = words_of(box)
    kind = KINDS.get(box.kind, box.kind)
    if box.count == 1:
        return f"{kind} {name}" + (f": {detail}" if detail else "")
    names = ", ".join(part.name for part in box.parts[:NAMED])
    more = f" and {box.count - NAMED} more" if box.count > NAMED else ""
    look = f" ({box.parts[0].detail})" if box.kind != "disk" else ""
    return f"{kind}s, {name}{look}: {names}{more}"


def _short(text: str, size: float) -> str:
    """Cut to the room in a box, by the widths of a wide common face (DejaVu Sans)."""
    room = ROOM / size - 0.6
    for place, letter in enumerate(text):
        room -= _width(letter)
        if room < 0 and place < len(text) - 1:
            return f"{text[:place].rstrip(' ,')}…"
    return text


def _width(letter: str) -> float:
    """Return the estimated width of a letter, in heights of the letters."""
    if letter in " .,:;|'!()[]ijlIft/":
        return 0.37
    return 0.9 if letter in "MWmw@%" else 0.7 if letter.isupper() else 0.61

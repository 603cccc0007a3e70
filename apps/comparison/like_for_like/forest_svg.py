"""Where the marks of a forest plot stand in an SVG of the page; the template writes it."""

from dataclasses import dataclass

from apps.comparison.like_for_like.forest import Forest, ForestRow, tick_text
from apps.comparison.like_for_like.sentences import ratio_text

WIDTH, LABELS, RIGHT = 560, 190, 16  # units of the view box
CHARACTER, WIDEST = 6.3, 300  # of a label; a plot whose labels are longer has the more room for them
ROW, TOP, BOTTOM = 21, 6, 24
LONGEST = 47  # characters of a label


@dataclass(frozen=True)
class MarkPlace:
    """One row: places in the view box; `low` and `high` are None where there is no interval."""

    row: ForestRow
    label: str
    y: float
    x: float
    low: float | None
    high: float | None
    title: str

    @property
    def text_y(self) -> float:
        return self.y + 4

    @property
    def diamond(self) -> str:
        """Return the points of a combined effect's diamond."""
        low, high = self.low or self.x, self.high or self.x
        return f"{low:.1f},{self.y} {self.x},{self.y - 6} {high:.1f},{self.y} {self.x},{self.y + 6}"

    @property
    def square(self) -> tuple[float, float]:
        return self.x - 4, self.y - 4


@dataclass(frozen=True)
class TickPlace:
    """A tick of the axis."""

    x: float
    text: str
    is_one: bool


@dataclass(frozen=True)
class ForestPlaces:
    """The places of all marks, and the size of the view box."""

    marks: tuple[MarkPlace, ...]
    ticks: tuple[TickPlace, ...]
    height: int
    left_out: int
    caveats: tuple[str, ...] = ()  # in words, with the letters by which rows are marked
    width: int = WIDTH

    @property
    def bottom(self) -> int:
        """Return where the plot ends and the axis begins."""
        return self.height - BOTTOM

    @property
    def tick_y(self) -> int:
        return self.height - 7


def places(plot: Forest) -> ForestPlaces:
    """Return the places of a plot's marks."""
    left = min(WIDEST, max([LABELS, *(CHARACTER * len(f"{row.label} {row.marks}") + 4 for row in plot.rows)]))
    marks = [_mark(plot, row, TOP + ROW * (number + 0.5), left) for number, row in enumerate(plot.rows)]
    ticks = [TickPlace(_x(plot, tick, left), tick_text(tick), tick == 1.0) for tick in plot.ticks]
    return ForestPlaces(tuple(marks), tuple(ticks), TOP + ROW * len(marks) + BOTTOM, plot.left_out, plot.caveats)


def _mark(plot: Forest, row: ForestRow, y: float, left: float) -> MarkPlace:
    low, high = (None if bound is None else _x(plot, bound, left) for bound in (row.low, row.high))
    interval = "" if row.low is None or row.high is None else f" ({ratio_text(row.low)} – {ratio_text(row.high)})"
    most = LONGEST - len(row.marks)
    label = row.label if len(row.label) <= most else f"{row.label[: most - 1]}…"
    return MarkPlace(
        row, label, y, _x(plot, row.ratio, left), low, high, f"{row.label}: {ratio_text(row.ratio)} ×{interval}"
    )


def _x(plot: Forest, ratio: float, left: float) -> float:
    return round(left + plot.place(ratio) * (WIDTH - left - RIGHT), 1)

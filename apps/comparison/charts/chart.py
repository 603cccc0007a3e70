"""What a chart shows, whoever draws it. Values are in base units; an axis says in which unit it is drawn.

    number on the axis = value / axis.unit.factor      (`axis.number(value)`)

An axis of scale `even` has a label at each whole place 0, 1, 2 …, so that sizes far apart stay readable; `nines` has
0, 1, 2 … for 0, 90, 99 … percent.
"""

from dataclasses import dataclass
from enum import StrEnum

from apps.core.units import ColumnUnit

NO_UNIT = ColumnUnit(1, "")
MOST_NAMED = 14  # series in a legend: a longer one would push the chart out of its frame, and the table has all


class ChartKind(StrEnum):
    """The names of the kinds of charts; what each is and how it is drawn is in `kinds/`."""

    LINE = "line"
    BAR = "bar"
    PAIRED = "paired"
    BOX = "box"
    HEAT = "heat"
    MATRIX = "matrix"
    HISTOGRAM = "histogram"
    CURVE = "curve"
    TIME = "time"
    TREND = "trend"


OF_COMPARISONS = (
    ChartKind.LINE, ChartKind.BAR, ChartKind.PAIRED, ChartKind.BOX, ChartKind.HEAT, ChartKind.MATRIX,
)  # fmt: skip


class ValueForm(StrEnum):
    """What a point is: one figure, two bounds, one bound, or nothing."""

    VALUE = "value"
    RANGE = "range"
    AT_LEAST = "low"
    AT_MOST = "high"
    MISSING = "missing"


@dataclass(frozen=True)
class Axis:
    title: str
    scale: str = "linear"  # linear, log, even, nines, time (days since 1970)
    unit: ColumnUnit = NO_UNIT
    labels: tuple[str, ...] = ()  # of an even axis
    places: tuple[float | None, ...] = ()  # the value that stands at each label, where it is a number
    apart: float | None = None  # where what has no number stands: a place of an even axis, or a base value beyond all
    base_unit: str = ""
    low: float | None = None  # base values where the axis begins and ends; None: as the data need it
    high: float | None = None

    @property
    def is_log(self) -> bool:
        return self.scale == "log"

    def number(self, value: float) -> float:
        """Convert a base value to the axis unit; places of an even axis are no values."""
        return value / self.unit.factor


@dataclass(frozen=True)
class BoxPlot:
    """Quartiles; whiskers end at the last values within 1.5 times the box's height, `beyond` are those outside."""

    low: float
    q1: float
    median: float
    q3: float
    high: float
    mean: float
    beyond: tuple[float, ...] = ()


@dataclass(frozen=True)
class ChartPoint:
    """`place` is where it stands on x: a label's number, or a base value.

    `low` and `high`: the 95 % interval, the two bounds of a range, or the least and the most of a moment.
    """

    place: float
    label: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    form: ValueForm = ValueForm.VALUE
    is_approximate: bool = False
    is_hollow: bool = False
    reason: str = ""
    modes: tuple[float, ...] = ()
    outliers: tuple[float, ...] = ()
    values: tuple[float, ...] = ()  # all of a box's
    box: BoxPlot | None = None
    note: str = ""  # short, written beside the mark: a pair's ratio
    warning: str = ""  # why the note is no fair comparison
    is_apart: bool = False  # its x is unknown: no line leads there


@dataclass(frozen=True)
class ChartSeries:
    label: str
    points: tuple[ChartPoint, ...]
    tone: int = 0  # which of the site's series colours
    is_baseline: bool = False


@dataclass(frozen=True)
class Tile:
    """A cell of a heat map or a matrix. Without a value it is a hole, and `text` says why."""

    column: int
    row: int
    text: str
    value: float | None = None
    shade: float | None = None  # 0 to 1 along the colours
    fill: str = ""
    ink: str = ""


@dataclass(frozen=True)
class ReferenceLine:
    """A reference: RAM, a cache, a ceiling, a change. On x `at` is a place; on y a base value."""

    axis: str
    at: float
    label: str
    what: str
    tone: int | None = None  # of the one series that it is about


@dataclass(frozen=True)
class Region:
    """Shaded along x from `low` to `high`, places; None is the frame."""

    low: float | None
    high: float | None
    label: str
    what: str


@dataclass(frozen=True)
class Chart:
    kind: ChartKind
    title: str
    x: Axis
    y: Axis
    series: tuple[ChartSeries, ...]
    description: str = ""  # one or two sentences from the data, for those who do not see it
    caption: str = ""
    lines: tuple[ReferenceLine, ...] = ()
    regions: tuple[Region, ...] = ()
    tiles: tuple[Tile, ...] = ()
    z: Axis | None = None  # what the colour of tiles means
    caveats: tuple[str, ...] = ()  # in words: a page has them beside the chart, and a picture stands alone

    @property
    def points(self) -> list[tuple[ChartSeries, ChartPoint]]:
        return [(series, point) for series in self.series for point in series.points]

    @property
    def named(self) -> int:
        """Return how many series a legend names."""
        return min(len(self.series), MOST_NAMED)

    @property
    def unnamed(self) -> str:
        """Return the legend's last entry, where it names only some of the series."""
        left = len(self.series) - self.named
        return f"… and {left} more, in the table" if left else ""

    @property
    def value_axis(self) -> Axis:
        """Return the axis of the measured values, which is the colour's where there are tiles."""
        return self.z or self.y

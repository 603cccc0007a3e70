"""The parts of a trend as plain values; `queries` fills the runs from the database, `trend` computes the rest."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from apps.comparison.statistics.ratios import Ratio


class ChangeDirection(StrEnum):
    BETTER = "better"
    WORSE = "worse"


@dataclass(frozen=True, eq=False)
class MeasuredRun:
    """One run of the watched configuration: the median of what it measured there, in base units.

    `at` is when the run ended; where its result does not say, when it came here, and then `is_dated` is false.
    """

    run: int
    at: datetime
    value: float
    facts: Mapping[str, Any] = field(default_factory=dict)
    is_dated: bool = True
    places: frozenset[tuple[int | None, ...]] = frozenset()  # points of its workload, as in `readings.POINT`


@dataclass(frozen=True)
class SeriesMark:
    """A person's word that something was changed on purpose; the first run at or after `at` begins a new stretch."""

    at: datetime
    text: str = ""
    id: int = 0


@dataclass(frozen=True)
class FactChange:
    """A fact that was one thing before and another after, as people write both."""

    fact: str
    label: str
    before: str
    after: str

    @property
    def text(self) -> str:
        return f"{self.label}: {self.before} → {self.after}"


@dataclass(frozen=True)
class Segment:
    """Runs between two boundaries: places `start` to `end` (exclusive). `began_by`: `start`, `change` or `mark`.

    `first` and `last` are the level at its first and last run, which differ where the values drift.
    """

    start: int
    end: int
    median: float
    began_by: str
    first: float
    last: float

    @property
    def n(self) -> int:
        return self.end - self.start


@dataclass(frozen=True)
class LevelChange:
    """A place where the level changed: `place` is the first run after.

    `ratio` is after ÷ before over both segments without their outliers, with its 95 % interval; it has no interval
    where a segment has fewer than three runs.
    """

    place: int
    run: int
    run_before: int
    at: datetime
    ratio: Ratio
    direction: ChangeDirection
    before: float  # medians, in base units
    after: float
    n_before: int
    n_after: int
    facts: tuple[FactChange, ...] = ()

    @property
    def size(self) -> float:
        """Return the change as a fraction: −0.1 is ten per cent less."""
        return self.ratio.ratio - 1

    @property
    def is_settled(self) -> bool:
        """Return whether the interval excludes “no change”."""
        low, high = self.ratio.low, self.ratio.high
        return low is not None and high is not None and not low <= 1 <= high


@dataclass(frozen=True)
class Drift:
    """A steady change that no steps explain. Fractions: of one run to the next, and from the first run to the last."""

    per_run: float
    total: float
    direction: ChangeDirection


@dataclass(frozen=True)
class Trend:
    """`points` in the order of time. `left_out`: runs whose value is not above zero, which has no ratio.

    `noise`: the spread from run to run as a fraction, None while there are too few runs to look for changes.
    """

    points: tuple[MeasuredRun, ...]
    segments: tuple[Segment, ...]
    changes: tuple[LevelChange, ...]
    marks: tuple[tuple[int, SeriesMark], ...]  # with the place of the first run after each
    outliers: frozenset[int]  # places
    left_out: tuple[MeasuredRun, ...]
    drift: Drift | None
    noise: float | None
    missing: int = 0  # runs that are wanted before changes can be looked for
    unlike: tuple[str, ...] = ()  # what the runs differ in, where they are of several things; then no change is told

    @property
    def newest_stretch(self) -> tuple[MeasuredRun, ...]:
        """Return the runs since the last mark, which `drift` is about."""
        starts = [segment.start for segment in self.segments if segment.began_by != "change"]
        return self.points[starts[-1] :] if starts else ()

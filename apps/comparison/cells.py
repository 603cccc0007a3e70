"""A comparison as plain values: its cells with their statistics, in base units, and its findings."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from apps.comparison.caveats.rule import Caveat
from apps.comparison.confounders import KINDS, Confounder, Contrast, Suggestion
from apps.comparison.likeness import CellMember
from apps.comparison.question import MOST_DRAWN, Question
from apps.comparison.statistics.factors import Effect
from apps.comparison.statistics.modes import Mode
from apps.runs.metrics import Metric


class Verdict(StrEnum):
    BETTER = "better"
    WORSE = "worse"
    NO_DIFFERENCE = "no significant difference"
    TOO_FEW = "too few runs"


class Withheld(StrEnum):
    """Why a cell has no verdict although it has values, and no interval where it is itself a mixture."""

    UNLIKE = "unlike configurations"
    UNLIKE_BASELINE = "unlike configurations in the baseline"
    CONFOUNDED = "other facts differ"


@dataclass(frozen=True)
class Outlier:
    """A run whose value stands far from its cell's median. It is marked, and counted like the others."""

    run: int
    value: float


@dataclass(frozen=True)
class Correction:
    """The verdicts of `tests` cells are made together: `method` keeps the chance of even one false alarm at `level`."""

    method: str
    tests: int
    level: float


@dataclass(frozen=True)
class ComparisonCell:
    """All runs of one series at one x. `low` and `high`: bounds, where the tool gave a range or only a limit."""

    x: Any
    series: str
    n: int = 0
    mean: float | None = None
    median: float | None = None
    stdev: float | None = None
    minimum: float | None = None
    maximum: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    merged: float | None = None  # a percentile of the merged histograms
    ratio: float | None = None
    ratio_low: float | None = None
    ratio_high: float | None = None
    method: str = ""  # of the ratio: see `ratios.py`
    effect_size: float | None = None  # Hedges' g
    p: float | None = None
    p_adjusted: float | None = None  # for all cells of the comparison
    verdict: Verdict | None = None
    more_runs: int | None = None
    advice: str = ""
    outliers: tuple[Outlier, ...] = ()
    modes: tuple[Mode, ...] = ()
    runs: tuple[int, ...] = ()
    low: float | None = None
    high: float | None = None
    quality: str = ""
    missing: str = ""
    values: tuple[float, ...] = ()  # of all runs, for box plots
    printed: str = ""  # what the tool printed, where there is one reading, and the line it was read from
    source_line: int | None = None
    unlike: int = 0  # configurations that its values are of: 1 where all its runs are alike, 0 where it has no value
    unlike_facts: tuple[str, ...] = ()  # what differs between them
    members: tuple[CellMember, ...] = ()  # of a mixture
    split: str = ""  # of a mixture: the address's query that shows them apart
    withheld: Withheld | None = None
    confounders: tuple[str, ...] = ()  # facts that differ from the baseline's cell beside those compared
    unknown: tuple[str, ...] = ()  # facts known of neither this cell nor the baseline's, at unlike places

    @property
    def figure(self) -> float | None:
        """Return the one number to show: the mean, or the merged percentile (percentiles are never averaged)."""
        return next((value for value in (self.merged, self.mean, self.median) if value is not None), None)


@dataclass(frozen=True)
class Comparison:
    question: Question  # with the baseline that was taken
    metric: Metric
    operation: str
    x: str
    series: tuple[str, ...]
    baseline: str | None
    cells: tuple[ComparisonCell, ...]
    confounders: tuple[Confounder, ...]
    caveats: tuple[Caveat, ...]
    samples: int
    correction: Correction | None = None
    contrasts: tuple[Contrast, ...] = ()
    suggestion: Suggestion | None = None
    effects: tuple[Effect, ...] = ()

    @property
    def xs(self) -> tuple[Any, ...]:
        return tuple(dict.fromkeys(cell.x for cell in self.cells))

    @property
    def drawn(self) -> tuple[str, ...]:
        """Return the series that a chart draws, in their order: those that were picked, else the first, at most `MOST_DRAWN`."""
        picked = tuple(name for name in self.series if name in self.question.draw)
        return (picked or self.series)[:MOST_DRAWN]

    @property
    def confounders_by_kind(self) -> dict[str, list[Confounder]]:
        """Return the confounders by kind: `differs`, `mixed`, `unknown`, in this order."""
        return {kind: [confounder for confounder in self.confounders if confounder.kind == kind] for kind in KINDS}

    @property
    def runs(self) -> tuple[int, ...]:
        return tuple(sorted({run for cell in self.cells for run in cell.runs}))

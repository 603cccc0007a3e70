"""The comparison: one pure object, computed once; page, chart, REST and wiki read it and compute nothing.

    comparison = compare(samples, question)

has one cell for every x and every series, also where nothing was measured: an empty cell says why it is empty.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from apps.comparison import caveats as rules
from apps.comparison.caveats.rule import Caveat
from apps.comparison.confounders import Confounder, confounders
from apps.comparison.question import NO_BASELINE, Question, QuestionError
from apps.comparison.readings import POINT, Reading
from apps.comparison.statistics import ENOUGH, Summary, merged_percentile, ratio, summary
from apps.comparison.words import natural, text_of
from apps.runs.metrics import METRICS, Metric

NOT_MEASURED = "not measured"


class Verdict(StrEnum):
    BETTER = "better"
    WORSE = "worse"
    NO_DIFFERENCE = "no significant difference"
    TOO_FEW = "too few runs"


@dataclass(frozen=True)
class Cell:
    """All runs of one series at one x, in base units. `low` and `high`: bounds, where the tool gave a range or only a
    limit.
    """

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
    verdict: Verdict | None = None
    runs: tuple[int, ...] = ()
    low: float | None = None
    high: float | None = None
    quality: str = ""
    missing: str = ""

    @property
    def figure(self) -> float | None:
        """The one number to show: the mean, or the merged percentile (percentiles are never averaged)."""
        return next((value for value in (self.merged, self.mean, self.median) if value is not None), None)


@dataclass(frozen=True)
class Comparison:
    question: Question  # with the baseline that was taken
    metric: Metric
    operation: str
    x: str
    series: tuple[str, ...]
    baseline: str | None
    cells: tuple[Cell, ...]
    confounders: tuple[Confounder, ...]
    caveats: tuple[Caveat, ...]
    samples: int

    @property
    def xs(self) -> tuple[Any, ...]:
        return tuple(dict.fromkeys(cell.x for cell in self.cells))

    @property
    def runs(self) -> tuple[int, ...]:
        return tuple(sorted({run for cell in self.cells for run in cell.runs}))


def compare(samples: Iterable[Reading], question: Question) -> Comparison:
    """Group, summarise and judge. Raises `QuestionError` for a fact or baseline that none of the samples has."""
    readings = sorted(samples, key=lambda one: (one.run, one.id))
    _check_names(readings, question)
    named = [(reading, series_name(reading, question.series)) for reading in readings]
    names = _in_order(named, question.series)
    baseline = _baseline(names, question)
    groups: dict[tuple[Any, str], list[Reading]] = defaultdict(list)
    for reading, name in named:
        groups[_x(reading, question.x), name].append(reading)
    xs = sorted({x for x, _ in groups}, key=natural)
    grid = {(x, name): groups.get((x, name), []) for x in xs for name in names}
    by_series = {name: [one for one, of in named if of == name] for name in names}
    return Comparison(
        question=question.with_(baseline=baseline or NO_BASELINE) if names else question,
        metric=METRICS[question.metric],
        operation=question.operation,
        x=question.x,
        series=names,
        baseline=baseline,
        cells=tuple(_cells(grid, METRICS[question.metric], baseline)),
        confounders=tuple(confounders(by_series, (*question.series, question.x))),
        caveats=tuple(rules.of_cells(grid)),
        samples=len(readings),
    )


def series_name(reading: Reading, facts: Sequence[str]) -> str:
    """`5 · hardware`: the values of the series' facts."""
    return " · ".join(text_of(fact, reading.of(fact)) for fact in facts)


def _x(reading: Reading, name: str) -> Any:
    value = reading.of(name)
    return text_of(name, value) if isinstance(value, list | dict) else value


def _check_names(readings: Sequence[Reading], question: Question) -> None:
    known = {name for reading in readings for name in reading.facts} | {*POINT, "file_size_over_ram"}
    for field, names in (("x", (question.x,)), ("series", question.series)):
        for name in names:
            if readings and name not in known:
                raise QuestionError(field, name, f"a fact that these runs have: {', '.join(sorted(known))}")


def _in_order(named: Sequence[tuple[Reading, str]], facts: Sequence[str]) -> tuple[str, ...]:
    """Labels stand as their study prints them, with own runs before; other facts by value."""
    keys: dict[str, Any] = {}
    for reading, name in named:
        values = tuple(natural(reading.of(fact)) for fact in facts)
        key = ((reading.position, values) if facts[0] in ("label", "configuration") else (("", 0), values), name)
        keys[name] = min(keys.get(name, key), key)
    return tuple(sorted(keys, key=lambda name: keys[name]))


def _baseline(names: Sequence[str], question: Question) -> str | None:
    if question.baseline == NO_BASELINE or not names:
        return None
    if question.baseline and question.baseline not in names:
        raise QuestionError("baseline", question.baseline, f"one of the series: {', '.join(names)}; or {NO_BASELINE}")
    return question.baseline or names[0]


def _cells(grid: Mapping[tuple[Any, str], Sequence[Reading]], metric: Metric, baseline: str | None) -> Iterable[Cell]:
    for (x, series), readings in grid.items():
        against = grid[x, baseline] if baseline and baseline != series else None
        yield _cell(x, series, readings, metric, against)


def _cell(x: Any, series: str, readings: Sequence[Reading], metric: Metric, against: Sequence[Reading] | None) -> Cell:
    values = _values(readings)
    bounds = [one for one in readings if one.value is None]
    return Cell(
        x=x,
        series=series,
        runs=tuple(sorted({one.run for one in readings})),
        low=min((one.low for one in bounds if one.low is not None), default=None),
        high=max((one.high for one in bounds if one.high is not None), default=None),
        quality=", ".join(sorted({one.quality for one in readings})),
        missing="" if values else _missing(readings),
        **_numbers(summary(values), readings, metric),
        **(_judged(values, _values(against), metric) if against is not None else {}),
    )


def _values(readings: Sequence[Reading]) -> list[float]:
    return [one.value for one in readings if one.value is not None]


def _missing(readings: Sequence[Reading]) -> str:
    if any(one.low is not None or one.high is not None for one in readings):
        return ""
    reasons = sorted({one.missing_reason for one in readings if one.missing_reason})
    return ", ".join(reasons) or (NOT_MEASURED if not readings else "unknown")


def _numbers(found: Summary, readings: Sequence[Reading], metric: Metric) -> dict[str, Any]:
    fraction = percentile_of(metric)
    if fraction is None:
        return vars(found)
    histograms = [one.bins for one in readings if one.bins]
    merged = merged_percentile(histograms, fraction) if histograms and len(histograms) == found.n else None
    kept = {name: value for name, value in vars(found).items() if name in ("n", "median", "minimum", "maximum")}
    return {**kept, "mean": found.mean if found.n == 1 else None, "merged": merged if found.n > 1 else None}


def percentile_of(metric: Metric) -> float | None:
    """0.999 for `clat_p99_9`; None for what is no percentile."""
    _, found, digits = metric.name.partition("_p")
    return float(digits.replace("_", ".")) / 100 if found and digits.replace("_", "").isdigit() else None


def _judged(values: Sequence[float], baseline: Sequence[float], metric: Metric) -> dict[str, Any]:
    if not values or not baseline:
        return {}
    found = ratio(values, baseline)
    if found is None:
        return {}
    verdict = _verdict(found.low, found.high, metric)
    return {"ratio": found.ratio, "ratio_low": found.low, "ratio_high": found.high, "verdict": verdict}


def _verdict(low: float | None, high: float | None, metric: Metric) -> Verdict:
    if low is None or high is None:
        return Verdict.TOO_FEW
    if low <= 1 <= high:
        return Verdict.NO_DIFFERENCE
    return Verdict.BETTER if (low > 1) == metric.higher_is_better else Verdict.WORSE


METHOD = (
    f"Means with Student's 95 % interval from {ENOUGH} runs on; ratios of geometric means with Welch's 95 % interval "
    f"on logarithms, from {ENOUGH} runs on each side. Each cell is judged by itself."
)

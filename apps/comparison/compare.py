"""The comparison: one pure object, computed once; page, chart, REST and wiki read it and compute nothing.

    comparison = compare(samples, question)

has one cell for every x and every series, also where nothing was measured: an empty cell says why it is empty.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from apps.comparison import caveats as rules
from apps.comparison.cells import Cell, Comparison, Correction, Outlier
from apps.comparison.confounders import confounders, contrasts, table
from apps.comparison.factors import effects
from apps.comparison.judging import Key, judged
from apps.comparison.likest import likest
from apps.comparison.modes import modes
from apps.comparison.question import NO_BASELINE, Question, QuestionError
from apps.comparison.readings import FILE_SIZE_OVER_RAM, POINT, Reading
from apps.comparison.repetitions import per_run, several_points
from apps.comparison.statistics import Summary, merged_percentile, outliers, summary
from apps.comparison.words import TIME, natural, text_of
from apps.runs.metrics import METRICS, Metric

NOT_MEASURED = "not measured"
NO_INTERVAL = {"ci_low": None, "ci_high": None}  # the spread between points is not that of a measurement


def compare(samples: Iterable[Reading], question: Question) -> Comparison:
    """Group, summarise and judge. Raises `QuestionError` for a fact or baseline that none of the samples has."""
    readings = sorted(samples, key=lambda one: (one.run, one.id))
    _check_names(readings, question)
    named = [(reading, series_name(reading, question.series)) for reading in readings]
    names = _in_order(named, question.series)
    baseline = _baseline(names, question)
    groups: dict[Key, list[Reading]] = defaultdict(list)
    by_series: dict[str, list[Reading]] = {name: [] for name in names}
    for reading, name in named:
        groups[_x(reading, question.x), name].append(reading)
        by_series[name].append(reading)
    xs = sorted({x for x, _ in groups}, key=natural)
    grid = {(x, name): groups.get((x, name), []) for x in xs for name in names}
    metric = METRICS[question.metric]
    cells, correction = _cells(grid, metric, baseline)
    known = table(by_series, (*question.series, question.x))
    found = confounders(known)
    return Comparison(
        question=question.with_(baseline=baseline or NO_BASELINE) if names else question,
        metric=metric,
        operation=question.operation,
        x=question.x,
        series=names,
        baseline=baseline,
        cells=cells,
        confounders=tuple(found),
        caveats=tuple(rules.of_cells(grid)),
        samples=len(readings),
        correction=correction,
        contrasts=tuple(contrasts(known, names, baseline)),
        suggestion=likest(readings, question.series, question.x, sum(one.kind != "unknown" for one in found)),
        effects=() if percentile_of(metric) else tuple(effects(readings, question.series, question.x)),
    )


def series_name(reading: Reading, facts: Sequence[str]) -> str:
    """`5 · hardware`: the values of the series' facts."""
    return " · ".join(text_of(fact, reading.of(fact)) for fact in facts)


def _x(reading: Reading, name: str) -> Any:
    """A day for time: runs of one day stand together."""
    if name == TIME:
        ended = reading.evidence.finished_at
        return ended.date().isoformat() if ended else None
    value = reading.of(name)
    return text_of(name, value) if isinstance(value, list | dict) else value


def _check_names(readings: Sequence[Reading], question: Question) -> None:
    known = {name for reading in readings for name in reading.facts} | {*POINT, FILE_SIZE_OVER_RAM}
    for field, names, also in (("x", (question.x,), {TIME}), ("series", question.series, set())):
        for name in names:
            if readings and name not in known | also:
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


def _cells(
    grid: Mapping[Key, Sequence[Reading]], metric: Metric, baseline: str | None
) -> tuple[tuple[Cell, ...], Correction | None]:
    of_medians = percentile_of(metric) is not None
    runs = {key: per_run(readings, of_medians=of_medians) for key, readings in grid.items()}
    pooled = {key for key, readings in grid.items() if len(readings) > 1 and several_points(readings)}
    judgements, correction = judged(
        {key: list(values.values()) for key, values in runs.items()},
        baseline,
        higher_is_better=metric.higher_is_better,
        of_medians=of_medians,
        pooled=pooled,
    )
    odd = _outliers(list(runs.values()))
    return tuple(
        _cell(
            key,
            readings,
            list(runs[key].values()),
            metric,
            {**judgements.get(key, {}), **(NO_INTERVAL if key in pooled else {}), "outliers": marked},
        )
        for (key, readings), marked in zip(grid.items(), odd, strict=True)
    ), correction


def _cell(
    key: Key, readings: Sequence[Reading], values: Sequence[float], metric: Metric, judgement: Mapping[str, Any]
) -> Cell:
    """`values`: one for each run. `judgement`: what only all cells together tell; it has the last word."""
    bounds = [one for one in readings if one.value is None]
    fields = {**_printed(readings), **_numbers(summary(values), readings, metric), **judgement}
    return Cell(
        x=key[0],
        series=key[1],
        runs=tuple(sorted({one.run for one in readings})),
        low=min((one.low for one in bounds if one.low is not None), default=None),
        high=max((one.high for one in bounds if one.high is not None), default=None),
        quality=", ".join(sorted({one.quality for one in readings})),
        missing="" if values else _missing(readings),
        modes=modes(values),
        values=tuple(values),
        **fields,
    )


def _printed(readings: Sequence[Reading]) -> dict[str, Any]:
    """Of a mean nobody printed anything."""
    if len(readings) != 1:
        return {}
    return {"printed": readings[0].printed, "source_line": readings[0].source_line}


def _outliers(cells: Sequence[Mapping[int, float]]) -> Iterable[tuple[Outlier, ...]]:
    """For each cell, of the value of each of its runs."""
    found = outliers([list(of_runs.values()) for of_runs in cells])
    for of_runs, places in zip(cells, found, strict=True):
        measured = list(of_runs.items())
        yield tuple(Outlier(*measured[place]) for place in places)


def _missing(readings: Sequence[Reading]) -> str:
    if any(one.low is not None or one.high is not None for one in readings):
        return ""
    reasons = sorted({one.missing_reason for one in readings if one.missing_reason})
    return ", ".join(reasons) or (NOT_MEASURED if not readings else "unknown")


def _numbers(found: Summary, readings: Sequence[Reading], metric: Metric) -> dict[str, Any]:
    percent = percentile_of(metric)
    if percent is None:
        return vars(found)
    measured = [one for one in readings if one.value is not None]
    histograms = [one.bins for one in measured if one.bins]
    is_whole = len(measured) > 1 and len(histograms) == len(measured)
    merged = merged_percentile(histograms, percent) if is_whole else None
    kept = {name: value for name, value in vars(found).items() if name in ("n", "median", "minimum", "maximum")}
    return {**kept, "mean": found.mean if len(measured) == 1 else None, "merged": merged}


def percentile_of(metric: Metric) -> float | None:
    """99.9 for `clat_p99_9`; None for what is no percentile."""
    _, found, digits = metric.name.partition("_p")
    return float(digits.replace("_", ".")) if found and digits.replace("_", "").isdigit() else None

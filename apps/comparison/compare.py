"""The comparison: one pure object, computed once; page, chart, REST and wiki read it and compute nothing.

    comparison = compare(samples, question)

has one cell for every x and every series, also where nothing was measured: an empty cell says why it is empty.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from apps.comparison import caveats as rules
from apps.comparison.cells import Comparison, ComparisonCell, Correction, Outlier, Withheld
from apps.comparison.confounders import along, confounders, contrasts, find_nearest_pair, table
from apps.comparison.labels import TIME, natural, text_of
from apps.comparison.likeness import Likeness, explain_unlike, member_of, named, per_run
from apps.comparison.question import MOST_DRAWN, NO_BASELINE, Question, QuestionError
from apps.comparison.readings import FILE_SIZE_OVER_RAM, POINT, Reading
from apps.comparison.statistics.factors import effects
from apps.comparison.statistics.modes import modes
from apps.comparison.statistics.summary import ENOUGH, Summary, merged_percentile, outliers, summary
from apps.comparison.statistics.verdicts import Key, judge_cells
from apps.runs.metrics import METRICS, Metric

NOT_MEASURED = "not measured"
NO_INTERVAL = {"ci_low": None, "ci_high": None}  # the spread between configurations is not that of a measurement
MOST_MEMBERS = 12  # of a mixture that are listed; the address that splits it shows all
MOST_SPLIT = 4  # facts that an address splits by
MOST_RUNS = 400  # in an address


def compare(samples: Iterable[Reading], question: Question) -> Comparison:
    """Group, summarise and judge. Raises `QuestionError` for a fact or baseline that none of the samples has."""
    readings = sorted(samples, key=lambda sample: (sample.run, sample.id))
    _check_names(readings, question)
    named = [(reading, series_name(reading, question.series)) for reading in readings]
    names = _in_order(named, question)
    groups: dict[Key, list[Reading]] = defaultdict(list)
    by_series: dict[str, list[Reading]] = {name: [] for name in names}
    for reading, name in named:
        groups[_x(reading, question.x), name].append(reading)
        by_series[name].append(reading)
    xs = sorted({x for x, _ in groups}, key=natural)
    grid = {(x, name): groups.get((x, name), []) for x in xs for name in names}
    metric = METRICS[question.metric]
    of_medians = percentile_of(metric) is not None
    runs = {key: per_run(some, of_medians=of_medians) for key, some in grid.items()}
    baseline = _baseline(named, names, question) or _default_baseline(runs, names, question)
    cells, correction = _cells(grid, runs, metric, baseline, question)
    known = table(by_series, (*question.series, question.x))
    others = confounders(known, along(grid, known, question.x))
    return Comparison(
        question=_canonical(question, names, baseline) if names else question,
        metric=metric,
        operation=question.operation,
        x=question.x,
        series=names,
        baseline=baseline,
        cells=cells,
        confounders=tuple(others),
        caveats=tuple(rules.of_cells(grid)),
        samples=len(readings),
        correction=correction,
        contrasts=tuple(contrasts(known, names, baseline)),
        suggestion=find_nearest_pair(
            readings, question.series, question.x, sum(confounder.kind != "unknown" for confounder in others)
        ),
        effects=() if percentile_of(metric) else tuple(effects(readings, question.series, question.x)),
    )


def series_name(reading: Reading, facts: Sequence[str]) -> str:
    """Return the name of the reading's series: the values of its facts, such as `5 · hardware`."""
    return " · ".join(text_of(fact, reading.of(fact)) for fact in facts)


def _x(reading: Reading, name: str) -> Any:
    """Return the reading's x; for time it is the day, so that runs of one day share a place."""
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


def _in_order(named: Sequence[tuple[Reading, str]], question: Question) -> tuple[str, ...]:
    """Return series in order: those that the question puts in order, then the others.

    Of the others labels stand as their study prints them, after own runs; other facts by value.
    """
    facts = question.series
    keys: dict[str, Any] = {}
    for reading, name in named:
        values = tuple(natural(reading.of(fact)) for fact in facts)
        key = ((reading.position, values) if facts[0] in ("label", "configuration") else (("", 0), values), name)
        keys[name] = min(keys.get(name, key), key)
    first = [name for name in question.order if name in keys]
    return (*first, *sorted(keys.keys() - {*first}, key=lambda name: keys[name]))


def _canonical(question: Question, names: Sequence[str], baseline: str | None) -> Question:
    """Return the question with the baseline that was taken, and without an order or a choice that says nothing here.

    Names of series that are missing for now stay, so that they have their place when a filter lets them in again.
    """
    order = question.order if set(question.order) & set(names) else ()
    draw = question.draw if set(question.draw) & set(names) else ()
    return question.with_(
        baseline=baseline or NO_BASELINE, order=order, draw=() if set(draw) == set(names[:MOST_DRAWN]) else draw
    )


def _baseline(named: Sequence[tuple[Reading, str]], names: Sequence[str], question: Question) -> str | None:
    """Return the baseline that the question asks for; None where it asks for none or does not say."""
    if question.baseline == NO_BASELINE or not names:
        return None
    if question.baseline_of:
        is_meant = (name for reading, name in named if _is_baseline(reading, question))
        if match := next(is_meant, None):
            return match
        raise QuestionError("baseline", question.baseline, f"one of the series: {', '.join(names)}; or {NO_BASELINE}")
    if question.baseline and question.baseline not in names:
        raise QuestionError("baseline", question.baseline, f"one of the series: {', '.join(names)}; or {NO_BASELINE}")
    return question.baseline or None


def _default_baseline(runs: Mapping[Key, Mapping[int, float]], names: Sequence[str], question: Question) -> str | None:
    """Return the first series with enough runs for an interval in some cell, or else the first; None where none is wanted."""
    if question.baseline == NO_BASELINE or not names:
        return None
    enough = {name for (_, name), values in runs.items() if len(values) >= ENOUGH}
    return next((name for name in names if name in enough), names[0])


def _is_baseline(reading: Reading, question: Question) -> bool:
    """Return whether the reading is of the baseline series of the question."""
    if len(question.baseline_of) != len(question.series):
        return False
    return all(
        reading.identity.get(one.kind) in one.ids if one.kind else text_of(fact, reading.of(fact)) == one.text
        for fact, one in zip(question.series, question.baseline_of, strict=True)
    )


def _cells(
    grid: Mapping[Key, Sequence[Reading]],
    runs: Mapping[Key, Mapping[int, float]],
    metric: Metric,
    baseline: str | None,
    question: Question,
) -> tuple[tuple[ComparisonCell, ...], Correction | None]:
    alike = _Alike(grid, baseline, question)
    judgements, correction = judge_cells(
        {key: list(values.values()) for key, values in runs.items()},
        baseline,
        higher_is_better=metric.higher_is_better,
        of_medians=percentile_of(metric) is not None,
        withheld=alike.withheld,
    )
    odd = _outliers(list(runs.values()))
    return tuple(
        _cell(
            key,
            readings,
            list(runs[key].values()),
            metric,
            {**judgements.get(key, {}), **alike.fields(key), "outliers": marked},
        )
        for (key, readings), marked in zip(grid.items(), odd, strict=True)
    ), correction


class _Alike:
    """How many configurations each cell holds, and what stands against a verdict."""

    def __init__(self, grid: Mapping[Key, Sequence[Reading]], baseline: str | None, question: Question) -> None:
        self._question = question
        self._likeness = Likeness()
        self._members = {key: self._likeness.members(readings) for key, readings in grid.items()}
        self._compared = (*question.series, *((FILE_SIZE_OVER_RAM,) if question.x == FILE_SIZE_OVER_RAM else ()))
        self.confounders: dict[Key, tuple[str, ...]] = {}
        self.unknown: dict[Key, tuple[str, ...]] = {}
        self.withheld = dict(self._reasons(baseline)) if baseline else {}

    def _reasons(self, baseline: str) -> Iterable[tuple[Key, tuple[Withheld, str]]]:
        for key, members in self._members.items():
            theirs = self._members[key[0], baseline]
            if key[1] == baseline or not members or not theirs:
                continue
            if len(members) > 1:
                yield key, (Withheld.UNLIKE, f"Not compared: {_unlike(len(members))} stand in this cell")
            elif len(theirs) > 1:
                yield key, (Withheld.UNLIKE_BASELINE, f"Not compared: the baseline holds {_unlike(len(theirs))}")
            else:
                yield from self._differing(key, next(iter(members))[:2], next(iter(theirs))[:2])

    def _differing(self, key: Key, ours: Any, theirs: Any) -> Iterable[tuple[Key, tuple[Withheld, str]]]:
        """Yield the reason where two configurations differ, or may differ, in more than what is compared."""
        differ = self._likeness.between(ours, theirs, self._compared)
        unknown = self._likeness.unknown_between(ours, theirs, self._compared)
        if differ or unknown:
            self.confounders[key], self.unknown[key] = differ, unknown
            yield key, (Withheld.CONFOUNDED, f"Not tested: {explain_unlike(differ, unknown)}")

    def fields(self, key: Key) -> dict[str, Any]:
        """Return what a cell reports of the configurations in it; a mixture has no interval."""
        members = self._members[key]
        if len(members) < 2:
            return {
                "unlike": len(members), "confounders": self.confounders.get(key, ()), "unknown": self.unknown.get(key, ()),
            }  # fmt: skip
        names = self._likeness.differing(members)
        known = self._likeness.facts
        texts = [member_of(some, names, known(key[:2])) for key, some in list(members.items())[:MOST_MEMBERS]]
        advice = f"No interval and no verdict: {_unlike(len(members))} ({named(names)})"
        split = self._split(members, names)
        return {
            **NO_INTERVAL, "unlike": len(members), "unlike_facts": names, "members": tuple(texts),
            "split": split, "withheld": Withheld.UNLIKE, "advice": advice,
        }  # fmt: skip

    def _split(self, members: Mapping[Any, Sequence[Reading]], names: Sequence[str]) -> str:
        """Return the address of the same question for this cell's runs alone, with one series for each configuration."""
        readings = [some[0] for some in members.values()]
        runs = sorted({reading.run for some in members.values() for reading in some})
        facts = _separating(
            readings, [name for name in names if any(reading.of(name) is not None for reading in readings)]
        )
        if not facts or len(runs) > MOST_RUNS:
            return ""
        only = (("run", ",".join(map(str, runs))),)
        other_filters = tuple(pair for pair in self._question.filters if pair[0] != "run")
        return self._question.with_(
            series=facts, baseline="", order=(), draw=(), filters=(*other_filters, *only)
        ).address


def _unlike(count: int) -> str:
    return f"{count} unlike configurations"


def _separating(readings: Sequence[Reading], names: Sequence[str]) -> tuple[str, ...]:
    """Return the few facts that tell these readings apart, those that separate most first."""
    chosen: list[str] = []
    parts = 1
    while len(chosen) < MOST_SPLIT and parts < len(readings):
        counts = {
            name: len({tuple(str(reading.of(fact)) for fact in (*chosen, name)) for reading in readings})
            for name in names
            if name not in chosen
        }
        best = max(counts, key=lambda name: counts[name], default="")
        if not best or counts[best] <= parts:
            break
        chosen.append(best)
        parts = counts[best]
    return tuple(chosen)


def _cell(
    key: Key, readings: Sequence[Reading], values: Sequence[float], metric: Metric, judgement: Mapping[str, Any]
) -> ComparisonCell:
    """Build a cell from one value for each run; `judgement`, which all cells determine together, takes precedence."""
    bounds = [reading for reading in readings if reading.value is None]
    fields = {**_printed(readings), **_numbers(summary(values), readings, metric), **judgement}
    return ComparisonCell(
        x=key[0],
        series=key[1],
        runs=tuple(sorted({reading.run for reading in readings})),
        low=min((bound.low for bound in bounds if bound.low is not None), default=None),
        high=max((bound.high for bound in bounds if bound.high is not None), default=None),
        quality=", ".join(sorted({reading.quality for reading in readings})),
        missing="" if values else _missing(readings),
        modes=modes(values),
        values=tuple(values),
        **fields,
    )


def _printed(readings: Sequence[Reading]) -> dict[str, Any]:
    """Return the printed text of a single reading; a mean was printed by nobody."""
    if len(readings) != 1:
        return {}
    return {"printed": readings[0].printed, "source_line": readings[0].source_line}


def _outliers(cells: Sequence[Mapping[int, float]]) -> Iterable[tuple[Outlier, ...]]:
    """Return the outliers of each cell among the values of its runs."""
    outlier_places = outliers([list(of_runs.values()) for of_runs in cells])
    for of_runs, places in zip(cells, outlier_places, strict=True):
        measured = list(of_runs.items())
        yield tuple(Outlier(*measured[place]) for place in places)


def _missing(readings: Sequence[Reading]) -> str:
    if any(reading.low is not None or reading.high is not None for reading in readings):
        return ""
    reasons = sorted({reading.missing_reason for reading in readings if reading.missing_reason})
    return ", ".join(reasons) or (NOT_MEASURED if not readings else "unknown")


def _numbers(cell_summary: Summary, readings: Sequence[Reading], metric: Metric) -> dict[str, Any]:
    percent = percentile_of(metric)
    if percent is None:
        return vars(cell_summary)
    measured = [reading for reading in readings if reading.value is not None]
    counted = [reading for reading in readings if reading.value is not None or reading.bins]  # some are but bounds
    histograms = [reading.bins for reading in counted if reading.bins]
    is_whole = len(counted) > 1 and len(histograms) == len(counted)
    merged = merged_percentile(histograms, percent) if is_whole else None
    fields = {
        name: value for name, value in vars(cell_summary).items() if name in ("n", "median", "minimum", "maximum")
    }
    return {**fields, "mean": cell_summary.mean if len(measured) == 1 else None, "merged": merged}


def percentile_of(metric: Metric) -> float | None:
    """Return 99.9 for `clat_p99_9`, or None for a metric that is no percentile."""
    _, digits_text, digits = metric.name.partition("_p")
    return float(digits.replace("_", ".")) if digits_text and digits.replace("_", "").isdigit() else None

"""The laws between the figures of one job, and the one place that applies them to whatever a parser read.

    parsed = apply_laws(format.parse(text))

A law is a small module with a `LAW`: a name, its reason in words, and a function that looks at the figures of one
operation of one section and yields what contradicts itself (`law.py`). Its effect is one of three: the figure gets no
value, with the reason; it gets a bound; or, where either of two figures may be right, it stays, is marked approximate
and has the contradiction as its note and as a warning of the file. Laws are applied in the order of `LAWS`: what one of
them withheld, the next ones do not see.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

from msgspec import structs

from apps.parsers.core.models import ParsedFile, ParsedHistogram, ParsedRun, ParsedSample, ParsedTable
from apps.parsers.laws import (
    block_rate,
    counter_sign,
    histogram_end,
    in_flight,
    jitter_length,
    latency_parts,
    mean_within_extremes,
    percentile_against_mean,
    percentile_order,
    shares,
    stopped_clock,
)
from apps.parsers.laws.law import Contradiction, JobFigures, Law

LAWS: tuple[Law, ...] = (
    counter_sign.LAW, shares.LAW, stopped_clock.LAW, latency_parts.LAW, histogram_end.LAW, mean_within_extremes.LAW,
    percentile_order.LAW, percentile_against_mean.LAW, jitter_length.LAW, in_flight.LAW, block_rate.LAW,
)  # fmt: skip
MOST_WARNINGS = 20  # of one law in one file


def apply_laws(parsed: ParsedFile) -> ParsedFile:
    """Return what was read with each figure that contradicts another one withheld, bounded or marked."""
    judge = _Judge()
    runs = tuple(judge.judge_run(run) for run in parsed.runs)
    if not judge.has_changed:
        return parsed
    return replace(parsed, runs=runs, warnings=(*parsed.warnings, *judge.iterate_warnings()))


class _Judge:
    """The contradictions in the runs of one file."""

    def __init__(self) -> None:
        self.has_changed = False
        self._warnings: dict[Law, dict[str, None]] = {}

    def iterate_warnings(self) -> Iterable[str]:
        """Yield a sentence for each contradiction, and how many more there are of a law."""
        for law, sentences in self._warnings.items():
            yield from list(sentences)[:MOST_WARNINGS]
            if (more := len(sentences) - MOST_WARNINGS) > 0:
                yield f"and {more} more contradictions of this kind ({law.name})"

    def judge_run(self, run: ParsedRun) -> ParsedRun:
        """Return the run after all laws; the same object where nothing contradicts itself."""
        if isinstance(run.samples, ParsedTable):  # one metric, of which a regular expression reads no sign
            return run
        places: dict[tuple[object, ...], dict[str, int]] = {}
        for place, sample in enumerate(run.samples):
            places.setdefault(_get_key(sample), {})[sample.metric] = place
        changed: dict[int, ParsedSample] = {}
        histograms = run.histograms
        for by_metric in places.values():
            laws = _select_laws(frozenset(by_metric))
            if not laws:
                continue
            figures = JobFigures(run, {metric: run.samples[place] for metric, place in by_metric.items()})
            for law in laws:
                for contradiction in law.check(figures):
                    self._note(law, figures, contradiction)
                    for metric, sample in figures.apply(contradiction).items():
                        changed[by_metric[metric]] = sample
                    histograms = _without(histograms, figures, contradiction)
        if not changed:
            return run
        self.has_changed = True
        samples = tuple(changed.get(place, sample) for place, sample in enumerate(run.samples))
        return structs.replace(run, samples=samples, histograms=histograms)

    def _note(self, law: Law, figures: JobFigures, contradiction: Contradiction) -> None:
        line = figures.find_line(contradiction.metrics)
        where = f"line {line}: " if line else ""
        sentence = f"{where}{figures.operation}: {contradiction.reason}"
        self._warnings.setdefault(law, {})[sentence] = None


def _get_key(sample: ParsedSample) -> tuple[object, ...]:
    return (
        sample.section, sample.operation, sample.file_size, sample.block_size, sample.threads, sample.iodepth,
    )  # fmt: skip


@cache
def _select_laws(metrics: frozenset[str]) -> tuple[Law, ...]:
    """Return the laws that speak of any of these metrics."""
    return tuple(law for law in LAWS if not law.metrics or law.metrics & metrics)


def _without(
    histograms: tuple[ParsedHistogram, ...], figures: JobFigures, contradiction: Contradiction
) -> tuple[ParsedHistogram, ...]:
    """Return the histograms without the one that counts what a law withheld."""
    if not contradiction.histogram:
        return histograms
    withheld = (figures.section, figures.operation, contradiction.histogram)
    return tuple(item for item in histograms if (item.section, item.operation, item.kind) != withheld)

"""Little's law: rate × latency is the mean number of I/Os under way, which jobs × depth limits.

Where it is more, the rate, the latency, or what is known of jobs and depth is wrong. Nothing says which, so the mean
latencies stay and are doubted; where they are longer than the whole test too, they are wrong, and all latencies of
their kind are withheld. Rates and latencies are over slightly different times, hence a tolerance.
"""

from collections.abc import Iterator

from apps.parsers.laws.law import Contradiction, JobFigures, Law, LawEffect, write_figure

_MEANS = ("latency_mean", "clat_mean")
_TOLERANCE = 1.25


def _check(figures: JobFigures) -> Iterator[Contradiction]:
    rate, most = figures.value("iops") or figures.value("rate"), figures.most_in_flight
    if not rate or not most:
        return
    name = "iops" if figures.value("iops") else "rate"
    limit = most * _TOLERANCE * 1e9
    for metric in _MEANS:
        latency = figures.value(metric)
        if not latency or rate * latency <= limit:
            continue
        if (rate - figures.error(name)) * (latency - figures.error(metric)) <= limit:
            continue
        seconds = figures.seconds
        product = f"{write_figure(metric, latency)} × {write_figure(name, rate)}"
        reason = f"{product} is {rate * latency / 1e9:.4g} I/O under way, where jobs × depth is {most}"
        if seconds and latency > seconds * _TOLERANCE * 1e9:
            kind = metric.partition("_")[0]
            reason += f"; the test took {write_figure('elapsed', seconds * 1e9)}"
            histogram = "lat" if kind == "latency" else kind
            yield Contradiction(figures.of_kind(kind), reason, LawEffect.WITHHELD, histogram=histogram)
        else:
            yield Contradiction((metric,), reason, LawEffect.DOUBTED)


LAW = Law(
    name="in_flight",
    reason="latency × rate is at most jobs × depth (Little's law): else the mean latency is doubted, and withheld with "
    "its kind where it is longer than the test, too",
    check=_check,
    metrics=frozenset(_MEANS),
)

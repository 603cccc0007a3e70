"""What all values together say cannot be less than what some of them say.

Of values that are not negative, the share above a percentile alone adds (1 − share) × percentile to the mean (Markov's
inequality). From above, no value of a stretch between two percentiles is larger than its upper end, and none behind the
last percentile is larger than the largest value.
"""

from collections.abc import Iterator

from apps.parsers.laws.law import SHARES, Contradiction, JobFigures, Law, LawEffect, write_figure

_KINDS = ("clat", "latency")
_TOLERANCE = 1.05  # bins are 1.6 % wide; percentiles and means are rounded


def _check(figures: JobFigures) -> Iterator[Contradiction]:
    for kind in _KINDS:
        mean = figures.value(f"{kind}_mean")
        percentiles = figures.percentiles(kind)
        if not mean or not percentiles:
            continue
        for metric, share, value in percentiles:
            if (1 - share) * value > mean * _TOLERANCE and _is_too_large(figures, metric, share, f"{kind}_mean"):
                name = metric.partition("_")[2].replace("_", ".")
                reason = (
                    f"{name} = {write_figure(kind, value)} makes a larger mean than the mean {write_figure(kind, mean)}"
                )
                yield Contradiction((metric, f"{kind}_mean"), reason, LawEffect.DOUBTED)
                break
        most = _compute_largest_mean(figures, kind, percentiles)
        if most is not None and mean > most * _TOLERANCE and _is_above_all(figures, kind, percentiles):
            reason = (
                f"the mean {write_figure(kind, mean)} is above what its percentiles allow, {write_figure(kind, most)}"
            )
            yield Contradiction((*(metric for metric, _, _ in percentiles), f"{kind}_mean"), reason, LawEffect.DOUBTED)


def _is_too_large(figures: JobFigures, metric: str, share: float, mean: str) -> bool:
    """Return whether a percentile makes a larger mean, whatever both lost when they were printed."""
    value, least = figures.value(metric) or 0.0, (figures.value(mean) or 0.0) + figures.error(mean)
    return (1 - share) * (value - figures.error(metric)) > least * _TOLERANCE


def _is_above_all(figures: JobFigures, kind: str, percentiles: list[tuple[str, float, float]]) -> bool:
    """Return whether the mean is above what the percentiles allow, whatever all of them lost when they were printed."""
    widest = [(metric, share, value + figures.error(metric)) for metric, share, value in percentiles]
    most, mean = _compute_largest_mean(figures, kind, widest), f"{kind}_mean"
    return most is not None and (figures.value(mean) or 0.0) - figures.error(mean) > most * _TOLERANCE


def _compute_largest_mean(figures: JobFigures, kind: str, percentiles: list[tuple[str, float, float]]) -> float | None:
    """Return the largest mean in ns with these percentiles and this largest value; None where that is unknown."""
    largest = figures.value(f"{kind}_max")
    if largest is None:
        return None
    below, total = 0.0, 0.0
    for _, share, value in percentiles:
        total += (share - below) * value
        below = share
    return total + (1 - below) * largest


LAW = Law(
    name="percentile_against_mean",
    reason="a mean is at least (1 − share) × percentile, and at most what percentiles and the largest value allow: else "
    "both are doubted",
    check=_check,
    metrics=frozenset(f"{kind}_{word}" for kind in _KINDS for word in SHARES),
)

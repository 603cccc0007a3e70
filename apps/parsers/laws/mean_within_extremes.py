"""A mean lies between the smallest and the largest value that it is the mean of.

Where a third figure confirms the mean (the rate of the whole, or of all jobs by their number), it is the extreme that is
wrong. IOzone's smallest child, for one, leaves out children that measured nothing, which its mean counts.
"""

from collections.abc import Iterator

from apps.parsers.laws.law import KINDS, Contradiction, JobFigures, Law, LawEffect, write_figure

_RATES = ("bandwidth", "iops")
_KINDS = (*KINDS, *_RATES)
_TOLERANCE = 1.01
_NEAR = 0.02


def _check(figures: JobFigures) -> Iterator[Contradiction]:
    for kind in _KINDS:
        low, mean, high = f"{kind}_min", f"{kind}_mean", f"{kind}_max"
        pairs = ((low, mean), (mean, high), (low, high))
        broken = [pair for pair in pairs if figures.is_above(*pair, _TOLERANCE)]
        if not broken:
            continue
        metrics = tuple(dict.fromkeys(metric for pair in broken for metric in pair))
        reason = f"{kind}: {_write(figures, broken[0][0])} above {_write(figures, broken[0][1])}"
        if mean in metrics and _is_confirmed(figures, kind, mean):
            wrong = tuple(metric for metric in metrics if metric != mean)
            yield Contradiction(wrong, f"{reason}, which the whole confirms", LawEffect.WITHHELD)
        else:
            yield Contradiction(metrics, reason, LawEffect.DOUBTED)


def _is_confirmed(figures: JobFigures, kind: str, mean: str) -> bool:
    """Return whether the mean, or the mean by the number of jobs, is the rate of the whole."""
    whole, value = figures.value(kind) if kind in _RATES else None, figures.value(mean)
    return bool(whole and value) and any(
        abs((value or 0.0) * count - (whole or 0.0)) <= _NEAR * (whole or 0.0) for count in {1, figures.threads or 1}
    )


def _write(figures: JobFigures, metric: str) -> str:
    return f"{metric.partition('_')[2]} {write_figure(metric, figures.value(metric) or 0.0)}"


LAW = Law(
    name="mean_within_extremes",
    reason="min ≤ mean ≤ max: an extreme beyond a mean that the rate of the whole confirms is withheld; else all figures "
    "that break it are doubted",
    check=_check,
    metrics=frozenset(f"{kind}_{word}" for kind in _KINDS for word in ("mean", "max")),
)

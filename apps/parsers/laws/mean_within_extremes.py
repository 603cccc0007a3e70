"""A mean lies between the smallest and the largest value that it is the mean of."""

from collections.abc import Iterator

from apps.parsers.laws.law import KINDS, Contradiction, JobFigures, Law, LawEffect, write_figure

_KINDS = (*KINDS, "bandwidth", "iops")
_TOLERANCE = 1.01


def _check(figures: JobFigures) -> Iterator[Contradiction]:
    for kind in _KINDS:
        low, mean, high = f"{kind}_min", f"{kind}_mean", f"{kind}_max"
        pairs = ((low, mean), (mean, high), (low, high))
        broken = [pair for pair in pairs if figures.is_above(*pair, _TOLERANCE)]
        if not broken:
            continue
        metrics = tuple(dict.fromkeys(metric for pair in broken for metric in pair))
        larger, smaller = broken[0]
        words = [
            f"{name.partition('_')[2]} {write_figure(name, figures.value(name) or 0.0)}" for name in (larger, smaller)
        ]
        yield Contradiction(metrics, f"{kind}: {words[0]} above {words[1]}", LawEffect.DOUBTED)


LAW = Law(
    name="mean_within_extremes",
    reason="min ≤ mean ≤ max: of figures that break it none is known to be the right one, so all are doubted",
    check=_check,
    metrics=frozenset(f"{kind}_{word}" for kind in _KINDS for word in ("mean", "max")),
)

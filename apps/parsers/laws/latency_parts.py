"""Completion is a part of the whole: clat ≤ lat, because lat = slat + clat for each I/O.

Where clat is above lat, a third figure decides: by Little's law rate × latency is the number of I/Os under way, which
is at most jobs × depth, and no I/O takes longer on average than the test. Where lat keeps that and clat does not, clat
and its percentiles are withheld (an engine that does not say when an I/O was issued lets fio subtract from nothing);
where both keep it, either may be wrong.
"""

from collections.abc import Iterator

from apps.parsers.laws.law import Contradiction, JobFigures, Law, LawEffect, write_figure

_WORDS = ("mean", "max", "min")
_TOLERANCE = 1.02  # clat and lat of sums of jobs are each rounded, and weighted by their own counts
_IN_FLIGHT = 1.1


def _check(figures: JobFigures) -> Iterator[Contradiction]:
    above = [word for word in _WORDS if figures.is_above(f"clat_{word}", f"latency_{word}", _TOLERANCE)]
    if not above:
        return
    pair = [write_figure("clat", figures.value(f"{kind}_{above[0]}") or 0.0) for kind in ("clat", "latency")]
    reason = f"clat {above[0]} {pair[0]} above lat {above[0]} {pair[1]}, of which it is a part"
    if fault := _find_fault(figures):
        yield Contradiction(figures.of_kind("clat"), f"{reason}; {fault}", LawEffect.WITHHELD, histogram="clat")
        return
    doubted = [f"{kind}_{word}" for kind in ("clat", "latency") for word in above]
    shares = [metric for metric, _, _ in figures.percentiles("clat")] if "mean" in above or "max" in above else []
    yield Contradiction(tuple(figures.select([*doubted, *shares])), reason, LawEffect.DOUBTED)


def _find_fault(figures: JobFigures) -> str:
    """Return what speaks against clat and not against lat; empty where nothing does."""
    clat, lat = figures.value("clat_mean"), figures.value("latency_mean")
    if clat is None or lat is None or clat <= lat * _TOLERANCE:
        return ""
    rate, most, seconds = figures.value("iops"), figures.most_in_flight, figures.seconds
    if rate and most and rate * lat <= most * _IN_FLIGHT * 1e9 < rate * clat:
        return f"at most {most} I/O can be under way"
    if seconds and lat <= seconds * _IN_FLIGHT * 1e9 < clat:
        return f"the test took {write_figure('elapsed', seconds * 1e9)}"
    return ""


LAW = Law(
    name="latency_parts",
    reason="clat is at most lat: where Little's law or the length of the test shows that lat is right, all of clat is "
    "withheld; else both are doubted",
    check=_check,
    metrics=frozenset({"clat_mean", "clat_max", "clat_min"}),
)

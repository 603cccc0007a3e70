"""No share is above 1: not more datagrams are lost than were sent, and no disk is busy longer than the test."""

from collections.abc import Iterator

from apps.parsers.laws.law import Contradiction, JobFigures, Law, LawEffect

_SHARES = {"lost": "more were lost than sent", "disk_util": "busier than all of the time"}
_TOLERANCE = 0.02  # clocks that are read one after the other


def _check(figures: JobFigures) -> Iterator[Contradiction]:
    for metric, words in _SHARES.items():
        value = figures.value(metric)
        if value is not None and value > 1 + _TOLERANCE:
            yield Contradiction((metric,), f"{value:.4g} of 1: {words}", LawEffect.WITHHELD)


LAW = Law(
    name="shares",
    reason="a share of lost datagrams, or of time in which a disk was busy, is at most 1: what is above it is withheld",
    check=_check,
    metrics=frozenset(_SHARES),
)

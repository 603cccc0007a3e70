"""Jitter is a difference of delays within the test, and so no longer than the test."""

from collections.abc import Iterator

from apps.parsers.laws.law import Contradiction, JobFigures, Law, LawEffect, write_figure

_TOLERANCE = 1.01


def _check(figures: JobFigures) -> Iterator[Contradiction]:
    jitter, seconds = figures.value("jitter"), figures.seconds or _get_asked(figures)
    if jitter is not None and seconds and jitter > seconds * _TOLERANCE * 1e9:
        test = write_figure("elapsed", seconds * 1e9)
        reason = f"jitter of {write_figure('jitter', jitter)} in a test of {test}: the clocks differ"
        yield Contradiction(("jitter",), reason, LawEffect.WITHHELD)


def _get_asked(figures: JobFigures) -> float | None:
    """Return the seconds that the test was asked to take."""
    asked = figures.run.workload.get("runtime")
    return float(asked) if isinstance(asked, int | float) and asked > 0 else None


LAW = Law(
    name="jitter_length",
    reason="jitter is shorter than the test: a longer one is withheld",
    check=_check,
    metrics=frozenset({"jitter"}),
)

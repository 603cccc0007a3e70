"""Values in one cell that do not repeat each other: of one run, at several points, of several configurations."""

from collections.abc import Iterator, Sequence
from typing import Any

from apps.comparison.caveats.rule import Rule
from apps.comparison.readings import Reading
from apps.comparison.repetitions import configurations, per_run, several_points
from apps.comparison.words import label_of, text_of

MOST_NAMED = 4


def check(readings: Sequence[Reading]) -> str | None:
    return "; ".join(_told(readings)) or None


def _told(readings: Sequence[Reading]) -> Iterator[str]:
    values, runs = sum(one.value is not None for one in readings), len(per_run(readings))
    if values > runs:
        yield f"{values} values of {runs} run{'s' * (runs > 1)}: n = {runs}, each run with the mean of its values"
    for name, found in several_points(readings).items():
        yield f"{len(found)} different {label_of(name)}s ({_some(name, found)}): no interval and no verdict"
    whose = configurations(readings)
    if len(whose) > 1:
        yield f"{runs} runs of {len(whose)} configurations ({_counted(list(whose.items()))})"


def _some(name: str, values: Sequence[Any]) -> str:
    shown = [text_of(name, value) for value in values]
    return ", ".join(shown if len(shown) <= MOST_NAMED else [*shown[: MOST_NAMED - 1], "…", shown[-1]])


def _counted(whose: Sequence[tuple[str, int]]) -> str:
    shown = [f"{name}: {runs}" for name, runs in whose[:MOST_NAMED]]
    return "; ".join(shown if len(whose) <= MOST_NAMED else [*shown, f"{len(whose) - MOST_NAMED} more"])


RULE = Rule(
    name="not_repetitions",
    title="Not repetitions of one thing",
    text="Runs of one configuration at one point repeat each other. What else stands together here differs by more than "
    "chance, so its spread is not that of a measurement: choose what differs as the axis, the series or a filter.",
    of_cell=check,
)

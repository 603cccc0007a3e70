"""Values in one cell that do not repeat each other: of one run, at several points, of several configurations."""

from collections.abc import Iterator, Sequence
from typing import Any

from apps.comparison.caveats.rule import CaveatRule
from apps.comparison.labels import label_of, text_of
from apps.comparison.likeness import configurations, per_run, several_points
from apps.comparison.readings import Reading

MOST_NAMED = 4


def check(readings: Sequence[Reading]) -> str | None:
    return "; ".join(_sentences(readings)) or None


def _sentences(readings: Sequence[Reading]) -> Iterator[str]:
    count, runs = sum(reading.value is not None for reading in readings), len(per_run(readings))
    if count > runs:
        yield f"{count} values of {runs} run{'s' * (runs > 1)}: n = {runs}, each run with the mean of its values"
    for name, values in several_points(readings).items():
        yield f"{len(values)} different {label_of(name)}s ({_some(name, values)}): no interval and no verdict"
    whose = configurations(readings)
    if len(whose) > 1:
        yield f"{runs} runs of {len(whose)} configurations ({_counted(list(whose.items()))})"


def _some(name: str, values: Sequence[Any]) -> str:
    texts = [text_of(name, value) for value in values]
    return ", ".join(texts if len(texts) <= MOST_NAMED else [*texts[: MOST_NAMED - 1], "…", texts[-1]])


def _counted(whose: Sequence[tuple[str, int]]) -> str:
    texts = [f"{name}: {runs}" for name, runs in whose[:MOST_NAMED]]
    return "; ".join(texts if len(whose) <= MOST_NAMED else [*texts, f"{len(whose) - MOST_NAMED} more"])


RULE = CaveatRule(
    name="not_repetitions",
    title="Not repetitions of one thing",
    text="Runs of one configuration at one point repeat each other. What else stands together here differs by more than "
    "chance, so its spread is not that of a measurement: choose what differs as the axis, the series or a filter.",
    of_cell=check,
)

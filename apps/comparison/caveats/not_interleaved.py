"""Configurations that were measured one after another, not in turn."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any, NamedTuple

from apps.comparison.caveats.rule import CaveatRule, Cells, Key
from apps.comparison.readings import Reading

ENOUGH = 2  # runs of each: of one run each nothing could be in turn


class _Span(NamedTuple):
    first: datetime
    last: datetime
    series: str
    runs: int


def find(cells: Cells) -> Mapping[Key, str]:
    sentences: dict[Key, str] = {}
    for x in dict.fromkeys(x for x, _ in cells):
        spans = sorted(_spans(cells, x))
        for before, after in pairwise(spans):
            if before.last < after.first:
                sentence = f"{_text(before)}, then {_text(after)}: none of one between two of the other"
                sentences[x, after.series] = sentence
                sentences.setdefault((x, before.series), sentence)
    return sentences


def _spans(cells: Cells, x: Any) -> list[_Span]:
    starts_by_series = ((series, _starts(readings)) for (place, series), readings in cells.items() if place == x)
    return [
        _Span(min(starts), max(starts), series, len(starts))
        for series, starts in starts_by_series
        if len(starts) >= ENOUGH
    ]


def _starts(readings: Sequence[Reading]) -> list[datetime]:
    return list(
        {reading.run: reading.evidence.started_at for reading in readings if reading.evidence.started_at}.values()
    )


def _text(span: _Span) -> str:
    until = "%H:%M" if span.first.date() == span.last.date() else "%Y-%m-%d %H:%M"
    return f"{span.series} {span.runs} runs {span.first:%Y-%m-%d %H:%M} to {span.last:{until}}"


RULE = CaveatRule(
    name="not_interleaved",
    title="Measured one after another",
    text="What passed over the machine while one configuration was measured did not touch the other: take them in turn, "
    "one run of each, then again.",
    of_cells=find,
)

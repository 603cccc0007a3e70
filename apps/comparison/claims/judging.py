"""A claim's verdict from the samples as they are now."""

import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from apps.comparison.claims import comparing, shapes
from apps.comparison.claims.checked import samples_in
from apps.comparison.claims.form import (
    AnyCheck,
    Definition,
    Equality,
    Monotony,
    NotCheckable,
    Ranking,
    Ratio,
    Sets,
    TextAgainstTable,
    as_data,
    kind_of,
)
from apps.comparison.claims.outcomes import Line, Outcome, verdict_of
from apps.comparison.claims.selection import chosen
from apps.comparison.claims.sentences import sentence_of
from apps.comparison.claims.terms import Board, Labels
from apps.comparison.readings import POINT, Reading

RULES = 3  # raise it when the same data may get another verdict or other words, so that stored ones are made again


@dataclass(frozen=True)
class Judged:
    verdict: str
    outcomes: Sequence[Outcome]

    @property
    def samples(self) -> list[int]:
        """Ids of the samples that the numbers are from, in their order."""
        return list(dict.fromkeys(pk for one in self.outcomes for line in one.lines for pk in line.samples))

    @property
    def computed(self) -> dict[str, Any]:
        return {"checks": [_shown(outcome) for outcome in self.outcomes]}


def judge(definition: Definition, readings: Iterable[Reading], labels: Labels | None = None) -> Judged:
    """`labels`: what sentences call the configurations, which otherwise have their own names."""
    board = Board(list(readings), labels or {})
    outcomes = [_outcome(board, check) for check in definition.checks]
    return Judged(verdict_of([outcome.state for outcome in outcomes]), outcomes)


def _outcome(board: Board, check: AnyCheck) -> Outcome:
    lines, left_out = _lines(board, check)
    return Outcome(kind_of(check), sentence_of(check, board.labels), lines, left_out, check.name)


def _lines(board: Board, check: AnyCheck) -> tuple[list[Line], int]:
    if isinstance(check, NotCheckable):
        return [Line("", check.reason, None)], 0
    if isinstance(check, Ranking):
        return comparing.ranking(board, check)
    if isinstance(check, Ratio):
        return comparing.ratio(board, check)
    if isinstance(check, Equality):
        return comparing.equality(board, check)
    if isinstance(check, Monotony):
        return shapes.monotony(board, check)
    if isinstance(check, TextAgainstTable):
        return shapes.text_against_table(board, check)
    return shapes.sets(board, check) if isinstance(check, Sets) else comparing.threshold(board, check)


def used(definition: Definition, readings: Iterable[Reading]) -> list[Reading]:
    """Every reading that some group of the claim chooses; the rest cannot change the verdict."""
    every = list(readings)
    meant = {reading.id for samples in samples_in(definition) for reading in chosen(samples, every)}
    return [reading for reading in every if reading.id in meant]


def digest(definition: Definition, readings: Iterable[Reading], labels: Labels) -> str:
    """SHA-256 of the claim's definition and of all that its verdict and its words can depend on."""
    rows = [
        [one.id, one.run, one.operation, one.metric, one.value, one.low, one.high, one.quality, list(one.alternatives),
         one.printed, one.repetition, *(getattr(one, name) for name in POINT), dict(one.facts)]
        for one in used(definition, readings)
    ]  # fmt: skip
    named = {one: labels.get(one) for samples in samples_in(definition) for one in samples.configurations}
    whole = [RULES, as_data(definition), named, sorted(rows, key=lambda row: row[0])]
    return hashlib.sha256(json.dumps(whole, sort_keys=True, default=str).encode()).hexdigest()


def _shown(outcome: Outcome) -> dict[str, Any]:
    return {
        "kind": outcome.kind,
        "sentence": outcome.sentence,
        "name": outcome.name,
        "state": outcome.state,
        "holds": outcome.holding,
        "made": outcome.made,
        "left_out": outcome.left_out,
        "lines": [_line(line) for line in outcome.lines],
    }


def _line(line: Line) -> dict[str, Any]:
    return {
        "at": line.at,
        "words": line.words,
        "holds": line.holds,
        "low": _finite(line.low),
        "high": _finite(line.high),
        "unit": line.unit,
        "samples": list(line.samples),
    }


def _finite(value: float | None) -> float | None:
    """JSON knows no infinity: an open end is null."""
    return value if value is not None and math.isfinite(value) else None

"""The verdict of a claim, computed from the current samples."""

import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from apps.comparison.claims.checks import comparisons, shapes
from apps.comparison.claims.checks.definition import (
    AnyCheck,
    ClaimDefinition,
    Equality,
    Monotony,
    NotCheckable,
    Ranking,
    RatioCheck,
    Sets,
    TextAgainstTable,
    as_data,
    kind_of,
)
from apps.comparison.claims.checks.outcomes import CheckLine, CheckOutcome, verdict_of
from apps.comparison.claims.checks.selection import chosen
from apps.comparison.claims.checks.sentences import sentence_of
from apps.comparison.claims.checks.terms import Board, Labels
from apps.comparison.claims.checks.validation import samples_in
from apps.comparison.readings import POINT, Reading

RULES = 5  # raise it when the same data may get another verdict or other words, so that stored ones are made again


@dataclass(frozen=True)
class JudgedClaim:
    verdict: str
    outcomes: Sequence[CheckOutcome]

    @property
    def samples(self) -> list[int]:
        """Return the ids of the samples that the numbers are from, in their order."""
        return list(dict.fromkeys(pk for outcome in self.outcomes for line in outcome.lines for pk in line.samples))

    @property
    def computed(self) -> dict[str, Any]:
        return {"checks": [_shown(outcome) for outcome in self.outcomes]}


def judge(definition: ClaimDefinition, readings: Iterable[Reading], labels: Labels | None = None) -> JudgedClaim:
    """Judge a definition against readings; `labels` are the configurations' names in sentences."""
    board = Board(list(readings), labels or {})
    outcomes = [_outcome(board, check) for check in definition.checks]
    return JudgedClaim(verdict_of([outcome.state for outcome in outcomes]), outcomes)


def _outcome(board: Board, check: AnyCheck) -> CheckOutcome:
    lines, left_out = _lines(board, check)
    return CheckOutcome(kind_of(check), sentence_of(check, board.labels), lines, left_out, check.name)


def _lines(board: Board, check: AnyCheck) -> tuple[list[CheckLine], int]:
    if isinstance(check, NotCheckable):
        return [CheckLine("", check.reason, None)], 0
    if isinstance(check, Ranking):
        return comparisons.ranking(board, check)
    if isinstance(check, RatioCheck):
        return comparisons.ratio(board, check)
    if isinstance(check, Equality):
        return comparisons.equality(board, check)
    if isinstance(check, Monotony):
        return shapes.monotony(board, check)
    if isinstance(check, TextAgainstTable):
        return shapes.text_against_table(board, check)
    return shapes.sets(board, check) if isinstance(check, Sets) else comparisons.threshold(board, check)


def used(definition: ClaimDefinition, readings: Iterable[Reading]) -> list[Reading]:
    """Return the readings that some group of the claim selects; no other can change the verdict."""
    every = list(readings)
    meant = {reading.id for samples in samples_in(definition) for reading in chosen(samples, every)}
    return [reading for reading in every if reading.id in meant]


def digest(definition: ClaimDefinition, readings: Iterable[Reading], labels: Labels) -> str:
    """Return the SHA-256 of the definition and of all that its verdict and its sentences depend on."""
    rows = [
        [reading.id, reading.run, reading.operation, reading.metric, reading.value, reading.low, reading.high, reading.quality,
         list(reading.alternatives), reading.printed, reading.repetition, *(getattr(reading, name) for name in POINT), dict(reading.facts)]
        for reading in used(definition, readings)
    ]  # fmt: skip
    named = {
        configuration: labels.get(configuration)
        for samples in samples_in(definition)
        for configuration in samples.configurations
    }
    whole = [RULES, as_data(definition), named, sorted(rows, key=lambda row: row[0])]
    return hashlib.sha256(json.dumps(whole, sort_keys=True, default=str).encode()).hexdigest()


def _shown(outcome: CheckOutcome) -> dict[str, Any]:
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


def _line(line: CheckLine) -> dict[str, Any]:
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
    """Return None for infinity, which JSON does not have."""
    return value if value is not None and math.isfinite(value) else None

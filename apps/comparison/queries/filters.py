"""Which samples a question's filters leave. Names as in an address: see `question.py`."""

import json
from collections.abc import Iterable

from django.db.models import Q, QuerySet

from apps.comparison.labels import UNKNOWN
from apps.comparison.question import QuestionError
from apps.comparison.readings import POINT
from apps.core.text import whole_number
from apps.runs.models import Sample
from apps.runs.states import State

MOST_DIGITS = 19  # of the database's integers
NAMED = {
    "operation": ("measure__operation",),
    "metric": ("measure__metric",),
    "study": ("run__study_run__configuration__study__slug",),
    "configuration": ("run__study_run__configuration__label", "run__study_run__configuration__name"),
    "host": ("run__host__name",),
    "target": ("run__target__name",),
    "tool": ("run__tool",),
    "tool_version": ("run__tool_version",),
    "origin": ("run__origin",),
}


def chosen(samples: QuerySet[Sample], filters: Iterable[tuple[str, str]]) -> QuerySet[Sample]:
    """Return the samples of finished runs that pass the filters."""
    return matching(samples.filter(run__state=State.FINISHED), filters)


def matching(samples: QuerySet[Sample], filters: Iterable[tuple[str, str]]) -> QuerySet[Sample]:
    """Return the samples that match the filters; a name that occurs twice means either value."""
    wanted: dict[str, list[str]] = {}
    for name, value in filters:
        wanted.setdefault(name, []).append(value)
    for name, values in wanted.items():
        samples = samples.filter(_either(name, values))
    return samples


def _either(name: str, values: list[str]) -> Q:
    if name == "run" or name in POINT:
        path = "run_id" if name == "run" else f"point__{name}"
        numbers = [number for value in values for number in _numbers(name, value)]
        known = Q(**{f"{path}__in": [number for number in numbers if number is not None]})
        return known | Q(**{f"{path}__isnull": True}) if None in numbers else known
    matches = Q()
    for value in values:
        matches |= _named(name, value) if name in NAMED else _fact(name, value)
    return matches


def _numbers(name: str, value: str) -> list[int | None]:
    if value == UNKNOWN:
        return [None]
    numbers = [whole_number(part) for part in value.split(",")]
    if None in numbers:
        raise QuestionError(name, value, "whole numbers, in bytes for sizes, with commas between them")
    return numbers


def _named(name: str, value: str) -> Q:
    paths = NAMED[name]
    if value == UNKNOWN:
        return Q(**{f"{paths[0]}__isnull": True}) | Q(**{paths[0]: ""})
    either = Q()
    for path in paths:
        either |= Q(**{path: value})
    return either


def _fact(name: str, value: str) -> Q:
    """Return a condition on a fact, else a label of the run; 5 in an address may be a number or a word."""
    if value == UNKNOWN:
        return (
            ~Q(run__facts__has_key=name)
            | Q(run__facts__contains={name: None})
            | Q(run__facts__contains={name: UNKNOWN})
        )
    either = Q(run__facts__contains={name: value}) | Q(run__labels__contains={name: value})
    try:
        literal = json.loads({"yes": "true", "no": "false"}.get(value, value))
    except (ValueError, RecursionError):
        return either
    is_number = isinstance(literal, int | float) and abs(literal) < float("inf")  # NaN is no JSON
    return either | Q(run__facts__contains={name: literal}) if is_number else either

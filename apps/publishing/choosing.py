"""Filters of lists, read from the address."""

from typing import Any

from django.db.models import Q
from rest_framework.request import Request

from apps.comparison.question import NAME, QuestionError, text
from apps.labs.isolation import LabQuerySet
from apps.runs.models import Run
from apps.runs.states import State

NOT_FILTERS = frozenset({"format", "cursor", "limit", "lang", "base"})
PLAIN = ("state", "tool", "origin", "tool_version", "repetition")


def filters(request: Request) -> list[tuple[str, str]]:
    """(name, value), each as often as it stands in the address; empty ones are left out."""
    found = [
        (name, str(value))
        for name, values in request.query_params.lists()
        if name not in NOT_FILTERS
        for value in values
        if value != ""
    ]
    for name, value in found:
        text(name, value)
        if not NAME.fullmatch(name):
            raise QuestionError(name, value, "the name of a filter: letters, digits, _ . and -")
    return found


def chosen_runs(request: Request) -> LabQuerySet[Run]:
    wanted: dict[str, list[str]] = {}
    for name, value in filters(request):
        wanted.setdefault(name, []).append(value)
    runs: LabQuerySet[Run] = Run.objects.all()
    for name, values in wanted.items():
        either = Q()
        for value in values:
            either |= _matches(name, value)
        runs = runs.filter(either)
    return runs


def _matches(name: str, value: str) -> Q:
    if name == "state" and value not in State.values:
        raise QuestionError(name, value, f"one of: {', '.join(State.values)}")
    if name == "study":
        return Q(study_run__configuration__study__slug=value)
    if name in ("host", "target"):
        named = Q(**{f"{name}__name": value})
        return named | Q(**{f"{name}_id": int(value)}) if value.isdecimal() and len(value) < 19 else named
    if name in PLAIN:
        return Q(**{name: _whole(name, value) if name == "repetition" else value})
    return _fact(name, value)


def _whole(name: str, value: str) -> int:
    if not value.isdecimal() or len(value) > 9:
        raise QuestionError(name, value, "a whole number")
    return int(value)


def _fact(name: str, value: str) -> Q:
    number: Any = int(value) if value.isdecimal() and len(value) < 19 else None
    either = Q(facts__contains={name: value}) | Q(labels__contains={name: value})
    return either if number is None else either | Q(facts__contains={name: number})

"""Filters of REST lists: the filter sets of the pages; filters that a list does not have are refused."""

from collections.abc import Iterable
from typing import Any

import django_filters
from django.db.models import Q, QuerySet
from django_filters.rest_framework import DjangoFilterBackend
from drf_spectacular.extensions import OpenApiFilterExtension
from drf_spectacular.plumbing import build_array_type, build_parameter_type
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from apps.api.problems import ProblemError
from apps.comparison.question import NAME, QuestionError, text
from apps.core.text import whole_number
from apps.inventory.filters import describe_errors
from apps.labs.isolation import LabQuerySet
from apps.runs.models import Run
from apps.runs.states import State

NOT_FILTERS = frozenset({"format", "cursor", "limit", "lang", "base"})


def refuse_unknown_filters(request: Request, known: Iterable[str]) -> None:
    """Raise a 400 if the address has a filter that the list does not have; it names those that the list has."""
    names = sorted(set(known))
    for name in request.query_params:
        if name not in NOT_FILTERS and name not in names:
            expected = f"one of: {', '.join(names)}" if names else "no filter; this list has none"
            detail = f"{name[:100]}: found a filter that this list does not have, expected {expected}."
            raise ProblemError(400, detail, field=name[:100], found=request.query_params[name][:200], expected=expected)


def filter_rows(
    request: Request, filterset_class: type[django_filters.FilterSet], rows: QuerySet[Any]
) -> QuerySet[Any]:
    """Return the rows that the address asks for. Raise a 400 that names every value which cannot be read."""
    filterset = filterset_class(request.query_params, rows)
    if filterset.is_valid():
        chosen: QuerySet[Any] = filterset.qs
        return chosen
    errors = describe_errors(filterset)
    name, found, message = errors[0]
    fields = [{"field": field, "detail": detail} for field, _, detail in errors]
    raise ProblemError(400, f"{name}: found {found!r}. {message}", field=name, found=found, errors=fields)


class ListFilterBackend(DjangoFilterBackend):  # type: ignore[misc]
    """Filters a list by the view's filter set, and refuses filters that the list does not have.

    A view without a filter set names its filters in `filters`; None allows every name.
    """

    def filter_queryset(self, request: Request, queryset: QuerySet[Any], view: Any) -> QuerySet[Any]:
        filterset_class = self.get_filterset_class(view, queryset)
        if filterset_class is None:
            if view.filters is not None:
                refuse_unknown_filters(request, view.filters)
            return queryset
        refuse_unknown_filters(request, filterset_class.base_filters)
        return filter_rows(request, filterset_class, queryset)


class ListFilterExtension(OpenApiFilterExtension):  # type: ignore[no-untyped-call]
    """Describes each filter of the filter set as one that may stand in the address several times."""

    target_class = ListFilterBackend
    priority = 1

    def get_schema_operation_parameters(self, auto_schema: Any, *args: Any, **kwargs: Any) -> list[dict[str, Any]]:
        filterset_class = getattr(auto_schema.view, "filterset_class", None)
        return [
            build_parameter_type(
                name=name,
                schema=build_array_type({"type": "string"}),
                location=OpenApiParameter.QUERY,
                description=str(field.label or ""),
            )
            for name, field in (filterset_class.base_filters if filterset_class else {}).items()
        ]


LARGEST_INTEGER = 2**31 - 1  # that an integer column can hold
PLAIN = ("state", "tool", "origin", "tool_version", "repetition")


def filters(request: Request) -> list[tuple[str, str]]:
    """Return the filters in the address as (name, value), each as often as it is given; empty ones are left out.

    Raises:
        QuestionError: A name or a value is malformed.
    """
    pairs = [
        (name, str(value))
        for name, values in request.query_params.lists()
        if name not in NOT_FILTERS
        for value in values
        if value != ""
    ]
    for name, value in pairs:
        text(name, value)
        if not NAME.fullmatch(name):
            raise QuestionError(name, value, "the name of a filter: letters, digits, _ . and -")
    return pairs


def chosen_runs(request: Request) -> LabQuerySet[Run]:
    """Return the runs that all filters in the address match; of values of the same name one is enough.

    Raises:
        QuestionError: A name or a value is malformed.
    """
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
        number = whole_number(value)
        return named if number is None else named | Q(**{f"{name}_id": number})
    if name in PLAIN:
        return Q(**{name: _whole(name, value) if name == "repetition" else value})
    return _fact(name, value)


def _whole(name: str, value: str) -> int:
    number = whole_number(value, most=LARGEST_INTEGER)
    if number is None:
        raise QuestionError(name, value, f"a whole number up to {LARGEST_INTEGER}")
    return number


def _fact(name: str, value: str) -> Q:
    number = whole_number(value)
    either = Q(facts__contains={name: value}) | Q(labels__contains={name: value})
    return either if number is None else either | Q(facts__contains={name: number})

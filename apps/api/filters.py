"""Filters of REST lists: the filter sets of the pages; filters that a list does not have are refused."""

from collections.abc import Iterable
from typing import Any

import django_filters
from django.db.models import QuerySet
from django_filters.rest_framework import DjangoFilterBackend
from drf_spectacular.extensions import OpenApiFilterExtension
from drf_spectacular.plumbing import build_array_type, build_parameter_type
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from apps.api.problems import ProblemError
from apps.comparison.question import NAME, QuestionError, text
from apps.inventory.filters import describe_errors

NOT_FILTERS = frozenset({"format", "cursor", "limit", "lang", "base"})
TRUE, FALSE = ("1", "true", "yes"), ("0", "false", "no")


def refuse_unknown_filters(request: Request, known: Iterable[str], others: str = "") -> None:
    """Raise a 400 if the address has a filter that the list does not have; it names those that the list has.

    Args:
        request: The request.
        known: The names of the filters.
        others: Words for what else is a filter.
    """
    names = sorted(set(known))
    for name in request.query_params:
        if name not in NOT_FILTERS and name not in names:
            listed = f"one of: {', '.join(filter(None, [*names, others]))}"
            expected = listed if names else "no filter; this list has none"
            detail = f"{name[:100]}: found a filter that this list does not have, expected {expected}."
            raise ProblemError(400, detail, field=name[:100], found=request.query_params[name][:200], expected=expected)


def refuse_unknown_parameters(request: Request, known: Iterable[str]) -> None:
    """Raise a 400 if the address has a parameter that the resource does not know; it names those that it knows."""
    names = sorted({*known, "format"})
    for name, value in request.query_params.items():
        if name not in names:
            expected = f"one of: {', '.join(names)}"
            detail = f"{name[:100]}: found a parameter that this address does not have, expected {expected}."
            raise ProblemError(400, detail, field=name[:100], found=str(value)[:200], expected=expected)


def read_choice(request: Request, name: str, choices: Iterable[str], usual: str = "") -> str:
    """Return the choice that the address names, or `usual` where it names none. Raise a 400 for any other."""
    choice = request.query_params.get(name, "") or usual
    known = [*choices]
    if choice and choice not in known:
        expected = f"one of: {', '.join(known)}" if known else "no value: there is none here"
        detail = f"{name}: found {choice[:80]!r}, expected {expected}"
        raise ProblemError(400, detail, field=name, found=choice[:80], expected=expected)
    return choice


def read_flag(request: Request, name: str) -> bool:
    """Return whether the address sets a flag; it is not set where it is left out. Raise a 400 for any other word."""
    return read_choice(request, name, (*TRUE, *FALSE), FALSE[0]) in TRUE


def filter_rows(
    request: Request, filterset_class: type[django_filters.FilterSet], rows: QuerySet[Any]
) -> QuerySet[Any]:
    """Return the rows that the address asks for.

    Raises:
        ProblemError: The address has a filter that the list does not have, or a value that cannot be read.
    """
    query = request.query_params.copy()
    for name in NOT_FILTERS:
        query.pop(name, None)
    filterset = filterset_class(query, rows)
    refuse_unknown_filters(request, filterset.filters, getattr(filterset, "others", ""))
    if filterset.is_valid():
        filtered: QuerySet[Any] = filterset.qs
        return filtered
    errors = describe_errors(filterset)
    name, value, message = errors[0]
    fields = [{"field": field, "detail": detail} for field, _, detail in errors]
    expected = message.removeprefix("Expected ").removesuffix(".")
    more = {"expected": expected} if message.startswith("Expected ") else {}
    raise ProblemError(400, f"{name}: found {value!r}. {message}", field=name, found=value, errors=fields, **more)


class ListFilterBackend(DjangoFilterBackend):  # type: ignore[misc]
    """Filters a list by the view's filter set, and refuses filters that the list does not have.

    A view without a filter set names its filters in `filters`.
    """

    def filter_queryset(self, request: Request, queryset: QuerySet[Any], view: Any) -> QuerySet[Any]:
        filterset_class = self.get_filterset_class(view, queryset)
        if filterset_class is None:
            refuse_unknown_filters(request, view.filters)
            return queryset
        return filter_rows(request, filterset_class, queryset)


class ListFilterExtension(OpenApiFilterExtension):  # type: ignore[no-untyped-call]
    """Describes each filter of the filter set as one that may stand in the address several times."""

    target_class = ListFilterBackend
    priority = 1

    def get_schema_operation_parameters(self, auto_schema: Any, *args: Any, **kwargs: Any) -> list[dict[str, object]]:
        filterset_class = getattr(auto_schema.view, "filterset_class", None)
        return [
            build_parameter_type(
                name=name,
                schema=build_array_type({"type": "string"}),
                location=OpenApiParameter.QUERY,
                description=str(field.extra.get("help_text") or field.label or ""),
            )
            for name, field in (filterset_class.base_filters if filterset_class else {}).items()
        ]


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

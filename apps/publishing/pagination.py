"""Lists come in pages by cursor: page 1,000 costs what page 1 costs, and what is added meanwhile shifts nothing."""

from collections.abc import Callable, Iterable
from typing import Any

from django.db.models import QuerySet
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request
from rest_framework.response import Response


class Pages(CursorPagination):
    page_size = 100
    max_page_size = 1000
    page_size_query_param = "limit"
    page_size_query_description = "Rows on a page, at most 1,000."
    ordering = "id"


def page(
    request: Request, rows: QuerySet[Any], shown: Callable[[list[Any]], Iterable[Any]], order: str = "id"
) -> Response:
    """`{next, previous, results}`. `shown` turns the page's rows into data, all at once."""
    pages = Pages()
    pages.ordering = order
    found = pages.paginate_queryset(rows, request)
    return pages.get_paginated_response(list(shown(found or [])))

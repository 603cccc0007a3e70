"""Lists in pages by cursor.

Page 1,000 costs what page 1 costs, and rows that are added meanwhile shift nothing.
"""

from typing import Any

from django.db.models import QuerySet
from rest_framework.exceptions import NotFound
from rest_framework.pagination import BasePagination, CursorPagination, LimitOffsetPagination
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.problems import ProblemError
from apps.core.text import whole_number


def refuse_no_number(request: Request, name: str, least: int) -> None:
    """Raise a 400 if a parameter is there and no whole number from `least` on; pages would ignore it silently."""
    text = request.query_params.get(name, "")
    if text and whole_number(text, least) is None:
        expected = f"a whole number from {least} on"
        detail = f"{name}: found {text[:80]!r}, expected {expected}."
        raise ProblemError(400, detail, field=name, found=text[:80], expected=expected)


class Pages(CursorPagination):
    """Pages by cursor of at most 1,000 rows."""

    page_size = 100
    max_page_size = 1000
    page_size_query_param = "limit"
    page_size_query_description = "rows on a page, at most 1,000"
    cursor_query_description = "from `next` and `previous`"
    ordering = "id"
    name_ending = "Page"  # of the component in the OpenAPI description, as in `RunPage`

    def get_ordering(self, request: Request, queryset: QuerySet[Any], view: Any) -> tuple[str, ...]:
        """Return the order of the view's list."""
        return (str(getattr(view, "ordering", self.ordering)),)

    def get_page_size(self, request: Request) -> int | None:
        """Return how many rows a page has; more than the most are the most."""
        refuse_no_number(request, self.page_size_query_param, 1)
        return super().get_page_size(request)

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        link = {"type": "string", "format": "uri", "nullable": True}
        properties = {"next": link, "previous": link, "results": schema}
        return {"type": "object", "required": list(properties), "properties": properties}

    def decode_cursor(self, request: Request) -> Any:
        """Return where the page begins.

        Lists are ordered by number, so that a cursor with anything else is not one that this server gave: 404.
        """
        cursor = super().decode_cursor(request)
        if cursor and cursor.position is not None and whole_number(cursor.position) is None:
            raise NotFound("cursor: found none that this list has given, expected one from `next` or `previous`.")
        return cursor


class NumberedPages(LimitOffsetPagination):
    """Pages of a list whose order is not that of any number, such as a queue; at most 1,000 rows on each."""

    default_limit = 100
    max_limit = 1000
    name_ending = "Page"

    def get_limit(self, request: Request) -> int | None:
        refuse_no_number(request, "limit", 1)
        return super().get_limit(request)

    def get_offset(self, request: Request) -> int:
        refuse_no_number(request, "offset", 0)
        return super().get_offset(request)

    def get_paginated_response(self, data: Any) -> Response:
        links = {"next": self.get_next_link(), "previous": self.get_previous_link()}
        return Response({**links, "count": self.count, "results": data})

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        link = {"type": "string", "format": "uri", "nullable": True}
        properties = {"next": link, "previous": link, "count": {"type": "integer"}, "results": schema}
        return {"type": "object", "required": list(properties), "properties": properties}


class Whole(BasePagination):
    """A list that is always short and is sent at once, as `{results}`."""

    name_ending = "List"

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any]:
        return list(queryset)

    def get_paginated_response(self, data: Any) -> Response:
        return Response({"results": data})

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        return {"type": "object", "required": ["results"], "properties": {"results": schema}}

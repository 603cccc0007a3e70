"""Search across everything."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.problems import ProblemError
from apps.api.viewsets import ScopedAPIView
from apps.core.text import whole_number
from apps.search.registry import BY_NAME
from apps.search.services import SearchHit, find, of_kind

LIMIT, MOST = 20, 200
RANKS = ("exact", "prefix", "word")


class FoundSerializer(serializers.Serializer[SearchHit]):
    """An object whose words begin with what was asked for."""

    kind = serializers.CharField()
    id = serializers.IntegerField(help_text="0 for a label, which is no object")
    title = serializers.CharField()
    detail = serializers.CharField()
    rank = serializers.SerializerMethodField(help_text="exact, prefix or word")
    page = serializers.SerializerMethodField()
    api = serializers.SerializerMethodField()
    lab = serializers.IntegerField(source="lab_id")
    is_own = serializers.BooleanField(help_text="false: from a published lab")

    def get_rank(self, hit: SearchHit) -> str:
        return RANKS[hit.rank]

    @extend_schema_field(OpenApiTypes.URI)
    def get_page(self, hit: SearchHit) -> str:
        return str(self.context["request"].build_absolute_uri(hit.url))

    @extend_schema_field(serializers.URLField(allow_null=True))
    def get_api(self, hit: SearchHit) -> str | None:
        plural = BY_NAME[hit.kind].api if hit.kind in BY_NAME else ""
        return self.context["request"].build_absolute_uri(f"/api/v1/{plural}/{hit.id}/") if plural else None


class SearchAnswerSerializer(serializers.Serializer[Any]):
    """What was found, kind after kind."""

    query = serializers.CharField()
    has_more = serializers.ListField(
        child=serializers.CharField(), help_text="kinds of which there are more than `limit`"
    )
    results = FoundSerializer(many=True)


class SearchView(ScopedAPIView):
    """Everything whose words begin with all of the words asked for."""

    serializer_class = SearchAnswerSerializer
    parameters = ("q", "kind", "limit")

    @extend_schema(
        parameters=[
            OpenApiParameter(
                "q", str, required=True, description="words, a serial, the beginning of a SHA-256, or `label=value`"
            ),
            OpenApiParameter("kind", str, description=f"only one of: {', '.join(BY_NAME)}"),
            OpenApiParameter("limit", int, description=f"of each kind; {LIMIT}, at most {MOST}"),
        ]
    )
    def get(self, request: Request) -> Response:
        """Search for everything whose words begin with all of the words in `q`.

        Exact names come first, and the own lab's before those of published labs.
        """
        query, kind = request.query_params.get("q", ""), request.query_params.get("kind", "")
        kinds = of_kind(kind)
        if kinds is None:
            detail = f"kind: found {kind!r}, expected one of: {', '.join(BY_NAME)}."
            raise ProblemError(400, detail, field="kind", found=kind)
        groups = find(query, self.lab, read_limit(request), kinds)
        answer = {
            "query": query,
            "has_more": [group.name for group in groups if group.has_more],
            "results": [hit for group in groups for hit in group.hits],
        }
        return Response(self.get_serializer(answer).data)


def read_limit(request: Request) -> int:
    """Return how many of each kind are wanted. Raise a 400 for anything but 1 to `MOST`."""
    text = request.query_params.get("limit", str(LIMIT))
    limit = whole_number(text, 1, MOST)
    if limit is None:
        raise ProblemError(400, f"limit: found {text[:80]!r}, expected 1 to {MOST}.", field="limit", found=text[:80])
    return limit

"""Search across everything."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from apps.labs.models import Lab
from apps.publishing import schema
from apps.publishing.problems import ProblemError
from apps.publishing.resource import resource
from apps.search.find import Hit, find, of_kind
from apps.search.kinds import BY_NAME

LIMIT, MOST = 20, 200
RANKS = ("exact", "prefix", "word")


class Found(s.Serializer[Any]):
    kind = s.CharField()
    id = s.IntegerField(help_text="0 for a label, which is no object")
    title = s.CharField()
    detail = s.CharField()
    rank = s.CharField(help_text="exact, prefix or word")
    page = s.URLField()
    api = s.URLField(allow_null=True)
    lab = s.IntegerField()
    is_own = s.BooleanField(help_text="false: from a published lab")


class SearchAnswer(s.Serializer[Any]):
    query = s.CharField()
    has_more = s.ListField(child=s.CharField(), help_text="kinds of which there are more than `limit`")
    results = Found(many=True)


@schema.described(
    SearchAnswer, errors=(400,), operation_id="search",
    parameters=[
        OpenApiParameter("q", str, required=True, description="words, a serial, the beginning of a SHA-256, or `label=value`"),
        OpenApiParameter("kind", str, description=f"only one of: {', '.join(BY_NAME)}"),
        OpenApiParameter("limit", int, description=f"of each kind; {LIMIT}, at most {MOST}"),
    ],
)  # fmt: skip
@resource()
def search(request: Request) -> Response:
    """Everything whose words begin with all of the words asked for; exact names first, the own lab's before published ones."""
    asked, name = request.query_params.get("q", ""), request.query_params.get("kind", "")
    kinds = of_kind(name)
    if kinds is None:
        raise ProblemError(
            400, f"kind: found {name!r}, expected one of: {', '.join(BY_NAME)}.", field="kind", found=name
        )
    lab: Lab = request._request.lab  # type: ignore[attr-defined]
    groups = find(asked, lab, _limit(request), kinds)
    results = [_shown(request, hit) for group in groups for hit in group.hits]
    return Response({"query": asked, "has_more": [one.name for one in groups if one.has_more], "results": results})


def _limit(request: Request) -> int:
    asked = request.query_params.get("limit", str(LIMIT))
    if not asked.isdecimal() or not 1 <= int(asked) <= MOST:
        raise ProblemError(400, f"limit: found {asked!r}, expected 1 to {MOST}.", field="limit", found=asked)
    return int(asked)


def _shown(request: Request, hit: Hit) -> dict[str, Any]:
    api = BY_NAME[hit.kind].api if hit.kind in BY_NAME else ""
    return {
        "kind": hit.kind, "id": hit.id, "title": hit.title, "detail": hit.detail, "rank": RANKS[hit.rank],
        "page": request.build_absolute_uri(hit.url),
        "api": request.build_absolute_uri(f"/api/v1/{api}/{hit.id}/") if api else None,
        "lab": hit.lab_id, "is_own": hit.is_own,
    }  # fmt: skip

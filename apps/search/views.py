"""The results page, and the list under the search field while typing."""

from django.http import HttpResponse
from django.shortcuts import render

from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.search.registry import KINDS
from apps.search.services import MAX_ASKED, find, of_kind

TYPING, PAGE, ONE_KIND = 5, 12, 100


@member_required()
def search(request: LabRequest) -> HttpResponse:
    query = request.GET.get("q", "").strip()[:MAX_ASKED]
    only = request.GET.get("kind", "")
    kinds = of_kind(only) or KINDS
    is_typing = bool(request.htmx)  # type: ignore[attr-defined]
    limit = TYPING if is_typing else ONE_KIND if len(kinds) == 1 else PAGE
    groups = find(query, request.lab, limit, kinds)
    context = {"asked": query, "groups": groups, "only": only, "count": sum(len(group.hits) for group in groups)}
    return render(request, "search/_typing.html" if is_typing else "search/page.html", context)

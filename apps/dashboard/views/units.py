"""The choice between MB and MiB for all pages of one reader."""

from django.http import HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect, resolve_url
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from apps.core.unit_base import remember, without_base
from apps.core.units import BASES
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest


@require_POST
@member_required()
def choose(request: LabRequest) -> HttpResponse:
    """Set the base of units and redirect to the page that asked, if it is one of this site."""
    query = request.POST.get("base", "")
    if query not in map(str, BASES):
        return HttpResponseBadRequest(f"base: found {query!r}, expected one of: {', '.join(map(str, BASES))}")
    there = without_base(request.POST.get("next", ""))
    is_ours = url_has_allowed_host_and_scheme(there, {request.get_host()}, require_https=request.is_secure())
    response = redirect(there if is_ours and there.startswith("/") else resolve_url("overview"))
    remember(response, int(query))
    return response

"""A person decides about one difference between what was typed and what was discovered."""

from django.contrib import messages
from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from apps.inventory.discovery.decisions import GoneError, decide
from apps.inventory.models import Difference
from apps.inventory.vocabulary import Decision
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import Role

WORDS = {Decision.TYPED: "What was typed stays", Decision.DISCOVERED: "What the tools say was taken"}


@require_POST
@member_required(Role.ENGINEER)
def decide_difference(request: LabRequest, pk: int) -> HttpResponse:
    """Decide a difference for the value that was typed or the one that was discovered, as `decision` says."""
    object_or_404 = get_object_or_404(Difference.objects.select_related("host"), pk=pk, lab=request.lab)
    decision = request.POST.get("decision", "")
    if decision not in WORDS:
        messages.error(request, f"Found the decision “{decision[:40]}”, expected typed or discovered.")
        return redirect(_back(request, object_or_404))
    try:
        decide(object_or_404, Decision(decision), str(request.user))
        messages.success(
            request, f"{WORDS[Decision(decision)]}: {object_or_404.part_name}, {object_or_404.field.replace('_', ' ')}."
        )
    except (GoneError, IntegrityError) as error:
        messages.error(
            request,
            f"Nothing was changed. {error if isinstance(error, GoneError) else 'Another part has that already.'}",
        )
    return redirect(_back(request, object_or_404))


def _back(request: HttpRequest, difference: Difference) -> str:
    """Return the address of the page that the button was on: the host's or the part's own."""
    after = request.POST.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(
        after, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return after if is_ours else f"{reverse('host', args=[difference.host_id])}#differences"

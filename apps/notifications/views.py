"""The owners' page of destinations: create, test, switch, delete, and send dead letters again."""

from django.conf import settings
from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from apps.core.mail import has_mail
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import AuditEvent, Role
from apps.notifications.forms import DestinationForm
from apps.notifications.models import Delivery, DeliveryState, Destination
from apps.notifications.services import TooManyMessagesError, send_again, send_test
from apps.notifications.transports import load_transports

DELIVERIES = 50


def _page(request: LabRequest, form: DestinationForm, status: int = 200) -> HttpResponse:
    dead = Count("deliveries", filter=Q(deliveries__state=DeliveryState.DEAD))
    watches = Count("recipients", distinct=True)
    rows = Destination.objects.filter(lab=request.lab).annotate(dead=dead, watches=watches)
    recent = Delivery.objects.filter(lab=request.lab).select_related("destination", "watch")[:DELIVERIES]
    context = {"destinations": rows, "deliveries": recent, "form": form, "has_mail": has_mail(), "settings": settings}
    return render(request, "notifications/destinations.html", context, status=status)


def _too_many(request: LabRequest, error: TooManyMessagesError) -> HttpResponse:
    messages.error(request, f"Nothing was sent. {error} Try again later.")
    return redirect("destinations")


@member_required(Role.OWNER)
def destinations(request: LabRequest) -> HttpResponse:
    """List the destinations (GET), or create one (POST).

    A webhook's secret is in this answer and nowhere afterwards.
    """
    if request.method != "POST":
        return _page(request, DestinationForm(request.lab.pk))
    form = DestinationForm(request.lab.pk, request.POST)
    if not form.is_valid():
        return _page(request, form, status=422)
    secret = Destination.new_secret() if load_transports()[form.cleaned_data["kind"]].HAS_SECRET else ""
    made = Destination.objects.create(lab=request.lab, created_by=str(request.user), secret=secret, **form.cleaned_data)
    AuditEvent.objects.record(
        request.lab.pk, "destination made", made.name, actor=str(request.user), address=made.address
    )
    if not secret:
        messages.success(request, f"“{made}” can be chosen by watches now.")
        return redirect("destinations")
    response = render(request, "notifications/destination-made.html", {"destination": made, "secret": secret})
    response["Cache-Control"] = "no-store"
    return response


@require_POST
@member_required(Role.OWNER)
def test(request: LabRequest, pk: int) -> HttpResponse:
    destination = get_object_or_404(Destination, pk=pk, lab=request.lab)
    try:
        send_test(destination, str(request.user))
    except TooManyMessagesError as error:
        return _too_many(request, error)
    messages.success(request, f"A test is on its way to “{destination}”. The result appears below in a moment.")
    return redirect("destinations")


test.__test__ = False  # type: ignore[attr-defined]  # it is no test of pytest's


@require_POST
@member_required(Role.OWNER)
def switch(request: LabRequest, pk: int) -> HttpResponse:
    destination = get_object_or_404(Destination, pk=pk, lab=request.lab)
    Destination.objects.filter(pk=pk).update(is_active=not destination.is_active)
    word = "off" if destination.is_active else "on"
    AuditEvent.objects.record(request.lab.pk, f"destination switched {word}", destination.name, actor=str(request.user))
    messages.success(request, f"“{destination}” is switched {word}.")
    return redirect("destinations")


@member_required(Role.OWNER)
def delete(request: LabRequest, pk: int) -> HttpResponse:
    """Show what would be deleted (GET), or delete it (POST)."""
    destination = get_object_or_404(Destination, pk=pk, lab=request.lab)
    if request.method != "POST":
        return render(
            request,
            "notifications/destination-delete.html",
            {"destination": destination, "watches": destination.recipients.count()},
        )
    AuditEvent.objects.record(request.lab.pk, "destination deleted", destination.name, actor=str(request.user))
    destination.delete()
    messages.success(request, f"“{destination}” is deleted.")
    return redirect("destinations")


@require_POST
@member_required(Role.OWNER)
def again(request: LabRequest, pk: int) -> HttpResponse:
    delivery = get_object_or_404(Delivery, pk=pk, lab=request.lab)
    try:
        is_sent = send_again(delivery, str(request.user))
    except TooManyMessagesError as error:
        return _too_many(request, error)
    if is_sent:
        messages.success(request, "It is on its way again.")
    else:
        messages.info(request, "It is no dead letter any more.")
    return redirect("destinations")

"""The owners' page of destinations: make, test, switch, delete, and send dead letters again."""

from django.conf import settings
from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from apps.comparison.trends.delivering import has_mail
from apps.comparison.trends.destinations import Delivery, DeliveryState, Destination, Kind
from apps.comparison.trends.forms import DestinationForm
from apps.comparison.trends.notifying import send_test
from apps.comparison.trends.tasks import send_delivery
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import AuditEvent, Role

DELIVERIES = 50


def _page(request: LabRequest, form: DestinationForm, status: int = 200) -> HttpResponse:
    dead = Count("deliveries", filter=Q(deliveries__state=DeliveryState.DEAD))
    watches = Count("recipients", distinct=True)
    found = Destination.objects.filter(lab=request.lab).annotate(dead=dead, watches=watches)
    recent = Delivery.objects.filter(lab=request.lab).select_related("destination", "watch")[:DELIVERIES]
    context = {"destinations": found, "deliveries": recent, "form": form, "has_mail": has_mail(), "settings": settings}
    return render(request, "trends/destinations.html", context, status=status)


@member_required(Role.OWNER)
def destinations(request: LabRequest) -> HttpResponse:
    """GET lists them; POST makes one. A webhook's secret is on the answer, and nowhere else afterwards."""
    if request.method != "POST":
        return _page(request, DestinationForm(request.lab.pk))
    form = DestinationForm(request.lab.pk, request.POST)
    if not form.is_valid():
        return _page(request, form, status=422)
    secret = Destination.new_secret() if form.cleaned_data["kind"] == Kind.WEBHOOK else ""
    made = Destination.objects.create(lab=request.lab, created_by=str(request.user), secret=secret, **form.cleaned_data)
    AuditEvent.objects.record(
        request.lab.pk, "destination made", made.name, who=str(request.user), address=made.address
    )
    if not secret:
        messages.success(request, f"“{made}” can be chosen by watches now.")
        return redirect("destinations")
    response = render(request, "trends/destination-made.html", {"destination": made, "secret": secret})
    response["Cache-Control"] = "no-store"
    return response


@require_POST
@member_required(Role.OWNER)
def test(request: LabRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(Destination, pk=pk, lab=request.lab)
    send_test(found, str(request.user))
    messages.success(request, f"A test is on its way to “{found}”. How it went stands below in a moment.")
    return redirect("destinations")


test.__test__ = False  # type: ignore[attr-defined]  # it is no test of pytest's


@require_POST
@member_required(Role.OWNER)
def switch(request: LabRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(Destination, pk=pk, lab=request.lab)
    Destination.objects.filter(pk=pk).update(is_active=not found.is_active)
    word = "off" if found.is_active else "on"
    AuditEvent.objects.record(request.lab.pk, f"destination switched {word}", found.name, who=str(request.user))
    messages.success(request, f"“{found}” is switched {word}.")
    return redirect("destinations")


@member_required(Role.OWNER)
def delete(request: LabRequest, pk: int) -> HttpResponse:
    """GET says what will be lost; POST does it."""
    found = get_object_or_404(Destination, pk=pk, lab=request.lab)
    if request.method != "POST":
        return render(
            request, "trends/destination-delete.html", {"destination": found, "watches": found.recipients.count()}
        )
    AuditEvent.objects.record(request.lab.pk, "destination deleted", found.name, who=str(request.user))
    found.delete()
    messages.success(request, f"“{found}” is deleted.")
    return redirect("destinations")


@require_POST
@member_required(Role.OWNER)
def again(request: LabRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(Delivery, pk=pk, lab=request.lab)
    if found.again():
        send_delivery.delay_on_commit(found.pk)
        messages.success(request, "It is on its way again.")
    else:
        messages.info(request, "It is no dead letter any more.")
    return redirect("destinations")

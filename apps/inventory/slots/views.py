"""Pages of slot maps: the grid, an enclosure's layout, and placing disks in its slots. Reading is for all, changing for engineers."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from apps.core.text import whole_number
from apps.inventory.models import Disk, Enclosure, Host
from apps.inventory.slots.assignment import PlacingError, place, preview, put, slot_of_disk, take_out
from apps.inventory.slots.forms import EnclosureForm, PlaceForm, SlotPutForm
from apps.inventory.slots.grid import COLOURS
from apps.inventory.slots.layout import rows_of, slots_in
from apps.inventory.slots.names import SlotError
from apps.inventory.slots.slot_map import slot_map
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import Role


@member_required()
def host_slots(request: LabRequest, pk: int) -> HttpResponse:
    host = get_object_or_404(Host, pk=pk)
    lit = request.GET.get("array", "")
    number = whole_number(lit)
    result = slot_map(host, request.GET.get("colour", ""), request.GET.get("round"), number)
    may_edit = request.member.covers(Role.ENGINEER) and host.lab_id == request.lab.pk
    context = {"host": host, "map": result, "colours": COLOURS, "may_edit": may_edit}
    return render(request, "inventory/slots.html", context)


@member_required()
def enclosure(request: LabRequest, pk: int) -> HttpResponse:
    """Redirect to the slot map of the enclosure's host, as an enclosure has no page of its own."""
    return redirect(_on_map(get_object_or_404(Enclosure, pk=pk)))


@member_required(Role.ENGINEER)
def enclosure_new(request: LabRequest, pk: int) -> HttpResponse:
    host = get_object_or_404(Host.objects.filter(lab=request.lab), pk=pk)
    if request.method == "POST":
        return _layout(request, host, None)
    form = EnclosureForm(host)
    form.initial["name"] = request.GET.get("name", "")[:120]
    return _layout_page(request, host, None, form)


@member_required(Role.ENGINEER)
def enclosure_layout(request: LabRequest, pk: int) -> HttpResponse:
    row = get_object_or_404(_own(request), pk=pk)
    if request.method == "POST":
        return _layout(request, row.host, row)
    return _layout_page(request, row.host, row, EnclosureForm(row.host, row))


def _layout(request: LabRequest, host: Host, row: Enclosure | None) -> HttpResponse:
    form = EnclosureForm(host, row, request.POST)
    if not form.is_valid():
        return _layout_page(request, host, row, form, 422)
    if request.POST.get("act") == "fill":
        return _layout_page(request, host, row, form.as_filled())
    saved = form.save()
    messages.success(request, f"{saved}: {len(slots_in(form.cleaned_data['rows_found']))} slots.")
    return redirect(_on_map(saved))


def _layout_page(
    request: LabRequest, host: Host, row: Enclosure | None, form: EnclosureForm, status: int = 200
) -> HttpResponse:
    rows = form.cleaned_data.get("rows_found") if form.is_bound and form.is_valid() else _rows(row)
    context = {"host": host, "enclosure": row, "form": form, "rows": rows}
    return render(request, "inventory/enclosure-layout.html", context, status=status)


def _rows(row: Enclosure | None) -> Any:
    try:
        return rows_of(row.layout) if row else ()
    except SlotError:
        return ()


@member_required(Role.ENGINEER)
def enclosure_place(request: LabRequest, pk: int) -> HttpResponse:
    """Preview the placing of disks; `act=apply` writes what the preview with that fingerprint showed."""
    row = get_object_or_404(_own(request), pk=pk)
    if request.method != "POST":
        return _place_page(request, row, PlaceForm(row))
    form = PlaceForm(row, request.POST)
    if not form.is_valid():
        return _place_page(request, row, form, status=422)
    wish = form.wish()
    if request.POST.get("act") == "apply":
        try:
            count = place(row, wish, set(request.POST.getlist("replace")), request.POST.get("fingerprint", ""))
        except PlacingError as error:
            messages.error(request, str(error))
            return _place_page(request, row, form, 409, found=preview(row, wish))
        messages.success(request, f"{count} disk{'s' * (count != 1)} changed or entered; nothing else was touched.")
        return redirect(_on_map(row))
    return _place_page(request, row, form, found=preview(row, wish))


def _place_page(request: LabRequest, row: Enclosure, form: PlaceForm, status: int = 200, **more: Any) -> HttpResponse:
    slot = request.GET.get("slot", "")[:12]
    here = Disk.objects.filter(host=row.host_id, enclosure=row.name, slot_number__isnull=False)
    context = {
        "enclosure": row, "host": row.host, "form": form, "put": SlotPutForm(row, initial={"slot": slot}),
        "here": [(slot_of_disk(disk), disk) for disk in here.order_by("slot_controller", "slot_number")],
        "known_slots": slots_in(_rows(row)), **more,
    }  # fmt: skip
    return render(request, "inventory/enclosure-place.html", context, status=status)


@require_POST
@member_required(Role.ENGINEER)
def enclosure_put(request: LabRequest, pk: int) -> HttpResponse:
    row = get_object_or_404(_own(request), pk=pk)
    form = SlotPutForm(row, request.POST)
    if not form.is_valid():
        return _place_page(request, row, PlaceForm(row), 422, put=form)
    try:
        messages.success(request, put(row, form.cleaned_data["disk"], form.cleaned_data["slot"]))
    except PlacingError as error:
        messages.error(request, str(error))
        return _place_page(request, row, PlaceForm(row), 409, put=form)
    return redirect(_on_map(row))


@require_POST
@member_required(Role.ENGINEER)
def enclosure_take_out(request: LabRequest, pk: int) -> HttpResponse:
    row = get_object_or_404(_own(request), pk=pk)
    message = request.POST.get("disk", "")
    disk = get_object_or_404(Disk.objects.filter(host=row.host_id), pk=whole_number(message) or 0)
    try:
        messages.success(request, take_out(row, disk))
    except PlacingError as error:
        messages.error(request, str(error))
    return redirect("enclosure-place", row.pk)


def _own(request: LabRequest) -> Any:
    return Enclosure.objects.filter(lab=request.lab).select_related("host")


def _on_map(row: Enclosure) -> str:
    return f"{reverse('host-slots', args=[row.host_id])}#enclosure-{row.pk}"

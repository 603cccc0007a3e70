"""Slot maps and RAID plans: the grid, an enclosure's layout, placing disks, plans. What enclosures are otherwise is in `parts.py`."""

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from apps.inventory.models import Enclosure, Host
from apps.inventory.raid_plan_form import PlanForm, chosen_disks
from apps.inventory.raid_planning import offers, options
from apps.inventory.slot_forms import PlaceForm
from apps.inventory.slot_json import map_json, placement_json, plans_json
from apps.inventory.slot_map import slot_map
from apps.inventory.slot_placing import PlacingError, place, preview
from apps.inventory.slots import layout
from apps.inventory.slots.names import SlotError, slot_named
from apps.publishing import schema
from apps.publishing.problems import ProblemError
from apps.publishing.resource import resource

PLAN_PARAMETERS = [
    OpenApiParameter("level", str, required=True, many=True, description="0, 1, 5, 6, 10, 50 or 60; up to three"),
    OpenApiParameter("disks", str, many=True, description="ids; all free disks if none is named"),
    *(OpenApiParameter(name, int) for name in ("arrays", "members", "groups", "spares")),
    OpenApiParameter("chunk", int, description="bytes"),
    OpenApiParameter("filesystem", str, description="xfs, ext4 or none"),
    OpenApiParameter("name", str),
]


class Layout(s.Serializer[Any]):
    layout = s.ListField(
        child=s.DictField(),
        help_text="rows from top to bottom, `{label, slots}`; a slot is `c1d4`, `d7` or null for a gap",
    )
    boot_slots = s.ListField(child=s.CharField(), required=False)


class Placing(s.Serializer[Any]):
    listing = s.CharField(required=False, help_text="the driver's listing, or lines `c1d0 sda`")
    inferred = s.CharField(required=False, help_text="slots or entry numbers that nobody printed")
    makes_new = s.BooleanField(default=True, help_text="enter disks that the inventory does not have")
    gives_names = s.BooleanField(default=True, help_text="name devices by the enclosure's rule, if it has one")
    replace = s.ListField(child=s.CharField(), required=False, help_text="slots where something known may be replaced")
    apply = s.BooleanField(default=False, help_text="write it; otherwise only the preview is answered")
    fingerprint = s.CharField(required=False, help_text="of the preview; 409 where the inventory has changed since")


@schema.described(dict, errors=(404,), operation_id="hosts_slots")
@resource()
def host_slots(request: Request, pk: int) -> Response:
    """The slot map: enclosures with their rows of slots, the disks in them, the naming rule, and what each array spans."""
    host = get_object_or_404(Host.objects, pk=pk)
    return Response(map_json(slot_map(host, round_=request.query_params.get("round"))))


@schema.described(dict, errors=(400, 404), operation_id="hosts_raid_plan", parameters=PLAN_PARAMETERS)
@resource()
def host_raid_plan(request: Request, pk: int) -> Response:
    """Proposed members, capacity, ceiling, what is survived, and commands to copy. Nothing is written or executed."""
    host = get_object_or_404(Host.objects, pk=pk)
    form = PlanForm(request.query_params)
    if not form.is_valid():
        field, said = next(iter(form.errors.items()))
        raise ProblemError(
            400, " ".join(map(str, said)), field=field, found=str(request.query_params.get(field, ""))[:120]
        )
    offered = offers(host)
    chosen, refused = chosen_disks(request.query_params, offered)
    return Response(plans_json(options(host, form.wishes(), chosen), offered, refused))


@schema.described(Layout, errors=(404,), methods=["GET"], operation_id="enclosures_layout")
@schema.described(Layout, errors=(400, 404), methods=["PUT"], operation_id="enclosures_lay_out", request=Layout)
@resource("GET", "PUT")
def enclosure_layout(request: Request, pk: int) -> Response:
    """The slots in their physical order."""
    row = get_object_or_404(Enclosure.objects, pk=pk)
    if request.method == "PUT":
        body = request.data if isinstance(request.data, dict) else {}
        try:
            _lay_out(row, body)
        except SlotError as error:
            raise ProblemError(400, str(error), field="layout", found=error.found, expected=error.expected) from None
    return Response({"layout": row.layout, "boot_slots": row.boot_slots})


def _lay_out(row: Enclosure, body: dict[str, Any]) -> None:
    rows = layout.rows_of(body.get("layout"))
    told = body.get("boot_slots", row.boot_slots)
    boot = [str(slot_named(str(name))) for name in (told if isinstance(told, list) else [told])]
    known = {str(slot) for slot in layout.slots_in(rows)}
    if missing := [name for name in boot if name not in known]:
        raise SlotError(missing[0], "boot slots that are in the layout")
    row.layout, row.boot_slots = layout.as_json(rows), boot
    row.sources = {**row.sources, "layout": "typed", "boot_slots": "typed"}
    row.save(update_fields=["layout", "boot_slots", "sources", "updated_at"])


@schema.described(dict, errors=(400, 404, 409), operation_id="enclosures_place", request=Placing)
@resource("POST")
def enclosure_place(request: Request, pk: int) -> Response:
    """Which disk sits in which slot, by a driver's listing: the preview, and with `apply` what was written."""
    row = get_object_or_404(Enclosure.objects, pk=pk)
    body = Placing(data=request.data)
    body.is_valid(raise_exception=True)
    told = body.validated_data
    form = PlaceForm(row, {name: told.get(name, "") for name in ("listing", "inferred", "makes_new", "gives_names")})
    if not form.is_valid():
        field, said = next(iter(form.errors.items()))
        raise ProblemError(400, " ".join(map(str, said)), field=field if field != "__all__" else "listing")
    wish = form.wish()
    found = preview(row, wish)
    written = None
    if told["apply"]:
        try:
            written = place(row, wish, set(told.get("replace", ())), told.get("fingerprint"))
        except PlacingError as error:
            raise ProblemError(409, str(error)) from None
    placements = [placement_json(one) for one in found.placements]
    return Response({"placements": placements, "fingerprint": found.fingerprint, "written": written})

"""Hosts and enclosures: beside what all parts have, the topology, its findings, slot maps and RAID plans."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.filters import read_choice
from apps.api.openapi import BASE, problems
from apps.api.problems import ProblemError
from apps.api.resources.parts import HostSerializer, PartViewSet, describe, serializer_of
from apps.api.resources.topology import HostFindingsSerializer, TopologySerializer
from apps.core.unit_base import base
from apps.inventory.editing.registry import BY_NAME
from apps.inventory.filters import filterset_of
from apps.inventory.findings import findings_of
from apps.inventory.models import Enclosure, Host
from apps.inventory.raid_plans.form import RaidPlanForm, chosen_disks
from apps.inventory.raid_plans.rows import offers, options
from apps.inventory.slots import layout
from apps.inventory.slots.assignment import PlacingError, place, preview
from apps.inventory.slots.forms import PlaceForm
from apps.inventory.slots.names import SlotError, slot_named
from apps.inventory.slots.payload import map_json, placement_json, plans_json
from apps.inventory.slots.slot_map import slot_map
from apps.inventory.topology.tree import topology

PLAN_PARAMETERS = [
    OpenApiParameter("level", str, required=True, many=True, description="0, 1, 5, 6, 10, 50 or 60; up to three"),
    OpenApiParameter("disks", str, many=True, description="ids; all free disks if none is named"),
    *(OpenApiParameter(name, int) for name in ("arrays", "members", "groups", "spares")),
    OpenApiParameter("chunk", int, description="bytes"),
    OpenApiParameter("filesystem", str, description="xfs, ext4 or none"),
    OpenApiParameter("name", str),
]


class LayoutSerializer(serializers.Serializer[Any]):
    """The slots of an enclosure in their physical order."""

    layout = serializers.ListField(
        child=serializers.DictField(),
        help_text="rows from top to bottom, `{label, slots}`; a slot is `c1d4`, `d7` or null for a gap",
    )
    boot_slots = serializers.ListField(child=serializers.CharField(), required=False)


class PlacingSerializer(serializers.Serializer[Any]):
    """The body that puts disks into slots."""

    listing = serializers.CharField(required=False, help_text="the driver's listing, or lines `c1d0 sda`")
    inferred = serializers.CharField(required=False, help_text="slots or entry numbers that nobody printed")
    makes_new = serializers.BooleanField(default=True, help_text="enter disks that the inventory does not have")
    gives_names = serializers.BooleanField(
        default=True, help_text="name devices by the enclosure's rule, if it has one"
    )
    replace = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="slots where something known may be replaced"
    )
    apply = serializers.BooleanField(default=False, help_text="write it; otherwise only the preview is answered")
    fingerprint = serializers.CharField(
        required=False, help_text="of the preview; 409 where the inventory has changed since"
    )


@describe
class HostViewSet(PartViewSet):
    """Hosts of the lab and of published ones."""

    kind = BY_NAME["host"]
    model = Host
    serializer_class = HostSerializer
    filterset_class = filterset_of(BY_NAME["host"])
    detail_parameters = {"slots": ("round",), "raid_plan": [parameter.name for parameter in PLAN_PARAMETERS]}

    @extend_schema(parameters=[BASE], responses=TopologySerializer)
    @action(detail=True)
    def topology(self, request: Request, pk: int) -> Response:
        """Return the whole tree of a host, with the findings about it.

        The tree has controllers with their disks, arrays with their members, filesystems with their targets, storage
        paths with their sections, and the network that the host reaches.
        """
        whole = topology(self.get_own())
        return Response(whole | {"findings": [finding.as_json(base()) for finding in findings_of(whole)]})

    @extend_schema(parameters=[BASE], responses=HostFindingsSerializer)
    @action(detail=True)
    def findings(self, request: Request, pk: int) -> Response:
        """Return what is wrong or doubtful about how the host is put together, computed now, with its arithmetic."""
        findings = findings_of(topology(self.get_own()))
        return Response({"host": pk, "findings": [finding.as_json(base()) for finding in findings]})

    @extend_schema(
        parameters=[OpenApiParameter("round", str, description="whose arrays to show; the newest where left out")],
        responses=dict,
    )
    @action(detail=True)
    def slots(self, request: Request, pk: int) -> Response:
        """Return the slot map of a host.

        It has the enclosures with their rows of slots, the disks in them, the naming rule, and what each array spans.
        """
        host = self.get_own()
        rounds = host.arrays.exclude(round="").order_by("round").values_list("round", flat=True).distinct()
        round_ = read_choice(request, "round", rounds)
        return Response(map_json(slot_map(host, round_=round_ if "round" in request.query_params else None)))

    @extend_schema(parameters=PLAN_PARAMETERS, responses=dict)
    @action(detail=True, url_path="raid-plan")
    def raid_plan(self, request: Request, pk: int) -> Response:
        """Propose arrays of the host's disks; nothing is written or executed.

        Each proposal has its members, capacity, throughput ceiling, the failures it survives, and commands to copy.
        """
        host = self.get_own()
        form = RaidPlanForm(request.query_params)
        if not form.is_valid():
            field, messages = next(iter(form.errors.items()))
            found = str(request.query_params.get(field, ""))[:120]
            raise ProblemError(400, " ".join(map(str, messages)), field=field, found=found)
        offered = offers(host)
        chosen, refused = chosen_disks(request.query_params, offered)
        return Response(plans_json(options(host, form.wishes(), chosen), offered, refused))


@describe
class EnclosureViewSet(PartViewSet):
    """Enclosures of the lab and of published ones."""

    kind = BY_NAME["enclosure"]
    model = Enclosure
    serializer_class = serializer_of(BY_NAME["enclosure"])
    filterset_class = filterset_of(BY_NAME["enclosure"])

    @extend_schema(responses=LayoutSerializer)
    @action(detail=True)
    def layout(self, request: Request, pk: int) -> Response:
        """Return the slots of an enclosure in their physical order."""
        return Response(LayoutSerializer(self.get_own()).data)

    @extend_schema(operation_id="enclosures_lay_out", request=LayoutSerializer, responses=LayoutSerializer)
    @layout.mapping.put
    def lay_out(self, request: Request, pk: int) -> Response:
        """Write the slots of an enclosure in their physical order."""
        enclosure = self.get_own()
        try:
            write_layout(enclosure, request.data if isinstance(request.data, dict) else {})
        except SlotError as error:
            raise ProblemError(400, str(error), field="layout", found=error.found, expected=error.expected) from None
        return Response(LayoutSerializer(enclosure).data)

    @extend_schema(request=PlacingSerializer, responses={200: dict, **problems(409)})
    @action(detail=True, methods=["post"])
    def place(self, request: Request, pk: int) -> Response:
        """Show which disk a driver's listing puts into which slot; with `apply` also write it.

        The answer is the preview, and with `apply` what was written.
        """
        enclosure, body = self.get_own(), self.validate_body(PlacingSerializer)
        words = ("listing", "inferred", "makes_new", "gives_names")
        form = PlaceForm(enclosure, {name: body.get(name, "") for name in words})
        if not form.is_valid():
            field, messages = next(iter(form.errors.items()))
            raise ProblemError(400, " ".join(map(str, messages)), field=field if field != "__all__" else "listing")
        wish = form.wish()
        found = preview(enclosure, wish)
        written = None
        if body["apply"]:
            try:
                written = place(enclosure, wish, set(body.get("replace", ())), body.get("fingerprint"))
            except PlacingError as error:
                raise ProblemError(409, str(error)) from None
        placements = [placement_json(placement) for placement in found.placements]
        return Response({"placements": placements, "fingerprint": found.fingerprint, "written": written})


def write_layout(enclosure: Enclosure, body: dict[str, object]) -> None:
    """Write the layout that a body describes. Raise `SlotError` for one that cannot be."""
    rows = layout.rows_of(body.get("layout"))
    boot_slots = body.get("boot_slots", enclosure.boot_slots)
    names = boot_slots if isinstance(boot_slots, list) else [boot_slots]
    boot = [str(slot_named(str(name))) for name in names]
    known = {str(slot) for slot in layout.slots_in(rows)}
    if missing := [name for name in boot if name not in known]:
        raise SlotError(missing[0], "boot slots that are in the layout")
    enclosure.layout, enclosure.boot_slots = layout.as_json(rows), boot
    enclosure.sources = {**enclosure.sources, "layout": "typed", "boot_slots": "typed"}
    enclosure.save(update_fields=["layout", "boot_slots", "sources", "updated_at"])

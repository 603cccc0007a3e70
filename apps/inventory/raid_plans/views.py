"""A RAID plan's page. Its whole state is in the address; nothing is written, and nothing is executed on the host."""

from collections import Counter
from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render

from apps.inventory.models import Host
from apps.inventory.raid_plans.form import RaidPlanForm, chosen_disks
from apps.inventory.raid_plans.rows import Offer, offers, options
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest


@member_required()
def raid_plan(request: LabRequest, pk: int) -> HttpResponse:
    host = get_object_or_404(Host, pk=pk)
    offered = offers(host)
    form = RaidPlanForm(request.GET)
    chosen, refused = chosen_disks(request.GET, offered)
    results = options(host, form.wishes(), chosen) if form.is_valid() else []
    context = {
        "host": host, "form": form, "offers": _shown(request, offered), "sizes": _sizes(offered), "refused": refused,
        "options": results, "ticked": _ticked(request, offered), "size": request.GET.get("size", ""),
        "free": sum(not offer.why_not for offer in offered), "others": _others(host),
    }  # fmt: skip
    return render(request, "inventory/raid-plan.html", context, status=400 if form.errors else 200)


def _others(host: Host) -> Any:
    """Return the other hosts of the lab, to plan on."""
    return Host.objects.filter(lab=host.lab_id).exclude(pk=host.pk).order_by("name")[:100]


def _shown(request: LabRequest, offered: list[Offer]) -> list[Offer]:
    size, free = request.GET.get("size", ""), request.GET.get("free")
    return [offer for offer in offered if size in ("", str(offer.disk.capacity_bytes)) and not (free and offer.why_not)]


def _ticked(request: LabRequest, offered: list[Offer]) -> set[int]:
    wanted = {word for given in request.GET.getlist("disks") for word in given.split(",") if word}
    return {offer.disk.pk for offer in offered if not offer.why_not and (not wanted or str(offer.disk.pk) in wanted)}


def _sizes(offered: list[Offer]) -> list[tuple[int, int]]:
    """Return (bytes, how many disks have that size), largest first."""
    counts = Counter(offer.disk.capacity_bytes for offer in offered if offer.disk.capacity_bytes)
    return sorted(counts.items(), reverse=True)

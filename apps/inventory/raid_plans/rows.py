"""RAID plans from a host's rows: which disks may be used and why others may not, and the ceiling of each plan.

The ceiling comes from the same code as a target's. The number of queries is constant; nothing is written or executed.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from apps.inventory.ceilings.ceiling import Ceiling, ceiling_of
from apps.inventory.models import Array, ArrayMember, Disk, Enclosure, Filesystem, Host, Target
from apps.inventory.raid_plans.commands import path_of
from apps.inventory.raid_plans.plan import RaidPlan, plan
from apps.inventory.raid_plans.spread import SpreadGroup
from apps.inventory.raid_plans.wish import INNER, RaidCandidate, RaidPlanError, RaidWish
from apps.inventory.slots.assignment import slot_of_disk
from apps.inventory.slots.slot_map import GOOD_HEALTH, SYSTEM_MOUNTS, boot_slots
from apps.inventory.snapshots.connections import paths_of
from apps.inventory.snapshots.content import content_of_stack
from apps.inventory.topology.array_trees import place_of
from apps.inventory.topology.stack import ArrayLayer, DiskLayer, Layer, Stack, StackPlace


@dataclass(frozen=True)
class Offer:
    """A disk of the host; `why_not` says why it is never proposed, "" where it is free."""

    disk: Disk
    candidate: RaidCandidate
    why_not: str


@dataclass(frozen=True)
class Option:
    """One level: the plan with its ceiling, or the sentence why there is none."""

    level: str
    plan: RaidPlan | None
    ceiling: Ceiling | None
    problem: str = ""


def offers(host: Host) -> list[Offer]:
    """Return the host's disks with why each cannot be used, ordered by controller and name; six queries."""
    disks = list(Disk.objects.filter(host=host).select_related("controller"))
    reasons = _reasons(host, disks)
    results = [Offer(disk, _candidate(disk), reasons.get(disk.pk, "")) for disk in disks]
    return sorted(
        results,
        key=lambda result: (
            result.candidate.controller,
            len(result.candidate.name),
            result.candidate.name,
            result.disk.pk,
        ),
    )


def _candidate(disk: Disk) -> RaidCandidate:
    path, is_lasting = path_of(disk.device_name, disk.interface, disk.model, disk.serial, disk.wwn)
    return RaidCandidate(disk.pk, str(disk), disk.capacity_bytes, place_of(disk), disk.enclosure, path, is_lasting)


def _reasons(host: Host, disks: Sequence[Disk]) -> dict[int, str]:
    """Map each disk that must not be used to the first reason that applies."""
    results: dict[int, str] = {}
    for disk in disks:
        if not disk.is_present:
            results[disk.pk] = "not seen in the last scan"
        elif disk.health.lower() not in GOOD_HEALTH:
            results[disk.pk] = f"its health is {disk.health}"
    mounted = Filesystem.objects.filter(host=host, is_present=True).exclude(disk=None)
    for disk_id, kind, mount in mounted.values_list("disk_id", "type", "mount_point"):
        results.setdefault(disk_id, f"{kind} on {mount}" if mount else f"holds {kind}")
    members = ArrayMember.objects.filter(disk__host=host, array__is_present=True)
    for disk_id, name, round_ in members.values_list("disk_id", "array__name", "array__round"):
        results.setdefault(disk_id, f"member of {name}{f', round {round_}' if round_ else ''}")
    for disk_id, name in Target.objects.filter(disk__host=host).values_list("disk_id", "name"):
        results.setdefault(disk_id, f"target {name}")
    return _boot_reasons(host, disks) | results


def _boot_reasons(host: Host, disks: Iterable[Disk]) -> dict[int, str]:
    """Return why disks in boot slots cannot be used, if it is not known where the system is installed."""
    enclosures = Enclosure.objects.filter(host=host).exclude(boot_slots=[])
    system_is_known = Filesystem.objects.filter(host=host, mount_point__in=SYSTEM_MOUNTS, is_present=True)
    slots = {(row.name, slot) for row in enclosures for slot in boot_slots(row)}
    if not slots or system_is_known.exclude(disk=None, array=None).exists():
        return {}
    return {
        disk.pk: "in a boot slot, and the system disk is not known"
        for disk in disks
        if (disk.enclosure, slot_of_disk(disk)) in slots
    }


def options(host: Host, wishes: Iterable[RaidWish], chosen: Sequence[Offer]) -> list[Option]:
    """Return for each wish a plan of the free ones among the chosen disks, with the ceiling of its first array."""
    free = [offer for offer in chosen if not offer.why_not]
    rows = {offer.disk.pk: offer.disk for offer in free}
    paths = list(paths_of(host.pk))

    def ceiling(wish: RaidWish, raid_plan: RaidPlan) -> Ceiling:
        target = Target(host=host, name=wish.name)
        stack = Stack(target, host, None, _layer(wish, raid_plan.arrays[0], rows))
        return ceiling_of(content_of_stack(stack, paths, None))

    return [_option(wish, [offer.candidate for offer in free], ceiling) for wish in wishes]


def _option(
    wish: RaidWish, candidates: Sequence[RaidCandidate], ceiling: Callable[[RaidWish, RaidPlan], Ceiling]
) -> Option:
    try:
        result = plan(wish, candidates)
    except RaidPlanError as error:
        return Option(wish.level, None, None, str(error))
    return Option(wish.level, result, ceiling(wish, result))


def _layer(wish: RaidWish, groups: Sequence[SpreadGroup], rows: dict[int, Disk]) -> Layer:
    """Return the first array as layers of a stack, made of rows that are never saved."""
    inner = [
        _array(wish, wish.inner_level, n, [_disk(rows[disk.key]) for disk in group.members])
        for n, group in enumerate(groups)
    ]
    return _array(wish, "0", len(inner), inner) if wish.level in INNER else inner[0]


def _disk(row: Disk) -> DiskLayer:
    return DiskLayer(row, row.controller)


def _array(wish: RaidWish, level: str, number: int, layers: Sequence[Layer]) -> ArrayLayer:
    named: dict[str, Any] = {
        "name": f"{wish.name}-{number}",
        "level": level,
        "implementation": "software",
        "software": "md",
    }
    row = Array(**named, layout="near=2" if level == "10" else "", chunk_size=None if level == "1" else wish.chunk)
    return ArrayLayer(row, None, tuple(StackPlace(position, "", "", layer) for position, layer in enumerate(layers)))

"""RAID plans from a host's rows: which disks may be used and why others may not, and the ceiling of what is planned, through the
same code as a target's. Constant queries; nothing is written and nothing executed.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from apps.inventory.array_trees import place_of
from apps.inventory.ceiling import Ceiling, ceiling_of
from apps.inventory.models import Array, ArrayMember, Disk, Enclosure, Filesystem, Host, Target
from apps.inventory.raid_plans.commands import path_of
from apps.inventory.raid_plans.plan import Plan, plan
from apps.inventory.raid_plans.spreading import Group
from apps.inventory.raid_plans.wish import INNER, Candidate, PlanError, Wish
from apps.inventory.slot_map import GOOD_HEALTH, SYSTEM_MOUNTS, boot_slots
from apps.inventory.slot_placing import slot_of_disk
from apps.inventory.snapshot_connections import paths_of
from apps.inventory.snapshots import content_of_stack
from apps.inventory.stack import ArrayLayer, DiskLayer, Layer, Place, Stack


@dataclass(frozen=True)
class Offer:
    """A disk of the host; `why_not` says why it is never proposed, "" where it is free."""

    disk: Disk
    candidate: Candidate
    why_not: str


@dataclass(frozen=True)
class Option:
    """One level: the plan with its ceiling, or the sentence why there is none."""

    level: str
    plan: Plan | None
    ceiling: Ceiling | None
    problem: str = ""


def offers(host: Host) -> list[Offer]:
    """Six queries. In order of controllers, then of names."""
    disks = list(Disk.objects.filter(host=host).select_related("controller"))
    reasons = _reasons(host, disks)
    found = [Offer(disk, _candidate(disk), reasons.get(disk.pk, "")) for disk in disks]
    return sorted(
        found, key=lambda one: (one.candidate.controller, len(one.candidate.name), one.candidate.name, one.disk.pk)
    )


def _candidate(disk: Disk) -> Candidate:
    path, is_lasting = path_of(disk.device_name, disk.interface, disk.model, disk.serial, disk.wwn)
    return Candidate(disk.pk, str(disk), disk.capacity_bytes, place_of(disk), disk.enclosure, path, is_lasting)


def _reasons(host: Host, disks: Sequence[Disk]) -> dict[int, str]:
    """Disk → why it is in use. The first reason that holds is told."""
    found: dict[int, str] = {}
    for disk in disks:
        if not disk.is_present:
            found[disk.pk] = "not seen at the last look"
        elif disk.health.lower() not in GOOD_HEALTH:
            found[disk.pk] = f"its health is {disk.health}"
    mounted = Filesystem.objects.filter(host=host, is_present=True).exclude(disk=None)
    for disk_id, kind, mount in mounted.values_list("disk_id", "type", "mount_point"):
        found.setdefault(disk_id, f"{kind} on {mount}" if mount else f"holds {kind}")
    members = ArrayMember.objects.filter(disk__host=host, array__is_present=True)
    for disk_id, name, round_ in members.values_list("disk_id", "array__name", "array__round"):
        found.setdefault(disk_id, f"member of {name}{f', round {round_}' if round_ else ''}")
    for disk_id, name in Target.objects.filter(disk__host=host).values_list("disk_id", "name"):
        found.setdefault(disk_id, f"target {name}")
    return _boot_reasons(host, disks) | found


def _boot_reasons(host: Host, disks: Iterable[Disk]) -> dict[int, str]:
    """Where nobody has said what the system is on, no disk in a boot slot is given away."""
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


def options(host: Host, wishes: Iterable[Wish], chosen: Sequence[Offer]) -> list[Option]:
    """For each wish a plan of the free ones among the chosen disks, with the ceiling of its first array."""
    free = [offer for offer in chosen if not offer.why_not]
    rows = {offer.disk.pk: offer.disk for offer in free}
    paths = list(paths_of(host.pk))

    def ceiling(wish: Wish, found: Plan) -> Ceiling:
        target = Target(host=host, name=wish.name)
        stack = Stack(target, host, None, _layer(wish, found.arrays[0], rows))
        return ceiling_of(content_of_stack(stack, paths, None))

    return [_option(wish, [offer.candidate for offer in free], ceiling) for wish in wishes]


def _option(wish: Wish, candidates: Sequence[Candidate], ceiling: Callable[[Wish, Plan], Ceiling]) -> Option:
    try:
        found = plan(wish, candidates)
    except PlanError as error:
        return Option(wish.level, None, None, str(error))
    return Option(wish.level, found, ceiling(wish, found))


def _layer(wish: Wish, groups: Sequence[Group], rows: dict[int, Disk]) -> Layer:
    """The first array as the layers of a stack, of rows that are never saved."""
    inner = [
        _array(wish, wish.inner_level, n, [_disk(rows[disk.key]) for disk in group.members])
        for n, group in enumerate(groups)
    ]
    return _array(wish, "0", len(inner), inner) if wish.level in INNER else inner[0]


def _disk(row: Disk) -> DiskLayer:
    return DiskLayer(row, row.controller)


def _array(wish: Wish, level: str, number: int, layers: Sequence[Layer]) -> ArrayLayer:
    named: dict[str, Any] = {
        "name": f"{wish.name}-{number}",
        "level": level,
        "implementation": "software",
        "software": "md",
    }
    row = Array(**named, layout="near=2" if level == "10" else "", chunk_size=None if level == "1" else wish.chunk)
    return ArrayLayer(row, None, tuple(Place(position, "", "", layer) for position, layer in enumerate(layers)))

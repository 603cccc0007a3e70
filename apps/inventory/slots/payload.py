"""A slot map and RAID plans as JSON, for the REST interface. Sizes in bytes, bandwidths in bytes/s."""

from typing import Any

from apps.core.unit_base import base
from apps.inventory.raid_plans.plan import RaidPlan
from apps.inventory.raid_plans.rows import Offer, Option
from apps.inventory.slots.device_names import Naming
from apps.inventory.slots.grid import DiskHere, SlotCell
from apps.inventory.slots.placement import Placement
from apps.inventory.slots.slot_map import EnclosureMap, SlotMap
from apps.inventory.slots.spans import SlotSpan

Shown = dict[str, Any]


def map_json(found: SlotMap) -> Shown:
    """Return a slot map for the REST interface.

    The shape is `{host, round, rounds, enclosures: [{rows: [{label, slots}], naming}], unplaced, arrays,
    contradictions}`. A slot is null for a gap, else `{slot, boot, disks}`.
    """
    return {
        "host": found.host.pk,
        "round": found.round,
        "rounds": found.rounds,
        "enclosures": [_enclosure(one) for one in found.enclosures],
        "unplaced": [_disk(disk) for disk in found.unplaced],
        "arrays": [
            {
                "id": one.row.pk,
                "name": one.row.name,
                "level": one.row.level or None,
                "disks": sorted(one.disks),
                **_span(one.span),
            }
            for one in found.arrays
        ],
        "contradictions": found.contradictions,
    }


def _enclosure(one: EnclosureMap) -> Shown:
    rows = [{"label": row.label, "slots": [_cell(cell) for cell in row.cells]} for row in one.grid.rows]
    outside = [_disk(disk) for disk in one.grid.outside]
    named = {
        "id": one.row.pk if one.row else None,
        "name": one.name,
        "slots": len(one.grid.cells),
        "occupied": one.grid.occupied,
    }
    return {**named, "rows": rows, "outside": outside, "naming": _naming(one.naming), "problem": one.problem or None}


def _cell(cell: SlotCell) -> Shown | None:
    if cell.slot is None:
        return None
    return {"slot": str(cell.slot), "boot": cell.is_boot, "disks": [_disk(disk) for disk in cell.disks]}


def _disk(disk: DiskHere) -> Shown:
    return {
        "id": disk.key,
        "device_name": disk.device_name or None,
        "slot": str(disk.slot) if disk.slot else None,
        "slot_source": disk.sources.get("slot_number"),
        "device_name_source": disk.sources.get("device_name"),
        "model": disk.model or None,
        "serial": disk.serial or None,
        "state": disk.state,
        "arrays": list(disk.over),
    }


def _span(span: SlotSpan) -> Shown:
    return {
        "controllers": dict(span.by_place),
        "survives_loss_of": list(span.survives),
        "does_not_survive_loss_of": list(span.dies),
        "controllers_at_most": span.at_most,
        "sentence": span.sentence,
    }


def _naming(naming: Naming | None) -> Shown | None:
    if naming is None:
        return None
    lines = [
        {
            "slot": str(one.slot), "entry": one.entry, "device_name": one.disk.device_name or None, "by_rule": one.by_rule,
            "major": one.block[0] if one.block else None, "minor": one.block[1] if one.block else None,
            "possible": [str(end) for end in one.possible] if one.possible else None,
        }
        for one in naming.lines
    ]  # fmt: skip
    return {"rule": "driver_entry", "disks_per_controller": naming.per_controller, "disks": lines}


def placement_json(one: Placement) -> Shown:
    changes = [
        {
            "field": change.field,
            "before": change.before,
            "after": change.after,
            "source": change.source,
            "replaces": change.replaces,
        }
        for change in one.changes
    ]
    return {
        "slot": str(one.slot), "entry": one.entry, "device_name": one.device_name or None, "act": one.act, "changes": changes,
        "disk": one.disk.key if one.disk else None, "problem": one.problem or None,
    }  # fmt: skip


def plans_json(found: list[Option], offered: list[Offer], refused: list[str]) -> Shown:
    """Return RAID plans for the REST interface; `plans` has one for each wanted level, or its `problem`."""
    in_use = [{"disk": one.disk.pk, "why": one.why_not} for one in offered if one.why_not]
    return {"plans": [_option(one) for one in found], "in_use": in_use, "refused": refused, "executed": False}


def _option(one: Option) -> Shown:
    if one.plan is None:
        return {"level": one.level, "problem": one.problem}
    return {
        "level": one.level,
        "problem": None,
        **_plan(one.plan),
        "ceiling": one.ceiling.as_json(base()) if one.ceiling else None,
    }


def _plan(found: RaidPlan) -> Shown:
    groups = [
        {
            "members": [disk.key for disk in group.members], "spares": [disk.key for disk in group.spares],
            "most_on_one_controller": group.most_on_one,
        }
        for group in found.groups
    ]  # fmt: skip
    return {
        "arrays": found.wish.arrays,
        "groups": groups,
        "capacity": found.capacity,
        "arithmetic": found.arithmetic,
        "survives_any": found.any_disks,
        "survives_at_best": found.best_case,
        "survives_loss_of": list(found.bears),
        "does_not_survive_loss_of": list(found.breaks),
        "small_writes": found.small_writes,
        "notes": list(found.notes),
        "left_out": [{"disk": disk.key, "why": why} for disk, why in found.left_out],
        "commands": [{"what": what, "command": command} for what, command in found.commands],
    }

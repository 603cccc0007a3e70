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


def map_json(slot_map: SlotMap) -> Shown:
    """Return a slot map for the REST interface.

    The shape is `{host, round, rounds, enclosures: [{rows: [{label, slots}], naming}], unplaced, arrays,
    contradictions}`. A slot is null for a gap, else `{slot, boot, disks}`.
    """
    return {
        "host": slot_map.host.pk,
        "round": slot_map.round,
        "rounds": slot_map.rounds,
        "enclosures": [_enclosure(enclosure) for enclosure in slot_map.enclosures],
        "unplaced": [_disk(disk) for disk in slot_map.unplaced],
        "arrays": [
            {
                "id": array.row.pk,
                "name": array.row.name,
                "level": array.row.level or None,
                "disks": sorted(array.disks),
                **_span(array.span),
            }
            for array in slot_map.arrays
        ],
        "contradictions": slot_map.contradictions,
    }


def _enclosure(enclosure_map: EnclosureMap) -> Shown:
    rows = [{"label": row.label, "slots": [_cell(cell) for cell in row.cells]} for row in enclosure_map.grid.rows]
    outside = [_disk(disk) for disk in enclosure_map.grid.outside]
    named = {
        "id": enclosure_map.row.pk if enclosure_map.row else None,
        "name": enclosure_map.name,
        "slots": len(enclosure_map.grid.cells),
        "occupied": enclosure_map.grid.occupied,
    }
    return {
        **named,
        "rows": rows,
        "outside": outside,
        "naming": _naming(enclosure_map.naming),
        "problem": enclosure_map.problem or None,
    }


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
            "slot": str(line.slot), "entry": line.entry, "device_name": line.disk.device_name or None, "by_rule": line.by_rule,
            "major": line.block[0] if line.block else None, "minor": line.block[1] if line.block else None,
            "possible": [str(end) for end in line.possible] if line.possible else None,
        }
        for line in naming.lines
    ]  # fmt: skip
    return {"rule": "driver_entry", "disks_per_controller": naming.per_controller, "disks": lines}


def placement_json(placement: Placement) -> Shown:
    changes = [
        {
            "field": change.field,
            "before": change.before,
            "after": change.after,
            "source": change.source,
            "replaces": change.replaces,
        }
        for change in placement.changes
    ]
    return {
        "slot": str(placement.slot), "entry": placement.entry, "device_name": placement.device_name or None, "act": placement.act, "changes": changes,
        "disk": placement.disk.key if placement.disk else None, "problem": placement.problem or None,
    }  # fmt: skip


def plans_json(options: list[Option], offered: list[Offer], refused: list[str]) -> Shown:
    """Return RAID plans for the REST interface; `plans` has option for each wanted level, or its `problem`."""
    in_use = [{"disk": option.disk.pk, "why": option.why_not} for option in offered if option.why_not]
    return {"plans": [_option(option) for option in options], "in_use": in_use, "refused": refused, "executed": False}


def _option(option: Option) -> Shown:
    if option.plan is None:
        return {"level": option.level, "problem": option.problem}
    return {
        "level": option.level,
        "problem": None,
        **_plan(option.plan),
        "ceiling": option.ceiling.as_json(base()) if option.ceiling else None,
    }


def _plan(raid_plan: RaidPlan) -> Shown:
    groups = [
        {
            "members": [disk.key for disk in group.members], "spares": [disk.key for disk in group.spares],
            "most_on_one_controller": group.most_on_one,
        }
        for group in raid_plan.groups
    ]  # fmt: skip
    return {
        "arrays": raid_plan.wish.arrays,
        "groups": groups,
        "capacity": raid_plan.capacity,
        "arithmetic": raid_plan.arithmetic,
        "survives_any": raid_plan.any_disks,
        "survives_at_best": raid_plan.best_case,
        "survives_loss_of": list(raid_plan.bears),
        "does_not_survive_loss_of": list(raid_plan.breaks),
        "small_writes": raid_plan.small_writes,
        "notes": list(raid_plan.notes),
        "left_out": [{"disk": disk.key, "why": why} for disk, why in raid_plan.left_out],
        "commands": [{"what": what, "command": command} for what, command in raid_plan.commands],
    }

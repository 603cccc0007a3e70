"""Disks: each in its slot where the report has a slot map, else as many of a kind as it counts."""

import re
from collections.abc import Iterator
from typing import Any

from apps.studies.machine_payloads.index import MachineIndex, is_zero_channel
from apps.studies.machine_payloads.part_text import DescribedPart, Entry, PartFields

INTERFACES = ("SCSI", "SATA", "SAS", "NVMe", "FC", "PATA")


def enclosures(study: MachineIndex) -> Iterator[DescribedPart]:
    for host in study.host_entries:
        if study.has_slots(host["name"]):
            yield _enclosure(study, host)


def _enclosure(study: MachineIndex, host: Entry) -> DescribedPart:
    values = {
        "kind": "chassis", "model": host.get("model") or "", "layout": study.slot_map["physical_layout_top_to_bottom"],
        "boot_slots": study.slot_map.get("bootable") or [], "naming_rule": "driver_entry",
        "disks_per_controller": study.slot_map.get("disks_per_controller"), "notes": study.slot_map.get("caption") or "",
    }  # fmt: skip
    return DescribedPart(
        "enclosure", f"enclosure {host['name']}", {"name": "chassis"}, values, {}, {"host": f"host {host['name']}"}
    )


def disks(study: MachineIndex) -> Iterator[DescribedPart]:
    for host in study.host_entries:
        for name in host.get("disks") or []:
            if study.has_slots(host["name"]):
                yield from _in_slots(study, host["name"], study.disk_entries[name])
            else:
                yield from _loose(study, host, study.disk_entries[name])


def _loose(study: MachineIndex, host: Entry, entry: Entry) -> Iterator[DescribedPart]:
    count = entry.get("count") if isinstance(entry.get("count"), int) else 1
    controller = _controller_of_disk(study, host, entry)
    link = _link(study, host, controller, entry)
    for number in range(count or 1):
        yield _disk(study, host["name"], entry, number, controller, link, tuple(link))


def _link(study: MachineIndex, host: Entry, controller: str, entry: Entry) -> dict[str, str]:
    """Return a disk's link, which is no faster than its controller's: `SAS 6 Gb/s (SAS 2.0)` → SAS-6G."""
    slot_text = next(
        (owner.get("disk_interface") for owner in study.controllers_of(host)
         if study.controller_key(host["name"], owner) == controller), None,
    )  # fmt: skip
    speed = re.match(r"(SAS|SATA) ([\d.]+) Gb/s", str(slot_text or ""))
    is_same = speed is not None and speed[1] == str(entry.get("interface") or "").partition(" ")[0]
    return {"link_generation": f"{speed[1]}-{speed[2]}G"} if speed and is_same else {}


def _controller_of_disk(study: MachineIndex, host: Entry, entry: Entry) -> str:
    """Return the disk's controller: the only one, or the only one for this interface that has channels of its own."""
    mine = [controller for controller in study.controllers_of(host) if not is_zero_channel(controller)]
    interface = str(entry.get("interface") or "-").split()[0]
    fitting = [
        controller
        for controller in mine
        if interface in str(controller.get("disk_interface") or "").replace("/", " ").split()
    ]
    chosen = fitting if len(fitting) == 1 else mine if len(mine) == 1 and not mine[0].get("disk_interface") else []
    return study.controller_key(host["name"], chosen[0]) if chosen else ""


def _in_slots(study: MachineIndex, host: str, entry: Entry) -> Iterator[DescribedPart]:
    grid = study.slot_map["grid_controller_by_disk_0_to_7"]
    printed = {slot: device.removeprefix("/dev/") for slot, device in study.slot_map["printed_device_map"].items()}
    number = 0
    for controller, row in sorted(grid.items()):
        for slot, device in enumerate(row):
            if device != "-":
                place = {
                    "device_name": device, "slot_controller": int(controller[1:]), "slot_number": slot, "enclosure": "chassis",
                }  # fmt: skip
                inferred = (
                    ()
                    if printed.get(f"{controller}d{slot}") == device
                    else ("device_name", "slot_controller", "slot_number")
                )
                yield _disk(study, host, entry, number, f"controller {host} {controller[1:]}", place, inferred)
                number += 1


def _disk(
    study: MachineIndex,
    host: str,
    entry: Entry,
    number: int,
    controller: str,
    place: dict[str, Any],
    inferred: tuple[str, ...],
) -> DescribedPart:
    fields = _disk_fields(study, entry)
    is_counted = isinstance(entry.get("count"), int)
    labels = {"kind": entry["id"]} | ({"number": str(number + 1)} if is_counted else {})
    key = f"disk {host} {entry['id']} {number}"
    study.by_kind.setdefault((host, entry["id"]), []).append(key)
    if "device_name" in place:
        study.by_device[host, place["device_name"]] = key
    refers = {"host": f"host {host}"} | ({"controller": controller} if controller else {})
    basis = ("capacity_bytes",) if entry.get("capacity_basis") else ()
    values = fields.all() | place | {"labels": labels}
    absent = {name: why for name, why in fields.absent.items() if name not in place}
    return DescribedPart("disk", key, {"labels": labels}, values, absent, refers, inferred=(*inferred, *basis))


def _disk_fields(study: MachineIndex, entry: Entry) -> PartFields:
    fields = PartFields()
    interface, _, generation = str(entry.get("interface") or "").partition(" ")
    if interface and interface not in INTERFACES:
        fields.note("interface", entry["interface"])
        interface = generation = ""
    for name, value in (
        ("vendor", entry.get("vendor")), ("model", entry.get("model")), ("interface", interface), ("generation", generation),
        ("serial", None), ("firmware", None), ("enclosure", entry.get("enclosure")),
    ):  # fmt: skip
        fields.text(name, value)
    for name in ("rpm", "capacity_bytes", "cache_bytes"):
        fields.number(name, entry.get(name))
    if "rpm" in fields.values:
        fields.values["is_solid_state"] = False
    for name in ("note", "cache_note", "capacity_basis", "conflict", "layout"):
        fields.note("" if name == "note" else name.replace("_", " "), entry.get(name))
    if not isinstance(entry.get("count"), int):
        fields.note("", "How many there are is not printed.")
    return fields

"""Controllers, each in its host; an entry that is six controllers in the slot map becomes six."""

from collections.abc import Iterator

from apps.studies.machine_payloads.index import MachineIndex, is_zero_channel
from apps.studies.machine_payloads.part_text import DescribedPart, Entry, PartFields

KINDS = {"hardware RAID": "raid", "HBA": "hba", "FC": "fc", "IDE": "ide", "NVMe": "nvme"}


def controllers(study: MachineIndex) -> Iterator[DescribedPart]:
    for host in study.host_entries:
        mine = study.controllers_of(host)
        for controller in sorted(mine, key=is_zero_channel):
            yield from _controller(study, host["name"], controller, mine)


def _controller(study: MachineIndex, host: str, entry: Entry, mine: list[Entry]) -> Iterator[DescribedPart]:
    fields = _controller_fields(study, entry)
    below = next((controller for controller in mine if controller.get("kind") == "HBA"), None)
    refers = {"host": f"host {host}"}
    if is_zero_channel(entry) and below is not None:
        refers["sits_on"] = study.controller_key(host, below)
    numbers = study.slot_numbers(host) if entry.get("kind") == "HBA" else []
    for number in numbers:
        identity = {"name": f"controller {number}"}
        values = fields.all() | {
            "model": fields.values["model"].partition(" (")[0],
            "ports": study.slot_map.get("disks_per_controller"),
        }
        yield DescribedPart(
            "controller", f"controller {host} {number}", identity, values, fields.absent, refers, inferred=("ports",)
        )
    if not numbers:
        identity = {"name": study.controller_name(entry)}
        yield DescribedPart(
            "controller", study.controller_key(host, entry), identity, fields.all(), fields.absent, refers
        )


def _controller_fields(study: MachineIndex, entry: Entry) -> PartFields:
    fields = PartFields()
    kind = "zero-channel" if is_zero_channel(entry) else KINDS.get(str(entry.get("kind")))
    fields.text("kind", kind or entry.get("kind"))
    for name in ("model", "bus"):
        fields.text(name, entry.get(name))
    if len(fields.values.get("bus", "")) > 120:
        fields.note("bus", fields.values.pop("bus"))
    fields.number("cache_bytes", entry.get("cache_bytes"))
    fields.text("cache_protection", entry.get("battery_or_nv"), words=("none",))
    driver = str(entry.get("driver") or "")
    fields.text("driver", driver.partition(" built")[0] if driver else None)
    if "pci_address" in entry:
        fields.values["address"] = entry["pci_address"]
    for name in ("note", "disk_interface", "raid_levels", "theoretical_bytes_per_s"):
        fields.note("" if name == "note" else name.replace("_", " "), entry.get(name))
    fields.note("", driver if " built" in driver else "")
    return fields

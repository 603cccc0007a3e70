"""Controllers, each in its host; one entry that is six in the slot map becomes six."""

from collections.abc import Iterator

from apps.studies.machine_payloads.index import Machines, is_zero_channel
from apps.studies.machine_payloads.said import Described, Entry, Said

KINDS = {"hardware RAID": "raid", "HBA": "hba", "FC": "fc", "IDE": "ide", "NVMe": "nvme"}


def controllers(study: Machines) -> Iterator[Described]:
    for host in study.host_entries:
        mine = study.controllers_of(host)
        for one in sorted(mine, key=is_zero_channel):
            yield from _controller(study, host["name"], one, mine)


def _controller(study: Machines, host: str, entry: Entry, mine: list[Entry]) -> Iterator[Described]:
    said = _controller_said(study, entry)
    below = next((one for one in mine if one.get("kind") == "HBA"), None)
    refers = {"host": f"host {host}"}
    if is_zero_channel(entry) and below is not None:
        refers["sits_on"] = study.controller_key(host, below)
    numbers = study.slot_numbers(host) if entry.get("kind") == "HBA" else []
    for number in numbers:
        identity = {"name": f"controller {number}"}
        values = said.all() | {
            "model": said.values["model"].partition(" (")[0],
            "ports": study.slot_map.get("disks_per_controller"),
        }
        yield Described(
            "controller", f"controller {host} {number}", identity, values, said.absent, refers, inferred=("ports",)
        )
    if not numbers:
        identity = {"name": study.controller_name(entry)}
        yield Described("controller", study.controller_key(host, entry), identity, said.all(), said.absent, refers)


def _controller_said(study: Machines, entry: Entry) -> Said:
    said = Said()
    kind = "zero-channel" if is_zero_channel(entry) else KINDS.get(str(entry.get("kind")))
    said.text("kind", kind or entry.get("kind"))
    for name in ("model", "bus"):
        said.text(name, entry.get(name))
    if len(said.values.get("bus", "")) > 120:
        said.note("bus", said.values.pop("bus"))
    said.number("cache_bytes", entry.get("cache_bytes"))
    said.text("cache_protection", entry.get("battery_or_nv"), words=("none",))
    driver = str(entry.get("driver") or "")
    said.text("driver", driver.partition(" built")[0] if driver else None)
    if "pci_address" in entry:
        said.values["address"] = entry["pci_address"]
    for name in ("note", "disk_interface", "raid_levels", "theoretical_bytes_per_s"):
        said.note("" if name == "note" else name.replace("_", " "), entry.get(name))
    said.note("", driver if " built" in driver else "")
    return said

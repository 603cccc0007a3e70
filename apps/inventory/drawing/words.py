"""What the boxes of a drawing say: (name, detail, look) of each kind of part; `look` is what alike ones have in common."""

from functools import lru_cache
from typing import Any

from apps.core import units
from apps.inventory.findings.disk_health import says_bad
from apps.inventory.findings.machine import name_of_array, name_of_disk
from apps.inventory.findings.parts import LEVELS as LEVEL_WORDS
from apps.inventory.topology.shared_paths import section_in_words

Thing = dict[str, Any]
Words = tuple[str, str, tuple[Any, ...]]
CONTROLLER_KINDS = {
    "hba": "HBA", "raid": "RAID", "fc": "Fibre Channel", "nvme": "NVMe", "ide": "IDE", "virtio": "virtio",
    "zero-channel": "zero-channel RAID",
}  # fmt: skip


def joined(*parts: str | None) -> str:
    return ", ".join(part for part in parts if part)


def bytes_or_nothing(value: int | None) -> str:
    return units.size(value) if value else ""


@lru_cache(maxsize=1024)
def sold(value: int | None) -> str:
    return units.capacity(value) if value else ""


def host(one: Thing) -> str:
    return joined(one["model"] or one["os"], bytes_or_nothing(one["ram_bytes"]))


def controller(one: Thing) -> tuple[str, tuple[Any, ...]]:
    model = one["model"] if one["model"] != one["name"] else ""
    cache = f"cache {units.size(one['cache_bytes'])}" if one["cache_bytes"] else ""
    kind = CONTROLLER_KINDS.get(one["kind"] or "", "")
    return joined(kind, model, one["bus"], cache), (kind, one["vendor"], one["model"], one["bus"])


def section(one: Thing) -> Words:
    return one["name"], section_in_words(one), (one["name"],)


def place(disk: Thing) -> str:
    """Return the enclosure and channel over which a disk is reached, as far as they are known."""
    channel = f"channel {disk['channel'].removeprefix('channel ')}" if disk["channel"] else ""
    return joined(disk["enclosure"], channel)


def slot(disk: Thing) -> str:
    """Return a disk's slot as `slot c1d4` or `slot 7`; '' where it is not known."""
    if disk["slot_number"] is None:
        return ""
    if disk["slot_controller"] is None:
        return f"slot {disk['slot_number']}"
    return f"slot c{disk['slot_controller']}d{disk['slot_number']}"


def kind_of_disk(disk: Thing) -> str:
    """Return the kind of a disk in words: `Hitachi HDS7225 250 GB`."""
    maker = " ".join(filter(None, [disk["vendor"], disk["model"]])) or "disk of unknown model"
    return " ".join(filter(None, [maker, sold(disk["capacity_bytes"])]))


def link(disk: Thing) -> str:
    return disk["link_generation"] or disk["generation"] or disk["interface"] or ""


def turns(disk: Thing) -> str:
    return "solid state" if disk["is_solid_state"] else f"{disk['rpm']} rpm" if disk["rpm"] else ""


def disk(one: Thing) -> Words:
    kind = kind_of_disk(one)
    detail = joined(slot(one), kind, link(one))
    look = (kind, link(one), turns(one), one["is_present"], says_bad(one["health"]))
    return name_of_disk(one), detail, look


def state_of_disk(one: Thing) -> str:
    if not one["is_present"]:
        return "gone"
    return "failed" if says_bad(one["health"]) else ""


def level(array: Thing) -> str:
    found = str(array["level"] or "")
    return LEVEL_WORDS.get(found, f"RAID {found}").removeprefix("a ") if found else "array"


def array(one: Thing) -> Words:
    members = len(one["members"]) or one["member_count"]
    count = f"{members} members" if members else ""
    maker = one["software"] or ("hardware" if one["implementation"] == "hardware" else "")
    chunk = f"chunk {units.size(one['chunk_size'])}" if one["chunk_size"] else ""
    detail = joined(level(one), count, maker, chunk, sold(one["capacity_bytes"]))
    return name_of_array(one), detail, (level(one), members, maker, one["chunk_size"], one["state"], one["is_present"])


def filesystem(one: Thing) -> Words:
    name = one["mount_point"] or one["device_name"] or one["type"]
    return name, joined(one["type"], sold(one["size_bytes"])), (one["type"], one["is_present"])


def target(one: Thing) -> Words:
    return (
        one["name"],
        joined(one["path"] or one["kind"], "the agent's" if one["is_agents_own"] else ""),
        (one["kind"], one["is_agents_own"]),
    )


def nic(one: Thing) -> Words:
    name = f"{one['name']} ({one['count']} alike)" if one["count"] > 1 else one["name"]
    rate = units.bit_rate(one["bits_per_second"]) if one["bits_per_second"] else ""
    detail = joined(rate, f"MTU {one['mtu']}" if one["mtu"] else "", one["model"])
    return name, detail, (detail,)


def switch(one: Thing) -> str:
    return joined(" ".join(filter(None, [one["vendor"], one["model"]])), one["ports"])


def far_nic(end: Thing) -> Words:
    rate = units.bit_rate(end["bits_per_second"]) if end["bits_per_second"] else ""
    many = f"{end['count']} of them" if end["count"] > 1 else ""
    return (
        end["host_name"],
        joined(end["name"], rate, f"MTU {end['mtu']}" if end["mtu"] else "", many),
        (rate, end["mtu"]),
    )

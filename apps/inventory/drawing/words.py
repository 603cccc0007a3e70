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


def host(thing: Thing) -> str:
    return joined(thing["model"] or thing["os"], bytes_or_nothing(thing["ram_bytes"]))


def controller(thing: Thing) -> tuple[str, tuple[Any, ...]]:
    model = thing["model"] if thing["model"] != thing["name"] else ""
    cache = f"cache {units.size(thing['cache_bytes'])}" if thing["cache_bytes"] else ""
    kind = CONTROLLER_KINDS.get(thing["kind"] or "", "")
    return joined(kind, model, thing["bus"], cache), (kind, thing["vendor"], thing["model"], thing["bus"])


def section(thing: Thing) -> Words:
    return thing["name"], section_in_words(thing), (thing["name"],)


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


def disk(thing: Thing) -> Words:
    kind = kind_of_disk(thing)
    detail = joined(slot(thing), kind, link(thing))
    look = (kind, link(thing), turns(thing), thing["is_present"], says_bad(thing["health"]))
    return name_of_disk(thing), detail, look


def state_of_disk(thing: Thing) -> str:
    if not thing["is_present"]:
        return "gone"
    return "failed" if says_bad(thing["health"]) else ""


def level(array: Thing) -> str:
    result = str(array["level"] or "")
    return LEVEL_WORDS.get(result, f"RAID {result}").removeprefix("a ") if result else "array"


def array(thing: Thing) -> Words:
    members = len(thing["members"]) or thing["member_count"]
    count = f"{members} members" if members else ""
    maker = thing["software"] or ("hardware" if thing["implementation"] == "hardware" else "")
    chunk = f"chunk {units.size(thing['chunk_size'])}" if thing["chunk_size"] else ""
    detail = joined(level(thing), count, maker, chunk, sold(thing["capacity_bytes"]))
    return (
        name_of_array(thing),
        detail,
        (level(thing), members, maker, thing["chunk_size"], thing["state"], thing["is_present"]),
    )


def filesystem(thing: Thing) -> Words:
    name = thing["mount_point"] or thing["device_name"] or thing["type"]
    return name, joined(thing["type"], sold(thing["size_bytes"])), (thing["type"], thing["is_present"])


def target(thing: Thing) -> Words:
    return (
        thing["name"],
        joined(thing["path"] or thing["kind"], "the agent's" if thing["is_agents_own"] else ""),
        (thing["kind"], thing["is_agents_own"]),
    )


def nic(thing: Thing) -> Words:
    name = f"{thing['name']} ({thing['count']} alike)" if thing["count"] > 1 else thing["name"]
    rate = units.bit_rate(thing["bits_per_second"]) if thing["bits_per_second"] else ""
    detail = joined(rate, f"MTU {thing['mtu']}" if thing["mtu"] else "", thing["model"])
    return name, detail, (detail,)


def switch(thing: Thing) -> str:
    return joined(" ".join(filter(None, [thing["vendor"], thing["model"]])), thing["ports"])


def far_nic(end: Thing) -> Words:
    rate = units.bit_rate(end["bits_per_second"]) if end["bits_per_second"] else ""
    many = f"{end['count']} of them" if end["count"] > 1 else ""
    return (
        end["host_name"],
        joined(end["name"], rate, f"MTU {end['mtu']}" if end["mtu"] else "", many),
        (rate, end["mtu"]),
    )

"""The machines a published study describes → inventory. What the report does not print stays empty and says why.

Each function takes one entry of study.yaml and gives the fields of its row. A disk's row stands for a kind of disk:
reports count them at best. Facts are taken from the same entries, because a report names an array's members only by
number.
"""

import re
from typing import Any

Entry = dict[str, Any]
Fields = dict[str, Any]
_KINDS = {"hardware RAID": "raid", "HBA": "hba", "FC": "fc", "IDE": "ide"}
_NOT_PRINTED = re.compile(r"^(not printed|unknown \(not printed\))")


def host_fields(host: Entry) -> Fields:
    cpus = host.get("cpus") or {}
    named = {
        "fqdn": host.get("fqdn"), "cpu_model": cpus.get("model"), "cpu_count": cpus.get("count"),
        "cpu_sockets": cpus.get("count"), "cpu_cache_bytes": cpus.get("cache_bytes"),
        "ram_bytes": host.get("ram_bytes"), "ram_type": host.get("ram_type"),
        "board": host.get("motherboard"), "os": host.get("os"),
        "kernel": host.get("kernel"), "architecture": host.get("arch"),
        "environment": "native" if host.get("virtualisation") == "none" else None,
        "hypervisor": host.get("virtualisation"),
    }  # fmt: skip
    return with_absent(
        named, _notes(host, "note", "name_note", "controllers_note", "fqdn_as_scanned", "kernel_as_scanned")
    )


def controller_fields(controller: Entry) -> Fields:
    zero_channel = "zero-channel" in str(controller.get("bus"))
    named = {
        "model": controller["model"],
        "kind": "zero-channel" if zero_channel else _KINDS.get(controller.get("kind", "")),
        "bus": controller.get("bus"),
        "cache_bytes": controller.get("cache_bytes"),
    }
    fields = with_absent(named, _notes(controller, "note"))
    if controller.get("battery_or_nv") == "none":
        fields["cache_protection"] = "none"
    else:
        fields["absent"]["cache_protection"] = "unknown"
    return fields


def disk_fields(disk: Entry) -> Fields:
    interface, _, generation = str(disk["interface"]).partition(" ")
    named = {
        "vendor": disk.get("vendor"), "model": disk.get("model"), "interface": interface, "generation": generation,
        "rpm": disk.get("rpm"), "capacity_bytes": disk.get("capacity_bytes"), "cache_bytes": disk.get("cache_bytes"),
        "enclosure": disk.get("enclosure"), "serial": None, "firmware": None,
    }  # fmt: skip
    count = disk.get("count")
    how_many = f"{count} of them" if count else "How many there are is not printed."
    fields = with_absent(named, _notes(disk, "note"))
    return fields | {"notes": " ".join(filter(None, [fields["notes"], how_many])), "is_solid_state": False}


def array_fields(array: Entry) -> Fields:
    named = {
        "level": array["level"], "implementation": array["implementation"], "software": array.get("software"),
        "software_version": array.get("software_version"), "chunk_size": array.get("chunk_bytes"),
        "member_count": array.get("member_count"), "state": None,
    }  # fmt: skip
    fields = with_absent(named, _notes(array, "note"))
    if array["implementation"] == "hardware":
        fields["absent"] |= {"software": "none", "software_version": "none"}
    return fields


def with_absent(named: Fields, notes: str) -> Fields:
    """Only the fields that have a value; `absent` says of each other one whether it is not printed, unknown or none."""
    fields: Fields = {}
    absent: dict[str, str] = {}
    for name, value in named.items():
        if value in ("none", "unknown"):
            absent[name] = str(value)
        elif value is None or value == "" or _NOT_PRINTED.match(str(value)):
            absent[name] = "not_printed"
        else:
            fields[name] = value
    sources = dict.fromkeys(fields, "typed")
    return fields | {"absent": absent, "sources": sources, "notes": notes}


def _notes(entry: Entry, *names: str) -> str:
    return "; ".join(
        str(entry[name]) if "note" in name else f"{name.replace('_', ' ')}: {entry[name]}"
        for name in names
        if name in entry
    )


def facts_beside_the_stack(slug: str, configuration: Entry, disk: Entry) -> Fields:
    """What comparisons group by and no stack shows: the study, and the kind of disks in an array whose members are not
    named. What the report does not print is no fact.
    """
    interface, _, generation = str(disk["interface"]).partition(" ")
    facts = {
        "study": slug, "configuration": configuration["label"], "interface": interface, "generation": generation,
        "disk_model": disk["model"],
    }  # fmt: skip
    return {name: value for name, value in facts.items() if value and not _NOT_PRINTED.match(value)}

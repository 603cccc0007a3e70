"""Arrays with their members, by rounds, and the filesystems on them."""

import re
from collections.abc import Iterator
from typing import Any

from apps.studies.machine_payloads.index import Machines
from apps.studies.machine_payloads.said import Described, Entry, Said, plain


def arrays(study: Machines) -> Iterator[Described]:
    """Those that others lie on come first."""
    for entry in sorted(study.array_entries, key=lambda one: bool(one.get("nested"))):
        yield _array(study, entry)


def _array(study: Machines, entry: Entry) -> Described:
    host, said = study.host_of(entry), Said()
    members = _members(study, host, entry)
    level = str(entry.get("level") or "")
    said.text("level", "0" if entry.get("nested") else level.split(" ")[0])
    said.text("implementation", entry.get("implementation"), words=("none",))
    for name in ("software", "software_version"):
        hardware = entry.get("implementation") == "hardware"
        said.text(name, entry.get(name) or ("none" if hardware else None))
    said.number("chunk_size", entry.get("chunk_bytes"))
    said.text("state", str(entry["state"]).partition(":")[0] if entry.get("state") else None)
    said.text("device_name", entry.get("device"))
    if not members:
        said.number("member_count", entry.get("member_count"))
    for name in ("note", "capacity_printed", "chunk_basis", "conflict", "used_for"):
        said.note("" if name == "note" else name.replace("_", " "), entry.get(name))
    said.note("members", None if members else entry.get("members"))
    said.note("state", entry.get("state") if ":" in str(entry.get("state")) else None)
    said.note("level", level if " " in level else None)
    name, in_round = named_in_round(entry)
    refers = {"host": f"host {host}"} | _controller_of_array(study, host, entry)
    inferred = ("chunk_size",) if entry.get("chunk_basis") else ()
    identity = {"name": name, "round": in_round}
    return Described("array", f"array {entry['name']}", identity, said.all(), said.absent, refers, members, inferred)


def _controller_of_array(study: Machines, host: str, entry: Entry) -> dict[str, str]:
    told = [
        one.get("controller") for one in study.study.get("configurations") or [] if one.get("array") == entry["name"]
    ]
    names = [entry.get("controller"), *(told if entry.get("implementation") == "hardware" else []), entry["name"]]
    for name in names:
        if name in study.controller_entries and not study.slot_numbers(host):
            return {"controller": study.controller_key(host, study.controller_entries[name])}
    return {}


def _members(study: Machines, host: str, entry: Entry) -> list[dict[str, Any]]:
    if entry.get("nested"):
        return [{"member_array": f"array {name}"} for name in entry["nested"]]
    devices = entry.get("command_members") or entry.get("text_members") or []
    keys = [study.by_device.get((host, str(device).removeprefix("/dev/"))) for device in devices]
    if keys and all(keys):
        return [{"disk": key} for key in keys]
    counted = re.fullmatch(r"(\d+) x ([\w-]+)", str(entry.get("members") or ""))
    known = study.by_kind.get((host, counted[2]), []) if counted else []
    return [{"disk": key} for key in known] if counted and len(known) == int(counted[1]) else []


def filesystems(study: Machines) -> Iterator[Described]:
    for number, entry in enumerate(study.study.get("filesystems") or []):
        yield _filesystem(study, number, entry)


def _filesystem(study: Machines, number: int, entry: Entry) -> Described:
    array = next((one for one in study.array_entries if one["name"] == entry.get("array")), None)
    host = study.host_of(array) if array else str(study.host_entries[0]["name"])
    said, geometry = Said(), entry.get("geometry") or {}
    for name, value in (("type", entry.get("type")), ("mount_point", entry.get("mount_point")),
                        ("mount_options", entry.get("mount_options")), ("mkfs_options", entry.get("mkfs"))):  # fmt: skip
        said.text(name, value)
    said.text("device_name", entry.get("device") or (array or {}).get("device"))
    block = geometry.get("bsize")
    for name, value in (
        ("block_size", block), ("size_bytes", entry.get("size_bytes") or (block and geometry.get("blocks") and block * geometry["blocks"])),
        ("stripe_unit", block and geometry.get("sunit_blocks") and block * geometry["sunit_blocks"]),
        ("stripe_width", block and geometry.get("swidth_blocks") and block * geometry["swidth_blocks"]),
    ):  # fmt: skip
        said.number(name, value)
    for name in ("note", "df", "fsck_fields"):
        said.note("" if name == "note" else name.replace("_", " "), plain(entry.get(name)))
    if entry.get("df"):
        said.absent.pop("size_bytes", None)  # printed, but rounded by df
    refers = {"host": f"host {host}"}
    device = re.search(r"/dev/(sd[a-z]+)", str(entry.get("device") or ""))
    if array:
        refers["array"] = f"array {array['name']}"
    elif device and (host, device[1]) in study.by_device:
        refers["disk"] = study.by_device[host, device[1]]
    labels = {"described": f"{study.study.get('study', 'study')} {number + 1}"}
    return Described(
        "filesystem",
        f"filesystem {number}",
        {"labels": labels},
        said.all() | {"labels": labels},
        said.absent,
        refers,
    )


def named_in_round(entry: Entry) -> tuple[str, str]:
    """`ext3-md1` on /dev/md1 is md1 in the round ext3; other names stay."""
    device = str(entry.get("device") or "").removeprefix("/dev/")
    name = str(entry["name"])
    in_round = name.removesuffix(f"-{device}") if device and name.endswith(f"-{device}") else ""
    return (device, in_round) if in_round else (name, "")

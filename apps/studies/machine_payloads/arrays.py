"""Arrays with their members, by rounds, and the filesystems on them."""

import re
from collections.abc import Iterator

from apps.studies.machine_payloads.index import MachineIndex
from apps.studies.machine_payloads.part_text import DescribedPart, Entry, PartFields, plain


def arrays(study: MachineIndex) -> Iterator[DescribedPart]:
    """Yield the arrays; those that others lie on come first."""
    for entry in sorted(study.array_entries, key=lambda array_entry: bool(array_entry.get("nested"))):
        yield _array(study, entry)


def _array(study: MachineIndex, entry: Entry) -> DescribedPart:
    host, fields = study.host_of(entry), PartFields()
    members = _members(study, host, entry)
    level = str(entry.get("level") or "")
    fields.text("level", "0" if entry.get("nested") else level.split(" ")[0])
    fields.text("implementation", entry.get("implementation"), words=("none",))
    for name in ("software", "software_version"):
        hardware = entry.get("implementation") == "hardware"
        fields.text(name, entry.get(name) or ("none" if hardware else None))
    fields.number("chunk_size", entry.get("chunk_bytes"))
    fields.text("state", str(entry["state"]).partition(":")[0] if entry.get("state") else None)
    fields.text("device_name", entry.get("device"))
    if not members:
        fields.number("member_count", entry.get("member_count"))
    for name in ("note", "capacity_printed", "chunk_basis", "conflict", "used_for"):
        fields.note("" if name == "note" else name.replace("_", " "), entry.get(name))
    fields.note("members", None if members else entry.get("members"))
    fields.note("state", entry.get("state") if ":" in str(entry.get("state")) else None)
    fields.note("level", level if " " in level else None)
    name, in_round = named_in_round(entry)
    refers = {"host": f"host {host}"} | _controller_of_array(study, host, entry)
    inferred = ("chunk_size",) if entry.get("chunk_basis") else ()
    identity = {"name": name, "round": in_round}
    return DescribedPart(
        "array", f"array {entry['name']}", identity, fields.all(), fields.absent, refers, members, inferred
    )


def _controller_of_array(study: MachineIndex, host: str, entry: Entry) -> dict[str, str]:
    members = [
        member.get("controller")
        for member in study.study.get("configurations") or []
        if member.get("array") == entry["name"]
    ]
    names = [entry.get("controller"), *(members if entry.get("implementation") == "hardware" else []), entry["name"]]
    for name in names:
        if name in study.controller_entries and not study.slot_numbers(host):
            return {"controller": study.controller_key(host, study.controller_entries[name])}
    return {}


def _members(study: MachineIndex, host: str, entry: Entry) -> list[dict[str, object]]:
    if entry.get("nested"):
        return [{"member_array": f"array {name}"} for name in entry["nested"]]
    devices = entry.get("command_members") or entry.get("text_members") or []
    keys = [study.by_device.get((host, str(device).removeprefix("/dev/"))) for device in devices]
    if keys and all(keys):
        return [{"disk": key} for key in keys]
    counted = re.fullmatch(r"(\d+) x ([\w-]+)", str(entry.get("members") or ""))
    known = study.by_kind.get((host, counted[2]), []) if counted else []
    return [{"disk": key} for key in known] if counted and len(known) == int(counted[1]) else []


def filesystems(study: MachineIndex) -> Iterator[DescribedPart]:
    for number, entry in enumerate(study.study.get("filesystems") or []):
        yield _filesystem(study, number, entry)


def _filesystem(study: MachineIndex, number: int, entry: Entry) -> DescribedPart:
    array = next(
        (array_entry for array_entry in study.array_entries if array_entry["name"] == entry.get("array")), None
    )
    host = study.host_of(array) if array else str(study.host_entries[0]["name"])
    fields, geometry = PartFields(), entry.get("geometry") or {}
    for name, value in (("type", entry.get("type")), ("mount_point", entry.get("mount_point")),
                        ("mount_options", entry.get("mount_options")), ("mkfs_options", entry.get("mkfs"))):  # fmt: skip
        fields.text(name, value)
    fields.text("device_name", entry.get("device") or (array or {}).get("device"))
    block = geometry.get("bsize")
    for name, value in (
        ("block_size", block), ("size_bytes", entry.get("size_bytes") or (block and geometry.get("blocks") and block * geometry["blocks"])),
        ("stripe_unit", block and geometry.get("sunit_blocks") and block * geometry["sunit_blocks"]),
        ("stripe_width", block and geometry.get("swidth_blocks") and block * geometry["swidth_blocks"]),
    ):  # fmt: skip
        fields.number(name, value)
    for name in ("note", "df", "fsck_fields"):
        fields.note("" if name == "note" else name.replace("_", " "), plain(entry.get(name)))
    if entry.get("df"):
        fields.absent.pop("size_bytes", None)  # printed, but rounded by df
    refers = {"host": f"host {host}"}
    device = re.search(r"/dev/(sd[a-z]+)", str(entry.get("device") or ""))
    if array:
        refers["array"] = f"array {array['name']}"
    elif device and (host, device[1]) in study.by_device:
        refers["disk"] = study.by_device[host, device[1]]
    labels = {"described": f"{study.study.get('study', 'study')} {number + 1}"}
    return DescribedPart(
        "filesystem",
        f"filesystem {number}",
        {"labels": labels},
        fields.all() | {"labels": labels},
        fields.absent,
        refers,
    )


def named_in_round(entry: Entry) -> tuple[str, str]:
    """Split `ext3-md1` on /dev/md1 into md1 and the round ext3; other names stay."""
    device = str(entry.get("device") or "").removeprefix("/dev/")
    name = str(entry["name"])
    in_round = name.removesuffix(f"-{device}") if device and name.endswith(f"-{device}") else ""
    return (device, in_round) if in_round else (name, "")

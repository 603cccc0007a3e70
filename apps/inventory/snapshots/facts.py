"""The facts of a snapshot that comparisons group by. Unknown ones are left out; what there is none of is `none`."""

from collections.abc import Iterable, Iterator
from typing import Any

NONE = "none"
# Members that hold no data of their own at the moment.
_IDLE = ("spare", "faulty", "journal")
_NESTED = {("0", "5"): "50", ("0", "6"): "60", ("0", "1"): "10"}
_WITHOUT_CHUNK = ("1", "linear", "single", "jbod")

Content = dict[str, Any]


def facts_of(content: Content) -> dict[str, Any]:
    """Return the facts of a snapshot's content by name, as text.

    Bytes and counts are integers (ram, chunk_size, controller_cache, disk_count).
    """
    facts = _host_facts(content["host"]) | _filesystem_facts(content["filesystem"], content["target"])
    if content["storage"]:
        facts |= _array_facts(_deciding(content["storage"])) | _disk_facts(content["storage"])
    return labels_of(content) | {name: value for name, value in facts.items() if value not in (None, "")}


def labels_of(content: Content) -> dict[str, Any]:
    """Return the labels of the host and the target; the target's take precedence and empty ones are left out."""
    labels = {**(content["host"].get("labels") or {}), **(content["target"].get("labels") or {})}
    return {name: value for name, value in labels.items() if value not in (None, "")}


def _host_facts(host: Content) -> dict[str, Any]:
    return {
        "host": host.get("name"),
        "ram": host.get("ram_bytes"),
        "kernel": _known(host, "kernel"),
        "architecture": _known(host, "architecture"),
        "environment": host.get("environment"),
        "cpu": _known(host, "cpu_model"),
        "os": _known(host, "os"),
    }


def _filesystem_facts(filesystem: Content | None, target: Content) -> dict[str, Any]:
    if filesystem is None:
        return {"filesystem": NONE} if target.get("kind") == "device" else {}
    return {
        "filesystem": filesystem.get("type"),
        "mkfs_options": _known(filesystem, "mkfs_options"),
        "mount_options": _known(filesystem, "mount_options"),
    }


def _known(part: Content, field: str) -> Any:
    """Return the value; `none` where it is known that there is none, else None."""
    return part.get(field) or (NONE if part.get("absent", {}).get(field) == NONE else None)


def _deciding(node: Content) -> Content:
    """Return the array that decides how data are spread, or the one disk."""
    while "array" in node and len(node["members"]) == 1 and node["array"].get("level") in ("linear", "single", None):
        node = node["members"][0]
    return node


def _array_facts(node: Content) -> dict[str, Any]:
    if "disk" in node:
        return {"raid_level": "single", "raid_implementation": NONE, "array": NONE, "chunk_size": NONE}
    return {
        "raid_level": _level(node),
        "raid_implementation": _joined([part.get("implementation") for part in _raid_parts(node)]),
        "array": node["array"].get("name"),
        "chunk_size": _chunk(node),
    }


def _inner(node: Content) -> list[Content]:
    """Return the arrays directly below, if the node lies on arrays only."""
    inner = [_deciding(member) for member in node.get("members", []) if member["state"] not in _IDLE]
    return inner if all("array" in one for one in inner) else []


def _level(node: Content) -> str | None:
    """Return the level; RAID 0 over RAID 5 is RAID 50, and what has no such name is spelled out (`1 over 0`)."""
    own: str | None = node["array"].get("level")
    below = {_level(one) for one in _inner(node)}
    if not own or not below:
        return own
    if None in below or len(below) > 1:
        return None
    inner = str(below.pop())
    return _NESTED.get((own, inner), f"{own} over {inner}")


def _raid_parts(node: Content) -> Iterator[Content]:
    yield node["array"]
    for one in _inner(node):
        yield from _raid_parts(one)


def _chunk(node: Content) -> int | str | None:
    """Return the array's own chunk, or for a nested one without any what those below agree on."""
    array = node["array"]
    found = _known(array, "chunk_size") or (NONE if array.get("level") in _WITHOUT_CHUNK else None)
    if found is None and (below := {_chunk(one) for one in _inner(node)}) and len(below) == 1:
        return below.pop()
    return found


def _disk_facts(storage: Content) -> dict[str, Any]:
    places = list(_disk_places(storage))
    disks = {place["disk"]["number"]: place["disk"] for place, _ in places}
    controllers = _controllers([controller for _, controller in places])
    return {
        "interface": _joined(disk.get("interface") for disk in disks.values()),
        "disk_model": _joined(disk.get("model") for disk in disks.values()),
        "disk_count": _count(storage),
        "controller": _joined(one.get("model") or one.get("name") if one else None for one in controllers),
        "controller_cache": _cache(controllers),
    }


def _disk_places(node: Content, above: Content | None = None) -> Iterator[tuple[Content, Content | None]]:
    """Yield each disk that carries data with the nearest controller: its own, else that of an array above."""
    controller = node["controller"] or above
    if "disk" in node:
        yield node, controller
    for member in node.get("members", []):
        if member["state"] not in _IDLE:
            yield from _disk_places(member, controller)
    if "array" in node and not node["members"] and controller:
        yield {"disk": {"number": f"members of {node['array'].get('name')}"}}, controller


def _count(node: Content) -> int | None:
    """Return how many disks carry data; an array whose members are not listed counts with its member count."""
    numbers: set[int] = set()
    unlisted = 0
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if "disk" in one:
            numbers.add(one["disk"]["number"])
        elif one["members"]:
            waiting.extend(member for member in one["members"] if member["state"] not in _IDLE)
        elif "member_count" in one["array"]:
            unlisted += one["array"]["member_count"]
        else:
            return None
    return len(numbers) + unlisted


def _controllers(found: list[Content | None]) -> list[Content | None]:
    distinct: dict[str, Content | None] = {}
    for one in found:
        distinct[repr(sorted(one.items(), key=lambda item: item[0])) if one else ""] = one
    return list(distinct.values())


def _cache(controllers: list[Content | None]) -> int | str | None:
    """Return the total cache of all controllers before the target; `none` if none of them has any."""
    caches = [_known(one, "cache_bytes") if one else None for one in controllers]
    if not caches or None in caches:
        return None
    return sum(int(cache) for cache in caches if cache and cache != NONE) or NONE


def _joined(values: Iterable[Any]) -> str | None:
    found = set(values)
    return " + ".join(sorted(map(str, found))) if found and not found & {None, ""} else None

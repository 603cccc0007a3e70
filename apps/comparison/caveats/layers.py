"""The arrays of a snapshot with their members, for rules about how disks are put together."""

from collections.abc import Iterator, Mapping
from typing import Any

from apps.comparison.readings import MeasuredMachine

Node = Mapping[str, Any]


def arrays_of(machine: MeasuredMachine) -> Iterator[Node]:
    """Yield every array under the target, the uppermost first, as `{array, controller, members}`."""
    waiting = [machine.content.get("storage")]
    while waiting:
        node = waiting.pop(0)
        if node and "array" in node:
            yield node
            waiting += node["members"]


def disks_of(node: Node) -> list[Node]:
    """Return the members that are disks, as `{disk, controller, partition, state}`."""
    return [member for member in node["members"] if "disk" in member]


def name_of(member: Node) -> str:
    """Return `sdp`, `sdp1` for a partition, else the disk's serial or number."""
    disk = member["disk"]
    known = member.get("partition") or disk.get("device_name") or disk.get("serial")
    return str(known or f"disk {disk.get('number')}")

"""The disks under a target that carry data, and how much of what each is written is the user's own.

RAID writes more than it is given: of n members 1 (RAID 1), n − 1 (RAID 5), n − 2 (RAID 6) or n ÷ 2 (RAID 10) carry data,
of RAID 50 and 60 group by group, whether the groups are arrays of their own or only counted. All n may be read from.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from apps.inventory.topology.geometry import GROUPED, PARITY, data_members, groups_of

Content = dict[str, Any]
WHOLE = Fraction(1)
VIRTUAL = "virtio"  # and any disk that a hypervisor shows under another name: it has no link's limit
INTERFACES = ("SCSI", "SATA", "SAS", "NVMe", "FC", "PATA", "virtio")
FEWEST_GROUPS = 2  # of RAID 50 and 60: most members carry data then, which is the widest bound
_NO_PLACE = ("spare", "journal")
_NO_DATA = (*_NO_PLACE, "faulty")
_COPIES = re.compile(r"(\d+) (?:near|far|offset)|(?:near|far|offset)[= ](\d+)")
_BROKEN = ("degraded", "failed")
_VIRTUAL_NAMES = re.compile(r"qemu|vmware|vbox|msft|virtual|amazon|google|xen", re.IGNORECASE)


@dataclass(frozen=True)
class Carrier:
    """A disk that carries data.

    `share` is the fraction of what is written to the disk that is the user's data. `host_share` is the same on the
    host's bus; a RAID controller adds its copies and parity behind the bus.
    """

    disk: Content
    controller: Content | None
    number: Any
    share: Fraction = WHOLE
    host_share: Fraction = WHOLE

    @property
    def interface(self) -> str:
        """Return the interface of the disk's link; a hypervisor's virtual disk has `VIRTUAL`, which sets no bound."""
        name = f"{self.disk.get('vendor', '')} {self.disk.get('model', '')}"
        return VIRTUAL if _VIRTUAL_NAMES.search(name) else str(self.disk.get("interface", ""))


@dataclass
class Carriers:
    """The disks that carry data; if `is_whole` is False some are missing, and `unknown` says why."""

    disks: list[Carrier] = field(default_factory=list)
    controllers: dict[str, Content] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)
    is_whole: bool = True


def carriers_of(content: Content) -> Carriers:
    carriers = Carriers()
    kind = (content.get("published") or {}).get("disk")
    distinct: dict[Any, Carrier] = {}
    for one in _walk(content["storage"], None, carriers, _kind_of_disk(kind)):
        distinct.setdefault(one.number, one)  # two partitions of one disk have one link
    carriers.disks = list(distinct.values())
    for disk in carriers.disks:
        _keep(carriers, disk.controller)
    return carriers


def _keep(carriers: Carriers, controller: Content | None) -> None:
    if controller:
        carriers.controllers.setdefault(str(controller.get("name")), controller)


def _walk(node: Content, above: Content | None, carriers: Carriers, kind: Content) -> Iterator[Carrier]:
    controller = node["controller"] or above
    if "disk" in node:
        yield Carrier(node["disk"], controller, node["disk"].get("number", id(node)))
        return
    array = node["array"]
    share = _share(array, node["members"], carriers)
    host_share = WHOLE if array.get("implementation") == "hardware" else share
    for member in _members(node, carriers, kind):
        if member["state"] not in _NO_DATA:
            for one in _walk(member, controller, carriers, kind):
                yield replace(one, share=one.share * share, host_share=one.host_share * host_share)
    if not node["members"]:
        _keep(carriers, controller)


def _members(node: Content, carriers: Carriers, kind: Content) -> list[Content]:
    """Return the members as listed; where a report only counts them, that many of the kind of disk that it names."""
    if node["members"]:
        members: list[Content] = node["members"]
        return members
    name, count = node["array"].get("name", "the array"), node["array"].get("member_count")
    if not count:
        carriers.unknown.append(f"how many disks {name} has")
        carriers.is_whole = False
        return []
    return [
        {"state": "", "controller": None, "disk": {**kind, "number": f"{name} {place}"}} for place in range(int(count))
    ]


def _kind_of_disk(published: Content | None) -> Content:
    interface, _, generation = str((published or {}).get("interface") or "").partition(" ")
    return {"interface": interface, "generation": generation} if interface in INTERFACES else {}


def _share(array: Content, members: list[Content], carriers: Carriers) -> Fraction:
    """Return the fraction of what is written to the members that is data."""
    total = sum(member["state"] not in _NO_PLACE for member in members) or int(array.get("member_count") or 0)
    active = sum(member["state"] not in _NO_DATA for member in members) or total
    level = array.get("level")
    if not level:
        carriers.unknown.append(f"the RAID level of {array.get('name', 'an array')}: taken as if all members held data")
    if not active or _is_over_groups(level, members):
        return WHOLE
    if level == "1":
        return Fraction(1, active)
    if level == "10":
        return min(WHOLE, data_members("10", total, copies=_copies(array)) / active)
    missing_is_known = active < total or array.get("state") not in _BROKEN
    data = data_members(str(level), total, _groups(array, total, carriers)) if missing_is_known else active
    return Fraction(max(1, min(active, data)), active)


def _is_over_groups(level: object, members: list[Content]) -> bool:
    """Return whether the members of a RAID 10, 50 or 60 are its groups.

    Then the array only stripes them, and each group has its own copies or parity.
    """
    return level in ("10", *GROUPED) and any(
        member.get("array", {}).get("level") in ("1", *PARITY) for member in members
    )


def _groups(array: Content, members: int, carriers: Carriers) -> int:
    level = str(array.get("level"))
    groups = groups_of(level, str(array.get("layout") or ""), members)
    if groups is None and level in GROUPED:
        carriers.unknown.append(f"how many groups {array.get('name', 'the array')} has: taken as two, the widest case")
    return groups or FEWEST_GROUPS


def _copies(array: Content) -> int:
    """Return the number of copies in md's layout; two unless it says `near=3` or `3 near-copies`."""
    counts = [int(a or b) for a, b in _COPIES.findall(str(array.get("layout", "")))]
    copies = 1
    for count in counts:
        copies *= count
    return copies if copies > 1 else 2

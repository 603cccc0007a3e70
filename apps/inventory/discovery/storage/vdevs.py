"""What md, LVM, device-mapper and ZFS themselves say about arrays that lsblk only names."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from apps.inventory.discovery.models import NOTHING, FoundArray, FoundMember, Layer
from apps.inventory.discovery.tools.dmsetup import Mappings
from apps.inventory.discovery.tools.lvs import Volumes
from apps.inventory.discovery.tools.mdadm.arrays import MdDetails
from apps.inventory.discovery.tools.zpool import Pools, ZpoolNode

RestsOn = Callable[[str], list[tuple[Layer, str]]]
MAX_VDEVS = 1024
_ONE_PIECE = ("1", "linear", "single")


def with_details(arrays: list[FoundArray], details: MdDetails | None) -> list[FoundArray]:
    """Add md's own UUID, and its members in the order of their places, to the md arrays."""
    return [_detailed(one, details) if details and one.software == "md" else one for one in arrays]


def _detailed(array: FoundArray, details: MdDetails) -> FoundArray:
    told = details.by_name.get(array.device_name.removeprefix("/dev/")) or details.by_name.get(array.name)
    if told is None:
        return array
    places = told.places

    def place(member: FoundMember) -> int:
        return places.get(member.partition or member.layer.name, 1 << 20)

    members = tuple(sorted(array.members, key=place))
    formers = (told.former,) if told.former else ()
    return replace(array, uuid=told.uuid or array.uuid, software_version=told.version, members=members, formers=formers)


def with_volumes(arrays: list[FoundArray], volumes: Volumes | None, mappings: Mappings | None) -> list[FoundArray]:
    """Add the levels and stripe sizes that lvs and dmsetup print, which lsblk's numbers only let one infer."""
    return [_of_dm(one, volumes, mappings) if one.software in ("LVM", "dm") else one for one in arrays]


def _of_dm(array: FoundArray, volumes: Volumes | None, mappings: Mappings | None) -> FoundArray:
    told = volumes.by_dm_name.get(array.name) if volumes else None
    mapped = mappings.by_name.get(array.name) if mappings else None
    if told and told.level:
        chunk = told.chunk_size or (NOTHING if told.level in _ONE_PIECE else None)
        return replace(
            array, level=told.level, chunk_size=chunk, layout=told.layout, uuid=told.uuid, inferred=frozenset()
        )
    if mapped and mapped.level:
        chunk = mapped.chunk_size or (NOTHING if mapped.level in _ONE_PIECE else None)
        return replace(array, level=mapped.level, chunk_size=chunk, inferred=frozenset())
    return replace(array, layout=told.layout, uuid=told.uuid) if told else array


def with_pools(
    arrays: list[FoundArray], pools: Pools | None, rests_on: RestsOn, device_of: Callable[[str], str]
) -> list[FoundArray]:
    """Replace the ZFS pools that lsblk's labels let one infer by those that zpool reports."""
    if pools is None:
        return arrays
    told = [array for pool in pools.pools for array in _pool(pool, rests_on, device_of)][:MAX_VDEVS]
    names = {array.name for array in told}
    known = {array.name: array for array in arrays if array.software == "ZFS"}
    others = [array for array in arrays if not (array.software == "ZFS" and array.name in names)]
    taken = {array.name for array in others}
    return others + [
        replace(one, uuid=known[one.name].uuid) if one.name in known else one for one in told if one.name not in taken
    ]


def _pool(pool: ZpoolNode, rests_on: RestsOn, device_of: Callable[[str], str]) -> Iterator[FoundArray]:
    """Yield the vdevs that have members of their own, then the pool over them."""
    members: list[FoundMember] = []
    for node in pool.below:
        if node.kind:
            vdev = _vdev(pool.name, node, rests_on, device_of)
            yield vdev
            members.append(FoundMember(Layer("array", vdev.name), "", node.role or _said(node)))
        else:
            members += _devices(node, rests_on, device_of)
    data = [node for node in pool.below if not node.role]
    yield FoundArray(
        name=pool.name[:120], device_name=pool.name[:120], software="ZFS", level="0" if len(data) > 1 else "single" if data else "",
        state=pool.state, chunk_size=NOTHING, members=tuple(dict.fromkeys(members)), member_count=len(data) or None,
        inferred=frozenset({"level"}),
    )  # fmt: skip


def _vdev(pool: str, node: ZpoolNode, rests_on: RestsOn, device_of: Callable[[str], str]) -> FoundArray:
    below = _leaves(node)
    members = [member for one in below for member in _devices(one, rests_on, device_of)]
    layout = node.kind if node.kind != "mirror" else NOTHING
    return FoundArray(
        name=f"{pool} {node.name}"[:120], device_name="", software="ZFS", level=node.level, layout=layout, state=node.state,
        chunk_size=NOTHING, members=tuple(dict.fromkeys(members)), member_count=len(below) or None,
    )  # fmt: skip


def _leaves(node: ZpoolNode) -> list[ZpoolNode]:
    """Return the devices of a vdev; one under repair holds `replacing-0` with the old and the new device."""
    found: list[ZpoolNode] = []
    for one in node.below:
        found += _leaves(one) if one.kind else [one]
    return found


def _devices(node: ZpoolNode, rests_on: RestsOn, device_of: Callable[[str], str]) -> list[FoundMember]:
    path = node.name if node.name.startswith("/") else f"/dev/{node.name}"
    kname = device_of(path) or re.sub(r"^/dev/", "", path)
    return [FoundMember(layer, partition, node.role or _said(node)) for layer, partition in rests_on(kname)]


def _said(node: ZpoolNode) -> str:
    return {"failed": "faulty", "clean": "in sync", "degraded": "in sync"}.get(node.state, "")

"""Volumes of RAID controllers: which device the kernel shows for each, and the arrays that they are."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from apps.inventory.discovery.cards import Card, CardVolume
from apps.inventory.discovery.models import NOTHING, FoundArray, FoundController, FoundMember, Layer
from apps.inventory.discovery.storage.buses import is_volume
from apps.inventory.discovery.tool_text import level_of, wwn_of
from apps.inventory.discovery.tools.lsblk.devices import Device
from apps.inventory.topology.geometry import GROUPED

Key = tuple[str, str]  # the card's label, the volume's number
_STATES = {"failed": "faulty", "missing": "faulty", "rebuilding": "rebuilding", "spare": "spare"}
_MAKERS = {"ssacli": "hp ", "arcconf": "adaptec ", "tw_cli": "3ware ", "omreport": "perc "}
_NEAR = 0.02  # sizes that tools round to three digits


def labels(cards: Iterable[Card]) -> list[tuple[str, Card]]:
    """Return each card with its label: `c0` as storcli and megacli say, for other makers with their name before it."""
    return [(f"{_MAKERS.get(card.tool, '')}{card.number}", card) for card in cards]


def devices_of(cards: Iterable[tuple[str, Card]], devices: Iterable[Device]) -> dict[Key, Device]:
    """Return the block device of each card's volume, as far as it can be found.

    Matched by NAA; else by the device name that the tool prints, or by target number, if the device is a RAID volume of
    that size.
    """
    disks = [device for device in devices if device.type == "disk"]
    by_wwn = {wwn: device for device in disks if (wwn := wwn_of(device.wwn))}
    by_name = {device.kname: device for device in disks}
    listed = list(cards)
    found: dict[Key, Device] = {}
    for label, card in listed:
        targets = {} if sum(bool(one.volumes) for _, one in listed) > 1 else _targets(disks)
        for volume in card.volumes:
            named = by_name.get(volume.device.removeprefix("/dev/").replace("/", "!"))
            aimed = targets.get(volume.target) if volume.target is not None else None
            device = by_wwn.get(volume.naa) if volume.naa else None
            device = device or next((one for one in (named, aimed) if one and _fits(volume, one)), None)
            if device:
                found[label, volume.number] = device
    return found


def _targets(disks: list[Device]) -> dict[int | None, Device]:
    found: dict[int | None, Device] = {}
    for device in disks:
        match = re.fullmatch(r"\d{1,5}:\d{1,5}:(\d{1,5}):0", device.hctl)
        if match and is_volume(device.vendor, device.model):
            found[int(match[1])] = device
    return found


def _fits(volume: CardVolume, device: Device) -> bool:
    if volume.naa and wwn_of(device.wwn):
        return False  # another volume, whatever its name
    if not volume.capacity_bytes or not device.size:
        return is_volume(device.vendor, device.model)
    return abs(volume.capacity_bytes - device.size) <= _NEAR * device.size


def arrays_of(
    label: str, card: Card, controller: FoundController, keys: Mapping[str, str], devices: Mapping[Key, Device]
) -> list[FoundArray]:
    """Return the arrays for a card's volumes; a volume with several spans lies on an array for each span.

    `keys` maps a drive's place on the card to the key of the discovered disk.
    """
    states = {drive.place: _STATES.get(drive.state, "in sync") for drive in card.drives}
    found = []
    for volume in card.volumes:
        level, below = level_of(volume.level)
        whole = _volume(label, volume, devices.get((label, volume.number)), controller)
        slice_of = volume.number if volume.shares_drives else ""

        def members(places: Iterable[str], part: str = slice_of) -> tuple[FoundMember, ...]:
            return tuple(
                FoundMember(Layer("disk", keys[p]), part, states.get(p, "")) for p in dict.fromkeys(places) if p in keys
            )

        if len(volume.spans) > 1 and below:
            inner = [_span(whole, n, below, members(places)) for n, places in enumerate(volume.spans)]
            found += inner
            tops = tuple(FoundMember(Layer("array", one.name), "", "in sync") for one in inner)
            whole = replace(whole, level=level, members=tops, member_count=len(inner))
        else:
            places = [place for span in volume.spans for place in span]
            spares = [place for place in volume.spares if place not in places]
            # Without its spans a RAID 10 is one array of that level.
            flat = re.sub(r"\D", "", volume.level) if below else level
            count = volume.member_count or len(places) or None
            layout = _spans_in_words(volume) if flat in GROUPED else whole.layout
            whole = replace(
                whole,
                level="0" if flat == "00" else flat,
                members=members([*places, *spares]),
                member_count=count,
                layout=layout,
            )
        found.append(whole)
    return found


def _spans_in_words(volume: CardVolume) -> str:
    """Return `2 spans` for a RAID 50 or 60 whose spans are only counted, as `geometry.groups_of` reads it."""
    return f"{volume.span_depth} spans" if volume.span_depth and volume.span_depth > 1 else ""


def _volume(label: str, volume: CardVolume, device: Device | None, controller: FoundController) -> FoundArray:
    level, _ = level_of(volume.level)
    return FoundArray(
        name=f"{label}/{volume.number} {volume.name}".strip()[:120], device_name=device.path[:120] if device else "", software="",
        uuid=volume.naa, chunk_size=volume.chunk_size or (NOTHING if level in ("1", "single", "jbod") else None),
        layout=NOTHING if level in ("0", "1") else "", state=volume.state, implementation="hardware", controller=controller,
        capacity_bytes=(device.size if device else None) or volume.capacity_bytes, write_policy=volume.write_policy,
        read_policy=volume.read_policy, formers=(f"{label}/{volume.former}",) if volume.former else (),
    )  # fmt: skip


def _span(whole: FoundArray, number: int, level: str, members: tuple[FoundMember, ...]) -> FoundArray:
    degraded = any(member.state in ("faulty", "rebuilding") for member in members)
    state = "degraded" if degraded and whole.state not in ("", "clean") else "clean" if whole.state == "clean" else ""
    return replace(
        whole, name=f"{whole.name} span {number}"[:120], device_name="",
        formers=tuple(f"{former} span {number}" for former in whole.formers), uuid="", level=level, members=members, state=state,
        chunk_size=NOTHING if level == "1" else whole.chunk_size, capacity_bytes=None, member_count=len(members) or None,
        inferred=frozenset({"level"}),
    )  # fmt: skip


def unclaimed(devices: Iterable[Device], claimed: Iterable[str]) -> list[FoundArray]:
    """Return arrays of unknown members for devices that say they are a RAID volume but that no tool described."""
    taken = set(claimed)
    return [
        FoundArray(
            name=device.kname, device_name=device.path[:120], software="", implementation="hardware", capacity_bytes=device.size,
        )
        for device in devices
        if device.type == "disk" and device.size and device.kname not in taken and is_volume(device.vendor, device.model)
    ]  # fmt: skip

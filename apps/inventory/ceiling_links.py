"""What the disks' media and links carry: own links, lanes of a controller that has fewer, and channels that are shared."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby

from apps.inventory.ceiling_disks import VIRTUAL, Carrier, Carriers, Content
from apps.inventory.ceiling_parts import WRITE, Part
from apps.inventory.ceiling_rates import Rate, bus_rate, link_rate, mb, rate_in_words

SHARED = ("SCSI", "FC", "PATA")  # one channel or loop carries many disks
SEVERAL_WAYS = ("FC",)  # a disk may be reached over many channels at once


@dataclass(frozen=True)
class _Group:
    """Links that carry alike: `count` of them, passed by `disks` disks of which `data` carry the user's own bytes."""

    rate: Rate
    noun: str
    count: int
    disks: int
    data: Fraction
    why: str = ""

    def value(self, direction: str) -> float:
        return self.count * self.rate.value * (float(self.data / self.disks) if direction == WRITE else 1.0)

    def text(self, direction: str) -> str:
        told = f"{self.count} × {mb(self.rate.value)} {self.noun}"
        if direction != WRITE or self.data == self.disks:
            return told
        return f"{told} × {float(self.data):g}/{self.disks} that carry data"


def _summed(name: str, groups: Sequence[_Group], direction: str) -> Part:
    total = sum(group.value(direction) for group in groups)
    sums = " + ".join(group.text(direction) for group in groups)
    why = " ".join(dict.fromkeys(group.why for group in groups if group.why))
    return Part(name, total, f"{sums} = {mb(total)}", why)


def media(carriers: Carriers, direction: str, unknown: list[str]) -> Iterator[Part]:
    """What the disks' media give, where every disk's is known."""
    known = [(one, _media_rate(one.disk)) for one in carriers.disks]
    rates = [(one, rate) for one, rate in known if rate]
    if len(rates) < len(known) or not known or not carriers.is_whole:
        unknown.append("how fast the disks' media are")
        return
    groups = [
        _group_of([one for one, _ in some], Rate(value, ""), "media")
        for value, some in groupby(sorted(rates, key=lambda pair: -pair[1].value), key=lambda pair: pair[1].value)
    ]
    yield _summed("media", groups, direction)


def _media_rate(disk: Content) -> Rate | None:
    """The field, else the label `media_rate`."""
    if disk.get("media_bytes_per_second"):
        return Rate(float(disk["media_bytes_per_second"]), "")
    return rate_in_words(str((disk.get("labels") or {}).get("media_rate", "")))


def _group_of(disks: Sequence[Carrier], rate: Rate, noun: str, count: int | None = None, why: str = "") -> _Group:
    data = sum((one.share for one in disks), Fraction(0))
    return _Group(rate, noun, len(disks) if count is None else count, len(disks), data, why)


def links(carriers: Carriers, direction: str, unknown: list[str]) -> Iterator[Part]:
    """Disks' own links, limited by the lanes of their controller; channels that several disks share."""
    if not carriers.disks or not carriers.is_whole:
        return
    groups: list[_Group] = []
    for (rate, interface), disks in _by_link(carriers.disks).items():
        if rate is None or (interface in SEVERAL_WAYS and not all(map(_ports, disks))):
            unknown.append(_unknown_link(interface))
            return
        if rate.is_guess:
            unknown.append(f"the generation of the {interface} links: taken as the fastest, {rate.name}")
        groups += _passed(disks, rate, interface, unknown)
    yield _summed("disk links", groups, direction)


def _unknown_link(interface: str) -> str:
    if interface == VIRTUAL:
        return "what lies under the hypervisor's virtual disks"
    if interface in SEVERAL_WAYS:
        return f"how many {interface} channels lead to the disks"
    return f"the generation and lanes of the {interface} disks" if interface else "how the disks are attached"


def _by_link(disks: Sequence[Carrier]) -> dict[tuple[Rate | None, str], list[Carrier]]:
    found: dict[tuple[Rate | None, str], list[Carrier]] = {}
    for one in disks:
        rate = link_rate(one.interface, str(one.disk.get("link_generation") or one.disk.get("generation") or ""))
        if rate is None and one.interface == "NVMe" and one.controller:
            rate = bus_rate(str(one.controller.get("bus") or ""))
        found.setdefault((rate, one.interface), []).append(one)
    return found


def _passed(disks: Sequence[Carrier], rate: Rate, interface: str, unknown: list[str]) -> list[_Group]:
    """Controller by controller where one is narrower than its disks together; else all links in one sum."""
    if interface in SHARED:
        return [_channels(some, rate, interface, unknown) for some in _by_controller(disks)]
    own, groups = list[Carrier](), list[_Group]()
    for some in _by_controller(disks):
        # only `lanes`: a SAS port is a connector with several of them
        lanes = (some[0].controller or {}).get("lanes") if interface != "NVMe" else None
        if lanes and lanes < len(some):
            groups.append(_group_of(some, rate, f"{rate.name} lanes of {_name(some)} for {len(some)} disks", lanes))
        else:
            own += some
    return [*groups, _own_links(own, rate)] if own else groups


def _own_links(disks: Sequence[Carrier], rate: Rate) -> _Group:
    noun = f"{rate.name} {'lanes' if rate.name.startswith('SAS') else 'links'}"
    why = f"Each disk has a link of its own: their sum is the bound, not one link's {mb(rate.value)}."
    return _group_of(disks, rate, f"{noun} ({rate.sum})" if rate.sum else noun, why=why if len(disks) > 1 else "")


def _by_controller(disks: Sequence[Carrier]) -> list[list[Carrier]]:
    found: dict[str, list[Carrier]] = {}
    for one in disks:
        found.setdefault(str(one.controller.get("name")) if one.controller else "", []).append(one)
    return list(found.values())


def _name(disks: Sequence[Carrier]) -> str:
    controller = disks[0].controller or {}
    return str(controller.get("name") or "the controller")


def _ports(one: Carrier) -> int:
    return int((one.controller or {}).get("ports") or 0)


def _channels(disks: Sequence[Carrier], rate: Rate, interface: str, unknown: list[str]) -> _Group:
    """As many as are known to be used; where that is not known, as many as there are, or one for each disk."""
    named = {one.disk.get("channel") or (one.disk.get("labels") or {}).get("channel") for one in disks}
    ports = _ports(disks[0])
    if None not in named:
        count = len(named)
    elif interface in SEVERAL_WAYS:
        count = ports
    else:
        count = min(len(disks), ports or len(disks))
        given = f"{ports} channels" if ports else "a channel for each"
        if count > 1:
            unknown.append(f"which channel of {_name(disks)} each disk is on: taken as {given}")
    noun = f"{rate.name} {'channels' if count > 1 else 'channel'}"
    if count >= len(disks):
        return _group_of(disks, rate, noun, count)
    return _group_of(disks, rate, f"{noun} shared by {len(disks)} disks", count, "The disks of a channel share it.")

"""NICs, switches, the cable between them, and the sections of storage paths."""

import re
from collections.abc import Iterator, Mapping, Sequence

from apps.studies.machine_payloads.index import MachineIndex
from apps.studies.machine_payloads.part_text import DescribedPart, Entry, PartFields, plain

_END = re.compile(r" \d+ ?[GM]bs?$")


def network(study: MachineIndex) -> Iterator[DescribedPart]:
    network = study.study.get("network") or {}
    cards = {nic["id"]: nic for nic in network.get("nics") or []}
    nics = [
        _nic(study, host, cards.get(name) or _card(str(name), cards))
        for host in study.host_entries
        for name in host.get("nics") or []
    ]
    yield from nics
    switches = [switch for entry in network.get("switches") or [] for switch in _switches(study, entry)]
    yield from switches
    if len(switches) == 2:
        yield from _links(network.get("topology") or {}, nics, switches[0].key, switches[1].key)


def _links(drawn: Entry, nics: Sequence[DescribedPart], first: str, second: str) -> Iterator[DescribedPart]:
    """Yield the cables of a drawing with two switches.

    Only a rule that is given (`inferred`) says what is connected to which.
    """
    rates = {_END.sub("", str(text)): bits(str(text)) for text in drawn.get("links") or []}
    if "switch to switch" in rates:
        yield _link({"switch": first, "far_switch": second}, rates["switch to switch"])
    if not drawn.get("inferred"):
        return
    servers = [nic for nic in nics if nic.refers["host"].removeprefix("host ") in rates]
    for nic, switch in zip(servers, (first, second), strict=False):
        yield _link({"nic": nic.key, "far_switch": switch}, rates[nic.refers["host"].removeprefix("host ")])
    clients = [nic for nic in nics if nic.values.get("count", 1) > 1]
    for nic in clients:
        for switch, count in ((first, drawn.get("switch_a_nodes")), (second, drawn.get("switch_b_nodes"))):
            yield _link({"nic": nic.key, "far_switch": switch}, nic.values.get("bits_per_second"), count or 1)


def _link(refers: dict[str, str], rate: int | None, count: int = 1) -> DescribedPart:
    fields = PartFields()
    fields.number("bits_per_second", rate)
    inferred = ("nic", "far_switch") if "nic" in refers else ()
    values = fields.all() | {"count": count}
    return DescribedPart(
        "networklink", " – ".join(refers.values()), {}, values, fields.absent, refers, inferred=inferred
    )


def _nic(study: MachineIndex, host: Entry, card: Entry) -> DescribedPart:
    fields = PartFields()
    fields.text("model", card.get("model"))
    fields.number("bits_per_second", card.get("speed_bits"))
    if isinstance(host.get("count"), int):  # so many alike hosts with one card each
        fields.number("count", host["count"])
    mtu = (study.study.get("network") or {}).get("mtu") or {}
    if card.get("speed_bits") == 10**10 and mtu:
        fields.absent["mtu"] = "unknown"
        fields.note("MTU", plain(mtu))
    else:
        fields.absent["mtu"] = "not_printed"
    refers = {"host": f"host {host['name']}"}
    return DescribedPart(
        "nic", f"nic {host['name']} {card['id']}", {"name": card["id"]}, fields.all(), fields.absent, refers
    )


def _switches(study: MachineIndex, entry: Entry) -> Iterator[DescribedPart]:
    for number in range(int(entry.get("count") or 1)):
        fields = PartFields()
        fields.text("model", entry.get("model"))
        fields.text("ports", entry.get("ports"))
        name = f"{entry['model']} {number + 1}"
        yield DescribedPart("switch", f"switch {name}", {"name": name}, fields.all(), fields.absent)


def paths(study: MachineIndex) -> Iterator[DescribedPart]:
    """Yield the paths of a controller's channels.

    For example from `four FC channels of 2 Gbs to the server, four of 2 Gbs to the disks`.
    """
    for host in study.host_entries:
        for entry in study.controllers_of(host):
            sections = list(_sections(study, host["name"], entry))
            if len(sections) > 1:
                note = f"{entry.get('note') or ''}"
                refers, name = (
                    {"host": f"host {host['name']}"},
                    f"to {study.controller_name(entry).partition(' (')[0]}",
                )
                yield DescribedPart(
                    "storagepath", f"path {name}", {"name": name}, {"notes": note}, {}, refers, sections
                )


def _sections(study: MachineIndex, host: str, entry: Entry) -> Iterator[dict[str, object]]:
    counts = {"one": 1, "two": 2, "four": 4, "six": 6, "eight": 8}
    unit = study.controller_name(entry).partition(" (")[0]
    for match in re.finditer(
        r"(one|two|four|six|eight)(?: FC channels)? of (\d+) Gbs to the (server|disks)", str(entry.get("bus") or "")
    ):
        to_server = match[3] == "server"
        yield {
            "name": f"server – {unit}" if to_server else f"{unit} – disks", "kind": "fc", "link": f"FC-{match[2]}G",
            "count": counts[match[1]], "bytes_per_second": entry.get("theoretical_bytes_per_s") if to_server else None,
            **({"controller": study.controller_key(host, entry)} if to_server else {}),
        }  # fmt: skip


def bits(text: str) -> int | None:
    """Return bits/s: `switch to switch 10 Gbs` → 10000000000."""
    match = re.search(r"(\d+) ?([GM])b", text)
    return int(match[1]) * {"G": 10**9, "M": 10**6}[match[2]] if match else None


def _card(text: str, cards: Mapping[str, Entry]) -> Entry:
    """Return the card of the speed in `1 Gbs`, or one of which nothing else is known."""
    speed = bits(text)
    return next((card for card in cards.values() if card.get("speed_bits") == speed), {"id": text, "speed_bits": speed})

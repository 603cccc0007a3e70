"""NICs, switches, the cable between them, and the sections of storage paths."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from apps.studies.machine_payloads.index import Machines
from apps.studies.machine_payloads.said import Described, Entry, Said, plain


def network(study: Machines) -> Iterator[Described]:
    network = study.study.get("network") or {}
    cards = {one["id"]: one for one in network.get("nics") or []}
    for host in study.host_entries:
        for name in host.get("nics") or []:
            yield _nic(study, host, cards.get(name) or _card(str(name), cards))
    switches = [one for entry in network.get("switches") or [] for one in _switches(study, entry)]
    yield from switches
    links = (network.get("topology") or {}).get("links") or []
    between = next((text for text in links if str(text).startswith("switch to switch")), None)
    if between and len(switches) == 2:
        said = Said()
        said.number("bits_per_second", bits(str(between)))
        refers = {"switch": switches[0].key, "far_switch": switches[1].key}
        yield Described("networklink", "link between switches", {}, said.all(), said.absent, refers)


def _nic(study: Machines, host: Entry, card: Entry) -> Described:
    said = Said()
    said.text("model", card.get("model"))
    said.number("bits_per_second", card.get("speed_bits"))
    mtu = (study.study.get("network") or {}).get("mtu") or {}
    if card.get("speed_bits") == 10**10 and mtu:
        said.absent["mtu"] = "unknown"
        said.note("MTU", plain(mtu))
    else:
        said.absent["mtu"] = "not_printed"
    refers = {"host": f"host {host['name']}"}
    return Described("nic", f"nic {host['name']} {card['id']}", {"name": card["id"]}, said.all(), said.absent, refers)


def _switches(study: Machines, entry: Entry) -> Iterator[Described]:
    for number in range(int(entry.get("count") or 1)):
        said = Said()
        said.text("model", entry.get("model"))
        said.text("ports", entry.get("ports"))
        name = f"{entry['model']} {number + 1}"
        yield Described("switch", f"switch {name}", {"name": name}, said.all(), said.absent)


def paths(study: Machines) -> Iterator[Described]:
    """From what the report says of a controller's channels: `four FC channels of 2 Gbs to the server, four of 2 Gbs to the disks`."""
    for host in study.host_entries:
        for entry in study.controllers_of(host):
            sections = list(_sections(study, host["name"], entry))
            if len(sections) > 1:
                note = f"{entry.get('note') or ''}"
                refers, name = (
                    {"host": f"host {host['name']}"},
                    f"to {study.controller_name(entry).partition(' (')[0]}",
                )
                yield Described("storagepath", f"path {name}", {"name": name}, {"notes": note}, {}, refers, sections)


def _sections(study: Machines, host: str, entry: Entry) -> Iterator[dict[str, Any]]:
    counts = {"one": 1, "two": 2, "four": 4, "six": 6, "eight": 8}
    unit = study.controller_name(entry).partition(" (")[0]
    for found in re.finditer(
        r"(one|two|four|six|eight)(?: FC channels)? of (\d+) Gbs to the (server|disks)", str(entry.get("bus") or "")
    ):
        to_server = found[3] == "server"
        yield {
            "name": f"server – {unit}" if to_server else f"{unit} – disks", "kind": "fc", "link": f"FC-{found[2]}G",
            "count": counts[found[1]], "bytes_per_second": entry.get("theoretical_bytes_per_s") if to_server else None,
            "controller": study.controller_key(host, entry),
        }  # fmt: skip


def bits(text: str) -> int | None:
    """`switch to switch 10 Gbs` → 10000000000."""
    found = re.search(r"(\d+) ?([GM])b", text)
    return int(found[1]) * {"G": 10**9, "M": 10**6}[found[2]] if found else None


def _card(text: str, cards: Mapping[str, Entry]) -> Entry:
    """`1 Gbs`: the card of that speed, or one of which nothing else is known."""
    speed = bits(text)
    return next((one for one in cards.values() if one.get("speed_bits") == speed), {"id": text, "speed_bits": speed})

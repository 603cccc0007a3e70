"""The network side of the drawing, to the left of the host: NICs, switches, and the hosts at the other ends."""

from typing import Any

from apps.inventory.drawing import words
from apps.inventory.drawing.graph import HOST, Graph, Part, neighbours

Thing = dict[str, Any]


def add_network(topology: Thing, graph: Graph) -> None:
    own = {nic["id"] for nic in topology["nics"]}
    for nic in topology["nics"]:
        if nic["is_present"]:
            name, detail, look = words.nic(nic)
            part = Part(f"nic-{nic['id']}", "nic", name, detail, "", look, "network interfaces", ("nic", nic["id"]))
            graph.put(part)
            graph.join(HOST, part.key)
    for switch in topology["switches"]:
        detail = words.switch(switch)
        graph.put(Part(f"switch-{switch['id']}", "switch", switch["name"], detail, page=("switch", switch["id"])))
    for link in topology["links"]:
        for end in link["ends"]:
            if end["nic"] and end["nic"] not in own:
                name, detail, look = words.far_nic(end)
                graph.put(Part(_key(end), "far", name, detail, "", look, "far hosts", ("host", end["host"])))
    _join(topology, graph, own)
    for target in topology["targets"]:
        if target["kind"] == "network":
            _network_target(target, topology, graph)


def _key(end: Thing) -> str:
    return f"switch-{end['switch']}" if end["switch"] else f"nic-{end['nic']}"


def _join(topology: Thing, graph: Graph, own: set[int]) -> None:
    """The end that is farther from the host stands to the left; of two that are as far, the one with the later name."""
    pairs = [(_key(link["ends"][0]), _key(link["ends"][1])) for link in topology["links"]]
    far = _distances(pairs, {f"nic-{pk}" for pk in own})
    for one, other in pairs:
        if far.get(one, 0) or far.get(other, 0):
            left, right = sorted((one, other), key=lambda key: (-far.get(key, 0), key))
            graph.join(right, left)


def _distances(pairs: list[tuple[str, str]], start: set[str]) -> dict[str, int]:
    both = dict.fromkeys([*pairs, *(pair[::-1] for pair in pairs)])
    beside = neighbours(both)
    found, waiting = dict.fromkeys(start, 0), sorted(start)
    for key in waiting:  # grows while it is read
        for other in beside.get(key, ()):
            if other not in found:
                found[other] = found[key] + 1
                waiting.append(other)
    return found


def _network_target(one: Thing, topology: Thing, graph: Graph) -> None:
    """To the left of the peer's NIC where a cable leads there, else of the NIC that it goes out by."""
    name, detail, look = words.target(one)
    key = graph.put(Part(f"target-{one['id']}", "far-target", name, detail, "", look, "targets", ("target", one["id"])))
    ends = (end for link in topology["links"] for end in link["ends"] if end["nic"])
    far = [_key(end) for end in ends if one["peer"] and end["host"] == one["peer"]]
    own = f"nic-{one['nic']}"
    graph.join(far[0] if far else own if own in graph.parts else HOST, key)

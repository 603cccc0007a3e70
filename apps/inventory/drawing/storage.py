"""A host's storage as a graph: each disk by the way that leads to it, each array to the right of its members.

The network side of the drawing, to the left of the host: NICs, switches, and the hosts at the other ends.
"""

from typing import Any

from apps.inventory.drawing import words
from apps.inventory.drawing.graph import HOST, DrawingPart, Graph, neighbours

Thing = dict[str, Any]


def add_network(topology: Thing, graph: Graph) -> None:
    own = {nic["id"] for nic in topology["nics"]}
    for nic in topology["nics"]:
        if nic["is_present"]:
            name, detail, look = words.nic(nic)
            part = DrawingPart(
                f"nic-{nic['id']}", "nic", name, detail, "", look, "network interfaces", ("nic", nic["id"])
            )
            graph.put(part)
            graph.join(HOST, part.key)
    for switch in topology["switches"]:
        detail = words.switch(switch)
        graph.put(
            DrawingPart(f"switch-{switch['id']}", "switch", switch["name"], detail, page=("switch", switch["id"]))
        )
    for link in topology["links"]:
        for end in link["ends"]:
            if end["nic"] and end["nic"] not in own:
                name, detail, look = words.far_nic(end)
                graph.put(DrawingPart(_key(end), "far", name, detail, "", look, "far hosts", ("host", end["host"])))
    _join(topology, graph, own)
    for target in topology["targets"]:
        if target["kind"] == "network":
            _network_target(target, topology, graph)


def _key(end: Thing) -> str:
    return f"switch-{end['switch']}" if end["switch"] else f"nic-{end['nic']}"


def _join(topology: Thing, graph: Graph, own: set[int]) -> None:
    """Add the cables to the graph; the end farther from the host stands to the left.

    Of two ends that are as far, the one with the later name does.
    """
    pairs = [(_key(link["ends"][0]), _key(link["ends"][1])) for link in topology["links"]]
    far = _distances(pairs, {f"nic-{pk}" for pk in own})
    for one, other in pairs:
        if far.get(one, 0) or far.get(other, 0):
            left, right = sorted((one, other), key=lambda key: (-far.get(key, 0), key))
            graph.join(right, left)


def _distances(pairs: list[tuple[str, str]], start: set[str]) -> dict[str, int]:
    both = dict.fromkeys([*pairs, *(pair[::-1] for pair in pairs)])
    beside = neighbours(both)
    result, waiting = dict.fromkeys(start, 0), sorted(start)
    for key in waiting:  # the list grows during the loop
        for other in beside.get(key, ()):
            if other not in result:
                result[other] = result[key] + 1
                waiting.append(other)
    return result


def _network_target(thing: Thing, topology: Thing, graph: Graph) -> None:
    """Add a network target to the left of the peer's NIC if a cable leads there, else of the own NIC."""
    name, detail, look = words.target(thing)
    key = graph.put(
        DrawingPart(f"target-{thing['id']}", "far-target", name, detail, "", look, "targets", ("target", thing["id"]))
    )
    ends = (end for link in topology["links"] for end in link["ends"] if end["nic"])
    far = [_key(end) for end in ends if thing["peer"] and end["host"] == thing["peer"]]
    own = f"nic-{thing['nic']}"
    graph.join(far[0] if far else own if own in graph.parts else HOST, key)


def graph_of(topology: Thing) -> Graph:
    """Return the storage graph of a topology, which is what `apps.inventory.topology.tree.topology_of` returns."""
    building = _Building(topology)
    building.build()
    add_network(topology, building.graph)
    return building.graph.finished()


class _Building:
    def __init__(self, topology: Thing) -> None:
        self.topology = topology
        self.graph = Graph()
        self.behind: dict[int, str] = {}  # controller → the section behind it, over which its disks are reached
        self.ends: dict[int, str] = {}  # array → where its storage path ends
        self.fed: set[int] = set()  # controllers that a section leads to
        self.disks_on = {
            controller["id"]: {disk["id"] for disk in controller["disks"]} for controller in topology["controllers"]
        }
        disks = [disk for controller in topology["controllers"] for disk in controller["disks"]] + topology["disks"]
        self.has_places = len({words.place(disk) for disk in disks}) > 1  # a single chassis is not worth showing
        used = {filesystem["array"] for filesystem in topology["filesystems"] if filesystem["targets"]}
        self.arrays = {array["id"]: array for array in topology["arrays"] if array["is_present"] or array["id"] in used}
        self.array_of = {m["disk"]: pk for pk, one in self.arrays.items() for m in one["members"] if m["disk"]}

    def build(self) -> None:
        host = self.topology
        self.graph.put(DrawingPart(HOST, "host", host["name"], words.host(host), page=("host", host["id"])))
        for path in host["storage_paths"]:
            self._path(path)
        for controller in host["controllers"]:
            self._controller(controller)
        for disk in [*host["disks"], *host["disks_elsewhere"]]:
            self._disk(disk, None)
        for array in self.arrays.values():
            self._array(array)
        for filesystem in host["filesystems"]:
            self._filesystem(filesystem)
        for target in host["targets"]:
            if target["kind"] != "network":
                self._target(target, self._under(target) or HOST)

    def _path(self, path: Thing) -> None:
        left, begins = HOST, None
        for section in path["sections"]:
            name, detail, look = words.section(section)
            key = f"section-{path['id']}-{section['position']}"
            left = self.graph.put(DrawingPart(key, "path", name, detail, look=(path["id"], *look)), left)
            if begins:
                self.behind[begins] = key
            begins = section["controller"]
            if begins:
                self.fed.add(begins)
                left = f"controller-{begins}"
                self.graph.join(left, key)
        if path["array"]:
            self.ends[path["array"]] = left

    def _controller(self, thing: Thing) -> None:
        left = f"controller-{thing['sits_on']}" if thing["sits_on"] else "" if thing["id"] in self.fed else HOST
        detail, look = words.controller(thing)
        page = ("controller", thing["id"])
        key = f"controller-{thing['id']}"
        self.graph.put(
            DrawingPart(key, "controller", thing["name"], detail, "", look, thing["model"] or "controllers", page), left
        )
        for disk in thing["disks"]:
            self._disk(disk, thing["id"])

    def _disk(self, disk: Thing, controller: int | None) -> None:
        array = self.array_of.get(disk["id"])
        if not disk["is_present"] and not array:
            return
        left = (
            self.behind.get(controller, f"controller-{controller}") if controller else self.ends.get(array or 0, HOST)
        )
        if self.has_places and (place := words.place(disk)):
            left = self.graph.put(DrawingPart(f"place-{left}-{place}", "place", place, look=(place,)), left)
        name, detail, look = words.disk(disk)
        state = words.state_of_disk(disk)
        page = ("disk", disk["id"])
        self.graph.put(
            DrawingPart(f"disk-{disk['id']}", "disk", name, detail, state, look, words.kind_of_disk(disk), page), left
        )

    def _array(self, thing: Thing) -> None:
        members = [f"disk-{m['disk']}" if m["disk"] else f"array-{m['array']}" for m in thing["members"]]
        name, detail, look = words.array(thing)
        state = (thing["state"] or "") if thing["is_present"] else "gone"
        page = ("array", thing["id"])
        part = DrawingPart(f"array-{thing['id']}", "array", name, detail, state, look, words.level(thing), page)
        self.graph.put(part, *members, *self._beside(thing, bool(members)))

    def _beside(self, array: Thing, has_members: bool) -> list[str]:
        """Return what leads to an array not over a disk: its RAID controller if on no disk's way, or its path's end."""
        controller = array["controller"]
        if not has_members:
            if controller:
                return [self.behind.get(controller, f"controller-{controller}")]
            return [self.ends.get(array["id"], HOST)]
        own = self.disks_on.get(controller, set())
        on_the_way = any(m["array"] or m["disk"] in own for m in array["members"])
        return [f"controller-{controller}"] if controller and not on_the_way else []

    def _filesystem(self, thing: Thing) -> None:
        left = self._under(thing)
        if not thing["targets"] and (left is None or not thing["is_present"]):
            return  # tmpfs without a target, and filesystems of the past
        name, detail, look = words.filesystem(thing)
        key = f"filesystem-{thing['id']}"
        state = "" if thing["is_present"] else "gone"
        self.graph.put(
            DrawingPart(key, "filesystem", name, detail, state, look, thing["type"], ("filesystem", thing["id"])),
            left or HOST,
        )
        for target in thing["targets"]:
            self._target(target, key)

    def _under(self, thing: Thing) -> str | None:
        key = f"array-{thing['array']}" if thing["array"] else f"disk-{thing['disk']}" if thing["disk"] else ""
        return key if key in self.graph.parts else None

    def _target(self, thing: Thing, left: str) -> None:
        name, detail, look = words.target(thing)
        self.graph.put(
            DrawingPart(f"target-{thing['id']}", "target", name, detail, "", look, "targets", ("target", thing["id"])),
            left,
        )

"""A host's storage as a graph: each disk by the way that leads to it, each array to the right of its members."""

from typing import Any

from apps.inventory.drawing import words
from apps.inventory.drawing.cables import add_network
from apps.inventory.drawing.graph import HOST, Graph, Part

Thing = dict[str, Any]


def graph_of(topology: Thing) -> Graph:
    """`topology`: as `apps.inventory.topology.topology_of` gives it."""
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
        self.disks_on = {one["id"]: {disk["id"] for disk in one["disks"]} for one in topology["controllers"]}
        disks = [disk for one in topology["controllers"] for disk in one["disks"]] + topology["disks"]
        self.has_places = len({words.place(disk) for disk in disks}) > 1  # one chassis around all of them says nothing
        used = {one["array"] for one in topology["filesystems"] if one["targets"]}
        self.arrays = {one["id"]: one for one in topology["arrays"] if one["is_present"] or one["id"] in used}
        self.array_of = {m["disk"]: pk for pk, one in self.arrays.items() for m in one["members"] if m["disk"]}

    def build(self) -> None:
        host = self.topology
        self.graph.put(Part(HOST, "host", host["name"], words.host(host), page=("host", host["id"])))
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
            left = self.graph.put(Part(key, "path", name, detail, look=(path["id"], *look)), left)
            if begins:
                self.behind[begins] = key
            begins = section["controller"]
            if begins:
                self.fed.add(begins)
                left = f"controller-{begins}"
                self.graph.join(left, key)
        if path["array"]:
            self.ends[path["array"]] = left

    def _controller(self, one: Thing) -> None:
        left = f"controller-{one['sits_on']}" if one["sits_on"] else "" if one["id"] in self.fed else HOST
        detail, look = words.controller(one)
        page = ("controller", one["id"])
        key = f"controller-{one['id']}"
        self.graph.put(
            Part(key, "controller", one["name"], detail, "", look, one["model"] or "controllers", page), left
        )
        for disk in one["disks"]:
            self._disk(disk, one["id"])

    def _disk(self, disk: Thing, controller: int | None) -> None:
        array = self.array_of.get(disk["id"])
        if not disk["is_present"] and not array:
            return
        left = (
            self.behind.get(controller, f"controller-{controller}") if controller else self.ends.get(array or 0, HOST)
        )
        if self.has_places and (place := words.place(disk)):
            left = self.graph.put(Part(f"place-{left}-{place}", "place", place, look=(place,)), left)
        name, detail, look = words.disk(disk)
        state = words.state_of_disk(disk)
        page = ("disk", disk["id"])
        self.graph.put(
            Part(f"disk-{disk['id']}", "disk", name, detail, state, look, words.kind_of_disk(disk), page), left
        )

    def _array(self, one: Thing) -> None:
        members = [f"disk-{m['disk']}" if m["disk"] else f"array-{m['array']}" for m in one["members"]]
        name, detail, look = words.array(one)
        state = (one["state"] or "") if one["is_present"] else "gone"
        page = ("array", one["id"])
        part = Part(f"array-{one['id']}", "array", name, detail, state, look, words.level(one), page)
        self.graph.put(part, *members, *self._beside(one, bool(members)))

    def _beside(self, array: Thing, has_members: bool) -> list[str]:
        """What leads to it over no disk: its RAID controller where this is on no disk's way, or where its path ends."""
        controller = array["controller"]
        if not has_members:
            if controller:
                return [self.behind.get(controller, f"controller-{controller}")]
            return [self.ends.get(array["id"], HOST)]
        own = self.disks_on.get(controller, set())
        on_the_way = any(m["array"] or m["disk"] in own for m in array["members"])
        return [f"controller-{controller}"] if controller and not on_the_way else []

    def _filesystem(self, one: Thing) -> None:
        left = self._under(one)
        if not one["targets"] and (left is None or not one["is_present"]):
            return  # tmpfs without a target, and filesystems of the past
        name, detail, look = words.filesystem(one)
        key = f"filesystem-{one['id']}"
        state = "" if one["is_present"] else "gone"
        self.graph.put(
            Part(key, "filesystem", name, detail, state, look, one["type"], ("filesystem", one["id"])), left or HOST
        )
        for target in one["targets"]:
            self._target(target, key)

    def _under(self, one: Thing) -> str | None:
        key = f"array-{one['array']}" if one["array"] else f"disk-{one['disk']}" if one["disk"] else ""
        return key if key in self.graph.parts else None

    def _target(self, one: Thing, left: str) -> None:
        name, detail, look = words.target(one)
        self.graph.put(
            Part(f"target-{one['id']}", "target", name, detail, "", look, "targets", ("target", one["id"])), left
        )

"""A host's topology with everything at hand that rules ask for: what lies on what, and who leads where."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from apps.inventory.geometry import is_idle
from apps.inventory.slots.names import Slot

Thing = dict[str, Any]
REDUNDANT = ("1", "4", "5", "6", "10", "50", "60")
SPREADING = ("0", *REDUNDANT)


class Place(NamedTuple):
    """One member of an array: `layer` is the disk or the array that fills it, None where it is not known any more."""

    array: Thing
    partition: str
    state: str
    is_disk: bool
    layer: Thing | None


@dataclass(frozen=True)
class Machine:
    """`topology`: as `apps.inventory.topology.topology_of` gives it."""

    topology: Thing

    @cached_property
    def controllers(self) -> dict[int, Thing]:
        return {one["id"]: one for one in self.topology["controllers"]}

    @cached_property
    def disks(self) -> dict[int, Thing]:
        """All disks with their `controller`, also those that are members here and sit elsewhere by now."""
        found = {}
        for controller in self.topology["controllers"]:
            for disk in controller["disks"]:
                found[disk["id"]] = disk | {"controller": controller["id"]}
        for disk in [*self.topology["disks"], *self.topology["disks_elsewhere"]]:
            found[disk["id"]] = disk | {"controller": None}
        return found

    @cached_property
    def arrays(self) -> dict[int, Thing]:
        return {one["id"]: one for one in self.topology["arrays"]}

    @cached_property
    def present(self) -> list[Thing]:
        return [one for one in self.topology["arrays"] if one["is_present"]]

    @cached_property
    def places(self) -> dict[int, list[Place]]:
        """Array → its members in order."""
        return {one["id"]: [self._place(one, member) for member in one["members"]] for one in self.topology["arrays"]}

    def _place(self, array: Thing, member: Thing) -> Place:
        is_disk = member["disk"] is not None
        layer = self.disks.get(member["disk"]) if is_disk else self.arrays.get(member["array"])
        return Place(array, member["partition"] or "", member["state"] or "", is_disk, layer)

    def active(self, array: Thing) -> list[Place]:
        """Members that are meant to hold data."""
        return [place for place in self.places[array["id"]] if not is_idle(place.state)]

    def member_disks(self, array: Thing) -> list[tuple[Place, Thing]]:
        return [(place, place.layer) for place in self.active(array) if place.is_disk and place.layer]

    def below(self, array: Thing) -> list[Thing]:
        """The array and all arrays under it, each once, also where they lie on themselves."""
        found, waiting = {array["id"]: array}, [array]
        while waiting:
            for place in self.places[waiting.pop()["id"]]:
                if place.layer and not place.is_disk and place.layer["id"] not in found:
                    found[place.layer["id"]] = place.layer
                    waiting.append(place.layer)
        return list(found.values())

    @cached_property
    def system_disks(self) -> dict[int, list[int]]:
        """Disk that carries / or /boot → the arrays that it does so through."""
        found: dict[int, list[int]] = {}
        for one in self.topology["filesystems"]:
            if one["is_present"] and (one["mount_point"] == "/" or str(one["mount_point"]).startswith("/boot")):
                for disk, arrays in self._carriers(one):
                    found.setdefault(disk, []).extend(arrays)
        return found

    def _carriers(self, filesystem: Thing) -> Iterator[tuple[int, list[int]]]:
        if filesystem["disk"]:
            yield filesystem["disk"], []
        elif array := self.arrays.get(filesystem["array"]):
            through = self.below(array)
            for one in through:
                for _, disk in self.member_disks(one):
                    yield disk["id"], [each["id"] for each in through]


def name_of_disk(disk: Thing) -> str:
    """Where neither name nor serial is known, its place: two RAID controllers' tools print nothing else."""
    return str(disk["device_name"] or disk["serial"] or in_slot(disk) or f"disk {disk['id']}")


def in_slot(disk: Thing) -> str:
    """`c0 enclosure 252 d5`; nothing where the slot is not known."""
    if disk["slot_number"] is None:
        return ""
    return f"{disk['enclosure'] or ''} {Slot(disk['slot_controller'], disk['slot_number'])}".strip()


def name_of_array(array: Thing) -> str:
    return f"{array['name']} (round {array['round']})" if array["round"] else str(array["name"])

"""A host's topology with everything at hand that rules ask for: what lies on what, and who leads where."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from apps.inventory.slots.names import Slot
from apps.inventory.topology.geometry import is_idle

Thing = dict[str, Any]
REDUNDANT = ("1", "4", "5", "6", "10", "50", "60")
SPREADING = ("0", *REDUNDANT)


class MemberPlace(NamedTuple):
    """One member of an array: `layer` is the disk or the array that fills it, None where it is not known any more."""

    array: Thing
    partition: str
    state: str
    is_disk: bool
    layer: Thing | None


@dataclass(frozen=True)
class MachineFacts:
    """The facts that rules need, from a topology as `apps.inventory.topology.tree.topology_of` returns it."""

    topology: Thing

    @cached_property
    def controllers(self) -> dict[int, Thing]:
        return {controller["id"]: controller for controller in self.topology["controllers"]}

    @cached_property
    def disks(self) -> dict[int, Thing]:
        """Return all disks by id with their `controller`, including array members that sit in another host by now."""
        results = {}
        for controller in self.topology["controllers"]:
            for disk in controller["disks"]:
                results[disk["id"]] = disk | {"controller": controller["id"]}
        for disk in [*self.topology["disks"], *self.topology["disks_elsewhere"]]:
            results[disk["id"]] = disk | {"controller": None}
        return results

    @cached_property
    def arrays(self) -> dict[int, Thing]:
        return {array["id"]: array for array in self.topology["arrays"]}

    @cached_property
    def present(self) -> list[Thing]:
        return [array for array in self.topology["arrays"] if array["is_present"]]

    @cached_property
    def places(self) -> dict[int, list[MemberPlace]]:
        """Map each array's id to its members in order."""
        return {
            array["id"]: [self._place(array, member) for member in array["members"]]
            for array in self.topology["arrays"]
        }

    def _place(self, array: Thing, member: Thing) -> MemberPlace:
        is_disk = member["disk"] is not None
        layer = self.disks.get(member["disk"]) if is_disk else self.arrays.get(member["array"])
        return MemberPlace(array, member["partition"] or "", member["state"] or "", is_disk, layer)

    def active(self, array: Thing) -> list[MemberPlace]:
        """Return the members of an array that are meant to hold data."""
        return [place for place in self.places[array["id"]] if not is_idle(place.state)]

    def member_disks(self, array: Thing) -> list[tuple[MemberPlace, Thing]]:
        return [(place, place.layer) for place in self.active(array) if place.is_disk and place.layer]

    def below(self, array: Thing) -> list[Thing]:
        """Return the array and all arrays under it, each once, even if they lie on themselves."""
        result, waiting = {array["id"]: array}, [array]
        while waiting:
            for place in self.places[waiting.pop()["id"]]:
                if place.layer and not place.is_disk and place.layer["id"] not in result:
                    result[place.layer["id"]] = place.layer
                    waiting.append(place.layer)
        return list(result.values())

    @cached_property
    def system_disks(self) -> dict[int, list[int]]:
        """Map each disk that carries / or /boot to the arrays through which it does so."""
        results: dict[int, list[int]] = {}
        for filesystem in self.topology["filesystems"]:
            if filesystem["is_present"] and (
                filesystem["mount_point"] == "/" or str(filesystem["mount_point"]).startswith("/boot")
            ):
                for disk, arrays in self._carriers(filesystem):
                    results.setdefault(disk, []).extend(arrays)
        return results

    def _carriers(self, filesystem: Thing) -> Iterator[tuple[int, list[int]]]:
        if filesystem["disk"]:
            yield filesystem["disk"], []
        elif array := self.arrays.get(filesystem["array"]):
            through = self.below(array)
            for one in through:
                for _, disk in self.member_disks(one):
                    yield disk["id"], [each["id"] for each in through]


def name_of_disk(disk: Thing) -> str:
    """Return a disk's device name, else its serial number, else its slot, else its id.

    The tools of some RAID controllers print no more than the slot.
    """
    return str(disk["device_name"] or disk["serial"] or in_slot(disk) or f"disk {disk['id']}")


def in_slot(disk: Thing) -> str:
    """Return a disk's slot as `c0 enclosure 252 d5`; '' where it is not known."""
    if disk["slot_number"] is None:
        return ""
    return f"{disk['enclosure'] or ''} {Slot(disk['slot_controller'], disk['slot_number'])}".strip()


def name_of_array(array: Thing) -> str:
    return f"{array['name']} (round {array['round']})" if array["round"] else str(array["name"])

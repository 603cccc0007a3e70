"""The storage of a host from all tools: which disks, controllers, arrays and enclosures it has."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from apps.inventory.discovery.models import FoundArray, FoundStorage
from apps.inventory.discovery.readings import Readings
from apps.inventory.discovery.storage import drive_matching, vdevs, volumes
from apps.inventory.discovery.storage.drive_matching import Disks
from apps.inventory.discovery.storage.layers import MD_TYPES, Layers
from apps.inventory.discovery.storage.pci_controllers import Bus, one_for_each
from apps.inventory.discovery.tools.lsblk.devices import BlockDevices
from apps.inventory.discovery.tools.mdadm.arrays import with_arrays, with_kernel_names
from apps.inventory.discovery.tools.smartctl.drives import drives_of


class Storage:
    """The storage of a host, from all tools; first call `layers`, then `found()`.

    `typed` maps a device name to the layer name of a hardware array that a person entered.
    """

    def __init__(self, readings: Readings, typed: Mapping[str, str]) -> None:
        self.readings = readings
        self.block = readings.lsblk or BlockDevices(())
        self.bus = Bus(readings.lspci.by_address() if readings.lspci else {}, readings.sysfs)
        self.cards = volumes.labels(readings.raid_cards())
        self.controllers = {
            label: self.bus.of_card(label, card, self._is_alone(card.tool)) for label, card in self.cards
        }
        self.devices = volumes.devices_of(self.cards, self.block.devices)
        claimed = {device.kname for device in self.devices.values()} | set(typed)
        self.unclaimed = volumes.unclaimed(self.block.devices, claimed)
        self.names = self._names()
        hardware = {**{name: name for name in self._unclaimed_names()}, **typed, **self.names}
        members = self._md_members()
        self.details = with_kernel_names(readings.mdadm, members, self._md_uuids(members))
        self.layers = Layers(self.block, with_arrays(readings.mdstat, self.details), hardware)

    def _md_members(self) -> dict[str, set[str]]:
        """Return the names of the members of each md array of which the kernel tells, by the array's name."""
        arrays = self.readings.mdstat.arrays if self.readings.mdstat else ()
        containers = {one.name for one in arrays if one.is_container}
        members = {one.kname: set(one.parents) for one in self.block.devices if one.type in MD_TYPES and one.parents}
        members |= {one.name: {member.device for member in one.members} for one in arrays if one.members}
        return {name: devices for name, devices in members.items() if name not in containers}

    def _md_uuids(self, members: Mapping[str, Iterable[str]]) -> dict[str, str]:
        """Return the UUID of each of these md arrays, which lsblk prints for its members."""
        devices = self.block.by_kname()
        found = {
            name: {devices[one].uuid for one in parts if one in devices and devices[one].fstype == "linux_raid_member"}
            for name, parts in members.items()
        }
        return {name: uuids.pop() for name, uuids in found.items() if len(uuids) == 1}

    def _is_alone(self, tool: str) -> bool:
        return sum(card.tool == tool for _, card in self.cards) == 1

    def _names(self) -> dict[str, str]:
        """Map device names to the volumes' names as arrays."""
        told = {(label, one.number): one for label, card in self.cards for one in card.volumes}
        return {
            device.kname: f"{label}/{number} {told[label, number].name}".strip()[:120]
            for (label, number), device in self.devices.items()
        }

    def _unclaimed_names(self) -> list[str]:
        return [array.name for array in self.unclaimed]

    def found(self, mounted: Iterable[str]) -> FoundStorage:
        below = self.layers.storage(mounted)
        disks = Disks([replace(disk, controller=self.bus.of_disk(disk)) for disk in below.disks])
        hardware = self._hardware(disks)
        told = (*drives_of(self.readings.smartctl), *drives_of(self.readings.nvme))
        drive_matching.with_smart(disks, told, self.readings.lsblk is not None, bool(self.cards))
        enclosures = [
            one for label, card in self.cards for one in drive_matching.shelves(label, card)
        ] + drive_matching.with_seats(disks, self.readings.sysfs)
        arrays = vdevs.with_details(below.arrays, self.details)
        arrays = vdevs.with_volumes(arrays, self.readings.lvs, self.readings.dmsetup)
        arrays = vdevs.with_pools(
            arrays, self.readings.zpool, self.layers.rests_on, lambda path: self.layers.device_of("", path)
        )
        listed = one_for_each(disks.done())
        used = [one.controller for one in listed if one.controller] + list(self.controllers.values())
        cards = [*self.controllers.values(), *self.bus.rest(used)]
        return FoundStorage(listed, hardware + arrays, below.warnings, cards, enclosures)

    def _hardware(self, disks: Disks) -> list[FoundArray]:
        found = [self._on_its_card(one) for one in self.unclaimed]
        for label, card in self.cards:
            keys = drive_matching.with_drives(
                disks, label, card, self.controllers[label], self.readings.lsblk is not None
            )
            found += volumes.arrays_of(label, card, self.controllers[label], keys, self.devices)
        return found

    def _on_its_card(self, array: FoundArray) -> FoundArray:
        pci = self.bus.tree.pci_of.get(array.name, "")
        return replace(array, controller=self.bus.of_pci(pci)) if pci else array

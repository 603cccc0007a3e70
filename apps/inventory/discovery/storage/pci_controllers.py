"""Controllers as PCI cards: what lsblk calls `sas host 0`, the device tree's path, lspci's model and the RAID tool's facts are one."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from apps.inventory.discovery.cards import Card
from apps.inventory.discovery.models import NOTHING, FoundController, FoundDisk
from apps.inventory.discovery.tools.lspci import PciCard
from apps.inventory.discovery.tools.sysfs import DeviceTree

_MAKERS = {
    "arcconf": ("adaptec", "microsemi", "pmc"),
    "tw_cli": ("3ware",),
    "megacli": ("lsi", "broadcom"),
    "omreport": ("lsi", "broadcom", "dell"),
}


class Bus:
    """The PCI functions of one host, as far as lspci and the device tree list them."""

    def __init__(self, cards: Mapping[str, PciCard], tree: DeviceTree | None) -> None:
        self.cards = cards
        self.tree = tree or DeviceTree()
        self.taken: set[str] = set()

    def of_disk(self, disk: FoundDisk) -> FoundController | None:
        """Return a disk's controller with the data of its PCI card.

        `nvme0` and virtio keep their names; a SCSI host becomes the card that it is on.
        """
        known = disk.controller
        if known is None or known.kind == "virtio":
            return known
        pci = self.tree.pci_of.get(known.address if known.kind == "nvme" else disk.device_name, "") or self._only_nvme(
            known
        )
        if not pci:
            return known
        if known.kind == "nvme":
            self.taken.add(pci)
            return self._told(replace(known, address=known.address), pci)
        return self._told(FoundController(pci, known.kind, known.bus, formers=(known.address,)), pci)

    def of_pci(self, pci: str) -> FoundController:
        return self._told(FoundController(pci, "raid"), pci)

    def _only_nvme(self, known: FoundController) -> str:
        """Return the address of the only NVMe card for an NVMe controller; '' with a device tree or several cards."""
        cards = [card.address for card in self.cards.values() if card.kind == "nvme"]
        return cards[0] if known.kind == "nvme" and len(cards) == 1 and not self.tree.pci_of else ""

    def _told(self, controller: FoundController, pci: str) -> FoundController:
        card = self.cards.get(pci)
        bus = self.tree.buses.get(pci) or (card.bus if card else "") or controller.bus
        driver = (card.driver if card else "") or self.tree.drivers.get(pci, "")
        if card is None:
            return replace(controller, bus=bus, driver=driver)
        sold = card.sold_as if card.kind == "raid" and card.sold_as else ""
        return replace(
            controller, kind=card.kind if card.kind != "network" else controller.kind, bus=bus, vendor=card.vendor, driver=driver,
            model=sold or card.model, model_behind=card.model if sold and sold != card.model else "",
        )  # fmt: skip

    def of_card(self, label: str, card: Card, alone: bool) -> FoundController:
        """Return the controller for a RAID tool's card.

        A card that prints no PCI address is matched to the only card of its maker, if there is only one and `alone` is
        true.
        """
        pci = card.pci or (self._only_of_maker(card.tool) if alone else "")
        found = FoundController(
            pci or f"{card.tool} {card.number}",
            card.kind,
            card.bus,
            formers=(f"{card.tool} {card.number}",) if pci else (),
        )
        found = self._told(found, pci) if pci else found
        behind = found.model_behind or found.model
        cache = card.cache_bytes or (NOTHING if card.has_no_cache else None)
        return replace(
            found, kind=card.kind, vendor=card.vendor or found.vendor, model=card.model or found.model,
            model_behind=behind if card.model and behind != card.model else found.model_behind, serial=card.serial,
            firmware=card.firmware, driver=card.driver or found.driver, bus=found.bus or card.bus, ports=card.ports, cache_bytes=cache,
            cache_protection=card.cache_protection, protection_state=card.protection_state,
        )  # fmt: skip

    def _only_of_maker(self, tool: str) -> str:
        makers = _MAKERS.get(tool, ())
        fitting = [
            c.address
            for c in self.cards.values()
            if c.kind == "raid" and any(maker in f"{c.vendor} {c.sold_as}".lower() for maker in makers)
        ]
        return fitting[0] if len(fitting) == 1 else ""

    def rest(self, used: Iterable[FoundController]) -> list[FoundController]:
        """Return the storage cards on which nothing was seen.

        An NVMe card or HBA is left out where one of lsblk's controllers may be that card.
        """
        listed = list(used)
        taken = {one.address for one in listed} | self.taken
        hides_nvme = any(one.kind == "nvme" for one in listed) and not self.tree.pci_of
        hides_hosts = any(" host " in one.address for one in listed)
        kinds = {"raid", "fc"} | (set() if hides_nvme else {"nvme"}) | (set() if hides_hosts else {"hba"})
        free = (
            c for c in self.cards.values() if c.kind in kinds and c.address not in taken and "Virtio" not in c.model
        )
        return [self._told(FoundController(card.address, card.kind), card.address) for card in free]


def one_for_each(disks: list[FoundDisk]) -> list[FoundDisk]:
    """Give disks on the same card one and the same controller, which knows all its former names.

    AHCI has a SCSI host for each port, so that one card comes with many names.
    """
    merged: dict[str, FoundController] = {}
    for disk in disks:
        if one := disk.controller:
            known = merged.get(one.address, one)
            merged[one.address] = replace(known, formers=tuple(dict.fromkeys((*known.formers, *one.formers)))[:64])
    return [replace(disk, controller=merged[disk.controller.address]) if disk.controller else disk for disk in disks]

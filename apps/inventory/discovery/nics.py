"""Network interfaces with a device behind them: from the device tree, `ip`, ethtool and lspci."""

from apps.inventory.discovery.found import FoundNic
from apps.inventory.discovery.links import Link
from apps.inventory.discovery.sysfs import Port
from apps.inventory.discovery.tools import Readings

MAX_NICS = 512


def nics(readings: Readings) -> list[FoundNic] | None:
    """None where no tool told of any kind of link."""
    if readings.sysfs is None and readings.ip is None:
        return None
    links = {link.name: link for link in (readings.ip.links if readings.ip else ())}
    ports = {port.name: port for port in (readings.sysfs.ports if readings.sysfs else ())}
    names = list(ports) if readings.sysfs else list(links)
    return [_nic(name, ports.get(name), links.get(name), readings) for name in names[:MAX_NICS]]


def _nic(name: str, port: Port | None, link: Link | None, readings: Readings) -> FoundNic:
    port, link = port or Port(name), link or Link(name)
    told = readings.ethtool.by_name.get(name) if readings.ethtool else None
    pci = port.pci or link.pci or (told.pci if told else "")
    card = readings.lspci.by_address().get(pci) if readings.lspci else None
    return FoundNic(
        name=name, vendor=card.vendor if card else "", model=card.model if card else "",
        driver=(told.driver if told else "") or port.driver, firmware=told.firmware if told else "",
        bus=readings.sysfs.buses.get(pci, "") if readings.sysfs else "", address=pci, mac=port.mac or link.mac,
        bits_per_second=(told.bits_per_second if told else None) or port.bits_per_second, mtu=port.mtu or link.mtu,
    )  # fmt: skip

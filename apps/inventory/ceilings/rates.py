"""What links and buses can carry at most, in bytes per second, from the words that inventories use for them.

Serial links with 8b/10b coding carry a tenth of their bit rate in bytes: SATA 1.5, 3 and 6 Gb/s, SAS 3, 6 and 12 Gb/s,
FC 1 to 8 Gb/s; the later SAS and FC generations are named so that the same holds. Parallel ones are named by their
MB/s: U320, ATA-100. PCI Express codes 8b/10b up to 2.x and 128b/130b from 3.0 to 5.0.
Source: the interfaces' standards (SATA-IO, T10, T11, T13, PCI-SIG).
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from apps.core.quantities import Form, quantity

MB = 1e6
_GIGABITS = {
    "SATA": (1.5, 3.0, 6.0),
    "SAS": (1.5, 3.0, 6.0, 12.0, 24.0),  # SATA disks behind SAS may run at 1.5
    "FC": (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0),
}
_MEGABYTES = {"SCSI": (40, 80, 160, 320), "PATA": (33, 66, 100, 133)}
_SERIAL = re.compile(r"(\d+(?:\.\d+)?)\s*G", re.IGNORECASE)
_PARALLEL = {
    "SCSI": re.compile(r"\bU(?:ltra)?[- ]?(\d{2,3})\b", re.IGNORECASE),
    "PATA": re.compile(r"\b(?:U?ATA|UDMA)[-/ ]?(\d{2,3})\b", re.IGNORECASE),
}
_PCIE = re.compile(r"\bPCI(?:e|[- ]?Express)\b\D{0,6}(\d)(?:\.\d)?\D{0,12}?\bx ?(\d{1,2})\b", re.IGNORECASE)
_PCI_X = re.compile(r"\bPCI-?X[- ]?(66|100|133)\b", re.IGNORECASE)
_PCI = re.compile(r"\bPCI\b\D{0,3}(32|64)(?:[- ]?bit)?\D{1,5}(33|66)\b", re.IGNORECASE)
_CLOCKS = {"33": 100 / 3, "66": 200 / 3, "100": 100.0, "133": 400 / 3}
_GIGATRANSFERS = {1: 2.5, 2: 5.0, 3: 8.0, 4: 16.0, 5: 32.0}
_TEXT = re.compile(r"(\d+(?:\.\d+)?)\s*([kMGT])(i?)(b(?:it)?|B)(?:/s|ps|s)", re.ASCII)
_POWERS = "kMGT"


@dataclass(frozen=True)
class Rate:
    """The rate of a link.

    `name` is the link's own, such as `SAS-6G`. `is_guess` means that the generation is not known and the fastest was
    assumed.
    """

    value: float
    name: str
    is_guess: bool = False
    sum: str = ""  # how the value follows, where it is more than the name


def mb(value: float) -> str:
    """Format a bandwidth in bytes/s as `7 200 MB/s`, or in MiB/s for readers who prefer them.

    One unit is used for all values, so that sums can be checked by eye.
    """
    return quantity(value, "B/s", Form.MEGA)


@lru_cache(maxsize=1024)
def link_rate(interface: str, generation: str) -> Rate | None:
    """Return the rate of one link, lane or channel of an interface; None where it is not known.

    PCI Express without a generation and interfaces without a link of their own have no rate.
    """
    if interface in _GIGABITS:
        return _serial(interface, generation)
    if interface in _MEGABYTES:
        return _parallel(interface, generation)
    return bus_rate(generation) if interface == "NVMe" else None


def _serial(interface: str, generation: str) -> Rate:
    match = _SERIAL.search(generation)
    speed = float(match[1]) if match else 0.0
    is_known = speed in _GIGABITS[interface]
    speed = speed if is_known else _GIGABITS[interface][-1]
    return Rate(speed * 100 * MB, f"{interface}-{speed:g}G", not is_known)


def _parallel(interface: str, generation: str) -> Rate:
    match = _PARALLEL[interface].search(generation)
    speed = int(match[1]) if match else 0
    is_known = speed in _MEGABYTES[interface]
    speed = speed if is_known else _MEGABYTES[interface][-1]
    return Rate(speed * MB, f"{'U' if interface == 'SCSI' else 'ATA-'}{speed}", not is_known)


@lru_cache(maxsize=1024)
def bus_rate(text: str) -> Rate | None:
    """Return the rate of `PCIe 3.0 x4`, `PCI-X 133` or `PCI 64 bit 66 MHz`; None where a part of that is missing."""
    if (match := _PCIE.search(text)) and int(match[1]) in _GIGATRANSFERS:
        return _pcie(int(match[1]), int(match[2]))
    if match := _PCI_X.search(text):
        return _pci(64, match[1], f"PCI-X {match[1]}")
    if match := _PCI.search(text):
        return _pci(int(match[1]), match[2], f"PCI {match[1]}/{match[2]}")
    return None


def _pcie(generation: int, lanes: int) -> Rate:
    share, code = (128 / 130, "128/130") if generation > 2 else (8 / 10, "8/10")
    speed = _GIGATRANSFERS[generation]
    value = lanes * speed * 1e9 * share / 8
    return Rate(value, f"PCIe {generation}.0 x{lanes}", sum=f"{lanes} lanes × {speed:g} GT/s × {code} ÷ 8")


def _pci(bits: int, clock: str, name: str) -> Rate:
    return Rate(bits / 8 * _CLOCKS[clock] * MB, name, sum=f"{bits} bits × {clock} MHz ÷ 8")


def rate_in_words(text: str) -> Rate | None:
    """Parse a rate such as `10 Gb/s`, `10 Gbs`, `180 MB/s` or `170 MiB/s` (b is a bit, B a byte); None without one."""
    match = _TEXT.search(text)
    if not match:
        return None
    power = _POWERS.index(match[2]) + 1
    bits = not match[4].startswith("B")
    value = float(match[1]) * (1024 if match[3] else 1000) ** power / (8 if bits else 1)
    return Rate(value, match[0], sum=f"{match[0]} ÷ 8" if bits else "")

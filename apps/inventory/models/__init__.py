"""What exists: hosts and how their disks hang together, down to the target a test points at. Editable; evidence is `Snapshot`."""

from apps.inventory.history.triggers import Change
from apps.inventory.models.differences import Difference
from apps.inventory.models.evidence import Snapshot, ToolOutput
from apps.inventory.models.host import Host
from apps.inventory.models.imports import InventoryImport
from apps.inventory.models.network import NetworkLink, Nic, PathSection, StoragePath, Switch
from apps.inventory.models.part import Part
from apps.inventory.models.places import Enclosure
from apps.inventory.models.storage import Array, ArrayMember, Controller, Disk, Filesystem
from apps.inventory.models.target import Target

__all__ = [
    "Array", "ArrayMember", "Change", "Controller", "Difference", "Disk", "Enclosure", "Filesystem", "Host", "InventoryImport", "NetworkLink", "Nic",
    "Part", "PathSection", "Snapshot", "StoragePath", "Switch", "Target", "ToolOutput",
]  # fmt: skip

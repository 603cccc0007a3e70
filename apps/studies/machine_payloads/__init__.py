"""A published study's machines as payloads of inventory parts: pure translation, for any study.yaml.

What the report does not print stays empty and says so (`not_printed`), apart from what it says is not there (`none`) and what it says is not known
(`unknown`). Figures that are no plain number go into the notes as they are printed. What follows by a rule only is named in `inferred`.
"""

from collections.abc import Iterator

from apps.studies.machine_payloads.arrays import arrays, filesystems
from apps.studies.machine_payloads.controllers import controllers
from apps.studies.machine_payloads.disks import disks, enclosures
from apps.studies.machine_payloads.hosts import hosts
from apps.studies.machine_payloads.index import MachineIndex
from apps.studies.machine_payloads.network import network, paths
from apps.studies.machine_payloads.part_text import DescribedPart, Entry

__all__ = ["DescribedPart", "Entry", "described"]


def described(study: Entry) -> Iterator[DescribedPart]:
    """Yield every part of the study's machines, each after those that it refers to."""
    machines = MachineIndex(study)
    yield from hosts(machines)
    yield from controllers(machines)
    yield from enclosures(machines)
    yield from disks(machines)
    yield from arrays(machines)
    yield from filesystems(machines)
    yield from network(machines)
    yield from paths(machines)

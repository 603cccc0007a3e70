"""Parts as findings name them, and words that many rules use."""

from collections.abc import Iterable

from apps.inventory.findings.machine import Thing, name_of_array, name_of_disk
from apps.inventory.findings.rule import PartName

LEVELS = {"jbod": "JBOD", "linear": "a linear array", "single": "a volume over one device"}
MOST_NAMED = 8


def the_array(array: Thing) -> PartName:
    return PartName("array", array["id"], name_of_array(array))


def the_disk(disk: Thing) -> PartName:
    return PartName("disk", disk["id"], name_of_disk(disk))


def the_controller(controller: Thing) -> PartName:
    return PartName("controller", controller["id"], controller["name"])


def the_host(topology: Thing) -> PartName:
    return PartName("host", topology["id"], topology["name"])


def level_of(array: Thing) -> str:
    level = str(array["level"] or "")
    return LEVELS.get(level) or (f"RAID {level}" if level else "an array of unknown level")


def with_level(array: Thing) -> str:
    """Return an array's name with its level: `md1 (RAID 5, round ext3)`."""
    round_ = f", round {array['round']}" if array["round"] else ""
    return f"{array['name']} ({level_of(array)}{round_})"


def listed(names: Iterable[str]) -> str:
    """Join names as `sda, sdb, sdc`; of very many the first eight and how many more."""
    every = list(names)
    more = f" and {len(every) - MOST_NAMED} more" if len(every) > MOST_NAMED else ""
    return ", ".join(every[:MOST_NAMED]) + more

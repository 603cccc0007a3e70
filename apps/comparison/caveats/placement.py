"""Members of a software array that share a controller, or an array whose only way is one link.

A hardware array lies behind its controller by its nature, so nothing is said of it.
"""

import re

from apps.comparison.caveats.layers import Node, arrays_of, disks_of, name_of
from apps.comparison.caveats.rule import Rule
from apps.comparison.readings import Machine
from apps.inventory.sharing import carrier, crowded, is_single, section_in_words

_COUNT = re.compile(r"\s*(\d+) ?[×x*]")


def check(machine: Machine) -> str | None:
    arrays = list(arrays_of(machine))
    told = [_shared(node) for node in arrays] + ([_one_path(machine)] if arrays else [])
    return "; ".join(part for part in told if part) or None


def _shared(node: Node) -> str:
    members = disks_of(node)
    known = [(place, name_of(member)) for member in members if (place := _carrier(member))]
    shared = crowded(known)
    if node["array"].get("implementation") == "hardware" or not shared:
        return ""
    count = len({name for name, _ in known})
    told = "; ".join(f"{name} carries {', '.join(names)}" for name, names in shared.items())
    return f"{node['array'].get('name')}: {len(known)} members on {count} controller{'s' * (count > 1)}: {told}"


def _carrier(member: Node) -> str:
    row = str((member["controller"] or {}).get("name") or "")
    return carrier(member["disk"].get("slot_controller"), row, "controller {}")


def _one_path(machine: Machine) -> str:
    labels = (machine.content.get("target") or {}).get("labels") or {}
    single = [f"{name}: {told}" for name, told in labels.items() if name.startswith("path") and _is_single(str(told))]
    for path in machine.content.get("storage_paths") or []:
        single += [f"{one['name']}: {section_in_words(one)}" for one in path["sections"] if is_single(one)]
    return f"all members behind one link ({'; '.join(single)})" if single else ""


def _is_single(told: str) -> bool:
    count = _COUNT.match(told)
    return count is None or count[1] == "1"


RULE = Rule(
    name="placement",
    title="Members share a controller or a path",
    text="Members that share a controller or a link share its bandwidth, and a fault of it takes them all.",
    of_machine=check,
)

"""Members of a software array that share a controller, or an array whose only way is one link.

A hardware array lies behind its controller by its nature, so nothing is said of it.
"""

import re

from apps.comparison.caveats.layers import Node, arrays_of, disks_of, name_of
from apps.comparison.caveats.rule import CaveatRule
from apps.comparison.readings import MeasuredMachine
from apps.inventory.topology.shared_paths import carrier, crowded, is_single, section_in_words

_COUNT = re.compile(r"\s*(\d+) ?[×x*]")


def check(machine: MeasuredMachine) -> str | None:
    arrays = list(arrays_of(machine))
    sentences = [_shared(node) for node in arrays] + ([_one_path(machine)] if arrays else [])
    return "; ".join(part for part in sentences if part) or None


def _shared(node: Node) -> str:
    members = disks_of(node)
    known = [(place, name_of(member)) for member in members if (place := _carrier(member))]
    shared = crowded(known)
    if node["array"].get("implementation") == "hardware" or not shared:
        return ""
    count = len({name for name, _ in known})
    text = "; ".join(f"{name} carries {', '.join(names)}" for name, names in shared.items())
    return f"{node['array'].get('name')}: {len(known)} members on {count} controller{'s' * (count > 1)}: {text}"


def _carrier(member: Node) -> str:
    row = str((member["controller"] or {}).get("name") or "")
    return carrier(member["disk"].get("slot_controller"), row, "controller {}")


def _one_path(machine: MeasuredMachine) -> str:
    labels = (machine.content.get("target") or {}).get("labels") or {}
    single = [
        f"{name}: {value}" for name, value in labels.items() if name.startswith("path") and _is_single(str(value))
    ]
    for path in machine.content.get("storage_paths") or []:
        single += [
            f"{section['name']}: {section_in_words(section)}" for section in path["sections"] if is_single(section)
        ]
    return f"all members behind one link ({'; '.join(single)})" if single else ""


def _is_single(value: str) -> bool:
    count = _COUNT.match(value)
    return count is None or count[1] == "1"


RULE = CaveatRule(
    name="placement",
    title="Members share a controller or a path",
    text="Members that share a controller or a link share its bandwidth, and a fault of it takes them all.",
    of_machine=check,
)

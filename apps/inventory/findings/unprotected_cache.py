"""Write-back caches that lose what they hold when the power goes."""

import re
from collections.abc import Iterator

from apps.core.units import size
from apps.inventory.findings.machine import MachineFacts, Thing, name_of_array
from apps.inventory.findings.parts import the_array, the_controller
from apps.inventory.findings.rule import NOTE, SERIOUS, WARNING, FindingHit, FindingRule

_WRITE_BACK = re.compile(r"write[- ]?back|\bWB\b|\balways ?WB\b|\bAWB\b", re.IGNORECASE)
_BAD_STATE = re.compile(
    r"fail|missing|absent|dead|replace|not (present|installed|charged|ok)|discharged|degraded|\bbad\b", re.IGNORECASE
)
_PROTECTED = ("battery", "non-volatile")


def check(machine: MachineFacts) -> Iterator[FindingHit]:
    for controller in machine.controllers.values():
        arrays = [one for one in machine.present if one["controller"] == controller["id"] and _is_wb(one)]
        if (_is_wb(controller) or arrays) and controller["absent"].get("cache_bytes") != "none":
            yield from _judged(controller, arrays)


def _is_wb(part: Thing) -> bool:
    return bool(_WRITE_BACK.search(str(part["write_policy"] or "")))


def _judged(controller: Thing, arrays: list[Thing]) -> Iterator[FindingHit]:
    protection, state = controller["cache_protection"], str(controller["protection_state"] or "")
    cache = f"{size(controller['cache_bytes'])} of cache" if controller["cache_bytes"] else "its cache"
    whose = f" for {', '.join(name_of_array(array) for array in arrays)}" if arrays else ""
    message = f"{controller['name']} writes back into {cache}{whose}"
    parts = (the_controller(controller), *(the_array(array) for array in arrays))
    if _BAD_STATE.search(state):
        yield FindingHit(f"{message}; its {protection or 'battery'} is {state}", parts, SERIOUS)
    elif protection == "none":
        yield FindingHit(f"{message}; nothing protects it", parts, SERIOUS)
    elif protection not in _PROTECTED:
        yield FindingHit(f"{message}; whether a battery protects it is not known", parts, NOTE)


RULE = FindingRule(
    name="unprotected_cache",
    title="Write-back cache without battery",
    text="What the host takes for written lies in the controller's memory. Without a working battery or flash a power cut loses "
    "it, and a fast synchronous write measured here is not a safe one.",
    severity=WARNING,
    check=check,
)

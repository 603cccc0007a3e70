"""dmidecode: who made the machine, and its memory modules. Makers leave words such as `To Be Filled By O.E.M.`, which say nothing."""

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

from apps.inventory.discovery.tool_text import contents, dictionary, rows, told

TOOL = "dmidecode"
_UNTOLD = ("Other", "RAM", "<OUT OF SPEC>")  # the last one of a dmidecode that is older than the memory


@dataclass(frozen=True)
class Hardware:
    """`ram_type`: `8 × 16 GB DDR4 2666 MT/s`, the fastest speed that the modules run at."""

    vendor: str = ""
    model: str = ""
    serial: str = ""
    board: str = ""
    ram_type: str = ""


def parse(printed: str) -> Hardware:
    """Raises `UnreadableError` for what is no output of dmidecode."""
    structures = [one for content in contents(TOOL, printed, ("dmidecode",)) for one in rows(content.get("structures"))]
    system, board = _first(structures, 1), _first(structures, 2)
    modules = [dictionary(one.get("fields")) for one in structures if one.get("type") == 17]
    named = (
        told(board.get("Manufacturer") or board.get("Vendor"), 90),
        told(board.get("Product Name") or board.get("Product"), 90),
    )
    return Hardware(
        vendor=told(system.get("Manufacturer") or system.get("Vendor"), 120),
        model=told(system.get("Product Name") or system.get("Product")),
        serial=_serial(system.get("Serial Number")), board=" ".join(filter(None, named)), ram_type=_memory(modules),
    )  # fmt: skip


def _serial(value: object) -> str:
    """VirtualBox prints 0."""
    found = told(value, 120)
    return "" if found == "0" else found


def _first(structures: list[dict[str, Any]], kind: int) -> dict[str, Any]:
    return next((dictionary(one.get("fields")) for one in structures if one.get("type") == kind), {})


def _memory(modules: list[dict[str, Any]]) -> str:
    kinds: Counter[str] = Counter()
    for module in modules:
        size = told(module.get("Size"), 30)
        if match := re.fullmatch(r"(\d{1,9}) (MB|GB|TB)", size):
            amount = f"{int(match[1]) // 1024} GB" if match[2] == "MB" and int(match[1]) % 1024 == 0 else size
            speed = told(
                module.get("Configured Memory Speed") or module.get("Configured Clock Speed") or module.get("Speed"), 30
            )
            kind = told(module.get("Type"), 30)
            kinds[" ".join(filter(None, (amount, "" if kind in _UNTOLD else kind, speed)))] += 1
    return ", ".join(f"{count} × {what}" for what, count in kinds.most_common(4))[:100]

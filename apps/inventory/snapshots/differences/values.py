"""A snapshot's values as people read them."""

import json
from typing import Any

from apps.core.units import bit_rate, human, size
from apps.inventory.fields import unit_of


def text_of(field: str, value: Any) -> str:
    """Format a field's value: `512 KiB` for bytes, `10 Gb/s` for a link, `yes`, `RAID 5`; others as they are."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return _number(field, value)
    if field == "labels" and isinstance(value, dict):
        return ", ".join(f"{name}={said}" for name, said in sorted(value.items()))
    if field == "level":
        return f"RAID {value}" if str(value).isdigit() else str(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _number(field: str, value: int | float) -> str:
    unit = unit_of(field)
    if unit == "bit/s":
        return bit_rate(value)
    if unit == "B/s":
        return human(value, unit)
    return size(value) if unit else str(value)

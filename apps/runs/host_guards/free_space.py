"""The filesystem has room for what fio will write."""

from collections.abc import Mapping
from typing import Any

from apps.core.quantities import Form, quantity
from apps.runs.host_guards.guard import HostGuard


def describe(figures: Mapping[str, Any], limits: Mapping[str, Any]) -> str:
    """Return how many bytes are free and how many are needed."""
    free, needed, margin = figures.get("free_bytes"), limits.get("needed_bytes"), limits.get("margin_bytes")
    if not all(type(value) is int for value in (free, needed, margin)):
        return ""
    return (
        f"{quantity(free, 'B')} free; {quantity(needed, 'B')} and a margin of {quantity(margin, 'B', Form.SIZE)} needed"  # type: ignore[arg-type]
    )


GUARD = HostGuard(kind="space", sentence="The filesystem has room for the test files and a margin.", describe=describe)

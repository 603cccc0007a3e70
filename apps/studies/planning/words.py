"""What is wrong with a plan that somebody wrote, and the checks that say so."""

from typing import Any


class PlanError(ValueError):
    """What was written is no plan: where, what was found, what was expected."""

    def __init__(self, field: str, found: object, expected: str) -> None:
        super().__init__(f"{field}: found {found!r}, expected {expected}")
        self.field, self.found, self.expected = field, found, expected


def whole(field: str, found: Any, low: int, high: int) -> int:
    if type(found) is not int or not low <= found <= high:
        raise PlanError(field, found, f"a whole number from {low} to {high}")
    return found


def number(field: str, found: Any, low: float, high: float) -> float:
    if isinstance(found, bool) or not isinstance(found, int | float) or not low <= found <= high:
        raise PlanError(field, found, f"a number from {low:g} to {high:g}")
    return float(found)


def only(field: str, found: Any, known: tuple[str, ...]) -> dict[str, Any]:
    """An object with no other keys than these."""
    if not isinstance(found, dict):
        raise PlanError(field, found, f"an object with {', '.join(known)}")
    for key in found:
        if key not in known:
            raise PlanError(f"{field}.{key}", found[key], f"one of the fields {', '.join(known)}")
    return found

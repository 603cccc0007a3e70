"""The error of a plan that does not validate, and checks of single fields."""

from typing import Any


class PlanError(ValueError):
    """What was written is no plan: where, what was found, what was expected."""

    def __init__(self, field: str, value: object, expected: str) -> None:
        super().__init__(f"{field}: found {value!r}, expected {expected}")
        self.field, self.found, self.expected = field, value, expected


def whole(field: str, value: Any, low: int, high: int) -> int:
    if type(value) is not int or not low <= value <= high:
        raise PlanError(field, value, f"a whole number from {low} to {high}")
    return value


def number(field: str, value: Any, low: float, high: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise PlanError(field, value, f"a number from {low:g} to {high:g}")
    return float(value)


def only(field: str, value: Any, known: tuple[str, ...]) -> dict[str, Any]:
    """Check that a value is an object with no other keys than these, and return it.

    Raises:
        PlanError: It is not.
    """
    if not isinstance(value, dict):
        raise PlanError(field, value, f"an object with {', '.join(known)}")
    for key in value:
        if key not in known:
            raise PlanError(f"{field}.{key}", value[key], f"one of the fields {', '.join(known)}")
    return value

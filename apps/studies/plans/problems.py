"""The error of a plan that does not validate, and checks of single fields."""

from typing import Any

from apps.core.quantities import SizeError, parse_size, spell_size


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


def read_size(field: str, value: Any, low: int, high: int) -> int:
    """Return the bytes of a size, given as a whole number or as people write it: `4G`, `100 MiB`, where k is 1024 bytes.

    Raises:
        PlanError: It is neither, or out of bounds.
    """
    if not isinstance(value, str):
        return whole(field, value, low, high)
    shown = value[:80]
    try:
        read = parse_size(value)
    except SizeError as error:
        raise PlanError(field, shown, error.expected) from None
    if not low <= read <= high:
        raise PlanError(field, shown, f"a size from {spell_size(low)} to {spell_size(high)}")
    return read


def yes_or_no(field: str, value: Any) -> bool:
    """Return true or false. A word or a number is refused: as a condition, "false" would hold."""
    if not isinstance(value, bool):
        raise PlanError(field, value, "true or false")
    return value


def listed(field: str, value: Any) -> list[Any]:
    """Return a list; an empty one for None. Raises `PlanError` for anything else."""
    if value is not None and not isinstance(value, list | tuple):
        raise PlanError(field, value, "a list")
    return list(value or ())


def read_text(field: str, text: Any, most: int) -> str:
    """Return a text of at most so many characters, without blanks around it; an empty one for None.

    Raises:
        PlanError: It is no text, or longer; then the error tells its length and does not repeat it.
    """
    if text is None:
        return ""
    if not isinstance(text, str):
        raise PlanError(field, text, "a text")
    if len(text) > most:
        raise PlanError(field, f"a text of {len(text)} characters", f"a text of at most {most} characters")
    return text.strip()


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

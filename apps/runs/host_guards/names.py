"""The two spellings of a guard that scripts may send, and the one that the code uses: `kind` and `is_required`.

Plans began with `kind` and `required`, runs with `guard` and `is_required`. Both resources take both.
"""

from collections.abc import Callable, Mapping
from typing import Any

OTHER = {"guard": "kind", "required": "is_required"}


def name_fields(where: str, guard: Mapping[str, Any], error: Callable[[str, Any, str], Exception]) -> dict[str, Any]:
    """Return a guard whose fields are called `kind` and `is_required`.

    Args:
        where: What it is called in an error.
        error: Makes the error of whoever asks: field, found, expected.

    Raises:
        Exception: It says the same thing under both names, or `required` is neither true nor false.
    """
    for other, name in OTHER.items():
        if other in guard and name in guard:
            raise error(f"{where}.{name}", guard[name], f"{other} or {name}, not both")
    if not isinstance(guard.get("required", True), bool):
        raise error(f"{where}.required", guard["required"], "true or false")
    return {OTHER.get(name, name): value for name, value in guard.items()}

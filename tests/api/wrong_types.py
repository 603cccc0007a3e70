"""JSON values of every type, to be put into each field of a body, and those of them that a field may have."""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

VALUES = (None, True, False, 0, 5, 1.5, -1, "", "x", "false", [], ["x"], [{}], {}, {"a": 1}, {"a": []})
Fields = Mapping[str, tuple[Any, ...]]  # a field, and which of the values it takes


def cases(fields: Fields) -> Iterator[tuple[str, Any, bool]]:
    """Yield each field with each value, and whether the field takes it."""
    for name, value in product(fields, VALUES):
        yield name, value, any(type(value) is type(right) and value == right for right in fields[name])

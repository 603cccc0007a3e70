"""Figures of fio's JSON that cannot be taken as they stand: keys that are there twice, rates below zero, words."""

import math
from dataclasses import replace
from typing import Any

from apps.parsers.shape import Broken, ParseError
from apps.parsers.strict_json import documents

BELOW_ZERO = "a figure below zero measures nothing"
NO_NUMBER = "not printed as a number"
OUT_OF_RANGE = "more than a number can hold"
TWICE = "its key stands twice with different values"


def is_figure(printed: str) -> bool:
    """Whether these characters are a finite number."""
    try:
        return math.isfinite(float(printed))
    except ValueError:
        return False


def unfit_reason(found: int | float | None, printed: str) -> str:
    """Why there is no value: `found` is what was read, `printed` what stands in the report."""
    if found is not None:
        return BELOW_ZERO if found < 0 else OUT_OF_RANGE
    return TWICE if is_figure(printed) else NO_NUMBER


def without_twice(data: bytes, first_line: int) -> tuple[Any, list[Broken]]:
    """The document with nothing where a key stands twice with different values, and each such key; where
    there is none, the document is sound.
    """
    whole: Any = None
    broken: list[Broken] = []
    try:
        for _, _, value in documents(data):
            if isinstance(value, Broken):
                message = f"in the document that begins here, {value.message}"
                broken.append(replace(value, message=message, line=(value.line or 1) + first_line - 1))
            elif whole is None:
                whole = _without_nothing(value)
    except (ParseError, RecursionError):
        return None, []
    return whole, broken


def _without_nothing(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nothing(one) for key, one in value.items() if one is not None}
    return [_without_nothing(one) for one in value] if isinstance(value, list) else value


__all__ = ["BELOW_ZERO", "NO_NUMBER", "TWICE", "is_figure", "unfit_reason", "without_twice"]

"""Figures of fio's JSON that can not be used as they stand: keys that are repeated, rates below zero, words."""

import math
from dataclasses import replace

from apps.parsers.core.models import Broken, ParseError
from apps.parsers.core.strict_json import documents

BELOW_ZERO = "a figure below zero measures nothing"
NO_NUMBER = "not printed as a number"
OUT_OF_RANGE = "more than a number can hold"
REPEATED = "its key stands twice with different values"


def is_figure(printed: str) -> bool:
    """Return whether these characters are a finite number."""
    try:
        return math.isfinite(float(printed))
    except ValueError:
        return False


def explain_unfit(value: int | float | None, printed: str) -> str:
    """Return why there is no value: `value` is what was read, `printed` what stands in the report."""
    if value is not None:
        return BELOW_ZERO if value < 0 else OUT_OF_RANGE
    return REPEATED if is_figure(printed) else NO_NUMBER


def without_repeated_keys(data: bytes, first_line: int) -> tuple[object, list[Broken]]:
    """Return the document without keys that are repeated with different values, and a `Broken` for each.

    Without such keys the list is empty, and the document is sound.
    """
    whole: object = None
    broken: list[Broken] = []
    try:
        for _, _, value in documents(data):
            if isinstance(value, Broken):
                message = f"in the document that begins here, {value.message}"
                broken.append(replace(value, message=message, line=(value.line or 1) + first_line - 1))
            elif whole is None:
                whole = _without_none(value)
    except (ParseError, RecursionError):
        return None, []
    return whole, broken


def _without_none(value: object) -> object:
    if isinstance(value, dict):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    return [_without_none(item) for item in value] if isinstance(value, list) else value


__all__ = ["BELOW_ZERO", "NO_NUMBER", "REPEATED", "explain_unfit", "is_figure", "without_repeated_keys"]

"""One value of a file, for one field: what was found, and what was expected."""

import json
import re
from math import isfinite
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models

from apps.core.units import parse
from apps.inventory.editing.rules import storable
from apps.inventory.fields import unit_of
from apps.inventory.vocabulary import Absence, Source

_WHOLE = re.compile(r"[0-9]{1,19}")
_YES, _NO = ("yes", "true", "1"), ("no", "false", "0")
MAX_SHOWN = 80
MAX_DEPTH = 8


class ValueProblem(ValueError):  # noqa: N818  (what is wrong with a value; the file's error gathers them)
    def __init__(self, found: object, expected: str) -> None:
        self.found, self.expected = str(found)[:MAX_SHOWN], expected
        super().__init__(f"found {self.found!r}, expected {expected}")


def of_text(field: "models.Field[Any, Any]", text: str) -> Any:
    """Parse a CSV cell for a field.

    Whole numbers are in base units or have their unit as people write it, booleans are yes or no, lists and mappings
    JSON.
    """
    if isinstance(field, models.JSONField):
        return _json(text) if text.strip() else field.get_default()
    if isinstance(field, models.BooleanField):
        return _truth(text, field.null)
    if isinstance(field, models.IntegerField):
        return _number(field, text)
    return text


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ValueProblem(text, "JSON, such as {} or []") from None


def _truth(text: str, may_be_empty: bool) -> bool | None:
    word = text.strip().lower()
    if word in (*_YES, *_NO):
        return word in _YES
    if not word and may_be_empty:
        return None
    raise ValueProblem(text, "yes or no")


def _number(field: "models.Field[Any, Any]", text: str) -> int | None:
    word = text.strip()
    if not word:
        return None
    if _WHOLE.fullmatch(word):
        return int(word)
    try:
        return parse(word, unit_of(field.name))
    except ValueError as error:
        raise ValueProblem(text, str(error).partition("expected ")[2] or "a whole number in base units") from None


def checked(field: "models.Field[Any, Any]", value: Any) -> Any:
    """Return a value as the column holds it; JSON's null and an empty text both empty a field.

    Raises:
        ValueProblem: if the field cannot hold the value.
    """
    if value is None or value == "":
        return _emptied(field)
    wanted = _type_of(field)
    if wanted is not None and (not isinstance(value, wanted) or (isinstance(value, bool) and wanted is int)):
        raise ValueProblem(_said(value), _WORDS[wanted])
    if isinstance(field, models.JSONField) and not _is_plain(value):
        raise ValueProblem(
            _said(value), f"lists and names of plain text and finite numbers, at most {MAX_DEPTH} levels deep"
        )
    if field.name in ("absent", "sources"):
        return _reasons(field.name, value)
    if isinstance(value, str) and not storable(value):
        raise ValueProblem(_said(value), "plain text")
    if isinstance(value, int) and not isinstance(value, bool) and value < 0:
        raise ValueProblem(value, "at least 0")
    try:
        return field.clean(value, None)
    except ValidationError as error:
        expected = (
            f"one of: {', '.join(str(one) for one, _ in field.flatchoices)}"
            if field.choices
            else " ".join(error.messages)
        )
        raise ValueProblem(_said(value), expected) from None


_WORDS: dict[type, str] = {
    int: "a whole number",
    str: "text",
    bool: "true or false",
    dict: "names with values",
    list: "a list",
}


def _is_plain(value: object, depth: int = 0) -> bool:
    """Return whether the database can store the value: no NUL, no half surrogate pair, no infinity."""
    if depth > MAX_DEPTH:
        return False
    if isinstance(value, dict):
        return all(storable(name) and _is_plain(one, depth + 1) for name, one in value.items())
    if isinstance(value, list):
        return all(_is_plain(one, depth + 1) for one in value)
    return storable(value) if isinstance(value, str) else not isinstance(value, float) or isfinite(value)


def _type_of(field: "models.Field[Any, Any]") -> type | None:
    if isinstance(field, models.JSONField):
        return type(field.get_default())
    if isinstance(field, models.BooleanField):
        return bool
    return int if isinstance(field, models.IntegerField) else str


def _emptied(field: "models.Field[Any, Any]") -> Any:
    if isinstance(field, models.JSONField):
        return field.get_default()
    if field.null:
        return None
    if isinstance(field, models.CharField | models.TextField) and field.blank:
        return field.get_default() if field.choices and field.has_default() else ""
    raise ValueProblem("nothing", _WORDS.get(_type_of(field) or str, "a value"))


def _reasons(name: str, value: dict[str, Any]) -> dict[str, str]:
    known = Absence if name == "absent" else Source
    for field, word in value.items():
        if word not in known:
            raise ValueProblem(f"{field}: {word}", f"one of: {', '.join(known)}")
    return value


def _said(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)

"""JSON as scripts and agents send it, parsed in one strict way, and JSON as the server writes it."""

import json
from typing import Any

import orjson

DEEPEST = 100  # levels; what the product keeps as JSON must be written again, and orjson writes 254
REPLACED = "\ufffd"
_NAME_OF = "a name of "


class JsonInputError(ValueError):
    """What came is no JSON that can be taken; the message names what was found and expected. `field`: where, if it is one."""

    def __init__(self, text: str, expected: str, field: str = "") -> None:
        super().__init__(f"Found {text}, expected {expected}.")
        self.found, self.expected, self.field = text, expected, field


def read_json(raw: bytes, *, nul: str | None = None) -> Any:
    """Return what a JSON text in UTF-8 says.

    NaN, Infinity, lone surrogates and trailing text are refused; whole numbers beyond 64 bits come as floats, which no
    field for whole numbers takes. `nul` is what NUL characters become, which PostgreSQL keeps in no text; with None
    they are refused.

    Raises:
        JsonInputError: it is no JSON, is nested deeper than `DEEPEST` levels, or has a NUL character.
    """
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise JsonInputError(f"text that is not JSON ({error})", "JSON in UTF-8") from None
    if raw.count(b"[") + raw.count(b"{") > DEEPEST and not _is_shallow(value):
        raise JsonInputError(f"values nested deeper than {DEEPEST} levels", "fewer levels")
    if b"\\u0000" not in raw or nul == "\0":
        return value
    if nul is None and (where := _place_of_nul(value, "")) is not None:
        field = "" if where.startswith(_NAME_OF) else where
        raise JsonInputError(f"a NUL character (\\u0000) in {where or 'the text'}", "text without it", field)
    return value if nul is None else _without_nul(value, nul)


def _is_shallow(value: object) -> bool:
    level = [value]
    for _ in range(DEEPEST + 1):
        inner = [item.values() if isinstance(item, dict) else item for item in level if isinstance(item, dict | list)]
        if not inner:
            return True
        level = [item for some in inner for item in some if isinstance(item, dict | list)]
    return False


def _place_of_nul(value: object, at: str) -> str | None:
    """Return where the first NUL character is, such as `jobs.0.name`, or None."""
    if isinstance(value, str):
        return at if "\0" in value else None
    if isinstance(value, dict):
        if any("\0" in name for name in value):
            return f"{_NAME_OF}{at or 'the object'}"
        pairs: Any = value.items()
    elif isinstance(value, list):
        pairs = enumerate(value)
    else:
        return None
    places = (_place_of_nul(inner, f"{at}.{name}" if at else str(name)) for name, inner in pairs)
    return next((place for place in places if place is not None), None)


def _without_nul(value: object, nul: str) -> Any:
    if isinstance(value, str):
        return value.replace("\0", nul)
    if isinstance(value, list):
        return [_without_nul(item, nul) for item in value]
    if isinstance(value, dict):
        return {name.replace("\0", nul): _without_nul(item, nul) for name, item in value.items()}
    return value


def to_json(data: object) -> bytes:
    """Return `data` as JSON: dates in UTC with a `Z`, keys of any type, and `str()` of what JSON has no form for.

    A number beyond 64 bits, which PostgreSQL makes of a stored 1e300, is written with all its digits.
    """
    try:
        return _dump(data)
    except TypeError:  # orjson refuses it
        return json.dumps(data, separators=(",", ":"), ensure_ascii=False, default=_to_plain).encode()


def _dump(data: object) -> bytes:
    return orjson.dumps(data, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_UTC_Z, default=str)


def _to_plain(value: object) -> object:
    return orjson.loads(_dump(value))

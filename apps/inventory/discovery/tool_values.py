"""Values that a tool on another machine printed: nothing in them is trusted, neither type nor size nor characters."""

import json
import math
import re
from collections.abc import Iterator
from typing import Any

from apps.inventory.discovery.tool_output import unescaped

MAX_WHOLE = 2**63 - 1  # what the database's bigint holds
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029]+")
_SIZE = re.compile(r"(\d{1,9}(?:\.\d{1,3})?)([BKMGTPE])?")
_PAIR = re.compile(r'([A-Za-z0-9:%_-]{1,40})="([^"]*)"')


class UnreadableError(ValueError):
    """A tool's output that cannot be read: which tool, where, what was found, what was expected."""

    def __init__(self, tool: str, found: object, expected: str, line: int | None = None) -> None:
        place = f"{tool}, line {line}" if line else tool
        super().__init__(f"{place}: found {text(str(found), 120)!r}, expected {expected}")


def text(value: object, limit: int = 200) -> str:
    """Return a value as one clean line of at most `limit` characters; '' for anything but text and whole numbers.

    Control characters, NUL and lone surrogates become blanks.
    """
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return ""
    shown = value if isinstance(value, str) else whole(value)
    return _UNPRINTABLE.sub(" ", str(shown if shown is not None else "")[: limit * 4]).strip()[:limit].strip()


def name(value: object, limit: int = 120) -> str:
    """Return an identifying name or number as printed; '' if longer than `limit`, as half a name is another one."""
    found = text(value, limit + 1)
    return found if len(found) <= limit else ""


def whole(value: object) -> int | None:
    """Return a count or size as int; None for what is negative, infinite, NaN, huge or no whole number.

    12, "12" and 12.0 are 12.
    """
    if isinstance(value, str):
        value = value.strip()
        return whole(int(value)) if value.isascii() and value.isdigit() and len(value) < 20 else None
    if isinstance(value, float):
        return whole(int(value)) if math.isfinite(value) and value == int(value) else None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_WHOLE:
        return None
    return value


def size(value: object) -> int | None:
    """Parse a size to bytes; without `-b` util-linux rounds to one decimal and counts in 1024: "223.6G"."""
    exact = whole(value)
    if exact is not None or not isinstance(value, str) or not (rounded := _SIZE.fullmatch(value.strip())):
        return exact
    return whole(int(float(rounded[1]) * 1024 ** "BKMGTPE".index(rounded[2] or "B")))


def flag(value: object) -> bool | None:
    """Return a flag as a boolean; older util-linux prints "1" and "0", newer true and false."""
    if isinstance(value, str):
        return {"1": True, "0": False, "true": True, "false": False}.get(value.strip().lower())
    return value if isinstance(value, bool) else {0: False, 1: True}.get(value) if isinstance(value, int) else None


def json_object(tool: str, printed: str) -> dict[str, Any]:
    """Return the JSON object that begins at the first brace; a prompt or warning before it is skipped.

    Raises:
        UnreadableError: if there is no readable JSON object.
    """
    start = printed.find("{")
    if start < 0:
        raise UnreadableError(tool, printed[:120], "a JSON object", 1)
    decoder = json.JSONDecoder(parse_constant=lambda _: None, parse_int=whole)
    try:
        found, _ = decoder.raw_decode(printed, start)
    except json.JSONDecodeError as error:
        raise UnreadableError(tool, printed[error.pos : error.pos + 80], f"JSON ({error.msg})", error.lineno) from None
    except RecursionError:
        raise UnreadableError(tool, "JSON nested without end", "a tree of some dozen levels") from None
    if not isinstance(found, dict):
        raise UnreadableError(tool, found, "a JSON object", 1)
    return found


def pairs(line: str) -> dict[str, Any]:
    """Parse a line of util-linux's `-P` output, `NAME="sda" MAJ:MIN="8:0"`; newer versions print MAJ_MIN.

    Keys are returned as in its JSON: `maj:min`. Empty values are None.
    """
    keys = ((key.lower().replace("_", "-").replace("maj-min", "maj:min"), value) for key, value in _PAIR.findall(line))
    return {key: unescaped(value) or None for key, value in keys}


def nodes(tool: str, top: object, limit: int) -> Iterator[tuple[dict[str, Any], dict[str, Any] | None]]:
    """Yield each node of a tree of `children` with the node above it, in printed order, at most `limit` of them.

    Nodes that are no objects are skipped.

    Raises:
        UnreadableError: if `top` is not a list.
    """
    if not isinstance(top, list):
        raise UnreadableError(tool, type(top).__name__, "a list of nodes")
    waiting: list[tuple[object, dict[str, Any] | None]] = [(node, None) for node in reversed(top)]
    while waiting and limit > 0:
        node, above = waiting.pop()
        if isinstance(node, dict):
            limit -= 1
            yield node, above
            children = node.get("children")
            waiting.extend((child, node) for child in reversed(children if isinstance(children, list) else []))

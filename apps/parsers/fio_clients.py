"""The global options of several clients (`--client`) in fio's JSON.

    "global options" : [{"hostname" : "n1", "port" : 8765, "bs" : "4k"}, {"hostname" : "n2", …}]       fio 3.39 and later
    "global options" : {"bs" : "4k", "size" : "1g", "bs" : "8k", "size" : "1g"}                        before: one behind the other

Before 3.39 nobody knows whose an option is that stands there with several values, or less often than there are clients. Where its
absence would mean fio's default, such an option keeps its place as words that are no value; else it is left out.
"""

import json
from collections.abc import Iterable
from typing import Any

from apps.parsers.fio_options import ALIASES

Options = dict[str, str | int | float | bool | None]
_KEY = b'"global options"'
_WITH_DEFAULT = ("rw", "bs", "iodepth", "numjobs", "loops")
_MOST = 1 << 20


def own(listed: Iterable[Options], hostname: str, port: object) -> Options:
    """Those of this client; those that all have alike where it is none of them."""
    found = list(listed)
    mine = [one for one in found if (one.get("hostname"), one.get("port")) == (hostname, port)]
    bare = [{name: one[name] for name in one if name not in ("hostname", "port")} for one in mine or found]
    return bare[0] if len(bare) == 1 else _sure([pair for one in bare for pair in one.items()], len(bare))


def shared(data: bytes, clients: int) -> Options | None:
    """Of a document whose clients' options stand in one object; None where they cannot be told apart from others."""
    start = data.find(b"{", data.find(_KEY) + len(_KEY)) if _KEY in data else -1
    if start < 0:
        return None
    try:
        pairs, _ = json.JSONDecoder(object_pairs_hook=list).raw_decode(data[start : start + _MOST].decode("latin-1"))
    except (ValueError, RecursionError):
        return None
    return _sure([(name.encode("latin-1").decode("utf-8", "replace"), _text(value)) for name, value in pairs], clients)


def _text(value: Any) -> Any:
    return value.encode("latin-1").decode("utf-8", "replace") if isinstance(value, str) else value


def _sure(pairs: Iterable[tuple[str, Any]], clients: int) -> Options:
    values: dict[str, list[Any]] = {}
    for name, value in pairs:
        values.setdefault(name, []).append(value)
    options: Options = {}
    for name, found in values.items():
        if len(found) >= clients and len(set(map(repr, found))) == 1:
            options[name] = found[0]
        elif ALIASES.get(name, name) in _WITH_DEFAULT:
            options[name] = _unsure(found)
    return options


def _unsure(found: Iterable[Any]) -> str:
    words = " or ".join(dict.fromkeys(str(one).replace(",", " ") for one in found))
    return f"{words} of one client"

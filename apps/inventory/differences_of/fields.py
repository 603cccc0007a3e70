"""Two states of one part, field by field. An empty field says why it is empty, and the reasons differ: where there was
none and now is one, the machine changed; where nobody had printed it and now somebody does, only our knowledge did.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from apps.inventory.differences_of import options
from apps.inventory.differences_of.shape import ADDED, CHANGED, FORGOTTEN, LEARNED, REMOVED, Change

State = Mapping[str, Any]
NONE, UNKNOWN = "none", "unknown"
_NOT_FIELDS = {"absent", "number"}


def field_changes(group: str, part: str, before: State, after: State, leave: Collection[str] = ()) -> Iterator[Change]:
    """What differs between two states of a part, but for the fields in `leave`."""
    names = {*before, *after, *_absent(before), *_absent(after)} - _NOT_FIELDS - set(leave)
    for name in sorted(names):
        yield from _of_field(group, part, name, before, after)


def _absent(state: State) -> dict[str, str]:
    return state.get("absent") or {}


def _of_field(group: str, part: str, name: str, before: State, after: State) -> Iterator[Change]:
    old, new = before.get(name), after.get(name)
    if name in options.READERS and isinstance(old, str) and isinstance(new, str):
        read, word = options.READERS[name]
        yield from _pairs(group, part, name, word, read(old), read(new))
    elif name == "labels" or (isinstance(old, dict) and isinstance(new, dict)):
        yield from _pairs(group, part, name, "label" if name == "labels" else name, old or {}, new or {})
    elif old is None or new is None:
        yield from _of_empty(group, part, name, before, after)
    elif old != new:
        yield Change(group, part, CHANGED, name, old, new)


def _of_empty(group: str, part: str, name: str, before: State, after: State) -> Iterator[Change]:
    old, new = before.get(name), after.get(name)
    why_old = _absent(before).get(name, UNKNOWN) if old is None else ""
    why_new = _absent(after).get(name, UNKNOWN) if new is None else ""
    if (old, why_old) == (new, why_new):
        return
    if old is None and new is None:
        kind = FORGOTTEN if why_old == NONE else LEARNED
    elif old is None:
        kind = CHANGED if why_old == NONE else LEARNED
    else:
        kind = CHANGED if why_new == NONE else FORGOTTEN
    yield Change(group, part, kind, name, old, new, why_old, why_new)


def _pairs(group: str, part: str, field: str, word: str, old: State, new: State) -> Iterator[Change]:
    """Names with values, such as options, labels and sysctl settings."""
    for name in sorted({*old, *new}):
        what = f"{word} {name}"
        if name not in old:
            yield Change(group, part, ADDED, field, None, new[name], what=what)
        elif name not in new:
            yield Change(group, part, REMOVED, field, old[name], None, what=what)
        elif old[name] != new[name]:
            yield Change(group, part, CHANGED, field, _shown(old[name]), _shown(new[name]), what=what)


def _shown(value: Any) -> Any:
    return "set" if value is None else value

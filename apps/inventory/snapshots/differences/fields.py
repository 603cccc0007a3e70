"""The differences between two states of one part, field by field.

An empty field has a reason, and the reasons differ: where there was no value and now there is one, the machine changed;
where no tool had printed the value and now one does, only our knowledge changed.

Mount and mkfs options, option by option: their order means nothing, each of them may decide a result.

`rw,noatime,stripe=256` → {rw, noatime, stripe: 256}; `-b 4096 -d su=64k,sw=4` → {-b: 4096, -d su: 64k, -d sw: 4}.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from apps.inventory.snapshots.differences.shape import ADDED, CHANGED, FORGOTTEN, LEARNED, REMOVED, SnapshotDifference

Options = dict[str, str | None]


def mount_options(text: str) -> Options:
    return dict(_option(word) for word in text.split(",") if word.strip())


def mkfs_options(text: str) -> Options:
    found: Options = {}
    words = text.split()
    while words:
        flag = words.pop(0)
        if not flag.startswith("-"):
            found |= {flag: None}
        elif words and not words[0].startswith("-"):
            found |= dict(_of_flag(flag, words.pop(0)))
        else:
            found[flag] = None
    return found


def _of_flag(flag: str, value: str) -> Iterator[tuple[str, str | None]]:
    if "=" not in value and "," not in value:
        yield flag, value
        return
    for word in value.split(","):
        name, setting = _option(word)
        yield f"{flag} {name}", setting


def _option(word: str) -> tuple[str, str | None]:
    name, sign, value = word.strip().partition("=")
    return name, value if sign else None


READERS = {"mount_options": (mount_options, "mount option"), "mkfs_options": (mkfs_options, "mkfs option")}


State = Mapping[str, Any]
NONE, UNKNOWN = "none", "unknown"
_NOT_FIELDS = {"absent", "number"}


def field_changes(
    group: str, part: str, before: State, after: State, leave: Collection[str] = ()
) -> Iterator[SnapshotDifference]:
    """Yield what differs between two states of a part, except for the fields in `leave`."""
    names = {*before, *after, *_absent(before), *_absent(after)} - _NOT_FIELDS - set(leave)
    for name in sorted(names):
        yield from _of_field(group, part, name, before, after)


def _absent(state: State) -> dict[str, str]:
    return state.get("absent") or {}


def _of_field(group: str, part: str, name: str, before: State, after: State) -> Iterator[SnapshotDifference]:
    old, new = before.get(name), after.get(name)
    if name in READERS and isinstance(old, str) and isinstance(new, str):
        read, word = READERS[name]
        yield from _pairs(group, part, name, word, read(old), read(new))
    elif name == "labels" or (isinstance(old, dict) and isinstance(new, dict)):
        yield from _pairs(group, part, name, "label" if name == "labels" else name, old or {}, new or {})
    elif old is None or new is None:
        yield from _of_empty(group, part, name, before, after)
    elif old != new:
        yield SnapshotDifference(group, part, CHANGED, name, old, new)


def _of_empty(group: str, part: str, name: str, before: State, after: State) -> Iterator[SnapshotDifference]:
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
    yield SnapshotDifference(group, part, kind, name, old, new, why_old, why_new)


def _pairs(group: str, part: str, field: str, word: str, old: State, new: State) -> Iterator[SnapshotDifference]:
    """Yield differences of names with values, such as options, labels and sysctl settings."""
    for name in sorted({*old, *new}):
        what = f"{word} {name}"
        if name not in old:
            yield SnapshotDifference(group, part, ADDED, field, None, new[name], what=what)
        elif name not in new:
            yield SnapshotDifference(group, part, REMOVED, field, old[name], None, what=what)
        elif old[name] != new[name]:
            yield SnapshotDifference(group, part, CHANGED, field, _shown(old[name]), _shown(new[name]), what=what)


def _shown(value: Any) -> Any:
    return "set" if value is None else value

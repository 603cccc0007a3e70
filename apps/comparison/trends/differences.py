"""Which facts changed where a level changed: what is worth a look first when a night's runs became slower."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from apps.comparison.confounders import NAMES
from apps.comparison.readings import POINT
from apps.comparison.trends.shape import FactChange, Measured
from apps.comparison.words import label_of, natural, text_of

NEIGHBOURS = 5  # runs on either side: the place of a change may be one or two runs off
NOT_FACTS = {*NAMES, *POINT, "time"}
NOT_EVIDENCE = {"format", "number", "position", "basis", "absent", "state_since"}
MOST = 12  # parts of a snapshot that changed; of more, the machine is another one


def fact_changes(before: Sequence[Measured], after: Sequence[Measured]) -> tuple[FactChange, ...]:
    """Facts whose usual value in the last runs before differs from that in the first runs after."""
    sides = (before[-NEIGHBOURS:], after[:NEIGHBOURS])
    names = sorted({name for side in sides for one in side for name in one.facts} - NOT_FACTS)
    found = []
    for name in names:
        old, new = (_usual(text_of(name, one.facts.get(name)) for one in side) for side in sides)
        if old and new and old != new:
            found.append(FactChange(name, label_of(name), old, new))
    return tuple(found)


def _usual(texts: Iterable[str]) -> str:
    """What more than half of them say; nothing where no value has so many."""
    counted = Counter(texts)
    text, count = counted.most_common(1)[0]
    return text if 2 * count > counted.total() else ""


def part_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[FactChange, ...]:
    """Firmware, driver, kernel and all else that two snapshots' contents say differently, by the path to it."""
    old, new = dict(_leaves(before)), dict(_leaves(after))
    paths = sorted((path for path in {*old, *new} if old.get(path) != new.get(path)), key=natural)
    changes = (FactChange(path, _words(path), _said(path, old), _said(path, new)) for path in paths)
    return tuple(changes)[:MOST]


def _leaves(content: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(content, Mapping):
        for name, value in content.items():
            if name not in NOT_EVIDENCE:
                yield from _leaves(value, f"{path}.{name}" if path else str(name))
    elif isinstance(content, list) and any(isinstance(one, Mapping) for one in content):
        for number, one in enumerate(content, start=1):
            yield from _leaves(one, f"{path} {number}")
    elif content is not None:
        yield path, content


def _words(path: str) -> str:
    """`storage.members 2.disk.firmware` → `member 2 disk firmware`."""
    parts = path.removeprefix("storage.").replace("members", "member").split(".")
    return " ".join(parts).replace("_bytes", "").replace("_", " ")


def _said(path: str, side: Mapping[str, Any]) -> str:
    name = path.rsplit(".", 1)[-1]
    in_bytes = name.endswith("_bytes") and isinstance(side.get(path), int | float)
    return text_of("ram" if in_bytes else name, side[path]) if path in side else "not there"

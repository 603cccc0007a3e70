"""Which facts changed where a level changed: what is worth a look first when a night's runs became slower."""

from collections import Counter
from collections.abc import Iterable, Sequence

from apps.comparison.confounders import NAMES
from apps.comparison.readings import POINT
from apps.comparison.trends.shape import FactChange, Measured
from apps.comparison.words import label_of, text_of
from apps.inventory.differences_of import Change, differences_of
from apps.inventory.differences_of.parts import Content
from apps.inventory.differences_of.shape import ADDED, NOTHING, REMOVED
from apps.runs.activity import ACTIVITY

NEIGHBOURS = 5  # runs on either side: the place of a change may be one or two runs off
NOT_FACTS = {*NAMES, *POINT, *ACTIVITY, "time"}
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


def part_changes(before: Content, after: Content) -> tuple[FactChange, ...]:
    """Firmware, driver, kernel, a replaced disk and all else that two snapshots' contents say differently of the machine. What only
    became known, or is no longer told, cannot have changed a level.
    """
    found = (one for one in differences_of(before, after) if not one.is_knowledge and one.group != "record")
    return tuple(FactChange(f"{one.group} {one.part} {one.field}".strip(), *_said(one)) for one in found)[:MOST]


def _said(change: Change) -> tuple[str, str, str]:
    """(label, before, after): `sda (S1) firmware`, `host ram`, `disk`."""
    is_whole = change.kind in (ADDED, REMOVED) and not change.field
    part = "" if is_whole else "host" if change.group == "host" else change.part
    sides = ("not there" if text == NOTHING else text for text in (change.before_text, change.after_text))
    return " ".join(filter(None, [part, change.label or change.group])), *sides  # type: ignore[return-value]

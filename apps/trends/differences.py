"""Facts and parts that differ between the runs before and after a change of level."""

from collections import Counter
from collections.abc import Iterable, Sequence

from apps.comparison.confounders import NAMES
from apps.comparison.fact_names import is_of_one_run
from apps.comparison.labels import label_of, text_of
from apps.comparison.readings import POINT
from apps.inventory.snapshots.differences import SnapshotDifference, differences_of
from apps.inventory.snapshots.differences.parts import Content
from apps.inventory.snapshots.differences.shape import ADDED, NOTHING, REMOVED
from apps.trends.types import FactChange, MeasuredRun

NEIGHBOURS = 5  # runs on either side: the place of a change may be one or two runs off
NOT_FACTS = {*NAMES, *POINT, "time"}
WHOLE = ("host", "target", "tool")
MOST = 12  # parts of a snapshot that changed; of more, the machine is another one


def fact_changes(before: Sequence[MeasuredRun], after: Sequence[MeasuredRun]) -> tuple[FactChange, ...]:
    """Return the facts whose usual value in the last runs before a change differs from that in the first runs after it."""
    sides = (before[-NEIGHBOURS:], after[:NEIGHBOURS])
    every = {name for side in sides for run in side for name in run.facts} - NOT_FACTS
    names = sorted(name for name in every if not is_of_one_run(name))
    changes = []
    for name in names:
        old, new = (_usual(text_of(name, run.facts.get(name)) for run in side) for side in sides)
        if old and new and old != new:
            changes.append(FactChange(name, label_of(name), old, new))
    return tuple(changes)


def unlike(runs: Sequence[MeasuredRun]) -> tuple[str, ...]:
    """Return what makes these runs ones of several things, so that a step between them is no change of one of them."""
    names = [name for name in WHOLE if len({str(run.facts.get(name)) for run in runs}) > 1]
    for index, name in enumerate(POINT):
        if len({frozenset(place[index] for place in run.places) for run in runs}) > 1:
            names.append(name)
    return tuple(names)


def _usual(texts: Iterable[str]) -> str:
    """Return the text that more than half of `texts` are, or an empty one."""
    counted = Counter(texts)
    text, count = counted.most_common(1)[0]
    return text if 2 * count > counted.total() else ""


def part_changes(before: Content, after: Content) -> tuple[FactChange, ...]:
    """Return what differs between two snapshots' contents: firmware, driver, kernel, replaced disks.

    What only became known, or is no longer reported, cannot have changed a level and is left out.
    """
    differences = (
        difference
        for difference in differences_of(before, after)
        if not difference.is_knowledge and difference.group != "record"
    )
    return tuple(
        FactChange(f"{difference.group} {difference.part} {difference.field}".strip(), *_texts_of(difference))
        for difference in differences
    )[:MOST]


def _texts_of(change: SnapshotDifference) -> tuple[str, str, str]:
    """Return (label, before, after) of a change; labels are such as `sda (S1) firmware`, `host ram` or `disk`."""
    is_whole = change.kind in (ADDED, REMOVED) and not change.field
    part = "" if is_whole else "host" if change.group == "host" else change.part
    sides = ("not there" if text == NOTHING else text for text in (change.before_text, change.after_text))
    return " ".join(filter(None, [part, change.label or change.group])), *sides  # type: ignore[return-value]

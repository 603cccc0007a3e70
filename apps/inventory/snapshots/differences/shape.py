"""One difference between two snapshots: which part, which field, before and after, and whether the machine changed.

Else only what is known of the machine changed.
"""

from dataclasses import dataclass
from typing import Any

from apps.inventory.fields import label_of
from apps.inventory.snapshots.differences.values import text_of

CHANGED, ADDED, REMOVED = "changed", "added", "removed"
REPLACED, MOVED, RENAMED, ORDER = "replaced", "moved", "renamed", "order"
LEARNED, FORGOTTEN = "learned", "forgotten"
NOTHING = "–"
GROUPS = ("host", "target", "filesystem", "array", "disk", "controller", "network", "record")
GROUP_TITLES = {
    "host": "Host", "target": "Target", "filesystem": "Filesystem", "array": "Arrays", "disk": "Disks",
    "controller": "Controllers", "network": "Network and paths", "record": "The record itself",
}  # fmt: skip
KIND_WORDS = {
    CHANGED: "changed", ADDED: "added", REMOVED: "removed", REPLACED: "replaced", MOVED: "moved", RENAMED: "renamed",
    ORDER: "another order", LEARNED: "now known", FORGOTTEN: "no longer told",
}  # fmt: skip


@dataclass(frozen=True)
class SnapshotDifference:
    """`before` and `after` are values in base units; None where there is none, and then `absent_before` or `absent_after` says why.

    `kind` is one of the words above; `field` is the inventory's name of the field, empty where the whole part came, went or was replaced.
    """

    group: str
    part: str
    kind: str
    field: str = ""
    before: Any = None
    after: Any = None
    absent_before: str = ""
    absent_after: str = ""
    what: str = ""

    @property
    def is_knowledge(self) -> bool:
        """Return whether only what is known has changed, while the machine may well be as it was."""
        return self.kind in (LEARNED, FORGOTTEN)

    @property
    def label(self) -> str:
        return self.what or label_of(self.field)

    @property
    def kind_words(self) -> str:
        return KIND_WORDS[self.kind]

    @property
    def before_text(self) -> str:
        return self._side(self.before, self.absent_before)

    @property
    def after_text(self) -> str:
        return self._side(self.after, self.absent_after)

    @property
    def text(self) -> str:
        """Describe the difference: `kernel 6.1.0-25 → 6.1.0-30`, `disk sdb (S2) added` …."""
        if self.kind in (ADDED, REMOVED) and not self.field:
            return f"{'' if self.group == 'network' else self.group} {self.part} {self.kind}".strip()
        if self.kind == ADDED:
            return f"{self.label} added{self._value(self.after)}"
        if self.kind == REMOVED:
            return f"{self.label} removed{self._value(self.before)}"
        arrow = f"{self.before_text} → {self.after_text}"
        if self.kind == REPLACED:
            return f"{self.part}: disk replaced, {arrow}"
        return f"{self.label} {arrow}"

    def _side(self, value: Any, absent: str) -> str:
        if value is None:
            return absent.replace("_", " ") or NOTHING
        return text_of(self.field, value)

    def _value(self, value: Any) -> str:
        return f" ({text_of(self.field, value)})" if value not in (None, True, "") else ""

    def as_json(self) -> dict[str, Any]:
        return {
            "group": self.group, "part": self.part, "kind": self.kind, "field": self.field, "label": self.label,
            "before": self.before, "after": self.after, "absent_before": self.absent_before or None,
            "absent_after": self.absent_after or None, "is_knowledge": self.is_knowledge, "text": self.text,
        }  # fmt: skip

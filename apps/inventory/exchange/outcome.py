"""What becomes of each row of a file, or of each part of a bulk edit: the preview, and the proof that nothing changed since it was made."""

import hashlib
import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from apps.inventory.fields import label_of
from apps.inventory.snapshots.differences.values import text_of

CREATED, CHANGED, UNCHANGED, REFUSED = "created", "changed", "unchanged", "refused"
ACTS = (CREATED, CHANGED, UNCHANGED, REFUSED)


@dataclass(frozen=True)
class FieldChange:
    """A changed field; values are in base units, references are keys, None means empty."""

    field: str
    before: Any
    after: Any

    @property
    def label(self) -> str:
        return label_of(self.field)

    @property
    def before_text(self) -> str:
        return "" if self.before is None else text_of(self.field, self.before)

    @property
    def after_text(self) -> str:
        return "" if self.after is None else text_of(self.field, self.after)


@dataclass(frozen=True)
class Problem:
    """A reason why a row is refused; `field` is empty where it is about the whole row."""

    field: str
    sentence: str


@dataclass
class OutcomeEntry:
    kind: str
    where: str
    key: str
    act: str = UNCHANGED
    changes: list[FieldChange] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def refuse(self, name: str, sentence: str) -> None:
        self.act = REFUSED
        self.problems.append(Problem(name, sentence))

    def note(self, changes: list[FieldChange]) -> None:
        self.changes += changes
        if changes and self.act == UNCHANGED:
            self.act = CHANGED


def _plain(value: object) -> Any:
    return vars(value) if isinstance(value, OutcomeEntry | FieldChange | Problem) else str(value)


@dataclass(frozen=True)
class Outcome:
    entries: tuple[OutcomeEntry, ...]

    @property
    def counts(self) -> dict[str, int]:
        results = Counter(entry.act for entry in self.entries)
        return {act: results[act] for act in ACTS}

    @property
    def to_write(self) -> int:
        return self.counts[CREATED] + self.counts[CHANGED]

    @property
    def digest(self) -> str:
        """Return a SHA-256 that stays the same only while the same file would do the same to the same inventory."""
        text = json.dumps(self.entries, sort_keys=True, default=_plain)
        return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


class StaleOutcomeError(ValueError):
    """The inventory is not what it was when the preview was made; nothing was written. `outcome` is what would happen now."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome
        super().__init__(
            "The inventory has changed since this preview was made; nothing was written. This is what would happen now."
        )

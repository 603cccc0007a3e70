"""One part as a report describes it, and its fields sorted into values, reasons for what is empty, and notes."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Entry = Mapping[str, Any]
NOT_PRINTED = re.compile(r"^(not printed|unknown \(not printed\))")
WORDS = ("none", "unknown")


@dataclass(frozen=True)
class DescribedPart:
    """One part.

    `identity`: how it is found again; `refers`: field → key of another part; `places`: members or sections, `disk`,
    `member_array` and `controller` in them are keys too.
    """

    kind: str
    key: str
    identity: dict[str, Any]
    values: dict[str, Any]
    absent: dict[str, str] = field(default_factory=dict)
    refers: dict[str, str] = field(default_factory=dict)
    places: list[dict[str, Any]] | None = None
    inferred: tuple[str, ...] = ()


@dataclass
class PartFields:
    """A part's fields as the report has them, sorted into values, reasons for what is empty, and notes."""

    values: dict[str, Any] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def text(self, name: str, value: object, words: Sequence[str] = ()) -> None:
        """Set a text field; `words` are those of the field that are no reason for an empty value."""
        if value is None or value == "" or NOT_PRINTED.match(str(value)):
            self.absent[name] = "not_printed"
        elif value in WORDS and value not in words:
            self.absent[name] = str(value)
        else:
            self.values[name] = str(value)

    def number(self, name: str, value: object) -> None:
        """Set a number; a figure that is no whole number stays in the notes as printed."""
        if isinstance(value, int) and not isinstance(value, bool):
            self.values[name] = value
        else:
            self.text(name, value)
            if name in self.values:
                self.note(name.replace("_", " "), self.values.pop(name))

    def note(self, name: str, value: object) -> None:
        if value not in (None, "", [], {}):
            self.notes.append(f"{name}: {value}" if name else str(value))

    def all(self) -> dict[str, Any]:
        return self.values | {"notes": "; ".join(self.notes)}


def plain(value: object) -> Any:
    return ", ".join(f"{name} {part}" for name, part in value.items()) if isinstance(value, Mapping) else value

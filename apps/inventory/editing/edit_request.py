"""A requested change of a part, checked field by field, and why it is not possible. Values are in base units."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

ALL = "__all__"  # the key of errors that are about no single field


class EditError(ValueError):
    """Nothing was changed because the request is not valid.

    `errors` maps a field (`members.3.disk` for a place) to sentences that say what was found and what was expected.
    """

    def __init__(self, errors: Mapping[str, Sequence[str]]) -> None:
        self.errors = {name: list(said) for name, said in errors.items()}
        super().__init__("; ".join(f"{name}: {' '.join(said)}" for name, said in self.errors.items()))


@dataclass
class Problems:
    """Collects all errors, so that people see them at once."""

    found: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def add(self, name: str, sentence: str) -> None:
        if sentence not in self.found[name]:
            self.found[name].append(sentence)

    def __bool__(self) -> bool:
        return any(self.found.values())

    def raise_any(self) -> None:
        if self:
            raise EditError(self.found)


@dataclass(frozen=True)
class Wanted:
    """A requested change of a part; only what is named changes.

    `values` maps a field to its value, references as rows; `absent` gives the reason for an empty field; `places` are
    all members or sections; `inferred` are fields that follow by a rule from what was printed, and so are not typed.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)
    places: Sequence[Mapping[str, Any]] | None = None
    inferred: frozenset[str] = frozenset()


def is_empty(value: object) -> bool:
    return value is None or value in ("", {}, [])

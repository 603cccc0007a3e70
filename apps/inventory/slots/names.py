"""A slot's name: `c1d4` is disk 4 on controller 1, `d7` slot 7 of an enclosure that counts its slots through."""

import re
from dataclasses import dataclass

MOST = 9999
_NAME = re.compile(r"(?:c(\d{1,4}))?d(\d{1,4})", re.IGNORECASE)


class SlotError(ValueError):
    """Says what was found and what was expected, and in which line where there are lines."""

    def __init__(self, found: str, expected: str, line: int | None = None) -> None:
        self.found, self.expected, self.line = found[:120], expected, line
        where = f"Line {line}: " if line else ""
        super().__init__(f"{where}found “{self.found}”, expected {expected}.")


@dataclass(frozen=True)
class Slot:
    controller: int | None
    number: int

    def __str__(self) -> str:
        return f"d{self.number}" if self.controller is None else f"c{self.controller}d{self.number}"

    @property
    def order(self) -> tuple[int, int]:
        """Return the key that sorts slots as numbers; slots without a controller come first."""
        return (-1 if self.controller is None else self.controller, self.number)


def slot_named(text: str, line: int | None = None) -> Slot:
    """Parse the name of a slot such as `c1d4` or `d7`.

    Raises:
        SlotError: for anything else.
    """
    match = _NAME.fullmatch(text.strip())
    if not match:
        raise SlotError(text.strip(), "a slot such as c1d4 or d7", line)
    return Slot(int(match[1]) if match[1] else None, int(match[2]))

"""The physical order of an enclosure's slots, from top to bottom: as JSON, as text that people edit, and from presets.

Ctrl 1: c1d3 c1d2 c1d1 c1d0          a row; the label before the colon may be missing
- c4d6 c4d5 -                        `-` is a gap without a slot
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from apps.inventory.slots.names import Slot, SlotError, slot_named

MOST_SLOTS, MOST_COLUMNS, MOST_ROWS = 4096, 64, 1024
ROW = 12  # slots in a row if their arrangement is not known
GAPS = ("-", "–", "_", ".")


@dataclass(frozen=True)
class Row:
    label: str
    slots: tuple[Slot | None, ...]


Rows = tuple[Row, ...]


def rows_of(layout: object) -> Rows:
    """Parse `Enclosure.layout`.

    Raises:
        SlotError: if it is not a list of `{label, slots}`.
    """
    if not isinstance(layout, list):
        raise SlotError(str(layout), "a list of rows such as {“label”: “Ctrl 0”, “slots”: [“c0d3”, null]}")
    return checked([_row(number, row) for number, row in enumerate(layout, 1)])


def _row(number: int, row: object) -> Row:
    if not isinstance(row, dict) or not isinstance(row.get("slots"), list):
        raise SlotError(str(row), "a row such as {“label”: “Ctrl 0”, “slots”: [“c0d3”, null]}", number)
    slots = tuple(None if name is None else slot_named(str(name), number) for name in row["slots"])
    return Row(str(row.get("label") or "")[:60], slots)


def checked(rows: Iterable[Row]) -> Rows:
    """Return the rows.

    Raises:
        SlotError: if a slot occurs twice or there are more slots than a page can hold.
    """
    result, seen = tuple(rows), dict[Slot, int]()
    if len(result) > MOST_ROWS:
        raise SlotError(f"{len(result)} rows", f"at most {MOST_ROWS}")
    for number, row in enumerate(result, 1):
        if len(row.slots) > MOST_COLUMNS:
            raise SlotError(f"{len(row.slots)} slots in a row", f"at most {MOST_COLUMNS}", number)
        for slot in filter(None, row.slots):
            if slot in seen:
                raise SlotError(str(slot), f"every slot once; it is in line {seen[slot]} too", number)
            seen[slot] = number
    if len(seen) > MOST_SLOTS:
        raise SlotError(f"{len(seen)} slots", f"at most {MOST_SLOTS}")
    return result


def as_json(rows: Rows) -> list[dict[str, object]]:
    return [{"label": row.label, "slots": [str(slot) if slot else None for slot in row.slots]} for row in rows]


def as_text(rows: Rows) -> str:
    return "\n".join(
        f"{row.label + ': ' if row.label else ''}{' '.join(str(slot) if slot else '-' for slot in row.slots)}"
        for row in rows
    )


def from_text(text: str) -> Rows:
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    return checked([_line(number, line) for number, line in lines])


def _line(number: int, line: str) -> Row:
    label, colon, rest = line.rpartition(":")
    words = (rest if colon else line).replace(",", " ").split()
    if not words:
        raise SlotError(line, "slots after the label, such as Ctrl 0: c0d1 c0d0", number)
    return Row(label.strip()[:60], tuple(None if word in GAPS else slot_named(word, number) for word in words))


def slots_in(rows: Rows) -> list[Slot]:
    return [slot for row in rows for slot in row.slots if slot]


def grid(rows: int, columns: int, order: str = "across", first: int = 0) -> Rows:
    """Return a grid of numbered slots.

    `order` is `across` to count each row from left to right, or `down` to count each column from top to bottom.

    Raises:
        SlotError: if the grid is empty or too large.
    """
    if not (1 <= rows <= MOST_ROWS and 1 <= columns <= MOST_COLUMNS and rows * columns <= MOST_SLOTS):
        raise SlotError(f"{rows} × {columns}", f"at most {MOST_COLUMNS} columns and {MOST_SLOTS} slots")

    def number(row: int, column: int) -> int:
        return first + (row * columns + column if order == "across" else column * rows + row)

    return tuple(Row("", tuple(Slot(None, number(row, column)) for column in range(columns))) for row in range(rows))


def by_controller(controllers: Sequence[int], disks: int, columns: int, descending: bool = False) -> Rows:
    """Return rows for controller after controller from the top, each in rows of `columns` slots.

    The label is beside a controller's last row.

    Raises:
        SlotError: if there are no slots or too many.
    """
    if not controllers or disks < 1 or not 1 <= columns <= MOST_COLUMNS or len(controllers) * disks > MOST_SLOTS:
        raise SlotError(f"{len(controllers)} controllers of {disks} disks", f"1 to {MOST_SLOTS} slots in all")
    results = []
    for controller in controllers:
        numbers = sorted(range(disks), reverse=descending)
        parts = [numbers[start : start + columns] for start in range(0, disks, columns)]
        for part in parts:
            label = f"Ctrl {controller}" if part is parts[-1] else ""
            results.append(Row(label, tuple(Slot(controller, number) for number in part)))
    return checked(results)


def default_rows(slots: Iterable[Slot]) -> Rows:
    """Return rows for an enclosure without a layout: a block for each controller, with the known slots in order."""
    by_number: dict[int | None, list[int]] = {}
    for slot in sorted(set(slots), key=lambda slot: slot.order):
        by_number.setdefault(slot.controller, []).append(slot.number)
    results = []
    first = min((numbers[0] for numbers in by_number.values()), default=0)
    for controller, numbers in by_number.items():
        counted = _without_holes(numbers, min(first, 1))
        for start in range(0, len(counted), ROW):
            label = "" if controller is None or start else f"Ctrl {controller}"
            results.append(Row(label, tuple(Slot(controller, number) for number in counted[start : start + ROW])))
    return tuple(results)


def _without_holes(numbers: list[int], first: int) -> list[int]:
    """Return the numbers with the empty slots from `first` on, unless they are too far apart to count slots."""
    last = numbers[-1]
    return list(range(first, last + 1)) if last - first < 4 * len(numbers) + ROW else numbers


X4500_CONTROLLERS = (0, 1, 4, 5, 2, 3)
X4500_BOOT = (Slot(3, 0), Slot(3, 4))
PRESETS: dict[str, tuple[str, Rows]] = {
    "x4500": ("Sun Fire X4500: 48 slots, controllers 0, 1, 4, 5, 2, 3", by_controller(X4500_CONTROLLERS, 8, 4, True)),
    "2u12": ("2U, 12 slots: 3 rows of 4, counted down", grid(3, 4, "down")),
    "2u24": ("2U, 24 slots: one row", grid(1, 24)),
    "4u60": ("4U JBOD, 60 slots: 5 rows of 12", grid(5, 12)),
}

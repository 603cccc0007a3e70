"""The grid of an enclosure: for each slot in its physical order what sits there, and in which of the shown groups it is.

Groups are arrays, states or models. Each has a colour, a letter and a pattern, so that colour is never the only sign; after
eight colours they begin again with the next letters.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from apps.inventory.slots.driver_names import letters
from apps.inventory.slots.layout import Row, Rows
from apps.inventory.slots.names import Slot
from apps.inventory.slots.spans import natural

COLOURS = ("array", "state", "model")
TONES = 8
WIDE = 8
FREE, NOT_KNOWN = "free", "not known"
PLAIN = (FREE, NOT_KNOWN, "system", "filesystem")  # groups without a colour
INFERRED = "inferred"
_BAD_FIRST = ("faulty", "failed", "gone", "spare", "in sync", FREE)


@dataclass(frozen=True)
class DiskHere:
    """A disk as the grid shows it. `arrays`: those that it is a direct member of, `over`: also those above them."""

    key: int
    name: str
    enclosure: str = ""
    slot: Slot | None = None
    model: str = ""
    serial: str = ""
    state: str = ""
    arrays: tuple[str, ...] = ()
    over: tuple[int, ...] = ()
    controller: str = ""
    device_name: str = ""
    sources: Mapping[str, str] = field(default_factory=dict)
    use: str = ""  # `system` or `filesystem`, where the disk itself holds one
    is_present: bool = True

    @property
    def is_place_inferred(self) -> bool:
        return self.sources.get("slot_number") == INFERRED

    @property
    def is_name_inferred(self) -> bool:
        return bool(self.device_name) and self.sources.get("device_name") == INFERRED

    @property
    def inferred(self) -> str:
        """Return what follows from a rule and is not printed: `slot and name`, `slot`, `name` or ''."""
        words = [word for word, is_so in (("slot", self.is_place_inferred), ("name", self.is_name_inferred)) if is_so]
        return " and ".join(words)


@dataclass(frozen=True)
class Shade:
    """One group of the legend."""

    name: str
    letter: str
    tone: int  # 1 … 8; 0 for what is in no group
    count: int


@dataclass(frozen=True)
class SlotCell:
    """A slot of the grid, or a gap if `slot` is None.

    More than one disk in a slot is a contradiction that the page shows.
    """

    slot: Slot | None
    disks: tuple[DiskHere, ...] = ()
    is_boot: bool = False
    shade: Shade | None = None


@dataclass(frozen=True)
class GridRow:
    label: str
    cells: tuple[SlotCell, ...]
    starts_controller: bool


@dataclass(frozen=True)
class SlotGrid:
    rows: tuple[GridRow, ...]
    legend: tuple[Shade, ...]
    outside: tuple[DiskHere, ...]  # disks of this enclosure in slots that the layout does not have

    @property
    def width(self) -> int:
        return max((len(row.cells) for row in self.rows), default=0)

    @property
    def is_wide(self) -> bool:
        """Return whether the grid has more slots in a row than fit beside anything else."""
        return self.width > WIDE

    @property
    def cells(self) -> list[SlotCell]:
        return [cell for row in self.rows for cell in row.cells if cell.slot]

    @property
    def occupied(self) -> int:
        return sum(bool(cell.disks) for cell in self.cells)


def group_of(disk: DiskHere, colour: str) -> str:
    if colour == "model":
        return disk.model or NOT_KNOWN
    if colour == "state":
        return disk.state or NOT_KNOWN
    return " + ".join(disk.arrays) or disk.use or FREE


def legend_of(disks: Iterable[DiskHere], colour: str) -> dict[str, Shade]:
    counts = Counter(group_of(disk, colour) for disk in disks)
    ordered = sorted(counts, key=lambda name: (name in PLAIN, _rank(name, colour), natural(name)))
    result, index = dict[str, Shade](), 0
    for name in ordered:
        plain = name in PLAIN
        result[name] = Shade(
            name, "–" if plain else letters(index).upper(), 0 if plain else index % TONES + 1, counts[name]
        )
        index += not plain
    return result


def _rank(name: str, colour: str) -> int:
    return _BAD_FIRST.index(name) if colour == "state" and name in _BAD_FIRST else len(_BAD_FIRST)


def grid_of(
    rows: Rows, disks: Sequence[DiskHere], boot: Iterable[Slot], legend: Mapping[str, Shade], colour: str
) -> SlotGrid:
    """Return the grid of slots of one enclosure; `disks` are those in it."""
    by_slot: dict[Slot, list[DiskHere]] = {}
    for disk in disks:
        if disk.slot:
            by_slot.setdefault(disk.slot, []).append(disk)
    boots = set(boot)

    def cell(slot: Slot | None) -> SlotCell:
        here = tuple(by_slot.pop(slot, ())) if slot else ()
        return SlotCell(slot, here, slot in boots, legend[group_of(here[0], colour)] if here else None)

    results = tuple(GridRow(row.label, tuple(map(cell, row.slots)), starts) for row, starts in _with_starts(rows))
    outside = tuple(disk for here in by_slot.values() for disk in here)
    counts = Counter(one.shade.name for row in results for one in row.cells if one.shade)
    visible = tuple(replace(shade, count=counts[shade.name]) for shade in legend.values() if counts[shade.name])
    return SlotGrid(results, visible, outside)


def _with_starts(rows: Rows) -> list[tuple[Row, bool]]:
    """Return each row, and whether it begins another controller than the row above has."""
    result, before = list[tuple[Row, bool]](), object()
    for row in rows:
        controller: object = next((slot.controller for slot in row.slots if slot), before)
        result.append((row, bool(result) and controller != before))
        before = controller
    return result

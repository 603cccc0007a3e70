"""A host's slot map from its rows: six queries, however many slots and arrays it has."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from apps.inventory.models import Array, ArrayMember, Disk, Enclosure, Filesystem, Host
from apps.inventory.slots.device_names import Naming, naming_of
from apps.inventory.slots.grid import COLOURS, DiskHere, Shade, SlotGrid, grid_of, legend_of
from apps.inventory.slots.layout import Rows, default_rows, rows_of
from apps.inventory.slots.names import Slot, SlotError, slot_named
from apps.inventory.slots.spans import SlotSpan, natural, span_of
from apps.inventory.topology.array_trees import trees
from apps.inventory.topology.redundancy import Group, leaves
from apps.inventory.vocabulary import RaidLevel

SYSTEM_MOUNTS = ("/", "/boot", "/boot/efi")
GOOD_HEALTH = ("", "passed", "ok", "good", "online")


@dataclass(frozen=True)
class EnclosureMap:
    """An enclosure of the map.

    `row` is None if disks name this enclosure but nobody has laid it out; `problem` says why its own layout is not
    used.
    """

    row: Enclosure | None
    name: str
    grid: SlotGrid
    naming: Naming | None = None
    problem: str = ""


@dataclass(frozen=True)
class ArrayOnMap:
    row: Array
    span: SlotSpan
    disks: frozenset[int]
    shade: Shade | None = None


@dataclass
class SlotMap:
    host: Host
    colour: str
    round: str
    rounds: list[str]
    enclosures: list[EnclosureMap] = field(default_factory=list)
    unplaced: list[DiskHere] = field(default_factory=list)
    arrays: list[ArrayOnMap] = field(default_factory=list)
    legend: list[Shade] = field(default_factory=list)
    contradictions: list[str] = field(default_factory=list)
    lit: ArrayOnMap | None = None

    @property
    def is_wide(self) -> bool:
        return any(enclosure.grid.is_wide for enclosure in self.enclosures)

    @cached_property
    def disks(self) -> list[DiskHere]:
        """Return the disks that sit in slots, in the order of the table."""
        here = [disk for enclosure in self.enclosures for cell in enclosure.grid.cells for disk in cell.disks]
        return here + [disk for enclosure in self.enclosures for disk in enclosure.grid.outside]


def slot_map(host: Host, colour: str = "array", round_: str | None = None, lit: int | None = None) -> SlotMap:
    """Return the slot map of a host.

    `colour` is array, state or model; `round_` says whose arrays to show, None for the newest round; `lit` is an
    array's id.
    """
    rows = _Rows(host)
    rounds = sorted({array.round for array in rows.arrays}, key=natural)
    result = SlotMap(host, colour if colour in COLOURS else COLOURS[0], rows.round(round_), rounds)
    here = rows.disks_here(result.round)
    legend = legend_of(here, result.colour)
    result.enclosures = _enclosures(rows.enclosures, here, legend, result.colour)
    result.unplaced = [disk for disk in here if disk.slot is None]
    result.legend = list(legend.values())
    result.arrays = _arrays(rows, result.round, result.enclosures, legend if result.colour == "array" else {})
    result.contradictions = _contradictions(here, result.enclosures)
    result.lit = next((array for array in result.arrays if array.row.pk == lit), None)
    return result


class _Rows:
    """The rows of the database that the map is made of."""

    def __init__(self, host: Host) -> None:
        self.enclosures = list(Enclosure.objects.filter(host=host))
        # a separate query, as thousands of disks share few controllers
        disks = Disk.objects.filter(host=host).defer("notes", "labels", "absent").prefetch_related("controller")
        self.disks = {disk.pk: disk for disk in disks}
        self.arrays = list(Array.objects.filter(host=host))
        members = ArrayMember.objects.filter(array__host=host).order_by("array_id", "position")
        self.members = list(members)
        held = Filesystem.objects.filter(host=host, is_present=True).exclude(disk=None)
        self.uses: dict[int, str] = {}
        for disk, mount in held.values_list("disk_id", "mount_point"):
            if self.uses.get(disk) != "system":
                self.uses[disk] = "system" if mount in SYSTEM_MOUNTS else "filesystem"
        self.by_pk = {array.pk: array for array in self.arrays}
        self.trees = trees(self.arrays, self.members, self.disks)

    def round(self, wanted: str | None) -> str:
        rounds = {array.round: array.pk for array in sorted(self.arrays, key=lambda array: array.pk)}
        if wanted in rounds and wanted is not None:
            return wanted
        return "" if "" in rounds or not rounds else max(rounds, key=lambda name: rounds[name])

    def in_round(self, round_: str) -> list[Array]:
        """Return the arrays of a round; those of the present round only if they still exist."""
        return [array for array in self.arrays if array.round == round_ and (array.is_present or round_)]

    def disks_here(self, round_: str) -> list[DiskHere]:
        visible = {array.pk for array in self.in_round(round_)}
        places: dict[int, list[ArrayMember]] = {}
        for member in self.members:
            if member.array_id in visible and member.disk_id is not None:
                places.setdefault(member.disk_id, []).append(member)
        over: dict[int, list[int]] = {}
        for pk in visible:
            for leaf in {leaf.key for leaf in leaves(self.trees[pk])}:
                over.setdefault(int(str(leaf)), []).append(pk)
        return [self._disk(disk, places.get(pk, []), over.get(pk, [])) for pk, disk in self.disks.items()]

    def _disk(self, disk: Disk, places: Sequence[ArrayMember], over: Iterable[int]) -> DiskHere:
        arrays = [self.by_pk[place.array_id] for place in places]
        return DiskHere(
            key=disk.pk,
            name=str(disk),
            enclosure=disk.enclosure,
            slot=Slot(disk.slot_controller, disk.slot_number) if disk.slot_number is not None else None,
            model=f"{disk.vendor} {disk.model}".strip(),
            serial=disk.serial,
            state=_state(disk, places, arrays) or self.uses.get(disk.pk, "free"),
            arrays=tuple(dict.fromkeys(array.name for array in arrays)),
            over=tuple(sorted({*over, *(array.pk for array in arrays)})),
            controller=disk.controller.name if disk.controller else "",
            device_name=disk.device_name,
            sources=disk.sources,
            use=self.uses.get(disk.pk, ""),
            is_present=disk.is_present,
        )


def _state(disk: Disk, places: Sequence[ArrayMember], arrays: Sequence[Array]) -> str:
    if not disk.is_present:
        return "gone"
    if disk.health.lower() not in GOOD_HEALTH:
        return "failed"
    if message := next((place.state for place in places if place.state), ""):
        return message
    if arrays:
        return f"in a {arrays[0].state} array" if arrays[0].state else "in an array"
    return ""


def _enclosures(
    rows: Sequence[Enclosure], disks: Sequence[DiskHere], legend: dict[str, Shade], colour: str
) -> list[EnclosureMap]:
    named = {row.name for row in rows}
    others = sorted({disk.enclosure for disk in disks if disk.slot and disk.enclosure not in named})
    results = [_laid_out(row, [disk for disk in disks if disk.enclosure == row.name], legend, colour) for row in rows]
    for name in others:
        here = [disk for disk in disks if disk.enclosure == name and disk.slot]
        results.append(EnclosureMap(None, name, grid_of(_default(here), here, (), legend, colour)))
    return results


def _laid_out(row: Enclosure, here: list[DiskHere], legend: dict[str, Shade], colour: str) -> EnclosureMap:
    try:
        rows, problem = rows_of(row.layout), ""
    except SlotError as error:
        rows, problem = (), f"Its layout cannot be read, so the slots stand in the order of their numbers. {error}"
    boot = boot_slots(row)
    rows = rows or _default(here)
    grid = grid_of(rows, here, boot, legend, colour)
    return EnclosureMap(row, row.name, grid, naming_of(row, rows, here), problem)


def _default(disks: Iterable[DiskHere]) -> Rows:
    return default_rows(disk.slot for disk in disks if disk.slot)


def boot_slots(row: Enclosure) -> tuple[Slot, ...]:
    """Return the boot slots of an enclosure, skipping those whose name cannot be parsed."""
    results = []
    for name in row.boot_slots if isinstance(row.boot_slots, list) else ():
        try:
            results.append(slot_named(str(name)))
        except SlotError:
            continue
    return tuple(results)


def _arrays(rows: _Rows, round_: str, enclosures: Iterable[EnclosureMap], legend: dict[str, Shade]) -> list[ArrayOnMap]:
    namings = [enclosure.naming for enclosure in enclosures if enclosure.naming]
    results = []
    for array in rows.in_round(round_):
        tree: Group = rows.trees[array.pk]
        keys = frozenset(int(str(leaf.key)) for leaf in leaves(tree))
        at_most = next((most for naming in namings if (most := naming.at_most(keys)) is not None), None)
        span = span_of(array.name, _level(array, tree), tree, at_most)
        results.append(ArrayOnMap(array, span, keys, legend.get(array.name)))
    return sorted(results, key=lambda result: (result.row.name, result.row.pk))


def _level(array: Array, tree: Group) -> str:
    """Return the level in words: `RAID 0 over 2 × RAID 5`."""
    below = {member.level for member in tree.members if isinstance(member, Group)}
    inner = f"{RaidLevel(below.pop()).label}" if len(below) == 1 and below <= set(RaidLevel.values) else "arrays"
    nested = sum(isinstance(member, Group) for member in tree.members)
    return f"{array.get_level_display()} over {nested} × {inner}".strip() if nested else str(array.get_level_display())


def _contradictions(disks: Iterable[DiskHere], enclosures: Iterable[EnclosureMap]) -> list[str]:
    results = [f"{disk.name} is a member of {' and of '.join(disk.arrays)}." for disk in disks if len(disk.arrays) > 1]
    for enclosure in enclosures:
        for cell in enclosure.grid.cells:
            if len(cell.disks) > 1:
                names = " and ".join(disk.name for disk in cell.disks)
                results.append(f"{names} are both said to be in slot {cell.slot} of {enclosure.name or 'the host'}.")
        outside = ", ".join(f"{disk.name} ({disk.slot})" for disk in enclosure.grid.outside)
        if outside:
            results.append(f"{enclosure.name} has no such slot for {outside}.")
        if enclosure.naming:
            results += enclosure.naming.disagreements
    return results

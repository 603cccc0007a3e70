"""RAID controllers as their own tools describe them, in plain values: drives in slots, volumes on drives.

A place is what the tool calls a drive on its card: `252:3` (enclosure:slot), `1I:1:2` (port:box:bay), `p4`. Sizes in
bytes; None and '' mean that the tool did not tell.
"""

from dataclasses import dataclass, field, fields
from typing import Any, Generic, TypeVar

MAX_CARDS = 64
MAX_DRIVES = 4096  # on one card, as is MAX_VOLUMES
MAX_VOLUMES = 1024
PREFERRED = ("storcli", "megacli", "ssacli", "arcconf", "tw_cli", "omreport")  # in order of preference


@dataclass(frozen=True)
class Drive:
    """A drive behind a RAID controller.

    `state` is one of online, spare, rebuilding, failed, missing, unconfigured, jbod, or ''. `group` is the group of
    drives that volumes share.
    """

    place: str
    vendor: str = ""
    model: str = ""
    serial: str = ""
    wwn: str = ""
    firmware: str = ""
    interface: str = ""
    generation: str = ""
    link_generation: str = ""
    rpm: int | None = None
    is_solid_state: bool | None = None
    capacity_bytes: int | None = None
    logical_block_bytes: int | None = None
    shelf: str = ""
    slot: int | None = None
    state: str = ""
    health: str = ""
    volume: str = ""


@dataclass(frozen=True)
class CardVolume:
    """A volume of a RAID controller.

    `spans` are the places of the drives, one tuple for each span; RAID 10, 50 and 60 have several. `naa` is the `wwn`
    of the device that the kernel sees; `device` is its name if the tool knows it. `span_depth` is how many spans the
    tool counts, also where it does not print which drives are in which. `former` is the number that it had while only its
    group of drives was known.
    """

    number: str
    name: str = ""
    level: str = ""
    chunk_size: int | None = None
    capacity_bytes: int | None = None
    state: str = ""
    write_policy: str = ""
    read_policy: str = ""
    device: str = ""
    naa: str = ""
    target: int | None = None
    spans: tuple[tuple[str, ...], ...] = ()
    span_depth: int | None = None
    spares: tuple[str, ...] = ()
    member_count: int | None = None
    shares_drives: bool = False
    former: str = ""


@dataclass(frozen=True)
class Shelf:
    """An enclosure with `slots` slots."""

    name: str
    vendor: str = ""
    model: str = ""
    serial: str = ""
    slots: int | None = None


@dataclass(frozen=True)
class Card:
    """A RAID controller with its drives and volumes; `pci` is `0000:03:00.0`, '' where the tool does not print it."""

    tool: str
    number: str
    vendor: str = ""
    model: str = ""
    serial: str = ""
    firmware: str = ""
    driver: str = ""
    kind: str = "raid"
    bus: str = ""
    pci: str = ""
    ports: int | None = None
    cache_bytes: int | None = None
    cache_protection: str = ""
    protection_state: str = ""
    has_no_cache: bool = False
    drives: tuple[Drive, ...] = ()
    volumes: tuple[CardVolume, ...] = ()
    shelves: tuple[Shelf, ...] = ()


@dataclass(frozen=True)
class Cards:
    cards: tuple[Card, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def empty_because(self) -> str:
        """Return why nothing of this can go into the inventory; '' where there is something."""
        if any(card.model or card.serial or card.drives or card.volumes or card.shelves for card in self.cards):
            return ""
        return "it lists no controller's model, no drives and no volumes"


Thing = TypeVar("Thing", Drive, CardVolume, Shelf)


class Things(Generic[Thing]):
    """What a tool says about drives, volumes or shelves, in any order and in several places.

    Later values count if they are not empty.
    """

    def __init__(self, kind: type[Thing], key: str, limit: int) -> None:
        self.kind: type[Thing] = kind
        self.key, self.limit = key, limit
        self.values: dict[str, dict[str, Any]] = {}

    def put(self, key: str, **values: Any) -> None:
        if key and (key in self.values or len(self.values) < self.limit):
            told = {name: value for name, value in values.items() if value not in (None, "", ())}
            self.values.setdefault(key[:60], {}).update(told)

    def of(self, key: str) -> dict[str, Any]:
        return self.values.get(key, {})

    def done(self) -> tuple[Thing, ...]:
        kind: Any = self.kind
        return tuple(kind(**{self.key: key}, **values) for key, values in self.values.items())


@dataclass
class Building:
    """A card while its tool's outputs are read."""

    tool: str
    number: str
    card: dict[str, Any] = field(default_factory=dict)
    drives: Things[Drive] = field(default_factory=lambda: Things[Drive](Drive, "place", MAX_DRIVES))
    volumes: Things[CardVolume] = field(default_factory=lambda: Things[CardVolume](CardVolume, "number", MAX_VOLUMES))
    shelves: Things[Shelf] = field(default_factory=lambda: Things[Shelf](Shelf, "name", MAX_VOLUMES))

    def put(self, **values: Any) -> None:
        self.card.update({name: value for name, value in values.items() if value not in (None, "", ())})

    def done(self) -> Card:
        known = {one.name for one in fields(Card)}
        values = {name: value for name, value in self.card.items() if name in known}
        parts: dict[str, Any] = {
            "drives": self.drives.done(),
            "volumes": self.volumes.done(),
            "shelves": self.shelves.done(),
        }
        return Card(self.tool, self.number, **values, **parts)


class Buildings:
    """The cards of one tool, by its number for them."""

    def __init__(self, tool: str) -> None:
        self.tool = tool
        self.by_number: dict[str, Building] = {}

    def card(self, number: object) -> Building:
        key = f"c{number}"[:20]
        if key not in self.by_number and len(self.by_number) >= MAX_CARDS:
            return Building(self.tool, key)  # beyond the limit: readable, but never stored
        return self.by_number.setdefault(key, Building(self.tool, key))

    def done(self) -> tuple[Card, ...]:
        return tuple(one.done() for one in self.by_number.values())


def without_doubles(cards: list[Card]) -> list[Card]:
    """Keep only the cards of the preferred tool where several tools report cards of one maker's family."""
    family = {"storcli": "lsi", "megacli": "lsi", "omreport": "lsi"}
    chosen: dict[str, str] = {}
    for tool in PREFERRED:
        if any(card.tool == tool and (card.drives or card.volumes) for card in cards):
            chosen.setdefault(family.get(tool, tool), tool)
    return [card for card in cards if chosen.get(family.get(card.tool, card.tool), card.tool) == card.tool]

"""`/proc/mdstat` of Linux 2.6 to 6.x: software RAID by md.

    md0 : active raid5 sdd1[3] sdc1[2](F) sdb1[0]
          1953260544 blocks super 1.2 level 5, 512k chunk, algorithm 2 [3/2] [U_U]
          [==>..................]  recovery = 11.2% (82505280/732571904) finish=197.2min speed=54928K/sec

Blocks and chunks are counted in 1024 bytes. The number in brackets after a member is md's own number for it, near to
but not always its place. Flags: (F) faulty, (S) spare, (W) write-mostly, (J) journal, (R) replacement. `inactive` may
lack the level; Intel's and DDF's containers (`super external:imsm`) are inactive and no arrays themselves.
`resync=DELAYED` and `=PENDING` wait for their turn. The `unused devices` line may be missing, and an md-less kernel
has no such file. While a spare of an array without superblock 1.x is rebuilt, its number is behind those of the places.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

_ARRAY = re.compile(r"(md\S{0,60})\s*:\s*(active|inactive|broken)\b\s*((?:\([^)]*\)\s*)*)(.*)")
_MEMBER = re.compile(r"(\S{1,60})\[(\d{1,6})\]((?:\([A-Z]\))*)")
_FLAGS = {"F": "faulty", "S": "spare", "W": "write-mostly", "J": "journal", "R": "replacement"}
_ACTION = re.compile(r"(resync|recovery|check|repair|reshape)\s*=\s*(?:(\d{1,3}(?:\.\d+)?)%|([A-Z]+))")
# Names as mdadm prints them, from the kernel's raid5.h.
_ALGORITHMS = {
    0: "left-asymmetric", 1: "right-asymmetric", 2: "left-symmetric", 3: "right-symmetric",
    4: "parity-first", 5: "parity-last",
    8: "ddf-zero-restart", 9: "ddf-N-restart", 10: "ddf-N-continue",
    16: "left-asymmetric-6", 17: "right-asymmetric-6", 18: "left-symmetric-6",
    19: "right-symmetric-6", 20: "parity-first-6",
}  # fmt: skip
_BEGINS = re.compile(
    r"\s*(?:Personalities\b|unused devices|md\S{0,60}\s*:\s|\d+ blocks|bitmap:|\[[=>.]|(?:resync|recovery|check|repair|reshape)\s*=)"
)
_LONGEST = 20_000
_BLOCKS = re.compile(r"(?<=\s)\d{1,15} blocks\b.*")
_TOLERATED = {"raid0": 0, "linear": 0, "raid4": 1, "raid5": 1, "raid6": 2}


@dataclass(frozen=True)
class MdMember:
    """`state`: in sync, spare, faulty, write-mostly, journal, replacement, rebuilding."""

    device: str
    number: int
    state: str = "in sync"

    @property
    def carries_data(self) -> bool:
        return self.state not in ("spare", "faulty", "journal")


@dataclass(frozen=True)
class MdArray:
    """Sizes in bytes, progress as a fraction. `places`: `U` for a working place, `_` for a missing one."""

    name: str
    activity: str
    access: str = ""
    level: str = ""
    members: tuple[MdMember, ...] = ()
    size: int | None = None
    metadata: str = ""
    chunk_size: int | None = None
    layout: str = ""
    places: str = ""
    raid_devices: int | None = None
    active_devices: int | None = None
    action: str = ""
    progress: float | None = None
    bitmap: str = ""

    @property
    def is_container(self) -> bool:
        return self.metadata.startswith("external:") and not self.metadata.startswith("external:/")

    @property
    def missing(self) -> int:
        if self.places:
            return self.places.count("_")
        return max(0, (self.raid_devices or 0) - (self.active_devices or 0))

    @property
    def state(self) -> str:
        """clean, checking, resyncing, recovering, reshaping, degraded, failed or inactive."""
        if self.activity == "inactive":
            return "inactive"
        if self.activity == "broken" or self.missing > self._tolerated:
            return "failed"
        doing = {"resync": "resyncing", "recovery": "recovering", "reshape": "reshaping"}.get(self.action, "")
        if doing or self.missing:
            return doing or "degraded"
        return "checking" if self.action else "clean"

    @property
    def _tolerated(self) -> int:
        """How many places may be missing before data are gone; a mirror lives on one, RAID 10 at least on half."""
        places = len(self.places) or self.raid_devices or 0
        return _TOLERATED.get(self.level, {"raid1": places - 1, "raid10": places // 2}.get(self.level, places))


@dataclass(frozen=True)
class MdStat:
    arrays: tuple[MdArray, ...] = ()
    personalities: tuple[str, ...] = ()
    warnings: tuple[str, ...] = field(default=())

    def by_name(self) -> dict[str, MdArray]:
        return {array.name: array for array in self.arrays}


def read(lines: Sequence[str]) -> MdStat | None:
    """None when the lines are no mdstat; members that cannot be read become warnings with their line, from 1."""
    arrays: dict[str, MdArray] = {}
    personalities: tuple[str, ...] | None = None
    warnings: list[str] = []
    current = ""
    for number, line in joined(lines):
        begun = line.lstrip()
        if begun.startswith("Personalities"):
            personalities = tuple(re.findall(r"\[(\w{1,20})\]", line))
        elif head := _ARRAY.match(begun.rstrip()):
            current = head[1]
            arrays[current] = _begun(head, number, warnings)
            if blocks := _BLOCKS.search(begun[:_LONGEST]):  # all of it in one line, as a mail program may flow it
                arrays[current] = _measured(arrays[current], blocks[0][:2000])
                arrays[current] = _acting(arrays[current], blocks[0][:2000])
        elif begun.startswith("unused devices"):
            current = ""
        elif current:
            arrays[current] = _continued(arrays[current], line[:2000])
    if personalities is None and not arrays:
        return None
    return MdStat(tuple(map(_with_rebuilding, arrays.values())), personalities or (), tuple(warnings))


def joined(lines: Sequence[str]) -> list[tuple[int, str]]:
    """(number, line) with what a mail program wrapped put back; it may have cut a number in two."""
    whole: list[tuple[int, str]] = []
    for number, line in enumerate(lines, start=1):
        before = whole[-1][1] if whole else ""
        if not before.strip() or not line.strip() or _BEGINS.match(line):
            whole.append((number, line))
            continue
        blank = "" if before[-1].isdigit() and line[0].isdigit() else " "
        whole[-1] = (whole[-1][0], f"{before.rstrip()}{blank}{line.strip()}"[:_LONGEST])
    return whole


def _begun(head: re.Match[str], number: int, warnings: list[str]) -> MdArray:
    words = _BLOCKS.sub("", head[4]).split()
    level = words.pop(0) if words and "[" not in words[0] else ""
    members = []
    for word in words:
        if match := _MEMBER.fullmatch(word):
            members.append(MdMember(match[1], int(match[2]), _member_state(match[3])))
        else:
            warnings.append(f"mdstat, line {number}: found {word[:60]!r}, expected a member such as sda1[0]")
    members.sort(key=lambda member: (not member.carries_data, member.number))
    return MdArray(head[1], head[2], head[3].strip(" ()"), level[:20], tuple(members))


def _with_rebuilding(array: MdArray) -> MdArray:
    """In superblock 0.90 the numbers of places come first; in 1.x a number says nothing of it."""
    if array.action != "recovery" or not array.missing or (array.metadata and not array.metadata.startswith("0.9")):
        return array
    first = array.raid_devices or len(array.places)
    members = tuple(
        replace(one, state="rebuilding") if one.number >= first and one.state == "in sync" else one
        for one in array.members
    )
    return replace(array, members=members)


def _member_state(flags: str) -> str:
    for letter in "FSJRW":
        if f"({letter})" in flags:
            return _FLAGS[letter]
    return "in sync"


def _continued(array: MdArray, line: str) -> MdArray:
    if line.strip().startswith("bitmap:"):
        return replace(array, bitmap=line.strip().removeprefix("bitmap:").strip()[:100])
    acting = _acting(array, line)
    return acting if acting is not array else _measured(array, line)


def _acting(array: MdArray, line: str) -> MdArray:
    if action := _ACTION.search(line):
        progress = min(round(float(action[2]) / 100, 4), 1.0) if action[2] else None
        return replace(array, action=action[1], progress=progress)
    return array


def _measured(array: MdArray, line: str) -> MdArray:
    blocks = re.match(r"\s*(\d{1,15}) blocks", line)
    if not blocks:
        return array
    chunk = re.search(r"(\d{1,12})[kK] chunks?\b", line)
    algorithm = re.search(r"algorithm (\d{1,3})\b", line)
    copies = re.search(r"\d+ (?:near|far|offset)-copies", line)
    metadata = re.search(r"super (\S{1,60})", line)
    counts = re.search(r"\[(\d{1,6})/(\d{1,6})\]", line)
    places = re.search(r"\[([U_]{1,2000})\]", line)
    return replace(
        array,
        size=int(blocks[1]) * 1024,
        chunk_size=int(chunk[1]) * 1024 if chunk else None,
        layout=_ALGORITHMS.get(int(algorithm[1]), algorithm[0]) if algorithm else copies[0] if copies else "",
        metadata=metadata[1] if metadata else "",
        raid_devices=int(counts[1]) if counts else None,
        active_devices=int(counts[2]) if counts else None,
        places=places[1] if places else "",
    )

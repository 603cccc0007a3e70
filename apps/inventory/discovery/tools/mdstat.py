"""`/proc/mdstat` of Linux 2.6 to 6.x: software RAID by md.

    md0 : active raid5 sdd1[3] sdc1[2](F) sdb1[0]
          1953260544 blocks super 1.2 level 5, 512k chunk, algorithm 2 [3/2] [U_U]
          [==>..................]  recovery = 11.2% (82505280/732571904) finish=197.2min speed=54928K/sec

Blocks and chunks are counted in 1024 bytes. The number in brackets after a member is md's own number for it, near to
but not always its place. Flags: (F) faulty, (S) spare, (W) write-mostly, (J) journal, (R) replacement. `inactive` may
lack the level; Intel's and DDF's containers (`super external:imsm`) are inactive and no arrays themselves.
`resync=DELAYED` and `=PENDING` wait for their turn. The `unused devices` line may be missing, and an md-less kernel
has no such file. While a spare of an array without superblock 1.x is rebuilt, its number is behind those of the places.

`/proc/mdstat`: software RAID by md. What it means is in `md_arrays`, which the discovery of hosts reads too.

    md0 : active raid5 sdd1[3] sdc1[2](F) sdb1[0]

Content: {"personalities": […], "arrays": [{"name", "level", "state", "members": [{"device", "number", "state"}], …}]},
sizes in bytes. A text may hold several of them, with prose between.

`/proc/mdstat` as an agent sends it is read like that of uploaded files.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from apps.inventory.discovery.looks import ToolLook
from apps.inventory.discovery.tool_output import Block, Content, blanked, count, parse_blocks
from apps.inventory.discovery.tool_values import UnreadableError
from apps.parsers.core.models import ParsedFile
from apps.parsers.core.source_text import SourceText

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
_SIZES = re.compile(  # what follows the members: on a line of its own, except where there are none
    r"(?:(?<=\s)|^)(?:\d{1,15} blocks\b|super \S|level \d{1,3},|\d{1,12}[kK] (?:chunks?|rounding)\b|\d{1,3} (?:near|far|offset)-copies"
    r"|\[\d{1,6}/\d{1,6}\]).*"
)
_TOLERATED = {"raid0": 0, "linear": 0, "raid4": 1, "raid5": 1, "raid6": 2}


@dataclass(frozen=True)
class MdMember:
    """A member of an md array, in sync, spare, faulty, write-mostly, journal, replacement or rebuilding (`state`)."""

    device: str
    number: int
    state: str = "in sync"

    @property
    def carries_data(self) -> bool:
        return self.state not in ("spare", "faulty", "journal")


@dataclass(frozen=True)
class MdArray:
    """An md array.

    Sizes are in bytes, progress is a fraction; `places` has `U` for a working member and `_` for a missing one.
    """

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
        if self.raid_devices is not None:
            return max(0, self.raid_devices - (self.active_devices or 0))
        return sum(member.state == "faulty" for member in self.members)

    @property
    def state(self) -> str:
        """Return clean, checking, resyncing, recovering, reshaping, degraded, failed, inactive or '' (not printed)."""
        if not self.activity:
            return ""
        if self.activity == "inactive":
            return "inactive"
        if self.activity == "broken" or self.missing > self._tolerated or self._has_lost_copies:
            return "failed"
        if self.level and not self.members and not self.places:
            return "failed"  # nothing is left of a striped array, of which the kernel counts no places
        doing = {"resync": "resyncing", "recovery": "recovering", "reshape": "reshaping"}.get(self.action, "")
        if doing or self.missing:
            return doing or "degraded"
        return "checking" if self.action else "clean"

    @property
    def _tolerated(self) -> int:
        """Return how many members may be missing before data are lost; a mirror needs one, RAID 10 at least half."""
        places = len(self.places) or self.raid_devices or 0
        return _TOLERATED.get(self.level, {"raid1": places - 1, "raid10": places // 2}.get(self.level, places))

    @property
    def _has_lost_copies(self) -> bool:
        """Return whether all places that hold the copies of some chunk of a RAID 10 are missing.

        Copies stand in adjacent places (md(4)), which are the same ones for each chunk where the copies divide the places.
        """
        layout = re.match(r"(\d{1,3}) (near|far|offset)-copies", self.layout)
        if self.level != "raid10" or not layout or not self.places:
            return False
        copies, places = int(layout[1]), self.places
        if layout[2] == "near" and copies and len(places) % copies == 0:
            return any(set(places[at : at + copies]) == {"_"} for at in range(0, len(places), copies))
        return "_" * copies in places + places[: copies - 1]


@dataclass(frozen=True)
class MdStat:
    arrays: tuple[MdArray, ...] = ()
    personalities: tuple[str, ...] = ()
    warnings: tuple[str, ...] = field(default=())
    earlier: frozenset[str] = frozenset()  # names of arrays that only an earlier look listed

    def with_earlier(self, before: "MdStat", look: ToolLook) -> "MdStat":
        """Return the arrays with those of the looks before, which this partial `look` did not look for."""
        mine = self.by_name()
        rest = tuple(array for array in before.arrays if array.name not in mine)
        personalities = self.personalities or before.personalities
        return MdStat((*self.arrays, *rest), personalities, self.warnings, frozenset(one.name for one in rest))

    def by_name(self) -> dict[str, MdArray]:
        return {array.name: array for array in self.arrays}


def read_arrays(lines: Sequence[str]) -> MdStat | None:
    """Parse mdstat; None when the lines are no mdstat.

    Members that cannot be read become warnings with their line number, counted from 1.
    """
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
            # All in one line: the kernel begins no other one for an array without members, and mail programs flow them.
            if sizes := _SIZES.search(head[4][:_LONGEST]):
                arrays[current] = _measured(arrays[current], sizes[0][:2000])
                arrays[current] = _acting(arrays[current], sizes[0][:2000])
        elif begun.startswith("unused devices"):
            current = ""
        elif current:
            arrays[current] = _continued(arrays[current], line[:2000])
    if personalities is None and not arrays:
        return None
    return MdStat(tuple(map(_with_rebuilding, arrays.values())), personalities or (), tuple(warnings))


def joined(lines: Sequence[str]) -> list[tuple[int, str]]:
    """Return (number, line) for each line, with lines rejoined that a mail program wrapped, even inside a number."""
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
    words = _SIZES.sub("", head[4][:_LONGEST]).split()
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
    """Mark the members that are rebuilding.

    With superblock 0.90 the numbers below the array's size are places; with 1.x a number says nothing about it.
    """
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
    sizes = _SIZES.match(line.lstrip())
    if not sizes:
        return array
    blocks = re.match(r"\s*(\d{1,15}) blocks", line)
    chunk = re.search(r"(\d{1,12})[kK] chunks?\b", line)
    algorithm = re.search(r"algorithm (\d{1,3})\b", line)
    copies = re.search(r"\d+ (?:near|far|offset)-copies", line)
    metadata = re.search(r"super (\S{1,60})", line)
    counts = re.search(r"\[(\d{1,6})/(\d{1,6})\]", line)
    places = re.search(r"\[([U_]{1,2000})\]", line)
    return replace(
        array,
        size=int(blocks[1]) * 1024 if blocks else array.size,
        chunk_size=int(chunk[1]) * 1024 if chunk else array.chunk_size,
        layout=_layout(algorithm, copies) or array.layout,
        metadata=metadata[1] if metadata else array.metadata,
        raid_devices=int(counts[1]) if counts else array.raid_devices,
        active_devices=int(counts[2]) if counts else array.active_devices,
        places=places[1] if places else array.places,
    )


def _layout(algorithm: re.Match[str] | None, copies: re.Match[str] | None) -> str:
    if algorithm:
        return _ALGORITHMS.get(int(algorithm[1]), algorithm[0])
    return copies[0] if copies else ""


NAME = "mdstat"
TITLE = "/proc/mdstat"
_BEGIN = re.compile(r"(\s{0,40})Personalities ?:")
_LIKE = re.compile(r"^[>#\s]{0,40}Personalities ?:", re.MULTILINE)
_ARRAY_LINE = re.compile(r"(\s{0,40})(md\w{1,60})\s?: (?:active|inactive|broken) [^\n]*\[\d")
_INSIDE = re.compile(
    r"\s+\S|read_ahead \d|Event: \d|md\S{0,60}\s*:\s|finish=|\d+[kK] chunk|speed=|blocks super|algorithm \d"
    r"|\d{1,15} blocks\b|bitmap:|\[[=>.]{2,40}\]|(?:resync|recovery|check|repair|reshape)\s?="  # without indentation
    r"|(?:\d{1,2} |(?:near|far|offset)-copies ?)?\[\d+/\d+\]|(?:near|far|offset)-copies\s*$"  # wrapped by mail
    r"|\[[U_]{1,200}\]|\[(?:raid|linear)|(?:\[\w{1,20}\]\s*)++$"
)
_ANY_MEMBER = re.compile(r"[\w!/-]\[\d{1,6}\]")


def looks_like(text: SourceText) -> float:
    text = blanked(text)
    if _LIKE.search(text.by_lines):
        return 1.0
    return 0.8 if "active " in text.text and any(map(_ARRAY_LINE.match, text.lines)) else 0.0


def parse(text: SourceText) -> ParsedFile:
    found = parse_blocks(text, NAME, _blocks, _read, "Personalities : …")
    warnings = [
        f"mdstat from line {one.line} on, its {told.removeprefix('mdstat, ')}"
        for one in found.inventory
        for told in one.content.pop("warnings")
    ]
    return replace(found, warnings=(*found.warnings, *warnings))


def _blocks(lines: Sequence[str]) -> Iterator[Block]:
    """Yield each block from `Personalities`, or the first array, to its end.

    It ends at `unused devices`, an array that was listed already, or a line that is none of it.
    """
    index = 0
    while index < len(lines):
        begun = _BEGIN.match(lines[index]) or _ARRAY_LINE.match(lines[index])
        end = _end(lines, index, begun[1]) if begun else 0
        if end:
            yield index, end
        index = max(end, index + 1)


def _end(lines: Sequence[str], first: int, margin: str) -> int:
    """Return the index after the block's last line; `margin` is what a page put before every line."""
    names: set[str] = set()
    last = first
    for index in range(first, len(lines)):
        if not lines[index] or lines[index].isspace():
            continue
        line = lines[index].removeprefix(margin)
        array = _ARRAY_LINE.match(lines[index])
        if index > first and (_BEGIN.match(lines[index]) or (array and array[2] in names)):
            break
        if line.startswith("unused devices"):
            return index + 1
        is_more = _ANY_MEMBER.search(line) and _ANY_MEMBER.search(
            lines[index - 1]
        )  # words that are no member become warnings
        if index > first and not (is_more or _INSIDE.match(line)):
            break
        names.update([array[2]] if array else [])
        last = index
    return last + 1


def _read(lines: Sequence[str]) -> tuple[str, Content]:
    found = read_arrays(lines)
    if found is None:
        raise ValueError("an array such as md0 : active raid1 sda1[0] sdb1[1]")
    arrays = [
        {**vars(array), "members": tuple(dict(vars(one)) for one in array.members), "state": array.state}
        for array in found.arrays
    ]
    summary = "; ".join(map(_summary, found.arrays[:4])) or "no arrays"
    more = f"; {len(arrays) - 4} more" if len(arrays) > 4 else ""
    content = {"personalities": list(found.personalities), "arrays": arrays, "warnings": list(found.warnings)}
    return summary + more, content


def _summary(array: MdArray) -> str:
    chunk = f", chunk {array.chunk_size // 1024}K" if array.chunk_size else ""
    devices = array.raid_devices or len(array.members)  # one that is missing is not listed, a spare is none of them
    spares = sum(one.state == "spare" for one in array.members) if array.raid_devices else 0
    more = f" and {count(spares, 'spare')}" if spares else ""
    return f"{array.name}: {array.level or 'no level'} of {count(devices, 'device')}{more}, {array.state}{chunk}"


TOOL = "mdstat"
MAX_LINES = 20_000


def discover(printed: str) -> MdStat:
    """Parse the text of /proc/mdstat; members that cannot be read become warnings with their line.

    Raises:
        UnreadableError: for text that is not mdstat.
    """
    found = read_arrays(printed.splitlines()[:MAX_LINES])
    if found is None:
        raise UnreadableError(TOOL, next(iter(printed.strip().splitlines()), ""), "Personalities : …", 1)
    return found

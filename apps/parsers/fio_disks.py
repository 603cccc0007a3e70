"""What the kernel counted at the disks while fio ran: the I/Os of each direction, and the share of the time in which a disk was busy.

    "disk_util" : [{"name" : "sda", "read_ios" : 10, "write_ios" : 20, "read_sectors" : 80, …, "util" : 98.412698}]      JSON
    Disk stats (read/write):                                                                                       normal report
      sda: ios=10/20, sectors=80/160, merge=0/1, ticks=12/34, in_queue=46, util=98.41%
        md0: ios=10/20, merge=0/0, …, util=0.00%, aggrios=5/10, aggrmerge=0/0, …, aggrutil=98.41%
    …;sda;10;20;0;1;12;34;46;98.41%;md0;10;20;0;0;0;0;0;0.00%;slaves;5;10;0;0;6;17;23;98.41%                                 terse

fio reads `/sys/block/…/stat` at its beginning, some times a second, and at its end, also of the members of an md array or of a volume, each
in an entry of its own; what begins with `aggr`, or stands behind `slaves`, are the members' means, and no disk's (diskutil.c). A disk's
samples are told apart by their section, counted from 0 in the report's order, and name it in their note. `util` is a percentage; 0 beside
I/Os is no measurement (kernels do not time some md arrays). Sectors are 512 bytes, and printed by late 3.x. Merges and ticks stay in the
raw report.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from apps.parsers.fio_documents import Number
from apps.parsers.fio_lines import NOWHERE, Lines, Place, same
from apps.parsers.shape import ParsedSample

MOST_DISKS = 1024
NOT_TIMED = "0 beside its I/Os: the kernel does not time this device"
_FIGURES = (  # key, metric, the unit that people write, times, per
    ("read_ios", "disk_reads", "reads", 1, 1), ("write_ios", "disk_writes", "writes", 1, 1),
    ("read_sectors", "disk_bytes_read", "sectors", 512, 1), ("write_sectors", "disk_bytes_written", "sectors", 512, 1),
    ("util", "disk_util", "%", 1, 100),
)  # fmt: skip
_LONGEST = 64
_LARGEST = 1e18
_ARRAY = re.compile(rb'"disk_util"\s*:\s*\[')
_TEXT = re.compile(r"\s{0,60}(\S{1,64}): ios=(\d{1,18})/(\d{1,18})(?=[,\s]|\Z)")
_SECTORS = re.compile(r", sectors=(\d{1,18})/(\d{1,18}),")
_BUSY = re.compile(r"[, ]util=(\d{1,9}(?:\.\d{1,9})?)%")
_FIELD = re.compile(r"\d{1,18}\Z")
_SHARE = re.compile(r"\d{1,9}(?:\.\d{1,9})?%\Z")
_TERSE = 9  # fields of a disk
_UNFIT = re.compile("[\x00-\x1f\ud800-\udfff]")


class Disk(Struct):
    name: str = ""
    read_ios: Number = None
    write_ios: Number = None
    read_sectors: Number = None
    write_sectors: Number = None
    util: Number = None

    @property
    def has_worked(self) -> bool:
        return bool(self.read_ios or self.write_ios)


class Printed(Struct):
    """A disk of the normal or the terse report, with the characters of each of its figures."""

    words: dict[str, str]  # by the names of `Disk`
    line: int

    def disk(self) -> Disk:
        numbers = {key: float(word) for key, word in self.words.items() if key != "name"}
        return Disk(self.words["name"], **numbers)


def disks_of(listed: Any) -> list[Disk] | None:
    """The entries of JSON's `disk_util`; None where they are something else."""
    try:
        return msgspec.convert(listed or [], list[Disk])[:MOST_DISKS]
    except msgspec.ValidationError:
        return None


def samples_of(disks: Sequence[Disk], lines: Lines) -> Iterator[ParsedSample]:
    """Of one JSON document. A figure that is below zero, or none, is left out."""
    parts = _parts(lines) if disks else []
    known = parts if len(parts) == len(disks) else [None] * len(disks)
    for number, (disk, part) in enumerate(zip(disks, known, strict=True)):
        yield from _samples(
            number, disk, {key: same(lines.value(key, part), getattr(disk, key)) for key, *_ in _FIGURES}
        )


def printed_samples(disks: Sequence[Printed]) -> Iterator[ParsedSample]:
    """Of one normal or terse report."""
    for number, one in enumerate(disks):
        yield from _samples(number, one.disk(), {key: Place(one.line, word) for key, word in one.words.items()})


def in_text(line: str, below: str, number: int) -> Printed | None:
    """The disk of a line of the normal report; `below` is the next line, for where a mail wrapped this one."""
    if (found := _TEXT.match(line)) is None:
        return None
    words = {"name": found[1], "read_ios": found[2], "write_ios": found[3]}
    whole = line[:1000] if "util=" in line or ": ios=" in below else f"{line[:1000]} {below[:1000].strip()}"
    if sectors := _SECTORS.search(whole):
        words |= {"read_sectors": sectors[1], "write_sectors": sectors[2]}
    if busy := _BUSY.search(whole):
        words["util"] = busy[1]
    return Printed(words, number)


def in_terse(fields: Sequence[str], number: int) -> list[Printed]:
    """The disks at the end of a terse record: `fields` are those behind the shares of latencies."""
    found: list[Printed] = []
    for start in range(0, len(fields) - _TERSE + 1, _TERSE):
        name, *counts, share = fields[start : start + _TERSE]
        if not all(map(_FIELD.match, counts)) or not _SHARE.match(share) or len(found) == MOST_DISKS:
            break  # the errors and the description come behind the disks
        if name != "slaves":
            words = {"name": name, "read_ios": counts[0], "write_ios": counts[1], "util": share.removesuffix("%")}
            found.append(Printed(words, number))
    return found


def _samples(number: int, disk: Disk, places: Mapping[str, Place]) -> Iterator[ParsedSample]:
    note = f"disk {_UNFIT.sub('', disk.name)[:_LONGEST]}" if disk.name else ""
    for key, metric, unit, times, per in _FIGURES:
        found: Number = getattr(disk, key)
        if found is None or not 0 <= found < _LARGEST:
            continue
        place = places.get(key, NOWHERE)
        printed = f"{place.printed} {unit}" if place.printed else ""
        reason = NOT_TIMED if key == "util" and not found and disk.has_worked else ""
        value = None if reason else found * times / per
        yield ParsedSample(
            "disk", metric, value, number, printed=printed, line=place.line, missing_reason=reason, note=note
        )


def _parts(lines: Lines) -> list[tuple[int, int]]:
    """Each disk's part of the text, from one `name` to the next. An option of the same name is no list."""
    if (found := _ARRAY.search(lines.data, lines.start, lines.end)) is None:
        return []
    end = lines.data.find(b"]", found.end(), lines.end)
    return lines.parts("name", (found.end(), end if end >= 0 else lines.end))

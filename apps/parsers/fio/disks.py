"""The kernel's counts at the disks while fio ran: the I/Os of each direction, and the share of time in which a disk was busy.

    "disk_util" : [{"name" : "sda", "read_ios" : 10, "write_ios" : 20, "read_sectors" : 80, …, "util" : 98.412698}]      JSON
    Disk stats (read/write):                                                                                       normal report
      sda: ios=10/20, sectors=80/160, merge=0/1, ticks=12/34, in_queue=46, util=98.41%
        md0: ios=10/20, merge=0/0, …, util=0.00%, aggrios=5/10, aggrmerge=0/0, …, aggrutil=98.41%
    …;sda;10;20;0;1;12;34;46;98.41%;md0;10;20;0;0;0;0;0;0.00%;slaves;5;10;0;0;6;17;23;98.41%                                 terse

fio reads `/sys/block/…/stat` at its beginning, some times a second, and at its end. Members of an md array or a volume
have entries of their own; figures that begin with `aggr`, or stand behind `slaves`, are means over the members and
belong to no disk (diskutil.c). The samples of a disk have its number as section, counted from 0 in the report's order,
and its name in their note. `util` is a percentage; 0 beside I/Os is no measurement (kernels do not time some md
arrays). Sectors are 512 bytes, and printed by late 3.x. Merges and ticks are not read.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec
from msgspec import Struct

from apps.parsers.core.models import ParsedSample
from apps.parsers.fio.json.documents import Number
from apps.parsers.fio.json.lines import NOWHERE, FioLines, FioPlace, match_place

MOST_DISKS = 1024
NOT_TIMED = "0 beside its I/Os: the kernel does not time this device"
_FIGURES = (  # key, metric, printed unit, multiplier, divisor
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


class FioDisk(Struct):
    """A disk's counts; None where they are missing."""

    name: str = ""
    read_ios: Number = None
    write_ios: Number = None
    read_sectors: Number = None
    write_sectors: Number = None
    util: Number = None

    @property
    def has_worked(self) -> bool:
        """Return whether the disk did any I/O."""
        return bool(self.read_ios or self.write_ios)


class PrintedDisk(Struct):
    """A disk of the normal or the terse report, with the characters of each of its figures."""

    words: dict[str, str]  # by the field names of `FioDisk`
    line: int

    def make_disk(self) -> FioDisk:
        """Return the disk with its figures as numbers."""
        numbers = {key: float(word) for key, word in self.words.items() if key != "name"}
        return FioDisk(self.words["name"], **numbers)


def read_disks(listed: object) -> list[FioDisk] | None:
    """Return the entries of JSON's `disk_util`; None where they are something else."""
    try:
        return msgspec.convert(listed or [], list[FioDisk])[:MOST_DISKS]
    except msgspec.ValidationError:
        return None


def iterate_disk_samples(disks: Sequence[FioDisk], lines: FioLines) -> Iterator[ParsedSample]:
    """Yield the samples of the disks in one JSON document. Negative or missing figures have none."""
    parts = _find_parts(lines) if disks else []
    known = parts if len(parts) == len(disks) else [None] * len(disks)
    for number, (disk, part) in enumerate(zip(disks, known, strict=True)):
        yield from _iterate_samples(
            number, disk, {key: match_place(lines.value(key, part), getattr(disk, key)) for key, *_ in _FIGURES}
        )


def iterate_printed_samples(disks: Sequence[PrintedDisk]) -> Iterator[ParsedSample]:
    """Yield the samples of the disks in one normal or terse report."""
    for number, disk in enumerate(disks):
        yield from _iterate_samples(
            number, disk.make_disk(), {key: FioPlace(disk.line, word) for key, word in disk.words.items()}
        )


def read_text_disk(line: str, below: str, number: int) -> PrintedDisk | None:
    """Read the disk in a line of the normal report; `below` is the next line, which is joined where a mail wrapped this one."""
    if (match := _TEXT.match(line)) is None:
        return None
    words = {"name": match[1], "read_ios": match[2], "write_ios": match[3]}
    whole = line[:1000] if "util=" in line or ": ios=" in below else f"{line[:1000]} {below[:1000].strip()}"
    if sectors := _SECTORS.search(whole):
        words |= {"read_sectors": sectors[1], "write_sectors": sectors[2]}
    if busy := _BUSY.search(whole):
        words["util"] = busy[1]
    return PrintedDisk(words, number)


def read_terse_disks(fields: Sequence[str], number: int) -> list[PrintedDisk]:
    """Read the disks at the end of a terse record: `fields` are those behind the shares of latencies."""
    disks: list[PrintedDisk] = []
    for start in range(0, len(fields) - _TERSE + 1, _TERSE):
        name, *counts, share = fields[start : start + _TERSE]
        if not all(map(_FIELD.match, counts)) or not _SHARE.match(share) or len(disks) == MOST_DISKS:
            break  # behind the disks come errors and the description
        if name != "slaves":
            words = {"name": name, "read_ios": counts[0], "write_ios": counts[1], "util": share.removesuffix("%")}
            disks.append(PrintedDisk(words, number))
    return disks


def _iterate_samples(number: int, disk: FioDisk, places: Mapping[str, FioPlace]) -> Iterator[ParsedSample]:
    note = f"disk {_UNFIT.sub('', disk.name)[:_LONGEST]}" if disk.name else ""
    for key, metric, unit, times, per in _FIGURES:
        figure: Number = getattr(disk, key)
        if figure is None or not 0 <= figure < _LARGEST:
            continue
        place = places.get(key, NOWHERE)
        printed = f"{place.printed} {unit}" if place.printed else ""
        reason = NOT_TIMED if key == "util" and not figure and disk.has_worked else ""
        value = None if reason else figure * times / per
        yield ParsedSample(
            "disk", metric, value, number, printed=printed, line=place.line, missing_reason=reason, note=note
        )


def _find_parts(lines: FioLines) -> list[tuple[int, int]]:
    """Return each disk's part of the text, from one `name` to the next. A job option called disk_util is no list."""
    if (match := _ARRAY.search(lines.data, lines.start, lines.end)) is None:
        return []
    end = lines.data.find(b"]", match.end(), lines.end)
    return lines.parts("name", (match.end(), end if end >= 0 else lines.end))

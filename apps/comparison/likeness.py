"""Which runs repeat each other, and which cells may be held against each other.

Two readings are of one configuration when every fact that can matter is equal: host, disks, array, filesystem, tool,
workload and its point, and the job of a report where it has several. A fact that is known for one of them only is not
equal. Facts that describe a single run (seeds, run numbers, names of jobs and files, times, free text) never matter.

Two cells of one configuration each are held against each other when they differ in nothing but the facts that the
question compares and what those imply: another controller for hardware RAID, mkfs options for another filesystem.
"""

import re
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from apps.comparison.fact_names import is_count, is_of_one_run, plain
from apps.comparison.labels import UNKNOWN, label_of, text_of
from apps.comparison.readings import FILE_SIZE_OVER_RAM, LABEL, POINT, Reading

# Names of what was measured. Where the target is known they add nothing to it.
PLACES = ("machine", "path", "mount_point", "device", "caption")
# Names, rather than properties, of what two cells are about.
NAMES = frozenset({LABEL, "configuration", "study", "target", "array", *PLACES})
# A series by one of these is of a whole thing, and all its facts are its own. The workload is none of them.
WHOLE = frozenset({LABEL, "configuration", "study", "target", "machine", "path", "device", "caption", "mount_point"})
WORKLOAD = frozenset({*POINT, "tool", "tool_version", "rw", "ioengine", "direct", "sync", "stdio", "size"})
# Facts that every measured place has, whether somebody wrote them down or not.
ALWAYS_THERE = ("cpu", "disk_model", "filesystem", "interface", "kernel", "ram")
_NO_ARRAY = ("single", "none", "jbod", "0 disks")
_OF_ARRAYS = frozenset({
    "raid_level", "raid_implementation", "chunk_size", "disk_count", "array", "controller", "controller_cache",
})  # fmt: skip
# A fact → those that come with it. A name that ends in `*` stands for all that begin so.
IMPLIED: Mapping[str, tuple[str, ...]] = {
    "host": ("ram", "cpu*", "kernel*", "os*", "architecture", "board", "environment", "hypervisor*", "controller*"),
    "raid_implementation": ("controller*", "cache_policy", "cache_protection", "write_policy", "raid_version"),
    "interface": ("disk_model", "disk_vendor", "disk_cache", "disk_rpm", "disk_firmware", "disk_capacity", "controller*"),
    "disk_model": ("disk_vendor", "disk_cache", "disk_rpm", "disk_firmware", "disk_capacity", "interface"),
    "filesystem": ("mkfs_options", "mount_options", "filesystem_*"),
    "controller": ("controller_*", "cache_protection"),
    "controller_cache": ("cache_protection",),
    "environment": ("hypervisor*", "guest*"),
    "kernel": ("os", "os_version"),
    "os": ("kernel", "os_version"),
    "tool": ("tool_version",),
    "direct": ("sync",),
    "sync": ("direct",),
    FILE_SIZE_OVER_RAM: ("file_size", "ram"),
}  # fmt: skip
_REPEATED = re.compile(
    r"\b(run|round|pass|test|rep(etition)?|iteration|trial|try|reset|loop|attempt)s?\W*\d+(\s*(of|/)\s*\d+)?\b"
    r"|\b(real|user|sys|elapsed)\s+[\d.:hms]+|\d{1,4}[-/:.]\d{1,2}[-/:.]\d{1,4}\S*",
    re.IGNORECASE,
)
# `job.0.0` is what fio calls the files of a job, `tmp.x3Fa` what mktemp does.
_GENERATED = re.compile(
    r".*?(\.\d+){1,2}|(.*[._-])?(tmp|temp)([._-].*|[0-9a-z_]{6,8})?|(?=.*\d)[0-9a-f-]{8,}(\.\w{1,4})?|Bonnie\W.*",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?P<word>[a-z]*)[._-]?\d+", re.IGNORECASE)
_NUMBERED = frozenset({  # things that are called by their number: `raid5.img` and `raid6.img` are no repetitions
    "raid", "ext", "fat", "md", "nvme", "sata", "sas", "usb", "pcie", "level", "disk", "drive", "hdd", "ssd", "lun", "vol", "volume",
    "pool", "array", "host", "node", "server", "kernel", "v", "version",
})  # fmt: skip
Facts = Mapping[str, str]
Key = tuple[int, tuple[int | None, ...]]


@dataclass(frozen=True)
class CellMember:
    """One of the unlike configurations in a cell: what of it differs from the others, as text, and its runs."""

    facts: dict[str, str]
    runs: tuple[int, ...]
    mean: float

    @property
    def text(self) -> str:
        return ", ".join(f"{label_of(name)} {value}" for name, value in self.facts.items())


class Likeness:
    """Tells the configurations of one comparison apart. Each run's facts are looked at once."""

    def __init__(self) -> None:
        self._numbers: dict[frozenset[tuple[str, str]], int] = {}
        self._facts: list[dict[str, str]] = []
        self._of_runs: dict[tuple[int, frozenset[tuple[str, str]]], tuple[Any, int]] = {}
        self._asked: set[str] = set(WORKLOAD)  # names of facts that are of the workload
        self._between: dict[tuple[Any, ...], tuple[str, ...]] = {}
        self._known: set[str] = set()  # of what every place has, the names that some reading tells

    def key(self, reading: Reading) -> Key:
        """Return what is equal for readings of one configuration, and for no others."""
        place = id(reading.facts), frozenset(reading.part.items())
        known = self._of_runs.get(place)
        if known is None or known[0] is not reading.facts:
            workload = reading.evidence.workload
            self._asked.update(workload, reading.part)
            facts = {**workload, **run_facts(reading), **reading.part}
            number = self._numbers.setdefault(frozenset(facts.items()), len(self._facts))
            if number == len(self._facts):
                self._facts.append(facts)
                self._known.update(name for name in ALWAYS_THERE if name in facts)
            known = self._of_runs[place] = reading.facts, number  # kept, so that its id stays its own
        return known[1], (reading.file_size, reading.block_size, reading.threads, reading.iodepth)

    def facts(self, key: Key) -> dict[str, str]:
        """Return the facts of a configuration with its point, as plain text; what is unknown is left out."""
        point = {name: str(value) for name, value in zip(POINT, key[1], strict=True) if value is not None}
        return self._facts[key[0]] | point

    def members(self, readings: Sequence[Reading]) -> dict[Any, list[Reading]]:
        """Return the readings that have a value by their configuration. Two configurations of studies are two."""
        groups: dict[Any, list[Reading]] = {}
        for reading in readings:
            if reading.value is not None:
                groups.setdefault(self.key(reading), []).append(reading)
        names = {name for some in groups.values() for reading in some if (name := _configuration(reading))}
        if len(names) < 2:
            return groups
        apart: dict[Any, list[Reading]] = {}
        for key, some in groups.items():
            for reading in some:
                apart.setdefault((*key, _configuration(reading)), []).append(reading)
        return apart

    def differing(self, members: Mapping[Any, Sequence[Reading]]) -> tuple[str, ...]:
        """Return the names of the facts that differ between the members of a cell."""
        facts = [
            self.facts(key[:2]) | ({"configuration": key[2]} if len(key) > 2 and key[2] else {}) for key in members
        ]
        names = dict.fromkeys(name for fact in facts for name in fact)
        return tuple(sorted(name for name in names if len({fact.get(name) for fact in facts}) > 1))

    def between(self, ours: Key, theirs: Key, compared: tuple[str, ...]) -> tuple[str, ...]:
        """Return the facts that differ between two configurations beyond those compared and what they imply."""
        key = ours, theirs, compared
        if key not in self._between:
            self._between[key] = tuple(_between(self.facts(ours), self.facts(theirs), compared, self._asked))
        return self._between[key]

    def unknown_between(self, ours: Key, theirs: Key, compared: tuple[str, ...]) -> tuple[str, ...]:
        """Return the facts that nobody knows of two configurations at unlike places, although others here have them.

        They may differ. At one place they are equal, and of a whole thing they are its own.
        """
        mine, other = self.facts(ours), self.facts(theirs)
        is_elsewhere = any(name in mine and name in other and mine[name] != other[name] for name in ("host", "target"))
        if not is_elsewhere or WHOLE & {*compared}:
            return ()
        return tuple(
            name
            for name in sorted(self._known - mine.keys() - other.keys() - {*compared})
            if not any(_implies(side, name, mine, other) for side in compared)
        )


def run_facts(reading: Reading) -> dict[str, str]:
    """Return what of a reading's run belongs to its configuration, as plain text; what is unknown is left out."""
    facts_found = {
        name: plain(value)
        for name, value in reading.facts.items()
        if value not in (None, "", UNKNOWN, "not_printed", "not printed") and not is_of_one_run(name)
    }
    for name in [LABEL, "study", "configuration", *(name for name in facts_found if is_count(name, facts_found[name]))]:
        facts_found.pop(name, None)
    if "target" in facts_found:
        for name in PLACES:
            facts_found.pop(name, None)
    else:
        _simplify_places(facts_found)
        if name := _configuration(reading):
            facts_found["configuration"] = name
    return facts_found


def _simplify_places(facts_found: dict[str, str]) -> None:
    """Leave of names what does not differ between repetitions: a path and a caption without their counters."""
    if path := facts_found.get("path"):
        facts_found["path"] = simple_path(path)
    if caption := facts_found.get("caption"):
        facts_found["caption"] = " ".join(_REPEATED.sub(" ", caption).split()).strip(" :,;-=#()")
        if not facts_found["caption"]:
            del facts_found["caption"]


def simple_path(path: str) -> str:
    """Return a path without what is generated in the name of its file: numbers, a job's name, a temporary name.

    Two files that people named are two: `/data/hdd.img` and `/data/ssd.img` need not lie on one disk.
    """
    if path.startswith("/dev/"):
        return path
    directory, slash, name = path.rpartition("/")
    name = "" if _GENERATED.fullmatch(name) else _NUMBER.sub(_without_number, name)
    return f"{directory}{slash}{name}" if name else directory or slash


def _without_number(match: re.Match[str]) -> str:
    return match[0] if match["word"].lower() in _NUMBERED else match["word"]


def _configuration(reading: Reading) -> str:
    name, study = reading.facts.get("configuration"), reading.facts.get("study")
    return f"{name} ({study})" if name and study else str(name or "")


def _between(ours: Facts, theirs: Facts, compared: tuple[str, ...], workload: Set[str]) -> Iterable[str]:
    is_host_known = "host" in ours and "host" in theirs
    for name in sorted({*ours, *theirs}):
        if ours.get(name) == theirs.get(name) or name in compared:
            continue
        if name in NAMES and not (name == "machine" and not is_host_known and not WHOLE & {*compared}):
            continue
        if name not in workload and WHOLE & {*compared}:
            continue
        if not any(_implies(side, name, ours, theirs) for side in compared):
            yield name


def _implies(compared: str, name: str, ours: Facts, theirs: Facts) -> bool:
    """Return whether a difference in `name` comes with one in the fact that is compared."""
    if compared in ("raid_level", "raid_implementation") and name in _OF_ARRAYS:
        kinds = {
            side.get(fact, "").lower() for side in (ours, theirs) for fact in ("raid_level", "raid_implementation")
        }
        if kinds & {*_NO_ARRAY} or (name == "chunk_size" and "none" in (ours.get(name), theirs.get(name))):
            return True
    return any(
        name.startswith(known_name[:-1]) if known_name.endswith("*") else name == known_name
        for known_name in IMPLIED.get(compared, ())
    )


def named(names: Sequence[str], most: int = 3) -> str:
    """Return names of facts for a sentence: `RAM, kernel and 2 more`."""
    labels = [label_of(name) for name in names[:most]]
    more = len(names) - len(labels)
    if more:
        return f"{', '.join(labels)} and {more} more"
    return " and ".join([", ".join(labels[:-1]), labels[-1]]) if len(labels) > 1 else "".join(labels)


def explain_unlike(differing: Sequence[str], unknown: Sequence[str]) -> str:
    """Return why two cells are not tested: `RAM and kernel differ too`, `disk model is not known`."""
    parts = []
    if differing:
        parts.append(f"{named(differing)} {'differ' if len(differing) > 1 else 'differs'} too")
    if unknown:
        parts.append(f"{named(unknown)} {'are' if len(unknown) > 1 else 'is'} not known")
    return "; ".join(parts)


def member_of(readings: Sequence[Reading], names: Sequence[str], facts: Facts) -> CellMember:
    """Return a member with the text of the facts that differ."""
    first = readings[0]
    texts = {name: _text(name, first, facts) for name in names}
    return CellMember(
        texts,
        tuple(sorted({reading.run for reading in readings})),
        fmean(sorted(reading.value or 0.0 for reading in readings)),
    )


def _text(name: str, reading: Reading, facts: Facts) -> str:
    value = reading.part.get(name) or reading.of(name)
    return text_of(name, value if value is not None else facts.get(name))


def per_run(readings: Sequence[Reading], *, of_medians: bool = False) -> dict[int, float]:
    """Run → its mean in base units, in the order of `readings`.

    `of_medians`: for percentiles, which are not averaged: the upper one of its middle values.
    """
    values: dict[int, list[float]] = {}
    for reading in readings:
        if reading.value is not None:
            values.setdefault(reading.run, []).append(reading.value)
    middle = statistics.median_high if of_medians else _mean
    return {run: middle(some) for run, some in values.items()}


def _mean(values: Sequence[float]) -> float:
    return values[0] if len(values) == 1 else statistics.fmean(sorted(values))


def several_points(readings: Sequence[Reading]) -> Mapping[str, list[Any]]:
    """Return the values of each dimension of the point at which the readings differ.

    Unknown values do not differ, and files that are the same multiple of each machine's RAM are of one size.
    """
    measured = [reading for reading in readings if reading.value is not None]
    values_found = {name: {getattr(reading, name) for reading in measured} - {None} for name in POINT}
    differing = {name: sorted(values) for name, values in values_found.items() if len(values) > 1}
    if "file_size" in differing and _are_one_multiple([reading.of(FILE_SIZE_OVER_RAM) for reading in measured]):
        del differing["file_size"]
    return differing


def _are_one_multiple(ratios: Sequence[float | None]) -> bool:
    return None not in ratios and len(set(ratios)) == 1


def configurations(readings: Sequence[Reading]) -> Counter[str]:
    """Count the runs with a value by configuration, or host and target."""
    runs = {
        reading.run: str(reading.of(LABEL))
        for reading in readings
        if reading.value is not None and reading.of(LABEL) is not None
    }
    return Counter(runs.values())

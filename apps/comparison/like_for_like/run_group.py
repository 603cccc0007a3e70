"""Runs that are alike and were measured at the same points, as one group with their number, mean and spread. Pure."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from apps.comparison.fact_names import is_count, is_of_one_run, plain
from apps.comparison.labels import UNKNOWN
from apps.comparison.likeness import PLACES, simple_path
from apps.comparison.readings import POINT
from apps.comparison.statistics.meta_analysis import Moments

Facts = Mapping[str, str]
POINTS = "points"  # of a group that was measured at several: how many, and which by their hash
SEVERAL = "several"  # the value of a dimension that varies among these points
# Names of things rather than properties of them. A host's name is a property: it stands for what nobody wrote down.
NAMES = frozenset({"label", "configuration", "study", "target", "array", "md_device", "size", *PLACES} - {"machine"})
# Facts that every run has, whether known or not. Any other name is a label, and a run without it is just not labelled.
MACHINE_FACTS = frozenset({
    "host", "ram", "cpu", "kernel", "os", "os_version", "architecture", "environment", "hypervisor", "board",
    "interface", "disk_model", "disk_count", "disk_firmware", "disk_vendor", "disk_rpm", "disk_capacity", "disk_cache",
    "raid_level", "raid_implementation", "chunk_size", "controller", "controller_cache", "controller_firmware",
    "write_policy", "cache_policy", "cache_protection", "filesystem", "mkfs_options", "mount_options", "firmware",
})  # fmt: skip
WORKLOAD_FACTS = frozenset({"direct", "sync", "ioengine", "rw"})
NONE = ("none", "single", "jbod", "linear")
NOT_STRIPED = ("1", "raid1", "raid-1", *NONE)
NOT_KNOWN = (None, "", UNKNOWN, "not_printed", "not printed")
_KERNEL_LINE = re.compile(r"\d+\.\d+")
_MAJOR_VERSION = re.compile(r"\d+")


@dataclass(frozen=True)
class RunGroup:
    """Alike runs of one operation and metric. Facts are plain text without those that are not known.

    Groups share the `configuration` object where only their points differ. `target` names where they ran, for what is
    equal only to itself; `runs` may be just the first of them. `texts` are values as they are stored.
    """

    configuration: Facts
    logs: Moments
    point: Facts = field(default_factory=dict)
    runs: tuple[int, ...] = ()
    target: str = ""
    began: str = ""  # date of the first and the last run; empty where nobody asked
    ended: str = ""
    texts: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""  # the lab, and of published runs the report

    @cached_property
    def facts(self) -> Facts:
        """Return the facts of the configuration and of the point."""
        return {**self.configuration, **self.point}

    @property
    def n(self) -> int:
        """Return the number of runs."""
        return self.logs.n


def facts_of_run(stored: Mapping[str, Any], workload: Facts) -> dict[str, str]:
    """Return what of a run's stored facts can matter, as plain text: versions as lines, no names, no counters."""
    facts = {**workload, **{name: plain(value) for name, value in stored.items() if value not in NOT_KNOWN}}
    facts = {
        name: value
        for name, value in facts.items()
        if name not in NAMES and not is_of_one_run(name) and not is_count(name, value)
    }
    if "host" in facts:
        facts.pop("machine", None)
    if kernel := facts.get("kernel"):
        facts["kernel"] = kernel_line(kernel)
    if version := facts.get("tool_version"):
        facts["tool_version"] = major_version(version)
    return facts


def place_of_run(stored: Mapping[str, Any]) -> str:
    """Return where a run without a target ran, as far as its facts tell; empty where they do not."""
    named = [str(stored[name]) for name in ("target", "path", "mount_point", "device") if stored.get(name)]
    return f"{stored.get('host') or stored.get('machine') or ''}:{simple_path(named[0])}" if named else ""


def inapplicable(facts: Facts) -> frozenset[str]:
    """Return the facts that there cannot be: the chunk of a mirror, the options of no filesystem."""
    names: set[str] = set()
    level = facts.get("raid_level", "").lower()
    if level in NONE:
        names.add("raid_implementation")
    if level in NOT_STRIPED:
        names.add("chunk_size")
    if facts.get("filesystem", "").lower() == "none":
        names |= {"mkfs_options", "mount_options"}
    if facts.get("environment", "").lower() == "native":
        names.add("hypervisor")
    return frozenset(names)


def kernel_line(version: str) -> str:
    """Return `6.1` of `6.1.0-18-amd64`: patches of one line are not told apart unless the kernel is asked about."""
    match = _KERNEL_LINE.search(version)
    return match[0] if match else version


def major_version(version: str) -> str:
    """Return `3` of `fio-3.33`."""
    match = _MAJOR_VERSION.search(version)
    return match[0] if match else version


def point_facts(points: Iterable[Mapping[str, int | None]], signature: str) -> dict[str, str]:
    """Return the facts of the points that each run of a group was measured at.

    A dimension that is equal at all points is a fact by itself; where several points differ, `points` says which.
    """
    values = {name: {point[name] for point in points} for name in POINT}
    facts = {name: str(next(iter(some))) for name, some in values.items() if len(some) == 1 and None not in some}
    if varying := {name: SEVERAL for name, some in values.items() if len(some) > 1}:
        facts |= varying | {POINTS: signature}
    return facts

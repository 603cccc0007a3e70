"""Labs with known effects, as the groups of runs that a lab's history leaves. Seeded.

A run has the speed of a base, times the factor of every level that it has, times noise. Truths are ratios.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from apps.comparison.like_for_like.run_group import RunGroup, facts_of_run
from apps.comparison.statistics.meta_analysis import Moments

NOISE = 0.03
GIB = 1024**3
Effects = Mapping[str, Mapping[str, float]]
EFFECTS: Effects = {
    "raid_implementation": {"hardware": 1.0, "software": 1.0, "none": 1.0},
    "raid_level": {"single": 1.0, "0": 1.9, "5": 2.2},
    "filesystem": {"btrfs": 1.0, "ext4": 1.18, "xfs": 1.3},
    "host": {"old": 0.4, "new": 1.0, "third": 1.6},
}
MACHINES: dict[str, dict[str, Any]] = {
    "old": {"ram": 4 * GIB, "cpu": "Xeon 5130", "kernel": "2.6.32-5", "disk_model": "ST3500", "interface": "SATA"},
    "new": {"ram": 64 * GIB, "cpu": "Xeon 4210", "kernel": "6.1.0-18", "disk_model": "HUS726", "interface": "SATA"},
    "third": {"ram": 64 * GIB, "cpu": "EPYC 7302", "kernel": "6.1.0-13", "disk_model": "HUS726", "interface": "SATA"},
}
WORKLOAD = {
    "tool": "fio", "tool_version": "fio-3.33", "direct": 1, "sync": "direct", "rw": "write", "ioengine": "libaio",
    "file_size": 128 * GIB, "block_size": 1 << 20, "threads": 1, "iodepth": 16,
}  # fmt: skip


@dataclass
class SimulatedLab:
    """Runs are added set by set; `groups` are what the loader would read from the database."""

    seed: int
    effects: Effects = field(default_factory=lambda: EFFECTS)
    noise: float = NOISE
    speed: Callable[[Mapping[str, Any], float], float] = lambda facts, day: 1.0  # what else is faster, and when
    runs: list[tuple[dict[str, Any], float, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(self.seed)

    def add(self, n: int, day: float = 0.0, without: Iterable[str] = (), **facts: Any) -> None:
        """Add n runs of one configuration from `day` on; `without` names facts that nobody wrote down."""
        whole = {**WORKLOAD, **MACHINES.get(facts.get("host", ""), {}), **facts}
        if whole.get("raid_level") == "single":
            whole |= {"raid_implementation": "none", "disk_count": 1}
        whole.setdefault("disk_count", 4)
        for number in range(n):
            when = day + number
            value = 2e8 * self.speed(whole, when) * math.exp(self.random.normal(0, self.noise))
            for name, levels in self.effects.items():
                value *= levels.get(str(whole.get(name)), 1.0)
            self.runs.append(({k: v for k, v in whole.items() if k not in without}, value, when))

    def groups(self) -> list[RunGroup]:
        """Return the runs by their configuration."""
        alike: dict[Any, list[tuple[dict[str, Any], float, float, int]]] = defaultdict(list)
        for number, (facts, value, when) in enumerate(self.runs):
            alike[tuple(sorted((k, str(v)) for k, v in facts.items()))].append((facts, value, when, number))
        return [_group(some) for some in alike.values()]


def _group(some: list[tuple[dict[str, Any], float, float, int]]) -> RunGroup:
    logs = np.log([value for _, value, _, _ in some])
    facts = some[0][0]
    moments = Moments(len(logs), float(logs.mean()), float(logs.var(ddof=1)) if len(logs) > 1 else 0.0)
    days = [when for _, _, when, _ in some]
    return RunGroup(
        configuration=facts_of_run(facts, {}),
        logs=moments,
        runs=tuple(number for *_, number in some),
        target=f"{facts.get('host')}:{facts.get('raid_level')}:{facts.get('raid_implementation')}",
        began=f"{min(days):09.1f}",
        ended=f"{max(days):09.1f}",
    )


def factorial(seed: int, n: int = 5, **effects: Mapping[str, float]) -> SimulatedLab:
    """Every level with every other on two hosts, as a plan makes them."""
    lab = SimulatedLab(seed, {**EFFECTS, **effects})
    for host, level, kind, filesystem in product(
        ("new", "third"), ("0", "5"), ("hardware", "software"), ("ext4", "btrfs")
    ):
        lab.add(n, host=host, raid_level=level, raid_implementation=kind, filesystem=filesystem)
    for host, filesystem in product(("new", "third"), ("ext4", "btrfs")):
        lab.add(n, host=host, raid_level="single", filesystem=filesystem)
    return lab


def old_machine(seed: int) -> SimulatedLab:
    """A lab of 70 runs whose old machine happened to have hardware RAID, and whose new one has mostly software RAID."""
    lab = SimulatedLab(seed)
    lab.add(10, host="old", raid_level="5", raid_implementation="hardware", filesystem="ext4", day=0)
    lab.add(8, host="old", raid_level="0", raid_implementation="hardware", filesystem="btrfs", day=20)
    lab.add(4, host="old", raid_level="single", filesystem="btrfs", day=40)
    lab.add(12, host="new", raid_level="5", raid_implementation="software", filesystem="ext4", day=900)
    lab.add(5, host="new", raid_level="5", raid_implementation="hardware", filesystem="ext4", day=950)
    lab.add(10, host="new", raid_level="single", filesystem="ext4", day=980)
    lab.add(6, host="new", raid_level="0", raid_implementation="software", filesystem="ext4", day=1000)
    lab.add(5, host="new", raid_level="5", raid_implementation="software", filesystem="btrfs", day=1020)
    lab.add(5, host="new", raid_level="single", filesystem="btrfs", day=1040)
    lab.add(5, host="new", raid_level="0", raid_implementation="hardware", filesystem="ext4", day=1060)
    return lab


def unbalanced(seed: int) -> SimulatedLab:
    """Years of runs: few here, many there, hosts come and go, and not every level was ever on every host."""
    lab = SimulatedLab(seed)
    drawn = np.random.default_rng([seed, 1])
    for host, level, kind, filesystem in product(
        ("old", "new", "third"), ("0", "5", "single"), ("hardware", "software"), ("ext4", "btrfs", "xfs")
    ):
        if drawn.random() < 0.55:
            n, day = int(drawn.integers(1, 15)), float(drawn.integers(0, 1500))
            lab.add(n, host=host, raid_level=level, raid_implementation=kind, filesystem=filesystem, day=day)
    return lab


def missing_facts(seed: int) -> SimulatedLab:
    """A factorial lab where a third of the sets lacks a fact, and where the lost fact matters: it hides a slow disk."""
    lab = SimulatedLab(seed, {**EFFECTS, "disk_model": {"SLOW": 0.6}})
    drawn = np.random.default_rng([seed, 2])
    for host, kind in product(("new", "third"), ("hardware", "software")):
        lost = [("disk_model",), ("disk_model", "ram"), ("kernel",), ()][int(drawn.integers(0, 4))]
        slow = {"disk_model": "SLOW"} if "disk_model" in lost and drawn.random() < 0.5 else {}
        for filesystem in ("ext4", "btrfs"):
            lab.add(5, host=host, raid_level="5", raid_implementation=kind, filesystem=filesystem, without=lost, **slow)
    for kind in ("hardware", "software"):  # one host of which everything is known
        lab.add(5, host="old", raid_level="5", raid_implementation=kind, filesystem="ext4")
    return lab


def interacting(seed: int, spread: Mapping[str, float] | None = None) -> SimulatedLab:
    """Hardware RAID helps where its controller has much cache: the effect depends on the cache."""
    gains = spread or {str(256 << 20): 1.1, str(512 << 20): 2.0, str(1 << 30): 4.0}

    def speed(facts: Mapping[str, Any], _day: float) -> float:
        return gains.get(str(facts.get("controller_cache")), 1.0) if facts["raid_implementation"] == "hardware" else 1.0

    lab = SimulatedLab(seed, speed=speed)
    for (cache, _), filesystem, host in product(gains.items(), ("ext4", "btrfs"), ("new", "third")):
        place = {"host": host, "raid_level": "5", "filesystem": filesystem, "disk_model": f"D{cache}"}
        lab.add(5, raid_implementation="hardware", controller_cache=int(cache), controller="C", **place)
        lab.add(5, raid_implementation="software", controller="HBA", **place)
    return lab


def drifting(seed: int, a_year: float = -0.03) -> SimulatedLab:
    """Disks grow slower by 3 % a year; levels are measured in the same campaigns, in turn, in each of four years."""
    lab = SimulatedLab(seed, speed=lambda _facts, day: math.exp(a_year * day / 365))
    for year, host, kind, filesystem in product(
        range(4), ("new", "third"), ("hardware", "software"), ("ext4", "btrfs")
    ):
        lab.add(3, host=host, raid_level="5", raid_implementation=kind, filesystem=filesystem, day=365.0 * year)
    return lab

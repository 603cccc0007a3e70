"""What is compared: one measured value with everything it can be grouped by.

Pure; `queries.samples` fills it from the database.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from apps.comparison.fact_names import workload_facts
from apps.inventory.ceilings.ceiling import Ceiling, ceiling_of
from apps.studies.plans.guards import CacheRule

POINT = ("file_size", "block_size", "threads", "iodepth")
FILE_SIZE_OVER_RAM = "file_size_over_ram"
LABEL = "label"  # the configuration's label in a study, else host and target
MOST = 1e100  # in any base unit; the squares of larger ones have no end
NO_NUMBER = "no number that can be computed with"


def usable(value: float | None) -> float | None:
    """Return the value, or None for NaN, infinity and what is beyond all units: a slip of a tool or file."""
    return value if value is not None and abs(value) < MOST else None


@dataclass(frozen=True, eq=False)
class MeasuredMachine:
    """A snapshot's content; one object for all runs that share the snapshot."""

    content: Mapping[str, Any]

    @cached_property
    def ceiling(self) -> Ceiling:
        return ceiling_of(dict(self.content))

    @property
    def host(self) -> Mapping[str, Any]:
        return self.content.get("host") or {}


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known of a run beside its values; one object for all its readings."""

    machine: MeasuredMachine | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    asked: Mapping[str, Any] = field(default_factory=dict)  # the workload as it was asked for
    has_fio_logs: bool = False
    cache_rule: CacheRule | None = None  # of the plan that the run is a step of

    @cached_property
    def workload(self) -> Mapping[str, str]:
        """Return what the tool was asked for beside its point: for how long, which mix of reads and writes."""
        return workload_facts(self.asked)


NO_EVIDENCE = Evidence()


@dataclass(frozen=True)
class Quote:
    """A figure in a report's prose about one sample.

    It holds what is quoted, its value in the unit that is printed with it, and by how much of that unit it may be
    rounded. `take`: `value`, or the point's dimension or fact that it is a figure of.
    """

    text: str
    value: float
    unit: str
    within: float
    line: str = ""
    take: str = "value"


@dataclass(frozen=True, slots=True)
class Reading:
    """A sample in base units.

    `facts` holds the run's facts and labels, and its host, target, study, configuration, label and tool; `beside` what
    else was measured at the same point, by metric.
    """

    id: int
    run: int
    operation: str
    metric: str
    value: float | None
    facts: Mapping[str, Any] = field(default_factory=dict)
    file_size: int | None = None
    block_size: int | None = None
    threads: int | None = None
    iodepth: int | None = None
    repetition: int = 1
    origin: str = "dispatched"
    quality: str = "exact"
    missing_reason: str = ""
    low: float | None = None
    high: float | None = None
    printed: str = ""
    note: str = ""
    alternatives: tuple[float, ...] = ()  # other values that what is printed may mean, as in a scanned table
    source_line: int | None = None
    section: int = 0
    section_name: str = ""
    section_engine: str = ""  # fio's engine
    part: Mapping[str, str] = field(
        default_factory=dict
    )  # what tells it from other values of its run at its place: see `parts.py`
    position: tuple[str, int] = ("", 0)  # where its series stands: own runs first, then studies in their own order
    bins: tuple[tuple[int, int], ...] = ()  # latency histogram of its run, for percentiles
    beside: Mapping[str, float | None] = field(default_factory=dict)
    at_disks: Mapping[str, float] = field(
        default_factory=dict
    )  # what the kernel counted at its run's disks together, by metric
    moved: Mapping[str, float] = field(
        default_factory=dict
    )  # bytes that all jobs of its run together read and wrote, by operation
    evidence: Evidence = NO_EVIDENCE
    quotes: tuple[Quote, ...] = ()
    identity: Mapping[str, int | None] = field(default_factory=dict)  # ids of its study, configuration, host and target

    def of(self, name: str) -> Any:
        """Return the value of a point's dimension or of a fact; None where it is not known."""
        if name in POINT:
            return getattr(self, name)
        if name == FILE_SIZE_OVER_RAM:
            return self.file_size / self.ram if self.file_size and self.ram else None
        value = self.facts.get(name)
        return None if value in ("", "unknown", "not_printed", "not printed") else value

    @property
    def ram(self) -> float | None:
        """Return bytes of RAM of the host, or of the guest."""
        value = self.facts.get("ram")
        return float(value) if isinstance(value, int | float) and value > 0 else None

    @property
    def machine(self) -> MeasuredMachine | None:
        return self.evidence.machine

    @property
    def bytes_touched(self) -> int | None:
        """Return bytes of all files of the test: each thread has its own."""
        return self.file_size * (self.threads or 1) if self.file_size else None

"""Samples as tables and charts of a report pick them: by configuration, operation, metric and the workload's point.

Samples(found).at({"configuration": "sata-single", "operation": "write", "file_size": 104857600}) → Found | None
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Pick = Mapping[str, Any]
NAMES = ("configuration", "operation", "metric", "file_size", "block_size", "threads")
METRIC = "bandwidth"  # where a definition names none


@dataclass(frozen=True)
class ReportSample:
    """One sample.

    Values in base units, `cpu` as a fraction of one core; `printed` has its unit behind it. `alternatives`: other
    readings of what is printed, in base units. `source_line`: of the file that it was read from, from 1.
    """

    id: int
    run: int
    configuration: str
    operation: str
    metric: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    printed: str = ""
    quality: str = "exact"
    missing_reason: str = ""
    note: str = ""
    cpu: float | None = None
    file_size: int | None = None
    block_size: int | None = None
    threads: int | None = None
    iodepth: int | None = None
    alternatives: Sequence[float] = ()
    source_line: int | None = None


class Samples:
    """Looked up without going through all of them for each cell; gone through in the order in which they came."""

    def __init__(self, samples: Iterable[ReportSample]) -> None:
        self._all = list(samples)
        self._by_place: dict[tuple[str, str, str], list[ReportSample]] = defaultdict(list)
        for sample in self._all:
            self._by_place[sample.configuration, sample.operation, sample.metric].append(sample)

    def __iter__(self) -> Iterator[ReportSample]:
        return iter(self._all)

    def at(self, pick: Pick) -> ReportSample | None:
        """Return the first sample that agrees with all that is named, one with a value before one without."""
        place = (pick.get("configuration", ""), pick.get("operation", ""), pick.get("metric", METRIC))
        fitting = [
            sample
            for sample in self._by_place.get(place, ())
            if all(getattr(sample, name) == pick[name] for name in NAMES[3:] if name in pick)
        ]
        return min(fitting, key=lambda sample: sample.value is None) if fitting else None

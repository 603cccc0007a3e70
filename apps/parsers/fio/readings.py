"""Figures of one job in the text or terse report, gathered into samples and sections."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from apps.parsers.core.models import ParsedSample, ParsedSection
from apps.parsers.fio.options import LARGEST, UNKNOWN_LOAD, Load, choose_operation, get_directions, make_load
from apps.parsers.fio.quantities import Quantity
from apps.parsers.fio.samples import describe_error

PERCENTILE_WORDS = {1.0: "p1", 50.0: "p50", 90.0: "p90", 95.0: "p95", 99.0: "p99", 99.9: "p99_9", 99.99: "p99_99"}
PRINTED_LONGEST = 60
NAME_LONGEST = 255
MEAN_OF_PROCESSES = "the mean of its processes"


def get_percentile_metric(kind: str, share: float) -> str | None:
    """Return `clat_p99_9` for `clat` and 99.9; None for a percentile that has no metric."""
    word = PERCENTILE_WORDS.get(share)
    if word is None or kind not in ("clat", "lat") or (kind == "lat" and word == "p1"):
        return None
    return f"{'latency' if kind == 'lat' else kind}_{word}"


@dataclass(slots=True)
class ReportedJob:
    """One job or group of the report. `jobs` is how many processes the report adds up in it, if it says that."""

    name: str
    group: int = 0
    error: int = 0
    jobs: int | None = None
    line: int | None = None
    host: str = ""
    options: dict[str, str] = field(default_factory=dict)
    runtimes: dict[str, int] = field(default_factory=dict)  # direction → ms
    _read: dict[tuple[str, str], dict[str, Any]] = field(
        default_factory=dict
    )  # (direction, metric) → fields of its sample
    _load: Load | None = None

    def add(self, direction: str, metric: str, value: Quantity, printed: str, line: int | None, note: str = "") -> bool:
        """Store a value; return False where this measure was read before, in which case the first value stays."""
        if (direction, metric) in self._read:
            return False
        if 0 <= value.value < 1e300:
            self._read[direction, metric] = {
                "value": value.value, "printed": printed[:PRINTED_LONGEST], "line": line, "quality": value.quality,
                "low": value.low, "high": value.high, "note": note,
            }  # fmt: skip
        return True

    def add_missing(self, direction: str, metric: str, reason: str, line: int | None, printed: str = "") -> None:
        """Store the reason why a measure has no value."""
        fields = {"value": None, "missing_reason": reason, "line": line, "printed": printed[:PRINTED_LONGEST]}
        self._read.setdefault((direction, metric), fields)

    def doubt(self, direction: str, kind: str, reason: str) -> None:
        """Remove the values of this kind, and store the reason."""
        for (name, metric), read in list(self._read.items()):
            if name == direction and (metric == kind or metric.startswith(f"{kind}_")):
                stored = {"line": read["line"], "printed": read["printed"]}
                self._read[name, metric] = {"value": None, "missing_reason": reason, **stored}

    def move_percentiles_to_lat(self) -> None:
        """Turn the percentiles that were read as clat into those of lat, which has no p1."""
        shares = {key for key in self._read if key[1].startswith("clat_p")}
        for direction, metric in shares:
            read = self._read.pop((direction, metric))
            if metric != "clat_p1":
                self._read[direction, metric.replace("clat", "latency")] = read

    def turn_reads_into_sums(self) -> None:
        """Turn what was read as reads into the sum of all directions."""
        if set(self.runtimes) == {"read"}:
            self.runtimes = {"mixed": self.runtimes["read"]}
            self._read = {("mixed", metric): read for (_, metric), read in self._read.items()}

    def count_processes(self, jobs: int) -> None:
        """Set the number of processes, and turn the CPU from the mean of the processes into their sum."""
        self.jobs = jobs
        for (_, metric), read in self._read.items():
            if metric == "cpu" and read["value"] is not None:
                read["value"] = round(read["value"] * jobs, 8)
                read["note"] = read["note"].removeprefix(MEAN_OF_PROCESSES).removeprefix("; ")

    def drop_uncounted(self) -> None:
        """Remove percentiles that are all zero: up to 3.1 fio prints them without counting completions (disable_clat, rate_process)."""
        for direction in {name for name, metric in self._read if metric.startswith("clat_p")}:
            shares = [key for key in self._read if key[0] == direction and key[1].startswith("clat_p")]
            if (direction, "clat_mean") not in self._read and not any(self._read[key]["value"] for key in shares):
                for key in shares:
                    del self._read[key]

    def doubt_percentiles(self, reason: str) -> None:
        """Remove the values of all clat percentiles, and store the reason."""
        for (_, metric), read in self._read.items():
            if metric.startswith("clat_p") and not read.get("missing_reason"):
                read |= {"value": None, "missing_reason": reason}

    @property
    def has_rates_alone(self) -> bool:
        """Return whether only bandwidth, IOPS and bytes were read."""
        return {metric for _, metric in self._read} <= {"bandwidth", "iops", "io_bytes"}

    def value(self, direction: str, metric: str) -> float | None:
        """Return a value that was read, None where there is none."""
        value: float | None = self._read.get((direction, metric), {}).get("value")
        return value

    def load(self) -> Load:
        """Return what the job was asked to do, computed when all its options are known."""
        self._load = self._load or (make_load(self.options) if self.options else UNKNOWN_LOAD)
        return self._load

    def section(self, number: int, *, with_host: bool = False) -> ParsedSection:
        """Return the job as a section of the run."""
        name = f"{self.host}: {self.name}" if with_host and self.host else self.name
        return ParsedSection(number, name[:NAME_LONGEST], dict(self.options), self.error, self.group)

    def samples(self, number: int, threads: int | None) -> Iterator[ParsedSample]:
        """Yield the samples of the job."""
        load = self.load()
        place: dict[str, Any] = {
            "section": number, "file_size": load.file_size, "threads": threads, "iodepth": load.iodepth,
        }  # fmt: skip
        others = {"section": number}  # what other jobs of a group moved, of which these options say nothing
        points = {
            name: (choose_operation(load.rw, name), {**place, "block_size": load.block_size(name)})
            if self.jobs == 1 or load.moves(name)
            else (name, others)
            for name, _ in self._read
        }
        for (direction, metric), read in self._read.items():
            operation_name, known = points[direction]
            yield ParsedSample(operation_name, metric, **known, **read)
        if self.error and not self._read:
            for direction in sorted(get_directions(load.rw) or ()):
                yield self._make_failed(choose_operation(load.rw, direction), load.block_size(direction), place)

    def _make_failed(self, operation_name: str, block_size: int | None, place: dict[str, Any]) -> ParsedSample:
        reason = f"failed: {describe_error(self.error)}"
        return ParsedSample(
            operation_name, "bandwidth", None, block_size=block_size, missing_reason=reason, line=self.line, **place
        )


def iterate_samples(jobs: Sequence[ReportedJob], *, hosts: int = 1) -> Iterator[ParsedSample]:
    """Yield the samples of every section; `threads` is how many processes of one name and group ran together on a host."""
    processes: dict[tuple[str, int, str], int | None] = {}
    for job in jobs:
        key = (job.name, job.group, job.host)
        before = processes.get(key, 0)
        processes[key] = None if before is None or job.jobs is None else before + job.jobs
    for number, job in enumerate(jobs):
        threads = processes[job.name, job.group, job.host] if hosts == 1 else job.jobs
        yield from job.samples(number, threads if threads is not None and 0 < threads < 2**31 else None)


def parse_whole(text: str) -> int | None:
    """Return a whole number that fits a database column of 8 bytes, None for anything else."""
    return int(text) if 0 < len(text) < 20 and text.isascii() and text.isdigit() and int(text) <= LARGEST else None

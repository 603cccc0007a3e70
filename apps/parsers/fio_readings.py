"""What the text and the terse report say of one job, gathered into the samples and sections of `shape`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from apps.parsers.fio_options import LARGEST, UNTOLD, Load, directions, load_of, operation
from apps.parsers.fio_quantities import Quantity
from apps.parsers.fio_samples import error_text
from apps.parsers.shape import ParsedSample, ParsedSection

PERCENTILE_WORDS = {1.0: "p1", 50.0: "p50", 90.0: "p90", 95.0: "p95", 99.0: "p99", 99.9: "p99_9", 99.99: "p99_99"}
PRINTED_LONGEST = 60
NAME_LONGEST = 255
MEAN_OF_PROCESSES = "the mean of its processes"


def percentile_metric(kind: str, share: float) -> str | None:
    """`clat` and 99.9 → `clat_p99_9`; None for what no metric stands for."""
    word = PERCENTILE_WORDS.get(share)
    if word is None or kind not in ("clat", "lat") or (kind == "lat" and word == "p1"):
        return None
    return f"{'latency' if kind == 'lat' else kind}_{word}"


@dataclass(slots=True)
class Job:
    """One job or group of the report. `jobs` is how many processes the report adds up in it, where it says that."""

    name: str
    group: int = 0
    error: int = 0
    jobs: int | None = None
    line: int | None = None
    host: str = ""
    options: dict[str, str] = field(default_factory=dict)
    runtimes: dict[str, int] = field(default_factory=dict)  # direction → ms
    _read: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)  # direction, metric → of its sample
    _load: Load | None = None

    def add(self, direction: str, metric: str, value: Quantity, printed: str, line: int | None, note: str = "") -> bool:
        """Keep a value; False where this measure was read before, and the first one stays."""
        if (direction, metric) in self._read:
            return False
        if 0 <= value.value < 1e300:
            self._read[direction, metric] = {
                "value": value.value, "printed": printed[:PRINTED_LONGEST], "line": line, "quality": value.quality,
                "low": value.low, "high": value.high, "note": note,
            }  # fmt: skip
        return True

    def add_missing(self, direction: str, metric: str, reason: str, line: int | None, printed: str = "") -> None:
        told = {"value": None, "missing_reason": reason, "line": line, "printed": printed[:PRINTED_LONGEST]}
        self._read.setdefault((direction, metric), told)

    def doubt(self, direction: str, kind: str, reason: str) -> None:
        """Leave no value of this kind, and say why."""
        for (name, metric), read in list(self._read.items()):
            if name == direction and (metric == kind or metric.startswith(f"{kind}_")):
                kept = {"line": read["line"], "printed": read["printed"]}
                self._read[name, metric] = {"value": None, "missing_reason": reason, **kept}

    def percentiles_are_of_lat(self) -> None:
        """What was read of clat is of lat, which has no p1."""
        shares = {key for key in self._read if key[1].startswith("clat_p")}
        for direction, metric in shares:
            read = self._read.pop((direction, metric))
            if metric != "clat_p1":
                self._read[direction, metric.replace("clat", "latency")] = read

    def reads_are_sums(self) -> None:
        """What was read as reads is the sum of all directions."""
        if set(self.runtimes) == {"read"}:
            self.runtimes = {"mixed": self.runtimes["read"]}
            self._read = {("mixed", metric): read for (_, metric), read in self._read.items()}

    def count_processes(self, jobs: int) -> None:
        """What was read as the mean of its processes is now the CPU of them all."""
        self.jobs = jobs
        for (_, metric), read in self._read.items():
            if metric == "cpu" and read["value"] is not None:
                read["value"] = round(read["value"] * jobs, 8)
                read["note"] = read["note"].removeprefix(MEAN_OF_PROCESSES).removeprefix("; ")

    def drop_uncounted(self) -> None:
        """Up to 3.1 fio prints zeros as percentiles of completions that it did not count (disable_clat, rate_process)."""
        for direction in {name for name, metric in self._read if metric.startswith("clat_p")}:
            shares = [key for key in self._read if key[0] == direction and key[1].startswith("clat_p")]
            if (direction, "clat_mean") not in self._read and not any(self._read[key]["value"] for key in shares):
                for key in shares:
                    del self._read[key]

    def doubt_percentiles(self, reason: str) -> None:
        for (_, metric), read in self._read.items():
            if metric.startswith("clat_p") and not read.get("missing_reason"):
                read |= {"value": None, "missing_reason": reason}

    @property
    def has_rates_alone(self) -> bool:
        return {metric for _, metric in self._read} <= {"bandwidth", "iops", "io_bytes"}

    def value(self, direction: str, metric: str) -> float | None:
        value: float | None = self._read.get((direction, metric), {}).get("value")
        return value

    def load(self) -> Load:
        """What it was asked to do, when all its options are known."""
        self._load = self._load or (load_of(self.options) if self.options else UNTOLD)
        return self._load

    def section(self, number: int, *, with_host: bool = False) -> ParsedSection:
        name = f"{self.host}: {self.name}" if with_host and self.host else self.name
        return ParsedSection(number, name[:NAME_LONGEST], dict(self.options), self.error)

    def samples(self, number: int, threads: int | None) -> Iterator[ParsedSample]:
        load = self.load()
        place: dict[str, Any] = {
            "section": number, "file_size": load.file_size, "threads": threads, "iodepth": load.iodepth,
        }  # fmt: skip
        others = {"section": number}  # what other jobs of a group moved, of which these options say nothing
        points = {
            name: (operation(load.rw, name), {**place, "block_size": load.block_size(name)})
            if self.jobs == 1 or load.moves(name)
            else (name, others)
            for name, _ in self._read
        }
        for (direction, metric), read in self._read.items():
            operation_name, known = points[direction]
            yield ParsedSample(operation_name, metric, **known, **read)
        if self.error and not self._read:
            for direction in sorted(directions(load.rw) or ()):
                yield self._failed(operation(load.rw, direction), load.block_size(direction), place)

    def _failed(self, operation_name: str, block_size: int | None, place: dict[str, Any]) -> ParsedSample:
        reason = f"failed: {error_text(self.error)}"
        return ParsedSample(
            operation_name, "bandwidth", None, block_size=block_size, missing_reason=reason, line=self.line, **place
        )


def all_samples(jobs: Sequence[Job], *, hosts: int = 1) -> Iterator[ParsedSample]:
    """Of every section; `threads` is how many processes of one name and group ran together on a host."""
    processes: dict[tuple[str, int, str], int | None] = {}
    for job in jobs:
        key = (job.name, job.group, job.host)
        before = processes.get(key, 0)
        processes[key] = None if before is None or job.jobs is None else before + job.jobs
    for number, job in enumerate(jobs):
        threads = processes[job.name, job.group, job.host] if hosts == 1 else job.jobs
        yield from job.samples(number, threads if threads is not None and 0 < threads < 2**31 else None)


def whole(text: str) -> int | None:
    """A whole number that a database holds."""
    return int(text) if 0 < len(text) < 20 and text.isascii() and text.isdigit() and int(text) <= LARGEST else None

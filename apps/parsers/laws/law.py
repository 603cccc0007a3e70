"""The shape of a law, of the figures that it looks at, and of what it finds."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from msgspec import structs

from apps.core import units
from apps.parsers.core.models import ParsedRun, ParsedSample

DOUBT = "contradicts"  # begins the note of a figure that stays although another one contradicts it
KINDS = ("clat", "latency", "slat")
SHARES = {"p1": 0.01, "p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p99_9": 0.999, "p99_99": 0.9999}
_PERCENTILES = {
    kind: tuple((f"{kind}_{word}", share) for word, share in SHARES.items()) for kind in ("clat", "latency")
}
_NUMBER = re.compile(r"\d+(?:[.,](\d+))?")
_DIGITS = 1e-6  # relative; what a double and a change of unit may lose
_LONGEST_REASON = 120  # characters that are stored


class LawEffect(Enum):
    """What becomes of the figures of a contradiction."""

    WITHHELD = "withheld"  # no value, with the reason
    BOUNDED = "bounded"  # no value, with bounds and the reason as a note
    DOUBTED = "doubted"  # the value stays, marked approximate, with the reason as a note


@dataclass(frozen=True, slots=True)
class Contradiction:
    """JobFigures that a law speaks against, what becomes of them, and why, in words.

    `low` and `high` are for bounds, in base units. `histogram` is the kind (clat, lat, slat) of the latency histogram
    that is withheld with the figures.
    """

    metrics: tuple[str, ...]
    reason: str
    effect: LawEffect
    low: float | None = None
    high: float | None = None
    histogram: str = ""


class JobFigures:
    """The figures of one operation of one section at one workload point, by metric, in base units."""

    def __init__(self, run: ParsedRun, samples: Mapping[str, ParsedSample]) -> None:
        self.run = run
        self._samples = dict(samples)
        self._values = {name: sample.value for name, sample in samples.items() if sample.value is not None}
        self._first = next(iter(self._samples.values()))

    @property
    def operation(self) -> str:
        """Return the operation that all the figures are of."""
        return self._first.operation

    @property
    def section(self) -> int:
        """Return the number of the section that all the figures are of."""
        return self._first.section

    @property
    def block_size(self) -> int | None:
        """Return the bytes of one I/O, None where they are unknown or not the same for all."""
        return self._first.block_size

    @property
    def threads(self) -> int | None:
        """Return the number of jobs that all the figures are of, None where it is unknown."""
        return self._first.threads

    @property
    def most_in_flight(self) -> int | None:
        """Return jobs × depth, the most I/Os that can be under way at once; None where one of them is unknown."""
        threads, depth = self._first.threads, self._first.iodepth
        return threads * depth if threads and depth else None

    @property
    def seconds(self) -> float | None:
        """Return how long the operation took: as measured, or else its bytes by its bandwidth; None where unknown."""
        elapsed = self.value("elapsed")
        if elapsed:
            return elapsed / 1e9
        moved, rate = self.value("io_bytes"), self.value("bandwidth")
        return moved / rate if moved and rate else None

    def value(self, metric: str) -> float | None:
        """Return the value of a metric, None where there is none."""
        return self._values.get(metric)

    def sample(self, metric: str) -> ParsedSample:
        """Return the sample of a metric that has a value."""
        return self._samples[metric]

    def select(self, metrics: Iterable[str]) -> tuple[str, ...]:
        """Return those of these metrics that have a value."""
        return tuple(metric for metric in metrics if metric in self._values)

    def of_kind(self, kind: str) -> tuple[str, ...]:
        """Return the metrics of a kind of latency that have a value: `clat_mean`, `clat_p99`."""
        return tuple(metric for metric in self._values if metric.startswith(f"{kind}_"))

    def percentiles(self, kind: str) -> list[tuple[str, float, float]]:
        """Return (metric, share, ns) of each percentile of a kind that has a value, by ascending share."""
        values = self._values
        return [(metric, share, values[metric]) for metric, share in _PERCENTILES[kind] if metric in values]

    def find_extremes(self, least: float, most: float) -> list[tuple[str, float]]:
        """Return the metrics and values below `least`, or of `most` and more."""
        values = self._values.values()
        if min(values, default=least) >= least and max(values, default=least) < most:
            return []
        return [(metric, value) for metric, value in self._values.items() if not least <= value < most]

    def is_above(self, metric: str, other: str, factor: float = 1.0) -> bool:
        """Return whether a figure is larger than `factor` × another one by more than both may be rounded."""
        value, limit = self._values.get(metric), self._values.get(other)
        if value is None or limit is None or value <= limit * factor:
            return False
        return value - self.error(metric) > (limit + self.error(other)) * factor

    def error(self, metric: str) -> float:
        """Return by how much a value may be off because of how it is printed: one unit of its last digit."""
        sample = self._samples[metric]
        return compute_error(sample)

    def find_line(self, metrics: Iterable[str]) -> int | None:
        """Return the first line that any of these metrics was read from."""
        lines = (self._samples[metric].line for metric in metrics if metric in self._samples)
        return min((line for line in lines if line), default=None)

    def apply(self, contradiction: Contradiction) -> dict[str, ParsedSample]:
        """Change the figures of a contradiction and return them."""
        changed = {
            metric: _apply(self._samples[metric], contradiction)
            for metric in contradiction.metrics
            if metric in self._samples
        }
        self._samples |= changed
        for metric, sample in changed.items():
            if sample.value is None:
                self._values.pop(metric, None)
        return changed


@dataclass(frozen=True, slots=True, eq=False)
class Law:
    """A law between figures. It is asked only where one of `metrics` is there; empty: always."""

    name: str
    reason: str  # the law itself in words, and what it withholds, bounds or doubts
    check: Callable[[JobFigures], Iterable[Contradiction]]
    metrics: frozenset[str] = frozenset()


def compute_error(sample: ParsedSample) -> float:
    """Return one unit of the last printed digit in base units; 1 % where a rounded figure was printed nowhere."""
    value = sample.value or 0.0
    printed = list(_NUMBER.finditer(sample.printed))
    floor = abs(value) * (_DIGITS if printed or sample.quality == "exact" else 0.01)
    if not printed:
        return floor
    number = float(printed[-1][0].replace(",", "."))
    step = 10.0 ** -len(printed[-1][1] or "")
    return max(floor, step * abs(value) / number if number else _get_step(sample, step))


def _get_step(sample: ParsedSample, step: float) -> float:
    """Return the step of a printed zero, of which no value tells the unit."""
    words = sample.printed.lower()
    known = {"nsec": 1.0, "usec": 1e3, "msec": 1e6, " ns": 1.0, " us": 1e3, " ms": 1e6, "kib": 1024.0, "kb": 1024.0}
    return step * next((scale for word, scale in known.items() if word in words), 1.0)


def write_figure(metric: str, value: float) -> str:
    """Return a figure as people read it: `17.1 s`, `19.6 MB/s`."""
    return units.human(value, get_unit(metric))


def get_unit(metric: str) -> str:
    """Return the base unit of a metric; empty for a count."""
    if metric.startswith(("bandwidth",)):
        return "B/s"
    if metric.startswith(("iops", "rate")):
        return "1/s"
    if metric.startswith(KINDS) or metric in ("jitter", "elapsed"):
        return "ns"
    if metric.startswith(("io_bytes", "min_xfer", "disk_bytes")):
        return "B"
    return "fraction" if metric in ("lost", "disk_util", "cpu") else ""


def _apply(sample: ParsedSample, contradiction: Contradiction) -> ParsedSample:
    reason = contradiction.reason
    if contradiction.effect is LawEffect.WITHHELD:
        return structs.replace(
            sample, value=None, missing_reason=reason[:_LONGEST_REASON], low=None, high=None, quality="exact",
            alternatives=(),
        )  # fmt: skip
    if contradiction.effect is LawEffect.BOUNDED:
        return structs.replace(
            sample, value=None, low=contradiction.low, high=contradiction.high, quality="lower_bound",
            note=_join(sample.note, reason),
        )  # fmt: skip
    quality = "approximate" if sample.quality in ("exact", "rounded") else sample.quality
    return structs.replace(sample, quality=quality, note=_join(sample.note, f"{DOUBT}: {reason}"))


def _join(note: str, reason: str) -> str:
    return note if reason in note else f"{note}; {reason}" if note else reason

"""Samples of what ioping counted: the same figures in its text, its raw lines and its JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from apps.parsers.core.models import ParsedSample

NOTHING = "ioping counted no request"
CUT = "the output ends before ioping's statistics"
PERIODS = "only statistics of periods are printed, not of the whole run"
RANDOM = "random unless ioping was given -L; its command line is not shown"
LATENCIES = ("latency_min", "latency_mean", "latency_max", "latency_stdev")
UNITS = {"iops": "iops", "bandwidth": "B/s", "io_bytes": "bytes"}  # for figures printed without unit; others are ns
_METRICS = ("iops", "bandwidth", *LATENCIES, "io_bytes")


@dataclass(frozen=True, slots=True)
class PrintedFigure:
    """A value in base units, its text and its line."""

    value: float | None
    printed: str = ""
    line: int | None = None


def choose_operation(direction: str, options: Mapping[str, str] | None) -> tuple[str, str]:
    """Return the operation for read, write or mixed, and a note about it. ioping is random unless -L is given."""
    if direction == "mixed":
        return "mixed", ""
    if options is None:
        return f"rand{direction}", RANDOM
    return (direction if "L" in options else f"rand{direction}"), ""


def make_samples(
    name: str, figures: Mapping[str, PrintedFigure], counted: float | None, block_size: int | None, note: str
) -> list[ParsedSample]:
    """Return a sample for each figure that was printed; without a value where no request was counted."""
    return [
        ParsedSample(
            name, metric, None if counted == 0 else figures[metric].value, block_size=block_size,
            printed=figures[metric].printed, line=figures[metric].line, note=note,
            missing_reason=_explain_missing(counted, figures[metric]),
        )
        for metric in _METRICS
        if metric in figures
    ]  # fmt: skip


def _explain_missing(counted: float | None, figure: PrintedFigure) -> str:
    if counted == 0:
        return NOTHING
    return "" if figure.value is not None else "not readable"


def make_missing(name: str, line: int | None, block_size: int | None, reason: str) -> ParsedSample:
    """Return the sample of a run that has no statistics."""
    return ParsedSample(name, "latency_mean", None, block_size=block_size, line=line, missing_reason=reason)


def compute_sums(values: Sequence[float]) -> tuple[float, ...]:
    """Return the seconds at which each request was done, by the time that the requests themselves took (ns)."""
    total, times = 0.0, []
    for value in values:
        total += value
        times.append(total / 1e9)
    return tuple(times)

"""What ioping counted, as samples: the same figures in its text, its raw lines and its JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from apps.parsers.shape import ParsedSample

NOTHING = "ioping counted no request"
CUT = "the output ends before ioping's statistics"
PERIODS = "only statistics of periods are printed, not of the whole run"
RANDOM = "random unless ioping was given -L; its command line is not shown"
LATENCIES = ("latency_min", "latency_mean", "latency_max", "latency_stdev")
UNITS = {"iops": "iops", "bandwidth": "B/s", "io_bytes": "bytes"}  # where only the column tells; else ns
_METRICS = ("iops", "bandwidth", *LATENCIES, "io_bytes")


@dataclass(frozen=True, slots=True)
class Figure:
    value: float | None
    printed: str = ""
    line: int | None = None


def operation(direction: str, options: Mapping[str, str] | None) -> tuple[str, str]:
    """The operation of read, write or mixed, and what is to be said of it. ioping is random unless -L says otherwise."""
    if direction == "mixed":
        return "mixed", ""
    if options is None:
        return f"rand{direction}", RANDOM
    return (direction if "L" in options else f"rand{direction}"), ""


def samples(
    name: str, figures: Mapping[str, Figure], counted: float | None, block_size: int | None, note: str
) -> list[ParsedSample]:
    """One sample per figure that was printed; without a value where no request was counted."""
    return [
        ParsedSample(
            name, metric, None if counted == 0 else figures[metric].value, block_size=block_size,
            printed=figures[metric].printed, line=figures[metric].line, note=note,
            missing_reason=_missing(counted, figures[metric]),
        )
        for metric in _METRICS
        if metric in figures
    ]  # fmt: skip


def _missing(counted: float | None, figure: Figure) -> str:
    if counted == 0:
        return NOTHING
    return "" if figure.value is not None else "not readable"


def missing(name: str, line: int | None, block_size: int | None, reason: str) -> ParsedSample:
    return ParsedSample(name, "latency_mean", None, block_size=block_size, line=line, missing_reason=reason)


def sums(values: Sequence[float]) -> tuple[float, ...]:
    """The seconds at which each request was done, by the time that the requests themselves took (ns)."""
    total, times = 0.0, []
    for value in values:
        total += value
        times.append(total / 1e9)
    return tuple(times)

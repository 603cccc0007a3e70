"""The shape of what every parser gives back: text goes in, these dataclasses come out.

A parser module has two functions:

- `looks_like(head: str | bytes) -> float`: how sure it is, 0 to 1, that a file beginning so is of its format;
- `parse(text: str | bytes) -> ParsedFile`: the runs in the file. Raises `ParseError` and nothing else.

Base units throughout: bytes, bytes per second, 1/s, ns, fractions. Operations, metrics and their words are those of
`apps.runs.metrics`. Times are seconds since 1970 as the tool printed them; a parser looks at no clock.
"""

from dataclasses import dataclass, field


class ParseError(ValueError):
    """The text is not what the format says. `line` counts from 1; None where the whole text is meant."""

    def __init__(self, message: str, *, line: int | None = None, found: str = "", expected: str = "") -> None:
        self.message, self.line, self.found, self.expected = message, line, found[:200], expected
        super().__init__(str(self))

    def __str__(self) -> str:
        where = f"line {self.line}: " if self.line else ""
        found = f"; found {self.found!r}" if self.found else ""
        expected = f", expected {self.expected}" if self.expected else ""
        return f"{where}{self.message}{found}{expected}"


@dataclass(frozen=True, slots=True)
class ParsedSample:
    """One value. `value` is None with a `missing_reason` or with a bound, never made up."""

    operation: str
    metric: str
    value: float | None
    section: int = 0
    file_size: int | None = None
    block_size: int | None = None
    threads: int | None = None
    iodepth: int | None = None
    printed: str = ""
    line: int | None = None
    quality: str = "exact"
    missing_reason: str = ""
    low: float | None = None
    high: float | None = None
    cpu: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class ParsedHistogram:
    """Latency bins, ascending: the tool's value for the bin in ns, and how many completions fell into it."""

    operation: str
    kind: str  # clat, slat or lat
    section: int
    bins: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class ParsedSeries:
    """A value over the seconds since the run began."""

    operation: str
    metric: str
    section: int
    source: str  # progress, fio_log or observer
    times_s: tuple[float, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class ParsedSection:
    """A part of the tool's output that has figures of its own: one of fio's jobs or groups."""

    number: int
    name: str
    options: dict[str, str] = field(default_factory=dict)
    error: int = 0


@dataclass(frozen=True, slots=True)
class ParsedRun:
    tool: str
    tool_version: str
    sections: tuple[ParsedSection, ...] = ()
    samples: tuple[ParsedSample, ...] = ()
    series: tuple[ParsedSeries, ...] = ()
    histograms: tuple[ParsedHistogram, ...] = ()
    started_at: float | None = None
    ended_at: float | None = None
    labels: dict[str, str] = field(default_factory=dict)
    problem: str = ""  # what the tool itself says went wrong; the other sections' figures stand


@dataclass(frozen=True, slots=True)
class ParsedFile:
    runs: tuple[ParsedRun, ...]
    warnings: tuple[str, ...] = ()

"""The shape of what every parser gives back: text goes in, these dataclasses come out.

A parser module has

- `NAME`, the format's name in addresses and rows (`bonnie++ csv`), and `TITLE`, the same for people;
- `looks_like(text: SourceText) -> float`: how sure it is, 0 to 1, that the text holds its format anywhere;
- `parse(text: SourceText) -> ParsedFile`: every run in the text, in its order. Raises `ParseError` where there is none,
  and nothing else. One broken run among others is no error: it goes into `ParsedFile.broken`.

Real files are logs: a parser searches for its blocks and says which lines it read, so that a file with the output of
several tools is read by several parsers, and lines that two of them claim are seen.

Base units throughout: bytes, bytes per second, 1/s, ns, fractions. Operations, metrics and their words are those of
`apps.runs.metrics`. Times are seconds since 1970 as the tool printed them, None without a time zone that is printed or
UTC by definition; a parser looks at no clock.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

_LONGEST_FOUND = 200


@dataclass(frozen=True, slots=True)
class Broken:
    """A place that is not what its format says: what was found, what was expected, at which line (from 1)."""

    message: str
    line: int | None = None
    found: str = ""
    expected: str = ""

    def __str__(self) -> str:
        where = f"line {self.line}: " if self.line else ""
        found = f"; found {self.found!r}" if self.found else ""
        expected = f", expected {self.expected}" if self.expected else ""
        return f"{where}{self.message}{found}{expected}"


class ParseError(ValueError):
    """The text is not what the format says. `line` counts from 1; None where the whole text is meant."""

    def __init__(self, message: str, *, line: int | None = None, found: str = "", expected: str = "") -> None:
        self.broken = Broken(message, line, found[:_LONGEST_FOUND], expected)
        super().__init__(str(self.broken))

    @property
    def message(self) -> str:
        return self.broken.message

    @property
    def line(self) -> int | None:
        return self.broken.line

    @property
    def found(self) -> str:
        return self.broken.found

    @property
    def expected(self) -> str:
        return self.broken.expected


class ParsedSample(msgspec.Struct, frozen=True, gc=False):
    """One value. `value` is None with a `missing_reason` or with a bound, never made up.

    There are millions of them, and a frozen dataclass costs six times as much to make.
    """

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
    alternatives: tuple[float, ...] = ()  # other values that the printed text may mean, in base units


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
    source: str  # progress, fio_log, report (intervals that a tool printed) or observer
    times_s: Sequence[float]  # a tuple, or a NumPy array of float64 where there are many
    values: Sequence[float]  # NaN where there was no value


@dataclass(frozen=True, slots=True)
class ParsedSection:
    """A part of the tool's output that has figures of its own: one of fio's jobs or groups."""

    number: int
    name: str
    options: dict[str, str] = field(default_factory=dict)
    error: int = 0


class ParsedRun(msgspec.Struct, frozen=True, gc=False):
    """One tool, one workload, one time.

    `workload` holds what the tool was asked to do, in fio's words and base units where fio has a word: `rw`,
    `block_size`, `file_size`, `numjobs`, `iodepth`, `direct` (0 or 1), `sync` (none, fsync, fdatasync, dsync, sync,
    direct), `runtime` (s), `command` (the command line as shown). Only what the text says; nothing assumed.
    """

    tool: str
    tool_version: str
    sections: tuple[ParsedSection, ...] = ()
    samples: tuple[ParsedSample, ...] = ()
    series: tuple[ParsedSeries, ...] = ()
    histograms: tuple[ParsedHistogram, ...] = ()
    started_at: float | None = None
    ended_at: float | None = None
    labels: dict[str, str] = {}
    problem: str = ""  # what the tool itself says went wrong; the other sections' figures stand
    workload: dict[str, str | int | float] = {}
    host: str = ""  # as printed: a host name, bonnie++'s machine label
    target: str = ""  # as printed: the path, device or peer that was tested
    caption: str = ""  # the words before the run that tell it from the next one
    line: int | None = None  # the first and the last line that belong to it
    last_line: int | None = None
    is_transcribed: bool = False  # digits that no tool prints: written or repaired by hand


@dataclass(frozen=True, slots=True)
class ParsedWorkload:
    """A fio job file: something to run, not something that ran. `jobs` in the words of `apps.runs.workload`."""

    name: str
    jobs: tuple[dict[str, Any], ...]
    refused: tuple[Broken, ...] = ()  # options that Spindle does not run
    line: int | None = None
    last_line: int | None = None


@dataclass(frozen=True, slots=True)
class ParsedInventory:
    """The output of a tool that describes a machine: kept, and offered to the inventory."""

    tool: str  # mdadm, mdstat, lsblk, smartctl, storcli…
    summary: str  # one line for people: "md0: raid5 of 4 devices, clean"
    content: Any  # JSON-like: what the tool said, in its own words
    host: str = ""
    line: int | None = None
    last_line: int | None = None


@dataclass(frozen=True, slots=True)
class ParsedFile:
    runs: tuple[ParsedRun, ...] = ()
    warnings: tuple[str, ...] = ()  # each begins with "line 12: " where it has a line
    broken: tuple[Broken, ...] = ()
    workloads: tuple[ParsedWorkload, ...] = ()
    inventory: tuple[ParsedInventory, ...] = ()

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

from abc import ABCMeta
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, cycle, repeat
from typing import Any, overload

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


class _TableMeta(msgspec.StructMeta, ABCMeta):
    pass


class ParsedTable(msgspec.Struct, Sequence[ParsedSample], metaclass=_TableMeta, frozen=True, gc=False):
    """The samples of a table whose rows have all their figures: they travel as its columns, and become samples, row by row,
    for who reads them. Making one for each figure takes longer than reading the figure.
    """

    operations: tuple[str, ...]  # of a row's figures
    metric: str
    unit: str  # of the figures as they are printed, and what one of them is in base units
    factor: float
    numbers: list[float]  # one row's behind the other's, as are the figures
    figures: list[str]
    file_sizes: list[int]  # one for each row
    block_sizes: list[int]
    lines: list[int]

    def __post_init__(self) -> None:
        rows, values = len(self.lines), len(self.lines) * len(self.operations)
        found = [len(column) for column in (self.file_sizes, self.block_sizes, self.numbers, self.figures)]
        if found != [rows, rows, values, values]:
            raise ValueError(
                f"found columns of {found}, expected {rows} of each size, {values} values and as many texts"
            )

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def values(self) -> list[float]:
        return [number * self.factor for number in self.numbers]

    @property
    def printed(self) -> list[str]:
        """The figures with their unit; a text of all of them that is cut again is quicker than one after the other."""
        mark = f" {self.unit}\n"
        return f"{mark.join(self.figures)}{mark}".split("\n")[:-1] if self.figures else []

    def __iter__(self) -> Iterator[ParsedSample]:
        zero, none, width = repeat(0), repeat(None), len(self.operations)
        of_rows = (self.file_sizes, self.block_sizes, self.lines)
        sizes, blocks, lines = (chain.from_iterable(zip(*[each] * width, strict=True)) for each in of_rows)
        return map(
            ParsedSample, cycle(self.operations), repeat(self.metric), self.values, zero, sizes, blocks, none, none,
            self.printed, lines,
        )  # fmt: skip

    @overload
    def __getitem__(self, place: int) -> ParsedSample: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[ParsedSample, ...]: ...
    def __getitem__(self, place: int | slice) -> ParsedSample | tuple[ParsedSample, ...]:
        if isinstance(place, slice):
            return tuple(map(self._sample, range(*place.indices(len(self)))))
        return self._sample(range(len(self))[place])

    def _sample(self, place: int) -> ParsedSample:
        row, column = divmod(place, len(self.operations))
        return ParsedSample(
            self.operations[column], self.metric, self.numbers[place] * self.factor, 0, self.file_sizes[row],
            self.block_sizes[row], printed=f"{self.figures[place]} {self.unit}", line=self.lines[row],
        )  # fmt: skip


Samples = tuple[ParsedSample, ...] | ParsedTable


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
    samples: Samples = ()
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

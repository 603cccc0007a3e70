"""The dataclasses that every parser returns.

A parser module has

- `NAME`, the format's name in addresses and database rows (`bonnie++ csv`), and `TITLE`, the same for people;
- `looks_like(text: SourceText) -> float`: how likely it is, 0 to 1, that the text holds this format anywhere;
- `parse(text: SourceText) -> ParsedFile`: every run in the text, in its order. It raises `ParseError` where there is
  none, and nothing else. A broken run among others raises nothing: it is listed in `ParsedFile.broken`.

Real files are logs with the output of several tools. A parser therefore searches for its blocks and says which lines it
read; several parsers read one file, and lines that two of them claim are noticed.

Units are base units throughout: bytes, bytes per second, 1/s, ns, fractions. Operations, metrics and their words are
those of `apps.runs.metrics`. Times are seconds since 1970 as the tool printed them, None unless a time zone is printed
or UTC is the format's rule; a parser never looks at a clock.
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
    """A place that is not what its format requires: what stands there, what was expected, in which line (from 1)."""

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
    """Raised where a text does not hold the format. `line` counts from 1; None where the whole text is meant."""

    def __init__(self, message: str, *, line: int | None = None, found: str = "", expected: str = "") -> None:
        self.broken = Broken(message, line, found[:_LONGEST_FOUND], expected)
        super().__init__(str(self.broken))

    @property
    def message(self) -> str:
        """Return what is wrong."""
        return self.broken.message

    @property
    def line(self) -> int | None:
        """Return the line number, from 1; None where the whole text is meant."""
        return self.broken.line

    @property
    def found(self) -> str:
        """Return the characters that stand there."""
        return self.broken.found

    @property
    def expected(self) -> str:
        """Return what the format has in that place."""
        return self.broken.expected


class ParsedSample(msgspec.Struct, frozen=True, gc=False):
    """One measured value.

    `value` is None where there is a `missing_reason` or only a bound (`low`, `high`); it is never made up. A file may
    hold millions of samples, and a frozen dataclass takes six times as long to construct as a msgspec struct.
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
    alternatives: tuple[float, ...] = ()  # other values that the printed text may stand for, in base units


class _TableMeta(msgspec.StructMeta, ABCMeta):
    pass


class ParsedTable(msgspec.Struct, Sequence[ParsedSample], metaclass=_TableMeta, frozen=True, gc=False):
    """The samples of a table in which every row has all its figures, stored as columns.

    It is a sequence of `ParsedSample`, which are made only when somebody iterates: to make one for each figure takes
    longer than to read the figure. `numbers` and `figures` hold rows × operations entries, row by row; the other
    columns hold one entry a row.

    Raises:
        ValueError: if the columns are not of the same number of rows.
    """

    operations: tuple[str, ...]  # of the figures in a row, from left to right
    metric: str
    unit: str  # in which the figures are printed
    factor: float  # one `unit` in base units
    numbers: list[float]  # all rows, one after the other
    figures: list[str]  # the same as printed
    file_sizes: list[int]  # bytes, one for each row
    block_sizes: list[int]
    lines: list[int]

    def __post_init__(self) -> None:
        rows, values = len(self.lines), len(self.lines) * len(self.operations)
        lengths = [len(column) for column in (self.file_sizes, self.block_sizes, self.numbers, self.figures)]
        if lengths != [rows, rows, values, values]:
            raise ValueError(
                f"found columns of {lengths}, expected {rows} of each size, {values} values and as many texts"
            )

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def values(self) -> list[float]:
        """Return all figures in base units, row by row."""
        return [number * self.factor for number in self.numbers]

    @property
    def printed(self) -> list[str]:
        """Return all figures with their unit, as printed.

        To join all and split again is quicker than to append the unit to each.
        """
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
            return tuple(map(self._get_sample, range(*place.indices(len(self)))))
        return self._get_sample(range(len(self))[place])

    def _get_sample(self, place: int) -> ParsedSample:
        row, column = divmod(place, len(self.operations))
        return ParsedSample(
            self.operations[column], self.metric, self.numbers[place] * self.factor, 0, self.file_sizes[row],
            self.block_sizes[row], printed=f"{self.figures[place]} {self.unit}", line=self.lines[row],
        )  # fmt: skip


Samples = tuple[ParsedSample, ...] | ParsedTable


@dataclass(frozen=True, slots=True)
class ParsedHistogram:
    """Latency bins, ascending: pairs of the tool's value for the bin in ns, and the number of completions in it."""

    operation: str
    kind: str  # clat, slat or lat
    section: int
    bins: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, eq=False)
class ParsedHistory:
    """Latency histograms of intervals that follow each other; their sum is the `ParsedHistogram` of the same place.

    `times_s` are the ends of the intervals in seconds since the run began, `bins` the tool's values for the bins in ns,
    ascending, and `counts` the completions, an array of intervals × bins of whole numbers.
    """

    operation: str
    kind: str
    section: int
    times_s: Sequence[float]
    bins: tuple[int, ...]
    counts: Any

    def __eq__(self, other: object) -> bool:
        """Compare all fields, the counts as a whole."""
        if not isinstance(other, ParsedHistory):
            return NotImplemented
        mine, theirs = ((h.operation, h.kind, h.section, tuple(h.times_s), h.bins) for h in (self, other))
        return mine == theirs and bool((self.counts == other.counts).all())

    def __hash__(self) -> int:
        return hash((self.operation, self.kind, self.section, self.bins))


@dataclass(frozen=True, slots=True)
class ParsedSeries:
    """The values of a metric over time, in seconds since the run began."""

    operation: str
    metric: str
    section: int
    source: str  # progress, fio_log, report (intervals that a tool printed) or observer
    times_s: Sequence[float]  # a tuple, or a NumPy array of float64 where there are many
    values: Sequence[float]  # NaN where there was no value


@dataclass(frozen=True, slots=True)
class ParsedSection:
    """A part of a tool's output that has figures of its own, such as one of fio's jobs or groups."""

    number: int
    name: str
    options: dict[str, str] = field(default_factory=dict)
    error: int = 0
    group: int | None = None  # fio's groupid: jobs of one group run at the same time


class ParsedRun(msgspec.Struct, frozen=True, gc=False):
    """One run of one workload by one tool.

    `workload` holds what the tool was asked to do, in fio's words and base units where fio has a word: `rw`,
    `block_size`, `file_size`, `numjobs`, `iodepth`, `direct` (0 or 1), `sync` (none, fsync, fdatasync, dsync, sync,
    direct), `runtime` (s), `command` (the command line as shown). It holds only what the text says; nothing is assumed.
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
    problem: str = ""  # the tool's own report of what went wrong; figures of the other sections are valid
    workload: dict[str, str | int | float] = {}
    host: str = ""  # as printed: a host name, bonnie++'s machine label
    target: str = ""  # as printed: the path, device or peer that was tested
    caption: str = ""  # the words above the run that distinguish it from the next one
    line: int | None = None  # the first and the last line that belong to it
    last_line: int | None = None
    is_transcribed: bool = False  # has figures that no tool prints so: written or corrected by hand
    histories: tuple[ParsedHistory, ...] = ()


@dataclass(frozen=True, slots=True)
class ParsedWorkload:
    """A fio job file: something to run, not something that ran.

    `jobs` are options in the words of `apps.runs.workload`.
    """

    name: str
    jobs: tuple[dict[str, object], ...]
    refused: tuple[Broken, ...] = ()  # options that Spindle does not run
    job_lines: tuple[dict[str, int], ...] = ()  # of each job the lines of its options; that of the job itself is ""
    line: int | None = None
    last_line: int | None = None


@dataclass(frozen=True, slots=True)
class ParsedInventory:
    """The output of a tool that describes a machine; it is stored and offered to the inventory."""

    tool: str  # mdadm, mdstat, lsblk, smartctl, storcli…
    summary: str  # one line for people: "md0: raid5 of 4 devices, clean"
    content: Any  # the tool's output as JSON-like values under the tool's own names
    host: str = ""
    line: int | None = None
    last_line: int | None = None


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """Everything that one parser read from one text."""

    runs: tuple[ParsedRun, ...] = ()
    warnings: tuple[str, ...] = ()  # each begins with "line 12: " where it has a line
    broken: tuple[Broken, ...] = ()
    workloads: tuple[ParsedWorkload, ...] = ()
    inventory: tuple[ParsedInventory, ...] = ()

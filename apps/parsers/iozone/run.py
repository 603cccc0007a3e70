"""A run of IOzone while it is being read."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from apps.parsers.core.models import ParsedRun, ParsedSample, ParsedTable, Samples
from apps.parsers.core.source_text import SourceText
from apps.parsers.iozone.banner import KIB, IozoneBanner
from apps.parsers.iozone.failures import IozoneFailure, describe_failures
from apps.parsers.iozone.throughput import ThroughputPhase, iterate_samples

DEFAULT_NOTE = "the text does not say the unit: kB/s, which IOzone prints unless -O or -N is asked for"
_OF_ALL = ("operations", "metric", "unit", "factor")
_COLUMNS = ("numbers", "figures", "file_sizes", "block_sizes", "lines")
_TITLE = re.compile(r"\s*(?!.*[Pp]assword)(?:#{2,6} ?([^#`]{1,200}?)[ #]*|([^\s`][^`]{0,200}):)\s*$").match
_UNDER_TITLE = re.compile(r"\s*(?:(?:`{3}|~{3})[\w-]*)?\s*$").match
_MOST_BACK = 4
_DEFAULT_UNIT = ("kBytes/sec", "bandwidth", 1024.0)

SamplePoint = tuple[str, str, int | None, int | None]


@dataclass(slots=True)
class IozoneDraft:
    """A run in the making. `kind` is table, throughput or report: from what its first figures were read."""

    kind: str
    banner: IozoneBanner
    first: int
    last: int
    samples: list[ParsedSample] = field(default_factory=list)
    table: ParsedTable | None = None  # used instead of `samples` as long as all rows have all figures
    points: set[tuple[str, str]] = field(default_factory=set)  # the sizes of a table's rows, as printed
    phases: dict[tuple[str, int], ThroughputPhase] = field(default_factory=dict)  # by operation and number of processes
    record: int | None = None  # bytes of a record as in the throughput report
    caption: str = ""  # the words that somebody put before its row
    mark: str = ""  # the word before its lines, usually a host name
    failures: list[IozoneFailure] = field(default_factory=list)

    def add_rows(self, rows: ParsedTable) -> None:
        """Add rows that have all their figures."""
        if self.samples:
            self.samples += rows
        elif self.table is None:
            self.table = rows
        elif all(getattr(self.table, name) == getattr(rows, name) for name in _OF_ALL):
            for name in _COLUMNS:
                getattr(self.table, name).extend(getattr(rows, name))
        else:
            self.add(rows)

    def add(self, samples: Iterable[ParsedSample]) -> None:
        """Add samples."""
        if self.table is not None:
            self.samples, self.table = list(self.table), None
        self.samples += samples

    def add_phase(self, phase: ThroughputPhase) -> bool:
        """Add a throughput test; return False where the run has this test already, so that another run has begun."""
        key = (phase.operation, phase.threads)
        return self.phases.setdefault(key, phase) is phase

    def file_size(self) -> int | None:
        """Return the file size in bytes."""
        last = next(reversed(self.phases.values()), None)
        return last.file_size if last else self.banner.size("file_size")

    def threads(self) -> list[int]:
        """Return the numbers of processes that the text states, in its order."""
        numbers = [threads for _, threads in self.phases] or [int(self.banner.facts.get("numjobs", 0))]
        return [number for number in dict.fromkeys(numbers) if number]

    def add_report(self, samples: Sequence[ParsedSample]) -> bool:
        """Add the samples that the run does not have yet; return False where the report is that of another run."""
        known = {_get_point(sample): sample.value for sample in self.table or self.samples}
        overlap = [sample for sample in samples if _get_point(sample) in known]
        if overlap and (self.kind == "report" or any(sample.value != known[_get_point(sample)] for sample in overlap)):
            return False
        if more := [sample for sample in samples if _get_point(sample) not in known]:
            self.add(more)
        return True

    def add_throughput_report(self, samples: Sequence[ParsedSample]) -> bool:
        """Add the samples of a throughput report; return False where it is that of another run."""
        measured = {key: phase.children for key, phase in self.phases.items() if phase.children}
        repeated = [sample for sample in samples if (sample.operation, sample.threads) in measured]
        if any(sample.printed.split()[0] != measured[sample.operation, sample.threads or 0] for sample in repeated):
            return False
        return self.add_report([sample for sample in samples if sample not in repeated])

    def unit(self) -> tuple[str, str, float, str]:
        """Return the printed unit, the metric, its factor, and a note where it is IOzone's default."""
        if unit := self.banner.unit():
            return (*unit, "")
        return (*_DEFAULT_UNIT, DEFAULT_NOTE)

    def make_run(self, text: SourceText) -> ParsedRun | None:
        """Return the finished run, None where it has no figures."""
        if self.phases:
            phases = [sample for phase in self.phases.values() for sample in iterate_samples(phase, self.record)]
            self.samples, self.table = phases + list(self.table or self.samples), None
        samples: Samples = self.table or tuple(self.samples)
        if not samples:
            return None
        first = self.first if self.banner.first is None or self.caption else min(self.first, self.banner.first)
        host = self.mark if re.search(r"[\d.]", self.mark) else ""
        return ParsedRun(
            tool="iozone",
            tool_version=self.banner.version,
            samples=samples,
            workload=self._make_workload(),
            host=host or self.banner.facts.get("host", ""),
            target=self.banner.target(),
            caption=self.caption or (self.mark if not host else "") or _find_title(text.lines, first),
            line=text.number(first),
            last_line=text.number(self.last),
            problem=describe_failures(self.failures, [text.number(failure.first) for failure in self.failures]),
        )

    def _make_workload(self) -> dict[str, str | int | float]:
        """Return the workload.

        The sizes in a table are more certain than those of a banner, which may come from elsewhere. What the banner
        says and no row has is stored under names of its own (`header_file_size`).
        """
        workload = self.banner.workload()
        if len(self.threads()) > 1:
            workload.pop("numjobs", None)
        if self.kind != "table" or not self.points:  # there is only a header, or the report of the run
            return workload
        first = next(iter(self.points))
        for place, name in enumerate(("file_size", "block_size")):
            announced = workload.pop(name, None)
            if announced and all(int(point[place] or 0) * KIB != announced for point in self.points):
                workload[f"header_{name}"] = announced
            if not announced and (limits := self._describe_unmet_limits(name, place)):
                workload[f"header_{name}"] = limits
            is_same = all(point[place] == first[place] for point in self.points)  # usually decided by the second
            if is_same and (size := int(first[place] or 0) * KIB):
                workload[name] = size
        return workload

    def _describe_unmet_limits(self, name: str, place: int) -> str:
        """Return `from 8g to 16g`, `from 8g` or `to 16g`, as in the command line, if a row's size lies outside; else ""."""
        least, greatest = self.banner.limits(name)
        sizes = [int(point[place] or 0) * KIB for point in self.points]
        if all((least or 0) <= size and (greatest is None or size <= greatest) for size in sizes if size):
            return ""
        return " ".join(f"{word} {_spell_size(size)}" for word, size in (("from", least), ("to", greatest)) if size)


def _spell_size(size: int) -> str:
    """Return a size as IOzone accepts it: `8g`."""
    return next(
        (f"{size // KIB**power}{letter}" for power, letter in ((3, "g"), (2, "m")) if size % KIB**power == 0),
        f"{size // KIB}k",
    )


def _find_title(lines: Sequence[str], first: int) -> str:
    """Return a title above the run: a line such as `before the change:`, or a heading in Markdown."""
    for line in reversed(lines[max(0, first - _MOST_BACK) : first]):
        if not _UNDER_TITLE(line):
            title = _TITLE(line[:400])
            return (title[1] or title[2]).strip() if title else ""
    return ""


def _get_point(sample: ParsedSample) -> SamplePoint:
    return (sample.operation, sample.metric, sample.file_size, sample.block_size)

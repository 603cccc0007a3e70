"""A run of IOzone while it is being read."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from apps.parsers.iozone_banner import KIB, Banner
from apps.parsers.iozone_throughput import Phase, samples_of
from apps.parsers.shape import ParsedRun, ParsedSample, ParsedTable, Samples
from apps.parsers.source_text import SourceText

DEFAULT_NOTE = "the text does not say the unit: kB/s, which IOzone prints unless -O or -N is asked for"
_OF_ALL = ("operations", "metric", "unit", "factor")
_COLUMNS = ("numbers", "figures", "file_sizes", "block_sizes", "lines")
_TITLE = re.compile(r"\s*(?!.*[Pp]assword)(?:#{2,6} ?([^#`]{1,200}?)[ #]*|([^\s`][^`]{0,200}):)\s*$").match
_UNDER_TITLE = re.compile(r"\s*(?:(?:`{3}|~{3})[\w-]*)?\s*$").match
_MOST_BACK = 4
_DEFAULT_UNIT = ("kBytes/sec", "bandwidth", 1024.0)

Point = tuple[str, str, int | None, int | None]


@dataclass(slots=True)
class Draft:
    """`kind` is table, throughput or report: what the figures were read from first."""

    kind: str
    banner: Banner
    first: int
    last: int
    samples: list[ParsedSample] = field(default_factory=list)
    table: ParsedTable | None = None  # instead of `samples`, while all rows have all their figures
    points: set[tuple[str, str]] = field(default_factory=set)  # the sizes of a table's rows, as printed
    phases: dict[tuple[str, int], Phase] = field(default_factory=dict)  # by operation and number of processes
    record: int | None = None  # as the throughput report says it
    caption: str = ""  # what somebody put before its row
    mark: str = ""  # that its lines begin with, a host's name mostly

    def add_rows(self, rows: ParsedTable) -> None:
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
        if self.table is not None:
            self.samples, self.table = list(self.table), None
        self.samples += samples

    def take_phase(self, phase: Phase) -> bool:
        """False where the run has this test already: then another run has begun."""
        key = (phase.operation, phase.threads)
        return self.phases.setdefault(key, phase) is phase

    def file_size(self) -> int | None:
        last = next(reversed(self.phases.values()), None)
        return last.file_size if last else self.banner.size("file_size")

    def threads(self) -> list[int]:
        """The numbers of processes that the text names, in its order."""
        told = [threads for _, threads in self.phases] or [int(self.banner.facts.get("numjobs", 0))]
        return [number for number in dict.fromkeys(told) if number]

    def take_report(self, samples: Sequence[ParsedSample]) -> bool:
        """Take what a report has more than its run; False where it is the report of another one."""
        known = {_point(sample): sample.value for sample in self.table or self.samples}
        overlap = [sample for sample in samples if _point(sample) in known]
        if overlap and (self.kind == "report" or any(sample.value != known[_point(sample)] for sample in overlap)):
            return False
        if more := [sample for sample in samples if _point(sample) not in known]:
            self.add(more)
        return True

    def take_throughput_report(self, samples: Sequence[ParsedSample]) -> bool:
        measured = {key: phase.children for key, phase in self.phases.items() if phase.children}
        repeated = [sample for sample in samples if (sample.operation, sample.threads) in measured]
        if any(sample.printed.split()[0] != measured[sample.operation, sample.threads or 0] for sample in repeated):
            return False
        return self.take_report([sample for sample in samples if sample not in repeated])

    def unit(self) -> tuple[str, str, float, str]:
        """The unit's text, the metric, its factor, and a note where it is IOzone's default."""
        if told := self.banner.unit():
            return (*told, "")
        return (*_DEFAULT_UNIT, DEFAULT_NOTE)

    def finish(self, text: SourceText) -> ParsedRun | None:
        if self.phases:
            phases = [sample for phase in self.phases.values() for sample in samples_of(phase, self.record)]
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
            workload=self._workload(),
            host=host or self.banner.facts.get("host", ""),
            target=self.banner.target(),
            caption=self.caption or (self.mark if not host else "") or _title_above(text.lines, first),
            line=text.number(first),
            last_line=text.number(self.last),
        )

    def _workload(self) -> dict[str, str | int | float]:
        """A table's own sizes are surer than those of a banner that may be somebody's excerpt."""
        asked = self.banner.workload()
        if len(self.threads()) > 1:
            asked.pop("numjobs", None)
        if self.kind != "table" or not self.points:  # a header without rows, and the report of the run
            return asked
        first = next(iter(self.points))
        for place, name in enumerate(("file_size", "block_size")):
            asked.pop(name, None)
            is_same = all(point[place] == first[place] for point in self.points)  # the second one mostly differs
            if is_same and (size := int(first[place] or 0) * KIB):
                asked[name] = size
        return asked


def _title_above(lines: Sequence[str], first: int) -> str:
    """`before the change:`, or a heading in Markdown."""
    for line in reversed(lines[max(0, first - _MOST_BACK) : first]):
        if not _UNDER_TITLE(line):
            title = _TITLE(line[:400])
            return (title[1] or title[2]).strip() if title else ""
    return ""


def _point(sample: ParsedSample) -> Point:
    return (sample.operation, sample.metric, sample.file_size, sample.block_size)

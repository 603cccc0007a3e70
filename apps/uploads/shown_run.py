"""A recognised run as the pages show it: what the text says of it, its samples, and what it has over time."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import groupby
from typing import Any

from apps.lib import units
from apps.parsers.shape import ParsedHistogram, ParsedRun, ParsedSample
from apps.runs.metrics import DISK, METRICS, Metric, what
from apps.runs.models import Quality
from apps.runs.points import point_text
from apps.runs.sections import name_of, told_apart
from apps.uploads.reading import FileReading, PackedSeries

SERIES = 8  # of a run
VALUES = 5  # as many for each job, or a line above them would be one more to read


@dataclass(frozen=True)
class ShownSample:
    sample: ParsedSample
    section: str = ""  # its name, where the run has several

    @property
    def metric(self) -> Metric:
        return METRICS[self.sample.metric]

    @property
    def what(self) -> str:
        return what(self.sample.operation, self.sample.note).replace("_", " ")

    @property
    def note(self) -> str:
        """What is to be said of the value, unless `what` says it."""
        return self.sample.note if self.sample.operation != DISK else ""

    @property
    def point(self) -> str:
        return point_text(self.sample)

    @property
    def cpu(self) -> str:
        return units.human(self.sample.cpu, "fraction") if self.sample.cpu is not None else ""

    @property
    def quality(self) -> str:
        """Nothing for an exact value; else how far it can be trusted, or why there is none."""
        one = self.sample
        if one.missing_reason or one.quality == Quality.EXACT:
            return one.missing_reason
        return str(Quality(one.quality).label)

    @property
    def bounds(self) -> str:
        return units.bounds(self.sample.low, self.sample.high, partial(units.human, unit=self.metric.unit))


@dataclass(frozen=True)
class ShownGroup:
    """Samples that follow each other; with a line above them that says what they share, or each says it itself."""

    samples: Sequence[ShownSample]
    has_head: bool

    @property
    def first(self) -> ShownSample:
        return self.samples[0]


@dataclass(frozen=True)
class ShownSeries:
    """What is seen of a value over time without a chart: a wrong unit, for one."""

    one: PackedSeries
    section: str = ""

    @property
    def metric(self) -> Metric:
        return METRICS[self.one.metric]

    @property
    def low(self) -> float:
        return min(bucket[1] for bucket in self.one.overview)

    @property
    def high(self) -> float:
        return max(bucket[3] for bucket in self.one.overview)

    @property
    def mean(self) -> float:
        buckets = self.one.overview
        return sum(bucket[2] * bucket[4] for bucket in buckets) / sum(bucket[4] for bucket in buckets)


@dataclass(frozen=True)
class ShownHistogram:
    one: ParsedHistogram

    @property
    def count(self) -> int:
        return sum(count for _, count in self.one.bins)

    @property
    def text(self) -> str:
        bins = self.one.bins
        return f"{units.human(bins[0][0], 'ns')} to {units.human(bins[-1][0], 'ns')}" if bins else ""


@dataclass(frozen=True)
class ShownRun:
    """`place`: among the file's runs. `samples`: those on this page, `before` of them on earlier ones."""

    place: int
    run: ParsedRun
    format: str
    is_chosen: bool
    has_rivals: bool
    series: Sequence[PackedSeries]
    samples: Sequence[ShownSample]
    before: int = 0

    @property
    def over_time(self) -> list[ShownSeries]:
        """Some of them, below the last of its samples."""
        some = self.series[:SERIES] if self.is_last else ()
        names = _names_of(self.run)
        return [ShownSeries(one, names.get(one.section, "")) for one in some]

    @property
    def histograms(self) -> list[ShownHistogram]:
        return [ShownHistogram(one) for one in self.run.histograms[:SERIES]] if self.is_last else []

    @property
    def left_out(self) -> int:
        """How many series and histograms more there are."""
        more = max(0, len(self.series) - SERIES) + max(0, len(self.run.histograms) - SERIES)
        return more if self.is_last else 0

    @property
    def is_last(self) -> bool:
        return self.before + len(self.samples) >= len(self.run.samples)

    @property
    def title(self) -> str:
        return f"{self.run.tool} {self.run.tool_version}".strip()

    @cached_property
    def point(self) -> str:
        """Where all of its samples share it; those of a disk have none."""
        points = {point_text(one) for one in self.run.samples if one.operation != DISK}
        return points.pop() if len(points) == 1 else ""

    @cached_property
    def groups(self) -> list[ShownGroup]:
        """Job by job, where each of several has many values of its own; else one group in which each value says all."""
        found = [list(some) for _, some in groupby(self.samples, key=lambda one: (one.section, one.what, one.point))]
        has_heads = len(found) > 1 and len(self.samples) >= VALUES * len(found)
        return [ShownGroup(some, True) for some in found] if has_heads else [ShownGroup(self.samples, False)]

    @property
    def needs_points(self) -> bool:
        """Whether its values have to say their points each."""
        is_told = self.point or any(group.has_head for group in self.groups)
        return not is_told and any(one.point for one in self.samples)

    @cached_property
    def note(self) -> str:
        """The same, of what is to be said of its values."""
        notes = {one.note for one in self.run.samples}
        return notes.pop() if len(notes) == 1 and len(self.run.samples) > 1 else ""

    @property
    def words(self) -> list[tuple[str, str]]:
        """What the text says about the run beside its values."""
        run = self.run
        said = [("host", run.host), ("target", run.target), ("caption", run.caption)]
        said += [("job", one.name) for one in run.sections if len(run.sections) == 1]
        said += [(name.replace("_", " "), _word(name, value)) for name, value in run.workload.items()]
        said += [*run.labels.items(), ("point", self.point)]
        if run.is_transcribed:
            said.append(("transcribed", "digits that no tool prints"))
        return [(name, value[:200]) for name, value in said if value]


def _word(name: str, value: Any) -> str:
    is_size = name in ("block_size", "file_size") and isinstance(value, int)
    return units.size(value) if is_size else str(value)


def _names_of(run: ParsedRun) -> dict[int, str]:
    return told_apart({one.number: one.name for one in run.sections if one.name})


def shown_run(found: FileReading, place: int, begin: int = 0, end: int | None = None) -> ShownRun:
    one = found.runs[place]
    names = _names_of(one.run)
    samples = [
        ShownSample(sample, name_of(names, sample.operation, sample.section)) for sample in one.run.samples[begin:end]
    ]
    return ShownRun(
        place, one.run, one.format, one.is_chosen, bool(one.rivals), one.series, samples, before=begin
    )  # fmt: skip

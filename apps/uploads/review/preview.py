"""The preview of a file's runs before they are saved: pages of runs with their samples, and readings in conflict."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import groupby
from typing import Any

from django.core.paginator import Paginator
from msgspec import structs

from apps.core import units
from apps.parsers.core.models import ParsedHistogram, ParsedRun, ParsedSample
from apps.parsers.core.source_text import SourceText
from apps.runs.artefacts.store import ArtefactStoreError
from apps.runs.metrics import DISK, METRICS, Metric, point_text, what
from apps.runs.models import Quality
from apps.runs.sections import name_of, told_apart
from apps.uploads.file_reader import FileReading, PackedSeries
from apps.uploads.models import FileState, UploadedFile
from apps.uploads.review.run_selection import Rivalry, rivalries
from apps.uploads.review.source_lines import MOST_BYTES, Excerpt, excerpt, head
from apps.uploads.review.table_mapping import last_mapping
from apps.uploads.review.upload_summary import beside_results

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
        """Return the remark on the value, unless `what` holds it."""
        return self.sample.note if self.sample.operation != DISK else ""

    @property
    def point(self) -> str:
        return point_text(self.sample)

    @property
    def cpu(self) -> str:
        return units.human(self.sample.cpu, "fraction") if self.sample.cpu is not None else ""

    @property
    def quality(self) -> str:
        """Return why there is no value, or how far it can be trusted; empty for an exact value."""
        item = self.sample
        if item.missing_reason or item.quality == Quality.EXACT:
            return item.missing_reason
        return str(Quality(item.quality).label)

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

    series: PackedSeries
    section: str = ""

    @property
    def metric(self) -> Metric:
        return METRICS[self.series.metric]

    @property
    def low(self) -> float:
        return min(bucket[1] for bucket in self.series.overview)

    @property
    def high(self) -> float:
        return max(bucket[3] for bucket in self.series.overview)

    @property
    def mean(self) -> float:
        buckets = self.series.overview
        return sum(bucket[2] * bucket[4] for bucket in buckets) / sum(bucket[4] for bucket in buckets)


@dataclass(frozen=True)
class ShownHistogram:
    histogram: ParsedHistogram

    @property
    def count(self) -> int:
        return sum(count for _, count in self.histogram.bins)

    @property
    def text(self) -> str:
        bins = self.histogram.bins
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
        """Return the first `SERIES` series, below the last sample."""
        some = self.series[:SERIES] if self.is_last else ()
        names = _names_of(self.run)
        return [ShownSeries(item, names.get(item.section, "")) for item in some]

    @property
    def histograms(self) -> list[ShownHistogram]:
        return [ShownHistogram(histogram) for histogram in self.run.histograms[:SERIES]] if self.is_last else []

    @property
    def left_out(self) -> int:
        """Return how many series and histograms are not shown."""
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
        """Return the workload point that all samples share, or an empty string; disk samples have none."""
        points = {point_text(sample) for sample in self.run.samples if sample.operation != DISK}
        return points.pop() if len(points) == 1 else ""

    @cached_property
    def groups(self) -> list[ShownGroup]:
        """Return the samples grouped by job where each job has many values, else one group without a heading."""
        result = [
            list(some)
            for _, some in groupby(self.samples, key=lambda sample: (sample.section, sample.what, sample.point))
        ]
        has_heads = len(result) > 1 and len(self.samples) >= VALUES * len(result)
        return [ShownGroup(some, True) for some in result] if has_heads else [ShownGroup(self.samples, False)]

    @property
    def needs_points(self) -> bool:
        """Return whether each sample has to show its workload point."""
        is_told = self.point or any(group.has_head for group in self.groups)
        return not is_told and any(sample.point for sample in self.samples)

    @cached_property
    def note(self) -> str:
        """Return the remark that all samples share, or an empty string."""
        notes = {sample.note for sample in self.run.samples}
        return notes.pop() if len(notes) == 1 and len(self.run.samples) > 1 else ""

    @property
    def words(self) -> list[tuple[str, str]]:
        """Return (fact, value) of what the output says about the run."""
        run = self.run
        sentences = [("host", run.host), ("target", run.target), ("caption", run.caption)]
        sentences += [("job", section.name) for section in run.sections if len(run.sections) == 1]
        sentences += [(name, _word(name, value)) for name, value in run.workload.items()]
        sentences += [*run.labels.items(), ("point", self.point)]
        if run.is_transcribed:
            sentences.append(("transcribed", "digits that no tool prints"))
        return [(name, value[:200]) for name, value in sentences if value]


def _word(name: str, value: Any) -> str:
    is_size = name in ("block_size", "file_size") and isinstance(value, int)
    return units.size(value) if is_size else str(value)


def _names_of(run: ParsedRun) -> dict[int, str]:
    return told_apart({section.number: section.name for section in run.sections if section.name})


def shown_run(reading: FileReading, place: int, begin: int = 0, end: int | None = None) -> ShownRun:
    item = reading.runs[place]
    names = _names_of(item.run)
    samples = [
        ShownSample(sample, name_of(names, sample.operation, sample.section)) for sample in item.run.samples[begin:end]
    ]
    return ShownRun(
        place, item.run, item.format, item.is_chosen, bool(item.rivals), item.series, samples, before=begin
    )  # fmt: skip


BROKEN = 50
RUNS, SAMPLES = 100, 500  # on one page
EXAMPLE = 12  # samples of each side where two formats claim the same lines


@dataclass(frozen=True)
class Side:
    """One format's reading of lines that another one claims too."""

    format: str
    title: str
    runs: int
    example: ShownRun


@dataclass(frozen=True)
class Conflict:
    number: int
    rivalry: Rivalry
    sides: Sequence[Side]


class RunPages(Sequence[list[ShownRun]]):
    """The file's runs in pages of at most `RUNS` runs and `SAMPLES` samples."""

    def __init__(self, reading: FileReading) -> None:
        self.found = reading
        self._cuts = list(_cuts(reading))

    def __len__(self) -> int:
        return len(self._cuts)

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return [self[item] for item in range(*number.indices(len(self)))]
        return [shown_run(self.found, place, begin, end) for place, begin, end in self._cuts[number]]


Cut = tuple[int, int, int]  # the run's place, its first sample and the one behind its last


def _cuts(reading: FileReading) -> Iterator[list[Cut]]:
    cuts: list[Cut] = []
    samples = 0
    for place, run in enumerate(reading.runs):
        count, begin = len(run.run.samples), 0
        while begin < count or (begin == 0 and count == 0):
            if len(cuts) >= RUNS or samples >= SAMPLES:
                yield cuts
                cuts, samples = [], 0
            end = min(count, begin + SAMPLES - samples)
            cuts.append((place, begin, end))
            samples += end - begin
            begin = max(end, 1)
    if cuts:
        yield cuts


def conflicts(reading: FileReading) -> list[Conflict]:
    titles = {candidate.name: candidate.title for candidate in reading.candidates}
    return [
        Conflict(number, rivalry, [
            Side(name, titles.get(name, name), len(places), shown_run(reading, places[0], 0, EXAMPLE))
            for name, places in rivalry.places.items()
        ])
        for number, rivalry in enumerate(rivalries(reading))
    ]  # fmt: skip


def has_points(runs: Sequence[ShownRun]) -> bool:
    """Return whether the table of samples needs a column for workload points."""
    return any(run.needs_points for run in runs)


def lines_of(runs: Sequence[ShownRun]) -> set[int]:
    """Return the line numbers that the values of these runs were read from."""
    lines = {sample.sample.line for run in runs for sample in run.samples}
    lines |= {run.run.line for run in runs}
    return {line for line in lines if line is not None}


def shown_file(file: UploadedFile, number: str | None) -> dict[str, object]:
    """Return the template context about a file's content: a page of runs, conflicts, problems and an excerpt of its lines."""
    result = file.reading or FileReading()
    pages = RunPages(result)
    page = Paginator(range(len(pages)), 1).get_page(number)
    runs = pages[page.number - 1] if pages else []
    broken = [item for item in [file.error, *file.broken] if item][:BROKEN]
    beside = beside_results(file)
    used = lines_of(runs) | {item.line for item in beside if item.line}
    return {
        "found": structs.replace(
            result, runs=()
        ),  # a page's context waits for the collector, and a log may have 100,000 runs
        "has_runs": bool(result.runs),
        "page": page,
        "runs": runs,
        "has_points": has_points(runs),
        "conflicts": conflicts(result),
        "broken": broken,
        "beside": beside,
        "excerpt": _excerpt(file, used, {item["line"] for item in broken if item["line"]}),
        "text_end": MOST_BYTES if file.size > MOST_BYTES else 0,
        "mapped_by": last_mapping(file, result.table["signature"]) if file.mapping and result.table else None,
    }


def _excerpt(file: UploadedFile, used: set[int], broken: set[int]) -> Excerpt | None:
    if file.artefact is None or file.state in (FileState.UNPACKED, FileState.REFUSED):
        return None
    try:
        return excerpt(SourceText(head(file.artefact), file.name), used, broken)
    except ArtefactStoreError:
        return None

"""What was recognised in a file, as its page shows it before anything is kept: a page of runs with their samples."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Paginator
from msgspec import structs

from apps.parsers.source_text import SourceText
from apps.runs.artefact_store import ArtefactStoreError
from apps.uploads.choosing import Rivalry, rivalries
from apps.uploads.mapped import last_mapping
from apps.uploads.models import FileState, UploadedFile
from apps.uploads.reading import FileReading
from apps.uploads.shown import beside_results
from apps.uploads.shown_run import ShownRun, shown_run
from apps.uploads.source_lines import MOST_BYTES, Excerpt, excerpt, head

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

    def __init__(self, found: FileReading) -> None:
        self.found = found
        self._cuts = list(_cuts(found))

    def __len__(self) -> int:
        return len(self._cuts)

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return [self[one] for one in range(*number.indices(len(self)))]
        return [shown_run(self.found, place, begin, end) for place, begin, end in self._cuts[number]]


Cut = tuple[int, int, int]  # the run's place, its first sample and the one behind its last


def _cuts(found: FileReading) -> Iterator[list[Cut]]:
    cuts: list[Cut] = []
    samples = 0
    for place, one in enumerate(found.runs):
        count, begin = len(one.run.samples), 0
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


def conflicts(found: FileReading) -> list[Conflict]:
    titles = {one.name: one.title for one in found.candidates}
    return [
        Conflict(number, rivalry, [
            Side(name, titles.get(name, name), len(places), shown_run(found, places[0], 0, EXAMPLE))
            for name, places in rivalry.places.items()
        ])
        for number, rivalry in enumerate(rivalries(found))
    ]  # fmt: skip


def has_points(runs: Sequence[ShownRun]) -> bool:
    """Whether the points need a column of their own."""
    return any(run.needs_points for run in runs)


def lines_of(runs: Sequence[ShownRun]) -> set[int]:
    """The lines that the values of these runs were read from."""
    lines = {one.sample.line for run in runs for one in run.samples}
    lines |= {run.run.line for run in runs}
    return {line for line in lines if line is not None}


def shown_file(file: UploadedFile, number: str | None) -> dict[str, Any]:
    """What the file's page says about its bytes."""
    found = file.reading or FileReading()
    pages = RunPages(found)
    page = Paginator(range(len(pages)), 1).get_page(number)
    runs = pages[page.number - 1] if pages else []
    broken = [one for one in [file.error, *file.broken] if one][:BROKEN]
    beside = beside_results(file)
    used = lines_of(runs) | {one.line for one in beside if one.line}
    return {
        "found": structs.replace(
            found, runs=()
        ),  # a page's context waits for the collector, and a log may have 100,000 runs
        "has_runs": bool(found.runs),
        "page": page,
        "runs": runs,
        "has_points": has_points(runs),
        "conflicts": conflicts(found),
        "broken": broken,
        "beside": beside,
        "excerpt": _excerpt(file, used, {one["line"] for one in broken if one["line"]}),
        "text_end": MOST_BYTES if file.size > MOST_BYTES else 0,
        "mapped_by": last_mapping(file, found.table["signature"]) if file.mapping and found.table else None,
    }


def _excerpt(file: UploadedFile, used: set[int], broken: set[int]) -> Excerpt | None:
    if file.artefact is None or file.state in (FileState.UNPACKED, FileState.REFUSED):
        return None
    try:
        return excerpt(SourceText(head(file.artefact), file.name), used, broken)
    except ArtefactStoreError:
        return None

"""Where runs stand in their file, for `pairing.py`: those that are kept, and those that a reading finds."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from apps.parsers.shape import ParsedSample
from apps.runs.models import Sample
from apps.uploads.models import UploadedRun
from apps.uploads.new_runs import time_of
from apps.uploads.pairing import Place, Told
from apps.uploads.reading import ReadRun
from apps.uploads.run_fields import numbers_of, told_by

STORED = (
    "measure__operation", "measure__metric", "section", "point__file_size", "point__block_size", "point__threads",
    "point__iodepth", "value",
)  # fmt: skip
_TELLING = ("machine", "path", "caption")


def key_of(one: ParsedSample) -> tuple[Any, ...]:
    """What it is a value of: all of `STORED` but the value itself."""
    return one.operation, one.metric, one.section, one.file_size, one.block_size, one.threads, one.iodepth


def places_found(runs: Sequence[ReadRun]) -> list[Place]:
    return [_found(one, number) for one, number in zip(runs, numbers_of(runs), strict=True)]


def _found(one: ReadRun, number: int) -> Place:
    run = one.run
    lines = frozenset(sample.line for sample in one.samples if sample.line is not None)
    span = (run.line, run.last_line or run.line) if run.line is not None else None
    values = frozenset((*key_of(sample), sample.value) for sample in one.samples)
    told = _told(told_by(run), time_of(run.started_at))
    return Place(one.format, number, one.digest, lines, span, values, told, one.is_chosen)


def places_kept(rows: Sequence[UploadedRun], found_again: Collection[str]) -> list[Place]:
    """`found_again`: digests that stand in the new reading; those runs need not be looked up by their samples."""
    again = set(found_again)
    lines: dict[int, set[int]] = defaultdict(set)
    values: dict[int, set[tuple[Any, ...]]] = defaultdict(set)
    changed = [row.run_id for row in rows if row.digest not in again]
    if changed:
        for run, line, *value in Sample.objects.filter(run__in=changed).values_list("run_id", "source_line", *STORED):
            values[run].add(tuple(value))
            if line is not None:
                lines[run].add(line)
    return [
        Place(
            row.format, row.number, row.digest, frozenset(lines[row.run_id]), values=frozenset(values[row.run_id]),
            told=_told(row.run.labels, row.run.started_at),
        )
        for row in rows
    ]  # fmt: skip


def _told(labels: dict[str, str], started_at: datetime | None) -> Told:
    told = {(name, labels[name]) for name in _TELLING if labels.get(name)}
    return frozenset(told | ({("began", started_at.isoformat())} if started_at else set()))

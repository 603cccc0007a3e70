"""Differences between a saved run and a new reading of it, as sentences, and the update of the run to the new reading.

Host, target, study, number and a person's labels stay. A run that a published report adopted keeps the report's
description; only its values are updated.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

import numpy as np

from apps.parsers.core.models import ParsedSample
from apps.runs import workload
from apps.runs.facts import run_facts
from apps.runs.models import Histogram, Run, Sample, Series, Workload
from apps.runs.samples import drop_values
from apps.runs.sections import sections_of
from apps.runs.series.arrays import unpack
from apps.runs.services import get_workloads
from apps.uploads.file_reader import ReadRun
from apps.uploads.models import UploadedRun
from apps.uploads.reparse.run_matching import STORED, key_of
from apps.uploads.run_fields import labels_of, spec_of, state_of, time_of
from apps.uploads.save_runs import write_values

_SHOWN = 5
_COLUMNS = ("state", "tool", "tool_version", "problem", "started_at", "finished_at", "sections")
_SAME = "the values are the same; what is said beside them differs"
Key = tuple[Any, ...]
Values = dict[Key, float | None]


def differences(row: UploadedRun, now: ReadRun) -> tuple[str, ...]:
    """Return sentences about what differs between a saved run and a new reading: some values, series, histograms, fields."""
    sentences = [*_of_values(dict(_stored(row.run)), now.samples), *of_stored(row.run, now), *_beside(row, now)]
    return tuple(sentences) or (_SAME,)


def differences_read(before: ReadRun, now: ReadRun) -> tuple[str, ...]:
    """Return sentences about what differs between two readings of a run that is not saved."""
    sentences = [*_of_values(_values(before.samples), now.samples), *of_read(before, now)]
    return tuple(sentences) or (_SAME,)


def is_as_read(row: UploadedRun, now: ReadRun) -> bool:
    """Return whether the saved run equals the reading.

    Sections are compared too, because early versions did not save them.
    """
    is_uploaded = row.run.origin == Run.Origin.UPLOADED
    return row.digest == now.digest and (not is_uploaded or row.run.sections == sections_of(now.run))


def replace(row: UploadedRun, now: ReadRun) -> int:
    """Replace everything that was read of the run by the new reading.

    Returns:
        How many samples the run has more than before, negative for fewer.
    """
    before: int = Sample.objects.filter(run=row.run).count()
    drop_values(row.run)
    write_values([(row.run_id, row.file.artefact_id, now)])
    if row.run.origin == Run.Origin.UPLOADED:
        _replace_beside(row, now)
    row.digest = now.digest
    row.save(update_fields=["digest"])
    return now.sample_count - before


def _replace_beside(row: UploadedRun, now: ReadRun) -> None:
    run = row.run
    for name, value in _columns_now(now).items():
        setattr(run, name, value)
    run.labels = labels_of(row.file.upload, row.file, now.run)
    run.workload = _workload(run.lab_id, now)
    run.facts = run_facts(run)
    run.save(update_fields=[*_COLUMNS, "labels", "workload", "facts"])


def _workload(lab_id: int, now: ReadRun) -> Workload | None:
    if not now.run.workload:
        return None
    spec = spec_of(now.run)
    digest = workload.digest(spec)
    return get_workloads(lab_id, {digest: spec})[digest]


def _columns_now(now: ReadRun) -> dict[str, Any]:
    run = now.run
    return {
        "state": state_of(now),
        "tool": run.tool[:40],
        "tool_version": run.tool_version[:60],
        "problem": run.problem,
        "started_at": time_of(run.started_at),
        "finished_at": time_of(run.ended_at),
        "sections": sections_of(run),
    }


def _beside(row: UploadedRun, now: ReadRun) -> Iterator[str]:
    run = row.run
    if run.origin != Run.Origin.UPLOADED:
        return
    before = {name: getattr(run, name) for name in _COLUMNS}
    before |= _named("workload", run.workload.spec if run.workload else {}) | _named("label", run.labels)
    spec = spec_of(now.run) if now.run.workload else {}
    after = _columns_now(now) | _named("workload", spec)
    after |= _named("label", labels_of(row.file.upload, row.file, now.run))
    if row.format != now.format:
        yield f"format: {row.format} → {now.format}"
    for name in {**before, **after}:
        old, new = before.get(name), after.get(name)
        if old != new:
            words = name.replace("_", " ") if name in _COLUMNS else name
            yield f"{words}: {_shown(old)} → {_shown(new)}"


def _named(kind: str, reported: dict[str, Any]) -> dict[str, Any]:
    return {f"{kind} {name}": value for name, value in reported.items() if (kind, name) != ("workload", "tool")}


def _shown(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, dict):
        return ", ".join(map(_section_shown, value.values())) or "nothing"
    return "nothing" if value in (None, "") else str(value)


def _section_shown(item: dict[str, Any]) -> str:
    return " ".join(
        [item.get("name", ""), *(f"{name}={value}" for name, value in item.get("options", {}).items())]
    ).strip()


def _of_values(before: Values, samples: Iterable[ParsedSample]) -> Iterator[str]:
    after = _values(samples)
    sentences = [
        f"{_words(key)}: {before[key]} → {after[key]}"
        for key in before.keys() & after.keys()
        if before[key] != after[key]
    ]
    sentences += [f"{_words(key)}: new, {after[key]}" for key in after.keys() - before.keys()]
    sentences += [f"{_words(key)}: gone, was {before[key]}" for key in before.keys() - after.keys()]
    yield from sorted(sentences)[:_SHOWN]
    if len(sentences) > _SHOWN:
        yield f"and {len(sentences) - _SHOWN} more values"


def _stored(run: Run) -> Iterator[tuple[Key, float | None]]:
    for row in Sample.objects.filter(run=run).values_list(*STORED):
        yield row[:-1], row[-1]


def _values(samples: Iterable[ParsedSample]) -> Values:
    return {key_of(sample): sample.value for sample in samples}


def _words(key: Key) -> str:
    names = ("section", "file_size", "block_size", "threads", "iodepth")
    point = [f"{name} {value}" for name, value in zip(names, key[2:], strict=True) if value]
    return ", ".join([f"{key[0]} {key[1]}", *point])


def of_stored(run: Run, now: ReadRun) -> Iterator[str]:
    series = Series.objects.filter(run=run).values_list("operation", "metric", "section", "source", "packed")
    histograms = Histogram.objects.filter(run=run)
    bins = histograms.values_list("operation", "kind", "section", "bins")
    over_time = histograms.filter(intervals__isnull=False).values_list("operation", "kind", "section", "intervals")
    yield from _of_series({tuple(row[:-1]): bytes(row[-1]) for row in series}, _series(now))
    yield from _of_bins({tuple(row[:-1]): [list(pair) for pair in row[-1]] for row in bins}, _bins(now))
    yield from _of_histories({tuple(row[:-1]): bytes(row[-1]) for row in over_time}, _histories(now))


def of_read(before: ReadRun, now: ReadRun) -> Iterator[str]:
    yield from _of_series(_series(before), _series(now))
    yield from _of_bins(_bins(before), _bins(now))
    yield from _of_histories(_histories(before), _histories(now))


def _series(reading: ReadRun) -> dict[Key, bytes]:
    return {(s.operation, s.metric, s.section, s.source): s.packed for s in reading.series}


def _bins(reading: ReadRun) -> dict[Key, list[list[int]]]:
    return {(h.operation, h.kind, h.section): [list(pair) for pair in h.bins] for h in reading.run.histograms}


def _histories(reading: ReadRun) -> dict[Key, bytes]:
    return {(item.operation, item.kind, item.section): item.packed for item in reading.histories}


def _of_histories(before: Mapping[Key, bytes], after: Mapping[Key, bytes]) -> Iterator[str]:
    for key in {**before, **after}:
        if before.get(key) != after.get(key):
            what = "gone" if key not in after else "new" if key not in before else "other counts"
            yield f"{key[0]} {key[1]} histogram over time: {what}"


def _of_series(before: Mapping[Key, bytes], after: Mapping[Key, bytes]) -> Iterator[str]:
    for key in {**before, **after}:
        words = f"{key[0]} {key[1]} over time"
        if key not in before or key not in after:
            yield f"{words}: {'new' if key in after else 'gone'}"
        elif before[key] != after[key]:
            yield f"{words}: {_first(before[key], after[key])}"


def _first(before: bytes, after: bytes) -> str:
    """Return a phrase about the first point at which two packed series differ."""
    (old_times, old), (times, new) = unpack(before), unpack(after)
    if len(old) != len(new):
        return f"{len(old)} values → {len(new)}"
    is_same = (old == new) | (np.isnan(old) & np.isnan(new))
    differ = np.flatnonzero(~is_same | (old_times != times))
    if not len(differ):
        return "packed otherwise"
    at = int(differ[0])
    if old_times[at] != times[at]:
        return f"value {at + 1} at {old_times[at]:g} s → {times[at]:g} s, and {len(differ) - 1} more"
    return f"at {times[at]:g} s {old[at]:g} → {new[at]:g}, and {len(differ) - 1} more"


def _of_bins(before: Mapping[Key, object], after: Mapping[Key, object]) -> Iterator[str]:
    for key in {**before, **after}:
        if before.get(key) != after.get(key):
            what = "gone" if key not in after else "new" if key not in before else "other counts"
            yield f"{key[0]} {key[1]} histogram: {what}"

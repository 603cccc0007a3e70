"""How two readings of the same bytes differ in what they measured over time and in histograms, as sentences."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from apps.runs.models import Histogram, Run, Series
from apps.runs.packing import unpack
from apps.uploads.reading import ReadRun

Key = tuple[Any, ...]


def of_stored(run: Run, now: ReadRun) -> Iterator[str]:
    series = Series.objects.filter(run=run).values_list("operation", "metric", "section", "source", "packed")
    bins = Histogram.objects.filter(run=run).values_list("operation", "kind", "section", "bins")
    yield from _of_series({tuple(row[:-1]): bytes(row[-1]) for row in series}, _series(now))
    yield from _of_bins({tuple(row[:-1]): [list(pair) for pair in row[-1]] for row in bins}, _bins(now))


def of_read(before: ReadRun, now: ReadRun) -> Iterator[str]:
    yield from _of_series(_series(before), _series(now))
    yield from _of_bins(_bins(before), _bins(now))


def _series(one: ReadRun) -> dict[Key, bytes]:
    return {(s.operation, s.metric, s.section, s.source): s.packed for s in one.series}


def _bins(one: ReadRun) -> dict[Key, list[list[int]]]:
    return {(h.operation, h.kind, h.section): [list(pair) for pair in h.bins] for h in one.run.histograms}


def _of_series(before: Mapping[Key, bytes], after: Mapping[Key, bytes]) -> Iterator[str]:
    for key in {**before, **after}:
        words = f"{key[0]} {key[1]} over time"
        if key not in before or key not in after:
            yield f"{words}: {'new' if key in after else 'gone'}"
        elif before[key] != after[key]:
            yield f"{words}: {_first(before[key], after[key])}"


def _first(before: bytes, after: bytes) -> str:
    """Where they part."""
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

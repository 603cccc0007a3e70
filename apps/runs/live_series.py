"""Values over time of a run that goes on: what open pages were told so far, as series that are not saved."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from apps.lib.bell import remembered
from apps.runs.models import Run, Series
from apps.runs.packing import overview, pack

LIVE = ("bandwidth", "iops", "latency_mean")  # metrics that a status document tells
SOURCE = "progress"
Key = tuple[int, str, str]  # section, operation, metric


def series_of(run: Run) -> list[Series]:
    """All series of a run, without their packed values once it has ended; while it goes on, what has arrived."""
    return list(run.series.defer("packed")) if run.has_ended else series_so_far(run)


def series_so_far(run: Run) -> list[Series]:
    """In the order of saved ones, with no key. Of the newest attempt, and of that at most the moments that are kept for
    pages; none where nothing has arrived, or while Redis is away.
    """
    columns: dict[Key, list[tuple[float, float]]] = defaultdict(list)
    sections = {job["name"]: place for place, job in enumerate(run.workload.jobs if run.workload else [])}
    for message in newest_attempt(remembered(f"run:{run.pk}")):
        for job in message["jobs"]:
            for metric in LIVE:
                if job[metric] is not None:
                    key = sections.get(job["name"], len(sections)), job["operation"], metric
                    columns[key].append((message["t"], job[metric]))
    return [_series(run, key, columns[key]) for key in sorted(columns)]


def newest_attempt(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """A moment told twice is one. Where time goes back another attempt has begun, and what was before it is not its."""
    kept: list[dict[str, Any]] = []
    for message in messages:
        if "t" not in message or (kept and message["t"] == kept[-1]["t"]):
            continue
        if kept and message["t"] < kept[-1]["t"]:
            kept = []
        kept.append(message)
    return kept


def _series(run: Run, key: Key, points: Sequence[tuple[float, float]]) -> Series:
    section, operation, metric = key
    times, values = zip(*points, strict=True)
    return Series(
        run=run, operation=operation, metric=metric, section=section, source=SOURCE, count=len(points),
        packed=pack(times, values), overview=overview(times, values),
    )  # fmt: skip

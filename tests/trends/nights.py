"""Months of nightly runs: pure ones, and rows."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from django.utils import timezone

from apps.inventory.models import Snapshot
from apps.labs.models import Lab
from apps.notifications.models import Destination
from apps.runs.models import Measure, Point, Run, Sample
from apps.trends.models import Recipient, Watch
from apps.trends.types import MeasuredRun
from tests.comparison.factories import GIB, MIB, target

FIRST = datetime(2026, 1, 1, 2, tzinfo=UTC)
NIGHT = timedelta(days=1)
CV = 0.03
QUERY = "metric=bandwidth&operation=write&x=file_size&series=label&host=alpha"


def noise(n: int, seed: int, cv: float = CV) -> Any:
    """`n` values around 1."""
    return 1 + cv * np.random.default_rng(seed).normal(size=n)


def nights(values: Sequence[float], facts: Callable[[int], Mapping[str, Any]] | None = None) -> list[MeasuredRun]:
    """One pure run a night; run numbers begin with 1."""
    return [
        MeasuredRun(number + 1, FIRST + number * NIGHT, float(value), facts(number) if facts else {})
        for number, value in enumerate(values)
    ]


def measured_nights(
    lab: Lab, values: Sequence[float], *, host: str = "alpha", until: datetime | None = None, is_dated: bool = True,
    snapshot: Snapshot | None = None, section_values: int = 1, **facts: Any,
) -> list[Run]:  # fmt: skip
    """One finished run a night, the last one at `until` (now), each with one value in bytes/s."""
    place, last = target(lab, host), until or timezone.now() - timedelta(minutes=1)
    times = [last - (len(values) - 1 - number) * NIGHT for number in range(len(values))]
    runs = Run.objects.bulk_create(
        Run(
            lab=lab, tool="fio", tool_version="fio-3.33", origin="dispatched", state="finished", host=place.host, target=place,
            started_at=at if is_dated else None, finished_at=at if is_dated else None, snapshot=snapshot,
            facts={"ram": GIB, "sync": "direct", **facts},
        )
        for at in times
    )  # fmt: skip
    measure = Measure.objects.get_or_create(operation="write", metric="bandwidth")[0]
    point = Point.objects.get_or_create(file_size=4 * GIB, block_size=MIB, threads=1, iodepth=16)[0]
    Sample.objects.bulk_create(
        Sample(run=run, measure=measure, point=point, value=float(value), section=section)
        for run, value in zip(runs, values, strict=True)
        for section in range(section_values)
    )
    return list(runs)


def watch(lab: Lab, *told: Destination, query: str = QUERY, **fields: Any) -> Watch:
    made: Watch = Watch.objects.create(**{"lab": lab, "name": "nightly", "query": query, "created_by": "who", **fields})
    Recipient.objects.bulk_create(Recipient(lab=lab, watch=made, destination=one) for one in told)
    return made


def destination(lab: Lab, kind: str = "email", address: str = "team@example.org", **fields: Any) -> Destination:
    made: Destination = Destination.objects.create(
        **{"lab": lab, "kind": kind, "address": address, "name": f"{kind} of the team", "created_by": "who", **fields}
    )
    return made

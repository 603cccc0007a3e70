"""Simulated labs as finished runs in the database, each with one sample."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from typing import Any

from apps.inventory.models import Host, Target
from apps.labs.models import Lab
from apps.runs.models import Measure, Point, Run, Sample
from apps.runs.states import State
from tests.comparison.like_for_like.simulated_labs import SimulatedLab

FIRST_DAY = datetime(2019, 3, 1, tzinfo=UTC)
POINT = ("file_size", "block_size", "threads", "iodepth")


def store(lab: Lab, simulated: SimulatedLab, operation: str = "write", metric: str = "bandwidth") -> list[Run]:
    """Store every run with its facts, on a target for each array of a host."""
    measure = Measure.objects.get_or_create(operation=operation, metric=metric)[0]
    places, points = cache(partial(_target, lab)), cache(_point)
    runs = [_run(lab, places, facts, day) for facts, _, day in simulated.runs]
    Run.objects.bulk_create(runs)
    Sample.objects.bulk_create(
        Sample(run=run, measure=measure, point=points(*(facts.get(name) for name in POINT)), value=value)
        for run, (facts, value, _) in zip(runs, simulated.runs, strict=True)
    )
    return runs


def _run(lab: Lab, places: Callable[[str, str], Target], facts: dict[str, Any], day: float) -> Run:
    place = places(
        facts["host"], f"{facts.get('raid_level')}-{facts.get('raid_implementation')}-{facts.get('filesystem')}"
    )
    when = FIRST_DAY + timedelta(days=day)
    own = {name: fact for name, fact in facts.items() if name not in (*POINT, "host", "tool", "tool_version")}
    return Run(
        lab=lab, host=place.host, target=place, tool=facts["tool"], tool_version=facts["tool_version"],
        origin="uploaded", state=State.FINISHED, facts=own, started_at=when, finished_at=when,
    )  # fmt: skip


def _target(lab: Lab, host_name: str, name: str) -> Target:
    host = Host.objects.get_or_create(lab=lab, name=host_name)[0]
    target: Target = Target.objects.get_or_create(host=host, name=name, defaults={"lab": lab, "path": f"/srv/{name}"})[
        0
    ]
    return target


def _point(*numbers: int) -> Point:
    point: Point = Point.objects.get_or_create(**dict(zip(POINT, numbers, strict=True)))[0]
    return point


def add_sample(runs: Iterable[Run], factor: float, operation: str, metric: str) -> None:
    """Give each run a further sample, in proportion to its first."""
    measure = Measure.objects.get_or_create(operation=operation, metric=metric)[0]
    for run in runs:
        first = run.samples.order_by("id").first()
        Sample.objects.create(run=run, measure=measure, point=first.point, value=first.value * factor)

"""Simulated labs as finished runs in the database, each with one sample."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
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
    return [_stored(lab, facts, value, day, measure) for facts, value, day in simulated.runs]


def _stored(lab: Lab, facts: dict[str, Any], value: float, day: float, measure: Measure) -> Run:
    place = _target(lab, facts)
    when = FIRST_DAY + timedelta(days=day)
    own = {name: fact for name, fact in facts.items() if name not in (*POINT, "host", "tool", "tool_version")}
    run: Run = Run.objects.create(
        lab=lab, host=place.host, target=place, tool=facts["tool"], tool_version=facts["tool_version"],
        origin="uploaded", state=State.FINISHED, facts=own, started_at=when, finished_at=when,
    )  # fmt: skip
    point = Point.objects.get_or_create(**{name: facts.get(name) for name in POINT})[0]
    Sample.objects.create(run=run, measure=measure, point=point, value=value)
    return run


def _target(lab: Lab, facts: dict[str, Any]) -> Target:
    host = Host.objects.get_or_create(lab=lab, name=facts["host"])[0]
    name = f"{facts.get('raid_level')}-{facts.get('raid_implementation')}-{facts.get('filesystem')}"
    target: Target = Target.objects.get_or_create(host=host, name=name, defaults={"lab": lab, "path": f"/srv/{name}"})[
        0
    ]
    return target


def add_sample(runs: Iterable[Run], factor: float, operation: str, metric: str) -> None:
    """Give each run a further sample, in proportion to its first."""
    measure = Measure.objects.get_or_create(operation=operation, metric=metric)[0]
    for run in runs:
        first = run.samples.order_by("id").first()
        Sample.objects.create(run=run, measure=measure, point=first.point, value=first.value * factor)

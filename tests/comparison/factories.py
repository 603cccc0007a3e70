"""Small labs with real runs and samples, and readings for the pure parts."""

from typing import Any

from apps.comparison.readings import Reading
from apps.inventory.models import Host, Target
from apps.labs.models import Lab
from apps.runs.models import Histogram, Measure, Point, Provenance, Run, Sample, Workload
from apps.runs.states import State
from apps.runs.workload import checked
from apps.studies.models import Configuration, Study, StudyRun

MIB, GIB = 1024**2, 1024**3
SPEC = checked({"jobs": [{"rw": "write", "block_size": MIB, "file_size": 256 * MIB}]})


def reading(number: int, value: float | None, series: str = "a", **more: Any) -> Reading:
    """A pure reading in the series `series`; `facts=` adds to its facts."""
    facts = {"label": series, **more.pop("facts", {})}
    return Reading(
        **{"id": number, "run": number, "operation": "write", "metric": "bandwidth", "file_size": GIB, **more},
        value=value,
        facts=facts,
    )


def target(lab: Lab, host: str = "alpha", name: str = "scratch", **fields: Any) -> Target:
    machine, _ = Host.objects.get_or_create(lab=lab, name=host, defaults={"ram_bytes": GIB})
    return Target.objects.get_or_create(
        host=machine, name=name, defaults={"lab": lab, "path": "/srv/scratch", "is_agents_own": True, **fields}
    )[0]


def run(lab: Lab, at: Target | None = None, **fields: Any) -> Run:
    workload = Workload.objects.get_or_create(lab=lab, sha256="0" * 64, defaults={"tool": "fio", "spec": SPEC})[0]
    place = at or target(lab)
    given = {"tool": "fio", "tool_version": "fio-3.33", "origin": "dispatched", "state": State.FINISHED, **fields}
    if given["origin"] == "dispatched":
        given.setdefault("workload", workload)
    return Run.objects.create(lab=lab, host=place.host, target=place, **given)


def sample(of: Run, value: float | None, operation: str = "write", metric: str = "bandwidth", **more: Any) -> Sample:
    """`more`: the point's dimensions (file_size, block_size, threads, iodepth) and the provenance's fields."""
    point = {name: more.pop(name, None) for name in ("file_size", "block_size", "threads", "iodepth")}
    section = more.pop("section", 0)
    words = {name: more.pop(name) for name in ("printed", "source_line") if name in more}
    made: Sample = Sample.objects.create(
        run=of,
        measure=Measure.objects.get_or_create(operation=operation, metric=metric)[0],
        point=Point.objects.get_or_create(**point)[0],
        value=value,
        section=section,
        **words,
    )
    if more:
        Provenance.objects.create(sample=made, **more)
    return made


def measured(lab: Lab, host: str, values: list[float], file_size: int = 256 * MIB, **facts: Any) -> list[Run]:
    """One finished run for each value, on that host's scratch directory."""
    made = []
    for number, value in enumerate(values, start=1):
        one = run(lab, target(lab, host), repetition=number, facts={"ram": GIB, "sync": "direct", **facts})
        sample(one, value, file_size=file_size, block_size=MIB, threads=1, iodepth=1)
        made.append(one)
    return made


def published(lab: Lab, label: str, values: dict[int, float], slug: str = "paper", **facts: Any) -> Configuration:
    """A configuration of a study with one printed value for each file size (in MiB)."""
    study, _ = Study.objects.get_or_create(lab=lab, slug=slug, defaults={"title": slug.title()})
    place = study.configurations.count()
    configuration = Configuration.objects.create(study=study, name=f"c{place}", label=label, position=place)
    for size, value in values.items():
        one = run(lab, target(lab, f"{slug}-host"), origin="published", tool="bonnie", facts={"ram": GIB, **facts})
        StudyRun.objects.create(run=one, configuration=configuration)
        sample(one, value, file_size=size * MIB, printed=str(value), quality="rounded", note="mean of ten instances")
    return configuration


def histogram(of: Run, bins: list[tuple[int, int]], operation: str = "randread") -> None:
    Histogram.objects.create(run=of, operation=operation, kind="clat", bins=[list(pair) for pair in bins])

"""What the free comparison starts with: a lab's newest configurations, and a run beside a published report.

The newest run says what is compared: its tool, its operation and metric, and the points of its workload. Beside it stand
the other configurations of the lab that were measured in the same way, each with the runs that are like its newest one.
A lab without runs of its own sees one published study in the same way.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from django.db.models import Exists, Max, OuterRef, Q
from django.urls import reverse

from apps.comparison.confounders import filters_for
from apps.comparison.labels import UNKNOWN
from apps.comparison.likeness import Likeness
from apps.comparison.queries.samples import load
from apps.comparison.question import Question
from apps.comparison.readings import LABEL, POINT, Reading
from apps.labs.isolation import LabQuerySet
from apps.runs.metrics import DISK, METRICS, OPERATIONS
from apps.runs.models import Run, Sample
from apps.studies.models import Configuration, Study

MOST_CONFIGURATIONS = 8
MOST_PLACES = 24  # along the axis
NEWEST = 300  # configurations among which those are found, and runs of them where only their numbers name them
FIRST_METRICS = ("bandwidth", "iops", "rate")
FIRST_OPERATIONS = ("write", "read", "randwrite", "randread")
Filters = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class FirstView:
    """`study`: the published report that is shown, where the lab has no runs of its own."""

    question: Question
    study: Study | None = None


def first_view(lab_id: int) -> FirstView | None:
    """Return the question that a lab's newest runs answer; None where there is no run at all."""
    finished = Run.objects.finished()
    own = finished.filter(lab_id=lab_id)
    newest = _newest(own)
    if newest is not None:
        question = _alike(newest, own, finished.exclude(lab_id=lab_id), ())
        return FirstView(question) if question else None
    newest = _newest(finished.filter(study_run__isnull=False))
    if newest is None:
        return None
    study = newest.study_run.configuration.study
    of_study = finished.filter(study_run__configuration__study=study)
    question = _alike(newest, of_study, finished.none(), (("study", study.slug),))
    return FirstView(question, study) if question else None


def _newest(runs: LabQuerySet[Run]) -> Run | None:
    measured = Sample.objects.filter(run=OuterRef("pk"), value__isnull=False).exclude(measure__operation=DISK)
    run: Run | None = (
        runs.filter(Exists(measured)).select_related("study_run__configuration__study").order_by("-id").first()
    )
    return run


def _alike(newest: Run, scope: LabQuerySet[Run], others: LabQuerySet[Run], within: Filters) -> Question | None:
    """Return the question for the configurations that were measured like the newest run, each known by its newest run.

    `others` are further runs that the filters could let in.
    """
    question = _of_run(newest, within)
    if question is None:
        return None
    own = set(_newest_of_each(scope))
    examples = sorted({*own, *_newest_of_each(others)})
    readings = load(question.with_(filters=(*question.filters, ("run", ",".join(map(str, examples))))))
    chosen = _configurations([reading for reading in readings if reading.run in own], newest.pk)
    if not chosen:
        return question
    named = filters_for(readings, chosen)
    # asked for in any case, so that a page sends the same statements whatever the history
    runs = _runs_like({reading.run for some in chosen.values() for reading in some}, scope)
    if any(name == "run" for name, _ in named):
        named = (("run", ",".join(map(str, sorted(runs)))),)
    return question.with_(filters=tuple(sorted({*question.filters, *named})))


_ALIKE = ("configuration_key", "study_run__configuration")


def _newest_of_each(runs: LabQuerySet[Run]) -> list[int]:
    """Return the newest run of each of the newest configurations."""
    newest = runs.order_by().values(*_ALIKE).annotate(newest=Max("pk")).order_by("-newest")
    return list(newest.values_list("newest", flat=True)[:NEWEST])


def _runs_like(examples: Collection[int], scope: LabQuerySet[Run]) -> list[int]:
    """Return the newest runs of the configurations of which these are examples."""
    alike = set(Run.objects.filter(pk__in=examples).order_by().values_list(*_ALIKE))
    runs = scope.filter(configuration_key__in={key for key, _ in alike}).order_by("-pk").values_list("pk", *_ALIKE)
    return list(islice((pk for pk, *place in runs.iterator(NEWEST) if tuple(place) in alike), NEWEST))


def _of_run(run: Run, within: Filters) -> Question | None:
    """Return a question about the run's most interesting measure, along the axis on which it has most places."""
    rows = list(
        run.samples.filter(~Q(measure__operation=DISK), value__isnull=False).values_list(
            "measure__metric", "measure__operation", *(f"point__{name}" for name in POINT)
        )
    )
    measures = {(metric, operation) for metric, operation, *_ in rows if metric in METRICS and operation in OPERATIONS}
    if not measures:
        return None
    metric, operation = min(
        measures, key=lambda pair: (_place(pair[0], FIRST_METRICS), _place(pair[1], FIRST_OPERATIONS), pair)
    )
    points = [dict(zip(POINT, row[2:], strict=True)) for row in rows if row[:2] == (metric, operation)]
    places = {name: {point[name] for point in points} for name in POINT}
    x = max(POINT, key=lambda name: (len(places[name]), -POINT.index(name)))
    filters = [("tool", run.tool), *within]
    for name in POINT:
        if len(places[name]) <= MOST_PLACES:
            filters += [(name, UNKNOWN if value is None else str(value)) for value in places[name]]
    return Question(metric, operation, x, filters=tuple(sorted(filters)))


def _place(name: str, first: Sequence[str]) -> int:
    return first.index(name) if name in first else len(first)


def _configurations(readings: Sequence[Reading], newest: int) -> dict[str, list[Reading]]:
    """Return for each configuration the readings that are like its newest run, measured like the newest run of all."""
    likeness = Likeness()
    by_label: dict[str, dict[int, list[Reading]]] = {}
    for reading in readings:
        by_label.setdefault(str(reading.of(LABEL)), {}).setdefault(reading.run, []).append(reading)
    measured_as = next((likeness.key(reading)[0] for reading in readings if reading.run == newest), None)
    alike: dict[str, list[Reading]] = {}
    for label, runs in sorted(by_label.items(), key=lambda pair: -max(pair[1])):
        like = likeness.key(runs[max(runs)][0])[0]
        if measured_as is not None and likeness.between(_anywhere(like), _anywhere(measured_as), (LABEL,)):
            continue
        alike[label] = list(_like(likeness, like, runs.values()))
        if len(alike) == MOST_CONFIGURATIONS:
            break
    return alike


def _anywhere(number: int) -> tuple[int, tuple[int | None, ...]]:
    return number, (None,) * len(POINT)


def _like(likeness: Likeness, number: int, runs: Iterable[list[Reading]]) -> Iterable[Reading]:
    for readings in runs:
        if likeness.key(readings[0])[0] == number:
            yield from readings


REPORT = "crs4-sata-scsi"


def beside_published(run: Run, operation: str, study: str = REPORT) -> str:
    """Return the address of a comparison of bandwidth over file size between this run's host and the report's hosts."""
    hosts = Configuration.objects.filter(study__slug=study, host__isnull=False).values_list("host__name", flat=True)
    names = {run.host.name if run.host else "", *hosts}
    filters = tuple(("host", name) for name in sorted(names) if name)
    question = Question(operation=operation, scale="log", filters=filters)
    return f"{reverse('compare')}?{question.address}"

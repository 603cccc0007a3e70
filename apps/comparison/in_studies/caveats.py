"""What the rules find in whole studies: as if each operation and metric were compared by configuration at each point.

caveats_of([study, …])[study.pk] → list[Caveat]      the rule that spoils most first; a constant number of queries
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from apps.comparison import caveats
from apps.comparison.caveats.rule import Caveat
from apps.comparison.queries.samples import of_runs
from apps.comparison.readings import POINT, Reading
from apps.runs.states import State
from apps.studies.models import Study, StudyRun

MOST_RUNS = 1000
ORDER = {rule.name: place for place, rule in enumerate(caveats.RULES)}


def caveats_of(studies: Iterable[Study]) -> dict[int, list[Caveat]]:
    """Return the caveats of each study; of very many runs the newest `MOST_RUNS` count."""
    whose = runs_of([study.pk for study in studies])
    readings: dict[int, list[Reading]] = {study.pk: [] for study in studies}
    for run, readings_of_run in of_runs(whose).items():
        readings[whose[run]] += readings_of_run
    return {pk: of_study(readings_of_study) for pk, readings_of_study in readings.items()}


def runs_of(studies: Sequence[int]) -> dict[int, int]:
    """Run → study."""
    places = StudyRun.objects.filter(configuration__study__in=studies, run__state=State.FINISHED)
    newest = places.order_by("-run_id").values_list("run_id", "configuration__study_id")[:MOST_RUNS]
    return dict(newest)


def of_study(readings: Iterable[Reading]) -> list[Caveat]:
    measures: dict[tuple[str, str], list[Reading]] = defaultdict(list)
    for reading in readings:
        measures[reading.operation, reading.metric].append(reading)
    findings = [caveat for some in measures.values() for caveat in caveats.of_cells(_cells(some))]
    return sorted(_by_rule(findings), key=lambda caveat: ORDER[caveat.rule])


def _cells(readings: Iterable[Reading]) -> dict[tuple[Any, str], list[Reading]]:
    cells: dict[tuple[Any, str], list[Reading]] = defaultdict(list)
    for reading in readings:
        point = tuple(getattr(reading, name) for name in POINT)
        cells[point, str(reading.facts["label"])].append(reading)
    return cells


def _by_rule(findings: Iterable[Caveat]) -> list[Caveat]:
    """Return one caveat for each rule, with all that it found in the study's measures."""
    merged: dict[str, Caveat] = {}
    for caveat in findings:
        before = merged.get(caveat.rule)
        merged[caveat.rule] = caveat if before is None else _with(before, caveat)
    return list(merged.values())


def _with(first: Caveat, second: Caveat) -> Caveat:
    return replace(
        first,
        arithmetic=tuple(dict.fromkeys((*first.arithmetic, *second.arithmetic))),
        runs=tuple(sorted({*first.runs, *second.runs})),
        cells=(*first.cells, *second.cells),
        series=tuple(dict.fromkeys((*first.series, *second.series))),
    )

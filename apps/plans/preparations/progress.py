"""How far the preparations of a plan are, and which comes next; out of the runs that exist, each time anew."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Avg

from apps.plans.models import Execution, Preparation, PreparationRun, PreparationTime
from apps.plans.preparations import BY_KIND, PreparationKind
from apps.runs.models import Sample
from apps.runs.states import ENDED, State
from apps.studies.models import Plan, PlannedRun

Key = tuple[int, int, int]  # preparation, row, round


@dataclass
class PreparationProgress:
    """The runs of one preparation on one target, in one round or before all; `bandwidths` of those that finished."""

    preparation: Preparation
    row_id: int
    round: int
    runs: list[PreparationRun] = field(default_factory=list)
    bandwidths: list[float] = field(default_factory=list)

    @property
    def kind(self) -> PreparationKind:
        return BY_KIND[self.preparation.kind]

    @property
    def row_label(self) -> str:
        return self.runs[0].row.label if self.runs else ""

    @property
    def is_done(self) -> bool:
        return bool(self.kind.is_done and self.kind.is_done(self.preparation.parameters, self.bandwidths))

    @property
    def verdict(self) -> str:
        return self.kind.verdict(self.preparation.parameters, self.bandwidths) if self.kind.verdict else ""

    @property
    def is_undone_by_discard(self) -> bool:
        """Return whether the filesystem discards what is removed, so that the drive forgets what was written."""
        options = [str(entry.run.place.get("options", "")).split(",") for entry in self.runs]
        return any("discard" in words or "discard=async" in words for words in options)

    @property
    def seconds(self) -> list[float]:
        """Return how long its finished runs took."""
        return [entry.run.seconds for entry in self.runs if entry.run.state == State.FINISHED and entry.run.seconds]


def find_progress(plan: Plan, host_id: int | None = None) -> dict[Key, PreparationProgress]:
    """Return the progress of all writes of a plan that were begun, on one host or on all; in two queries."""
    runs = (
        PreparationRun.objects.filter(preparation__plan=plan)
        .select_related("run", "preparation", "row__configuration")
        .order_by("number")
    )
    if host_id is not None:
        runs = runs.filter(run__host=host_id)
    entries = list(runs)
    finished = [entry.run_id for entry in entries if entry.run.state == State.FINISHED]
    means = _bandwidths(finished)
    progress: dict[Key, PreparationProgress] = {}
    for entry in entries:
        key = entry.preparation_id, entry.row_id, entry.round
        of_key = progress.setdefault(key, PreparationProgress(entry.preparation, entry.row_id, entry.round))
        of_key.runs.append(entry)
        if entry.run_id in means:
            of_key.bandwidths.append(means[entry.run_id])
    return progress


def _bandwidths(runs: Sequence[int]) -> dict[int, float]:
    if not runs:
        return {}
    samples = Sample.objects.filter(run__in=runs, measure__metric="bandwidth").exclude(measure__operation="disk")
    means: dict[int, float] = dict(samples.order_by().values_list("run").annotate(mean=Avg("value")))
    return means


def find_next_writes(
    preparations: Iterable[Preparation], row_id: int, round_number: int, progress: Mapping[Key, PreparationProgress]
) -> PreparationProgress | None:
    """Return the first writes that are not enough yet before a step of this row and round; None where all are."""
    for preparation in preparations:
        if BY_KIND[preparation.kind].workload is None:
            continue
        number = round_number if preparation.time == PreparationTime.ROUND else 0
        known = progress.get((preparation.pk, row_id, number))
        current = known or PreparationProgress(preparation, row_id, number)
        if not current.is_done:
            return current
    return None


def find_due_guards(plan: Plan, row_id: int, round_number: int) -> list[dict[str, Any]]:
    """Return the guards by which the host waits right before the next run of this row and round.

    A wait before the first run, or before a round, is due until a run of that row, or of that round, has begun.
    """
    waits = [preparation for preparation in plan.preparations.all() if BY_KIND[preparation.kind].guard]
    if not waits:
        return []
    begun = PlannedRun.objects.filter(row=row_id, run__started_at__isnull=False)
    is_due = {
        PreparationTime.STEP: True,
        PreparationTime.ROUND: not begun.filter(round=round_number).exists(),
        PreparationTime.START: not begun.exists(),
    }
    guards = []
    for preparation in waits:
        make = BY_KIND[preparation.kind].guard
        if make and is_due[PreparationTime(preparation.time)]:
            guards.append({"is_required": True, "purpose": preparation.purpose, **make(preparation.parameters)})
    return guards


def find_failures(execution: Execution, current: PreparationProgress) -> list[PreparationRun]:
    """Return the runs of a preparation that ended without being finished since somebody started or resumed the plan."""
    return [
        entry
        for entry in current.runs
        if entry.run.state in ENDED
        and entry.run.state != State.FINISHED
        and entry.run.created_at > execution.resumed_at
    ]


@dataclass(frozen=True)
class PreparationLine:
    """What a page shows of a preparation: what is done, when, and of each target how far it is."""

    preparation: Preparation
    kind: PreparationKind
    progress: Sequence[PreparationProgress]
    evidence: Mapping[str, Any] | None  # of a wait: the newest, as `apps.runs.host_guards.evidence` has it
    run_id: int | None  # with which that evidence is

    @property
    def sentence(self) -> str:
        return self.kind.sentence(self.preparation.parameters)


def preparation_lines(plan: Plan, progress: Mapping[Key, PreparationProgress]) -> list[PreparationLine]:
    """Return the plan's preparations in their order, with the progress of writes and the newest evidence of waits."""
    preparations = list(plan.preparations.all())
    newest = _newest_evidence(plan) if any(BY_KIND[entry.kind].guard for entry in preparations) else {}
    by_preparation: dict[int, list[PreparationProgress]] = defaultdict(list)
    for current in progress.values():
        by_preparation[current.preparation.pk].append(current)
    lines = []
    for preparation in preparations:
        run_id, evidence = newest.get(preparation.purpose, (None, None))
        lines.append(
            PreparationLine(preparation, BY_KIND[preparation.kind], by_preparation[preparation.pk], evidence, run_id)
        )
    return lines


def _newest_evidence(plan: Plan) -> dict[str, tuple[int, Mapping[str, Any]]]:
    newest: dict[str, tuple[int, Mapping[str, Any]]] = {}
    runs = PlannedRun.objects.filter(row__plan=plan).exclude(evidence=[]).order_by("-run_id")[:100]
    for run_id, evidence in runs.values_list("run_id", "evidence"):
        for entry in evidence:
            if entry.get("purpose"):
                newest.setdefault(entry["purpose"], (run_id, entry))
    return newest

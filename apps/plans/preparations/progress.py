"""How far the preparations of a plan are, and which comes next; out of the runs that exist, each time anew."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Avg, Exists, OuterRef, Q, Sum

from apps.plans.guards.evidence import WriteReport
from apps.plans.models import Execution, Preparation, PreparationRun, PreparationTime
from apps.plans.preparations import BY_KIND, PreparationKind
from apps.runs.host_guards.evidence import evidence_of
from apps.runs.models import Attempt, Sample
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


def find_writes(
    preparations: Iterable[Preparation], row_id: int, round_number: int, progress: Mapping[Key, PreparationProgress]
) -> list[WriteReport]:
    """Return what each preparation that writes has written before a step of this row and round."""
    writing = [preparation for preparation in preparations if BY_KIND[preparation.kind].workload is not None]
    found = []
    for preparation in writing:
        number = round_number if preparation.time == PreparationTime.ROUND else 0
        current = progress.get((preparation.pk, row_id, number)) or PreparationProgress(preparation, row_id, number)
        found.append(current)
    runs = [entry.run for current in found for entry in current.runs if entry.run.state == State.FINISHED]
    written = _bytes_written([run.pk for run in runs])
    return [_report_writes(current, written) for current in found]


def _report_writes(current: PreparationProgress, written: Mapping[int, int]) -> WriteReport:
    finished = [entry.run for entry in current.runs if entry.run.state == State.FINISHED]
    is_counted = bool(finished) and all(run.pk in written for run in finished)
    return WriteReport(
        current.kind.label,
        [run.pk for run in finished],
        sum(written[run.pk] for run in finished) if is_counted else None,
        max((run.finished_at for run in finished if run.finished_at), default=None),
        current.is_done,
        current.is_undone_by_discard,
    )


def _bytes_written(runs: Sequence[int]) -> dict[int, int]:
    """Return the bytes that each run wrote, as fio counted them; runs whose result does not say are missing."""
    if not runs:
        return {}
    samples = Sample.objects.filter(
        run__in=runs, measure__metric="io_bytes", measure__operation__in=("write", "randwrite"), value__isnull=False
    )
    sums = samples.order_by().values_list("run").annotate(total=Sum("value"))
    return {run: int(total) for run, total in sums}


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
    silence: str = ""  # why there is neither progress nor evidence

    @property
    def sentence(self) -> str:
        return self.kind.sentence(self.preparation.parameters)


def preparation_lines(plan: Plan, progress: Mapping[Key, PreparationProgress]) -> list[PreparationLine]:
    """Return the plan's preparations in their order, with the progress of writes and the newest evidence of waits."""
    preparations = list(plan.preparations.all())
    newest = {entry.pk: _newest_evidence(plan, entry) for entry in preparations if BY_KIND[entry.kind].guard}
    by_preparation: dict[int, list[PreparationProgress]] = defaultdict(list)
    for current in progress.values():
        by_preparation[current.preparation.pk].append(current)
    lines = []
    for preparation in preparations:
        kind, begun = BY_KIND[preparation.kind], by_preparation[preparation.pk]
        run_id, evidence = newest.get(preparation.pk, (None, None))
        silence = "" if begun or evidence else _explain_silence(plan, run_id)
        lines.append(PreparationLine(preparation, kind, begun, evidence, run_id if evidence else None, silence))
    return lines


def _newest_evidence(plan: Plan, preparation: Preparation) -> tuple[int | None, Mapping[str, Any] | None]:
    """Return the newest run that was asked to wait and whose host has answered, with the answer.

    A run need not have ended: its host answers while it waits, and right before fio starts. Where no host has answered
    yet, the newest run that was asked; without any, None.
    """
    asked = PlannedRun.objects.filter(row__plan=plan, run__guards__contains=[{"purpose": preparation.purpose}])
    answers = Attempt.objects.filter(run=OuterRef("run_id")).exclude(guards=[])
    answered = asked.filter(Q(judged_at__isnull=False) | Exists(answers)).select_related("run__host__agent")
    planned = answered.order_by("-run_id").first() or asked.order_by("-run_id").first()
    if planned is None:
        return None, None
    attempts = list(planned.run.attempts.order_by("number"))
    entries = planned.evidence if planned.judged_at else evidence_of(planned.run, attempts)
    return planned.run_id, next((entry for entry in entries if entry.get("purpose") == preparation.purpose), None)


def _explain_silence(plan: Plan, asked: int | None) -> str:
    """Return why nothing is known of a preparation. `asked`: the newest run that was asked to wait."""
    execution = Execution.objects.filter(plan=plan).first()
    if asked is not None:
        return f"asked of run {asked}; its host has not answered yet"
    if execution is None:
        return "nothing yet: the plan is not started"
    if not PlannedRun.objects.filter(row__plan=plan).exists():
        return "nothing yet: no run was started" if execution.is_running else f"nothing: the plan is {execution.state}"
    return "not done: no run of the plan was asked for it"

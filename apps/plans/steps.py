"""Each host's next step of a plan: start it, let it wait with the reason, or exclude its cell.

A step is started by `advance`, under a lock on the host's rows of the plan, as an ordinary run with its place in the
plan (`PlannedRun`). Which step is next follows from the runs that exist (`scheduler.py`).
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from apps.core.quantities import written
from apps.core.sql import CLOCKS_APART
from apps.core.text import join_sentences, shorten
from apps.inventory.topology.stack import StackError, stack_of
from apps.plans.guards import (
    check_after,
    check_before,
    check_prepared,
    find_obstacle,
    is_lasting,
    look_before,
    look_prepared,
    note_unasked,
)
from apps.plans.guards.evidence import FAILED, ArrayReport, GuardEvidence, RunReport, StepFacts
from apps.plans.guards.request import MD, checks_guards, request_host_guards
from apps.plans.host_limits import NOT_STARTED, find_largest_files
from apps.plans.models import (
    Execution,
    ExecutionState,
    GuardFailure,
    HostWait,
    PreparationRun,
    load_plan,
    open_runs,
)
from apps.plans.notices.messages import tell_done
from apps.plans.preparations.progress import (
    Key,
    PreparationProgress,
    find_due_guards,
    find_failures,
    find_next_writes,
    find_progress,
    find_writes,
)
from apps.plans.results.failed_runs import find_failed_runs, find_failed_steps
from apps.plans.scheduler import find_cells_of_gone_targets, find_waiting, is_anything_left, next_step
from apps.plans.services import LONGEST_REASON, ExecutionError, find_start_problems, pause_plan, record_act
from apps.runs.host_guards.evidence import evidence_of, refusing_entry
from apps.runs.host_guards.labels import label_guard
from apps.runs.models import Run
from apps.runs.services import start_runs
from apps.runs.states import ENDED, Priority
from apps.runs.workload import WorkloadError, files_bytes
from apps.studies.models import Plan, PlanConfiguration, PlannedRun, StudyRun
from apps.studies.models.plan import RESULT
from apps.studies.plans.order import Cell, Step, steps
from apps.studies.plans.plan_page import PlanPage, PlanPageCell, difference_text, target_host
from apps.studies.plans.run_assignment import find_result_differences, runs_of
from apps.studies.plans.services import exclude_cell

BY_PLAN = "plan"  # what runs and reasons of a plan have as their author, before its title
STARTED = frozenset({"started", "preparing"})  # what `advance` returns where a run waits for the host now
MESSAGE_TIME = timedelta(seconds=10)  # in which the message of a run that ended is carried out, and is not sent again
MOST_FAILURES = 3  # in a row on one host; then somebody has to look before more is started


def advance(plan_id: int, host_id: int | None) -> str:
    """Start the next step of a plan on a host; return in a few words what was done.

    Any number of workers may call it at once: the host's rows of the plan are locked, and a host that has a run of
    the plan under way gets no other one.
    """
    if host_id is None:
        return "no host"
    with transaction.atomic():
        rows = PlanConfiguration.objects.filter(plan=plan_id, configuration__target__host=host_id)
        if not list(rows.select_for_update(of=("self",)).order_by("pk").values_list("pk", flat=True)):
            return "no row of this host"
        execution = Execution.objects.filter(plan=plan_id).first()
        if execution is None or not execution.is_running:
            return "does not run"
        if open_runs(plan_id, host_id).exists():
            return "under way"
        return _advance(execution, load_plan(plan_id, host_id), host_id)


def _advance(execution: Execution, plan: Plan, host_id: int) -> str:
    if _pause_after_failures(execution, plan, host_id):
        return "paused"
    page = PlanPage(plan, runs_of(plan.study, host_id, plan.pk))
    for _ in range(len(page.cells) + 1):  # each turn starts a step, waits, or excludes a cell
        step = find_next_step(plan, find_waiting(page, execution.retries).get(host_id, {}))
        if step is None:
            if gone := find_cells_of_gone_targets(page, execution.retries):
                _wait_for_target(execution, gone[0])
                return "waits"
            execution.waits.filter(host=host_id).delete()
            return _finish_if_done(execution, plan)
        outcome = _begin_step(execution, page, step)
        if outcome != "excluded":
            return outcome
        plan = load_plan(plan.pk, host_id)
        page = PlanPage(plan, runs_of(plan.study, host_id, plan.pk))
    return "nothing left"


def find_next_step(plan: Plan, waiting: Mapping[Cell, Sequence[int]]) -> Step | None:
    """Return the next step of one host, of which these rounds are still to be made."""
    rounds = max((numbers[-1] for numbers in waiting.values() if numbers), default=0)
    return next_step(steps(waiting, plan.order, rounds, plan.seed or 0), waiting)


def _begin_step(execution: Execution, page: PlanPage, step: Step) -> str:
    """Start a step, or let it wait, or exclude its cell for good, or pause the plan; return which in a word."""
    cell = _cell_of(page, step)
    target = cell.row.configuration.target if cell.row.configuration else None
    assert target is not None, "only cells that can be started have steps"
    guards = page.plan.guards.all()
    evidence = check_before(guards, _step_facts(cell, target), timezone.now()) if look_before(guards) else []
    if obstacle := find_obstacle(evidence):
        return _hold_back(execution, cell, step, obstacle)
    if target.host.is_in_maintenance:
        note = f" ({target.host.maintenance_note})" if target.host.maintenance_note else ""
        _wait(execution, cell, step, f"{target.host} is in maintenance{note}.")
        return "waits"
    preparations = list(page.plan.preparations.all())
    progress = find_progress(page.plan, target.host_id) if preparations else {}
    if outcome := _prepare(execution, page, cell, step, progress):
        return outcome
    writes = find_writes(preparations, cell.row.pk, step.round, progress) if look_prepared(guards) else []
    evidence += check_prepared(guards, StepFacts(writes=writes), timezone.now())
    if obstacle := find_obstacle(evidence):
        return _hold_back(execution, cell, step, obstacle)
    try:
        _start(execution, page.plan, cell, step, evidence)
    except WorkloadError as error:
        if error.field == "time_limit":  # it would be the same for other cells, and is mended by a number
            reason = shorten(f"{cell.point} of {cell.row.label} could not be started: {error}.", LONGEST_REASON)
            pause_plan(page.plan, actor=f"{BY_PLAN} {page.plan.title}", reason=reason, by_itself=True)
            return "paused"
        exclude_cell(page.plan, cell.row, cell.point, f"{NOT_STARTED}: {error}.")
        return "excluded"
    execution.waits.filter(host=target.host_id).delete()
    return "started"


def _prepare(
    execution: Execution, page: PlanPage, cell: PlanPageCell, step: Step, progress: Mapping[Key, PreparationProgress]
) -> str:
    """Start the next run that prepares the cell's target; return what was done, or an empty text where all is prepared."""
    plan, target = page.plan, cell.row.configuration.target if cell.row.configuration else None
    assert target is not None
    current = find_next_writes(list(plan.preparations.all()), cell.row.pk, step.round, progress)
    if current is None or current.kind.workload is None:
        return ""
    actor, what = f"{BY_PLAN} {plan.title}", f"Preparation {current.kind.label} of {target}"
    failures = find_failures(execution, current)
    if len(failures) > execution.retries:
        newest = failures[-1].run
        reason = f"{what} failed, run {newest.pk}: {shorten(str(written(newest.problem)), 300)}"
        pause_plan(plan, actor=actor, reason=reason, by_itself=True)
        return "paused"
    largest = find_largest_files(page).get(cell.row.pk, 0)
    try:
        [run] = start_runs(
            lab=plan.study.lab, target=target, spec=current.kind.workload(current.preparation.parameters, largest),
            who=actor, note=f"{what}, for the plan {plan.title}.", priority=Priority(plan.priority),
        )  # fmt: skip
    except WorkloadError as error:
        reason = shorten(f"{what} could not be started: {error}.", LONGEST_REASON)
        pause_plan(plan, actor=actor, reason=reason, by_itself=True)
        return "paused"
    number = max((entry.number for entry in current.runs), default=0) + 1
    PreparationRun.objects.create(
        run=run, preparation=current.preparation, row=cell.row, round=current.round, number=number
    )
    execution.waits.filter(host=target.host_id).delete()
    return "preparing"


def _start(execution: Execution, plan: Plan, cell: PlanPageCell, step: Step, evidence: Sequence[GuardEvidence]) -> Run:
    configuration = cell.row.configuration
    assert configuration is not None
    assert configuration.target is not None
    assert cell.workload is not None
    guards = find_due_guards(plan, cell.row.pk, step.round) + request_host_guards(plan, execution, cell.row)
    [run] = start_runs(
        lab=plan.study.lab,
        target=configuration.target,
        spec=cell.workload,
        who=f"{BY_PLAN} {plan.title}",
        priority=Priority(plan.priority),
        guards=guards,
        time_limit=plan.time_limit,
        repetition=step.round,
    )
    StudyRun.objects.create(run=run, configuration=configuration)
    PlannedRun.objects.create(
        run=run, row=cell.row, point=cell.point, round=step.round, evidence=[entry.to_json() for entry in evidence]
    )
    return run


def _hold_back(execution: Execution, cell: PlanPageCell, step: Step, obstacle: GuardEvidence) -> str:
    """Let a step wait for a guard, or exclude its cell where waiting does not help or has lasted too long."""
    words = f"Guard {label_guard(obstacle.guard)}: {obstacle.text}."
    since = timezone.now()
    if not is_lasting(obstacle):
        wait = _wait(execution, cell, step, words)
        since = wait.since
    is_over = timezone.now() - since >= timedelta(seconds=execution.guard_wait)
    if is_lasting(obstacle) or (is_over and execution.guard_failure != GuardFailure.AGAIN):
        exclude_cell(execution.plan, cell.row, cell.point, words)
        return "excluded"
    return "waits"


def _wait_for_target(execution: Execution, cell: PlanPageCell) -> None:
    """Let the rest of a cell wait until its host offers its target again; the plan is not done before."""
    target = cell.target
    assert target is not None
    why = f" {written(target.gone_reason).rstrip('.')}." if target.gone_reason else ""
    words = f"{target} takes no runs now.{why} The plan goes on when its host offers it again; or skip its cells."
    _wait(execution, cell, None, words)


def _wait(execution: Execution, cell: PlanPageCell, step: Step | None, reason: str) -> HostWait:
    """Store why a host's next step waits; the time is that of the first look at the same step."""
    key = f"{cell.row.pk}/{cell.point.pk}/{step.round if step else ''}"
    host = target_host(cell.row)
    assert host is not None, "only cells that can be started have steps"
    wait: HostWait | None = HostWait.objects.filter(execution=execution, host=host).first()
    if wait is None:
        wait = HostWait(execution=execution, host_id=host)
    now = timezone.now()
    if wait.step != key or wait.since > now + CLOCKS_APART:  # the clock was set back meanwhile
        wait.step, wait.since = key, now
    wait.reason = shorten(reason, LONGEST_REASON)
    wait.save()
    return wait


def _pause_after_failures(execution: Execution, plan: Plan, host_id: int) -> bool:
    """Pause the plan where the last runs of a host all failed: something is wrong there that more runs do not mend."""
    most = max(MOST_FAILURES, execution.retries + 1)
    now = timezone.now()
    if execution.resumed_at > now + CLOCKS_APART:  # the clock was set back meanwhile
        execution.resumed_at = now
        execution.save(update_fields=["resumed_at"])
    newest = PlannedRun.objects.filter(row__plan=plan, run__host=host_id, run__created_at__gt=execution.resumed_at)
    if execution.guard_failure == GuardFailure.SKIP:
        newest = newest.exclude(is_refused=True)  # its cell is excluded, as the plan says
    newest = list(newest.exclude(run__state="cancelled").select_related("run__host").order_by("-run_id")[:most])
    if len(newest) < most or any(planned.run.state == "finished" and not planned.failed_guard for planned in newest):
        return False
    run, words = newest[0].run, newest[0].failed_guard or newest[0].run.problem
    words = written(words)  # read as it is on pages, in REST and in the audit trail
    reason = f"The last {most} runs on {run.host} do not count. The newest is run {run.pk}: {words}"
    reason = f"{shorten(reason.rstrip('.'), 400)}. Look there, then retry what failed and resume."
    pause_plan(plan, actor=f"{BY_PLAN} {plan.title}", reason=reason, by_itself=True)
    return True


def _finish_if_done(execution: Execution, plan: Plan) -> str:
    """End the execution where no host of the plan has anything left."""
    if open_runs(plan.pk).exists():
        return "nothing left on this host"
    page = PlanPage(load_plan(plan.pk), runs_of(plan.study, plan_id=plan.pk))
    if is_anything_left(page, execution.retries):
        return "nothing left on this host"
    if not any(cell.runs for cell in page.cells):
        return _pause_without_runs(plan, page)
    ended = Execution.objects.filter(pk=execution.pk, state=ExecutionState.RUNNING)
    if ended.update(state=ExecutionState.DONE, ended_at=timezone.now(), reason=_describe_left(page)):
        record_act(plan, "plan done", f"{BY_PLAN} {plan.title}", **dict(page.counts))
        execution.refresh_from_db()
        tell_done(execution, dict(page.counts))
    return "done"


def _describe_left(page: PlanPage) -> str:
    """Return what a plan that is done leaves to people, in sentences; empty where it leaves nothing."""
    return shorten(join_sentences(_describe_failed(page), _describe_unstartable(page)), LONGEST_REASON)


def _describe_failed(page: PlanPage) -> str:
    """Return how many steps failed more often than they may be made again, in a sentence; empty where none did."""
    failed = len(find_failed_steps(find_failed_runs(page.cells)))
    if not failed:
        return ""
    one = failed == 1
    return (
        f"{failed} step{'' if one else 's'} failed and {'was' if one else 'were'} not made again: retry"
        f" {'it' if one else 'them'}, or leave the cell{'' if one else 's'} with fewer runs."
    )


def _describe_unstartable(page: PlanPage) -> str:
    left = [
        cell
        for cell in page.cells
        if not (cell.can_be_started or cell.is_target_gone or cell.is_held_back) and cell.remaining
    ]
    if not left:
        return ""
    names = ", ".join(dict.fromkeys(cell.row.label for cell in left))
    cells = f"{len(left)} cell{'' if len(left) == 1 else 's'}"
    return f"{cells} of {names} could not be started: no agent offers the target, or fio cannot do it."


def _pause_without_runs(plan: Plan, page: PlanPage) -> str:
    """Pause a plan of which nothing is left although nothing ran: it is not done, and somebody has to look."""
    why = [reason for reason, _ in page.reasons] or find_start_problems(page)
    reason = f"Nothing was run, and no cell is left that can be started. {written(why[0]) if why else ''}".strip()
    more = " Mend that, take the cells in again, then resume."
    try:
        pause_plan(
            plan,
            actor=f"{BY_PLAN} {plan.title}",
            reason=shorten(reason, LONGEST_REASON - len(more)) + more,
            by_itself=True,
        )
    except ExecutionError:
        return "does not run"  # somebody else was first
    return "paused"


def note_evidence(planned: PlannedRun, now: datetime) -> None:
    """Store what the guards found in the report of a run that has ended; once."""
    run = planned.run
    if run.state not in ENDED or planned.judged_at:
        return
    attempts = list(run.attempts.order_by("number"))
    on_host = evidence_of(run, attempts)
    report = RunReport(run.state == "finished", run.facts, files_bytes(run.workload.spec) if run.workload else 0)
    answered = {entry["guard"] for entry in on_host if entry["checked_at"] and not entry["purpose"]}
    after = [*check_after(planned.row.plan.guards.all(), report, now, answered), *_check_result(planned, now)]
    known = {entry["guard"] for entry in (*planned.evidence, *on_host) if not entry.get("purpose")}
    if report.is_finished:
        after += note_unasked(planned.row.plan.guards.all(), known | {entry.guard for entry in after}, now)
    refusing = refusing_entry(attempts)
    with transaction.atomic():
        judged = PlannedRun.objects.filter(pk=planned.pk, judged_at=None).update(
            evidence=[*planned.evidence, *on_host, *(entry.to_json() for entry in after)], judged_at=now,
            is_refused=refusing is not None,
        )  # fmt: skip
        if judged and refusing:
            _settle_refusal(planned, refusing)


def _settle_refusal(planned: PlannedRun, refusing: Mapping[str, Any]) -> None:
    """Do what the plan says with a step whose guard did not hold on its host."""
    execution = Execution.objects.filter(plan=planned.row.plan_id).first()
    if execution is None or execution.state == ExecutionState.CANCELLED:
        return
    if execution.guard_failure == GuardFailure.AGAIN:
        PlannedRun.objects.filter(pk=planned.pk).update(is_retried=True)
    elif execution.guard_failure == GuardFailure.SKIP:
        words = written(
            f"Guard {label_guard(refusing['guard'])} did not hold on {planned.run.host}: {refusing['text']}."
        )
        exclude_cell(planned.row.plan, planned.row, planned.point, words)


def _check_result(planned: PlannedRun, now: datetime) -> list[GuardEvidence]:
    """Return evidence against a finished run that measured something else than it was asked for; none where it did not."""
    differences = find_result_differences(planned) if planned.run.state == "finished" else []
    if not differences:
        return []
    words = f"measured something else than was asked: {', '.join(map(difference_text, differences))}"
    return [GuardEvidence(RESULT, FAILED, words, "", checked_at=now.isoformat(timespec="seconds"))]


def find_unjudged_runs(most: int = 500) -> list[int]:
    """Return the ids of runs of plans that ended and whose guards were not judged yet."""
    unjudged = PlannedRun.objects.filter(judged_at=None, run__state__in=ENDED, row__plan__execution__isnull=False)
    return list(unjudged.values_list("pk", flat=True)[:most])


def find_idle_hosts() -> list[tuple[int, int]]:
    """Return the ids of running plans and of their hosts that have had none of the plan's runs under way for a while."""
    rows = PlanConfiguration.objects.filter(plan__execution__state=ExecutionState.RUNNING)
    hosts = set(rows.exclude(configuration__target=None).values_list("plan_id", "configuration__target__host_id"))
    busy: set[tuple[int, int]] = set()
    for role in ("planned_run", "preparation_run"):
        runs = Run.objects.open().filter(**{f"{role}__row__plan__execution__state": ExecutionState.RUNNING})
        busy |= set(runs.values_list(f"{role}__row__plan_id", "host_id"))
    return sorted(hosts - busy - _just_ended(hosts - busy))


def _just_ended(hosts: Collection[tuple[int, int]]) -> set[tuple[int, int]]:
    """Return those of the plans and hosts of which a run ended a moment ago: its own message may wait behind others."""
    now = timezone.now()
    plans = {plan for plan, _ in hosts}
    found: set[tuple[int, int]] = set()
    for model in (PlannedRun, PreparationRun):
        newest = model.objects.filter(row__plan__in=plans, run__host__in={host for _, host in hosts})
        newest = newest.order_by("row__plan", "run__host", "-run").distinct("row__plan", "run__host")
        ends = newest.values_list("row__plan", "run__host", "run__finished_at")
        found |= {(plan, host) for plan, host, end in ends if end and now - MESSAGE_TIME <= end <= now}
    return found


def _step_facts(cell: PlanPageCell, target: Any) -> StepFacts:
    host = target.host
    try:
        stack = stack_of(target)
    except StackError:
        return StepFacts(cell.files_bytes, host.ram_bytes, is_stack_known=False)
    arrays = tuple(ArrayReport(array.name, array.state) for array in stack.arrays)
    is_left = bool(arrays) and all(array.software == MD for array in stack.arrays) and checks_guards(host)
    newest = host.tool_outputs.order_by("-id").values_list("received_at", flat=True).first()
    return StepFacts(cell.files_bytes, host.ram_bytes, arrays, is_left, stack.storage is not None, newest)


def _cell_of(page: PlanPage, step: Step) -> PlanPageCell:
    return next(cell for cell in page.cells if (cell.row.position, cell.point.position) == (step.row, step.point))

"""Services of plans: start, pause, resume and cancel them, retry what failed, add repetitions.

Pages, REST and commands call these functions; the audit event and the checks are inside. The steps themselves are
started by tasks (`steps.py`), and a cell is skipped by `apps.studies.plans.services.set_cell`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.text import slugify

from apps.core.text import find_free_name, shorten
from apps.inventory.models import Target
from apps.labs.models import AuditEvent, Lab
from apps.plans.guards.target_writes import lacks_writes
from apps.plans.host_limits import NOT_STARTED, find_refused_cells, refusal_sentences
from apps.plans.models import (
    Execution,
    ExecutionState,
    GuardFailure,
    Preparation,
    execution_of,
    load_plan,
    open_runs,
)
from apps.plans.notices.messages import tell_paused
from apps.plans.notices.recipients import find_firing, set_recipients
from apps.plans.plan_request import PlanRequest
from apps.plans.preparations import BY_KIND as KINDS
from apps.plans.preparations import read_preparations
from apps.plans.scheduler import is_anything_left
from apps.runs.host_guards import LONGEST_WAIT
from apps.runs.queue import set_priority
from apps.runs.services import cancel_run, check_limit_of_host
from apps.runs.states import ENDED, Priority
from apps.runs.workload import WorkloadError, check_time_limit
from apps.studies.models import Configuration, Plan, PlanConfiguration, PlannedRun, PlanPoint, Study
from apps.studies.plans.draft import free_name
from apps.studies.plans.plan_import import save_plan
from apps.studies.plans.plan_page import PlanPage
from apps.studies.plans.problems import PlanError
from apps.studies.plans.run_assignment import runs_of
from apps.studies.plans.schema import WrittenPlan, plan_of
from apps.studies.plans.services import advance_hosts_on_commit, exclude_cell
from apps.studies.plans.stopping_rule import MOST_ROUNDS, stopping_of

MOST_RETRIES = 10
LONGEST_REASON = 500  # why an execution is paused, or what became of a due time


class ExecutionError(ValueError):
    """What was asked of a plan cannot be done in its state; the message is a sentence for people."""


@transaction.atomic
def create_plan(wanted: PlanRequest, *, actor: str) -> Plan:
    """Write a plan for targets of the lab, into a study of its own or into an existing one; nothing is started.

    Raises:
        PlanError: A target is not the lab's own, there is none, or a point, the stopping rule or a guard does not fit.
    """
    check_targets(wanted)
    title = wanted.title.strip()
    if not title:
        raise PlanError("title", wanted.title, "a title")
    preparations = read_preparations(wanted.preparations)
    _check_guards(wanted, preparations)
    check_limit_of_hosts(wanted.targets, wanted.time_limit)
    study = wanted.study or Study.objects.create(lab=wanted.lab, slug=_free_slug(wanted.lab, title), title=title)
    configurations = _configurations_of(study, wanted.targets)
    written = check_request(wanted, free_name(study, title), [configuration.name for configuration in configurations])
    position = Plan.objects.filter(study=study).count()
    plan, _ = save_plan(study, written, actor=actor, position=position)
    plan.repeats, plan.priority, plan.question = wanted.repeats, wanted.priority, wanted.question
    plan.save(update_fields=["repeats", "priority", "question"])
    _check_limit_of_cells(plan, plan.time_limit)
    for at, preparation in enumerate(preparations):
        Preparation.objects.create(plan=plan, position=at, **preparation)
    record_act(plan, "plan written", actor)
    return plan


def check_targets(wanted: PlanRequest) -> None:
    """Raise `PlanError` where there is no target, or one of another lab."""
    if not wanted.targets:
        raise PlanError("targets", [], "at least one target")
    for target in wanted.targets:
        if target.lab_id != wanted.lab.pk:
            raise PlanError("targets", target.pk, "targets of this lab")


def check_limit_of_hosts(targets: Iterable[Target], time_limit: int | None) -> None:
    """Raise `PlanError` where a host stops every run sooner than after this time, by its agent.conf."""
    for target in targets:
        try:
            check_limit_of_host(target, time_limit)
        except WorkloadError as error:
            raise PlanError("time_limit", time_limit, error.expected) from None


def _check_limit_of_cells(plan: Plan, time_limit: int | None) -> None:
    """Raise `PlanError` where a cell that is still to be run would be stopped before its jobs have ended."""
    if time_limit is None:
        return
    loaded = load_plan(plan.pk)
    for cell in PlanPage(loaded, runs_of(loaded.study, plan_id=plan.pk)).cells:
        if cell.workload and not cell.reason and cell.remaining:
            try:
                check_time_limit(time_limit, cell.workload)
            except WorkloadError as error:
                raise PlanError("time_limit", time_limit, f"{error.expected} of {cell.point}") from None


def _check_guards(wanted: PlanRequest, preparations: Iterable[Mapping[str, Any]]) -> None:
    """Raise `PlanError` where a guard asks for what no preparation of the plan does."""
    writes = any(KINDS[preparation["kind"]].workload for preparation in preparations)
    if problem := lacks_writes([str(guard.get("kind")) for guard in wanted.guards], writes):
        raise PlanError("guards", "preconditioned", problem[0].lower() + problem[1:-1])


def check_request(wanted: PlanRequest, name: str, configurations: Iterable[str]) -> WrittenPlan:
    """Return the plan that is asked for as it would be written. Raises `PlanError`."""
    data = {
        "name": name, "title": wanted.title.strip(), "order": wanted.order, "seed": wanted.seed,
        "stopping": dict(wanted.stopping), "notes": wanted.notes, "points": list(wanted.points),
        "time_limit": wanted.time_limit,
        "guards": [dict(guard) for guard in wanted.guards],
        "configurations": [{"configuration": configuration} for configuration in configurations],
    }  # fmt: skip
    return plan_of(data)


def _free_slug(lab: Lab, title: str) -> str:
    base = slugify(title)[:70] or "plan"
    taken = set(Study.objects.filter(lab=lab, slug__startswith=base).values_list("slug", flat=True))
    return find_free_name(base, taken)


def _configurations_of(study: Study, targets: Sequence[Target]) -> list[Configuration]:
    """Return the study's configurations of targets, which are made where there are none; a constant number of queries."""
    of_target: dict[int, Configuration] = {}
    for known in Configuration.objects.filter(study=study, target__in=targets).order_by("-position", "-pk"):
        of_target[known.target_id] = known
    count = Configuration.objects.filter(study=study).count()
    new = [target for target in dict.fromkeys(targets) if target.pk not in of_target]
    made = [
        Configuration(
            study=study, name=f"target-{target.pk}", label=str(target)[:200], host=target.host, target=target,
            position=count + number,
        )
        for number, target in enumerate(new)
    ]  # fmt: skip
    of_target |= {configuration.target_id: configuration for configuration in Configuration.objects.bulk_create(made)}
    return [of_target[target.pk] for target in targets]


def find_start_problems(page: PlanPage) -> list[str]:
    """Return why a plan cannot be started: one sentence each; empty where it can."""
    if page.plan.is_from_report:
        return ["This plan is the procedure of a published report, and was carried out by its authors."]
    if not page.cells:
        return ["The plan has no cells."]
    if not any(cell.can_be_started for cell in page.cells):
        return [
            "No cell can be started: that needs a workload that fio can run, and a configuration whose target is a"
            " directory that a host's agent offers."
        ]
    writes = any(KINDS[preparation.kind].workload for preparation in page.plan.preparations.all())
    required = [guard.kind for guard in page.plan.guards.all() if guard.is_required]
    if problem := lacks_writes(required, writes):
        return [problem]
    refused = find_refused_cells(page)
    if refused and len(refused) == sum(1 for cell in page.cells if cell.can_be_started and cell.remaining):
        sentences = refusal_sentences(refusal for _, refusal in refused)
        return ["No cell can be started: the hosts allow less than the plan asks for.", *sentences]
    return []


def _leave_out_refused(plan: Plan, page: PlanPage) -> PlanPage:
    """Exclude the cells that their host would refuse, each with its reason; return the plan's page without them."""
    refused = find_refused_cells(page)
    for cell, refusal in refused:
        exclude_cell(plan, cell.row, cell.point, f"{NOT_STARTED}: {refusal.problem}.")
    return PlanPage(load_plan(plan.pk), runs_of(plan.study, plan_id=plan.pk)) if refused else page


@transaction.atomic
def start_plan(
    plan: Plan,
    *,
    actor: str,
    retries: int = 0,
    guard_wait: int | None = None,
    guard_failure: str | None = None,
    recipients: Sequence[int] | None = None,
) -> Execution:
    """Start a plan, or start it again after it was cancelled or done; its hosts get their first steps at once.

    Cells that their host would refuse by the limits that it has reported are left out, with the reason. Where nothing
    but failed steps is left of a plan that has ended, starting it again makes those again.

    Args:
        retries: How often a failed step is made again by itself.
        guard_wait: Seconds that a required guard may hold a step back; None: as before, or an hour.
        guard_failure: What becomes of a step whose guard did not hold: `skip`, `fail` or `again`; None: as before, or
            `skip`.
        recipients: Ids of the notification channels that are told what becomes of it; None: as before.

    Raises:
        ExecutionError: It runs already, is paused, or has nothing that can be started.
        PlanError: The lab has no such notification channel.
    """
    if not 0 <= retries <= MOST_RETRIES:
        raise ExecutionError(f"retries: found {retries}, expected 0 to {MOST_RETRIES}")
    if guard_wait is not None and not 0 <= guard_wait <= LONGEST_WAIT:
        raise ExecutionError(f"guard_wait: found {guard_wait}, expected 0 to {LONGEST_WAIT} seconds")
    if guard_failure is not None and guard_failure not in GuardFailure.values:
        raise ExecutionError(
            f"guard_failure: found {guard_failure!r}, expected one of {', '.join(GuardFailure.values)}"
        )
    _lock(plan)
    execution = execution_of(plan)
    if execution and not execution.has_ended:
        raise ExecutionError(f"The plan is {execution.state} already. {execution.start_words} Nothing was changed.")
    page = PlanPage(load_plan(plan.pk), runs_of(plan.study, plan_id=plan.pk))
    if problems := find_start_problems(page):
        raise ExecutionError(" ".join(problems))
    page = _leave_out_refused(plan, page)
    if execution and not is_anything_left(page, retries):
        failed = _failed_steps(plan)
        if not failed:
            raise ExecutionError("Nothing is left to start: every cell is done or skipped.")
        _make_again(plan, failed)
    execution = execution or Execution(plan=plan)
    execution.state, execution.reason, execution.ended_at = ExecutionState.RUNNING, "", None
    execution.started_by, execution.started_at, execution.retries = actor, timezone.now(), retries
    execution.resumed_at = execution.started_at
    execution.guard_wait = execution.guard_wait if guard_wait is None else guard_wait
    execution.guard_failure = guard_failure or execution.guard_failure
    execution.start_checked_at = None
    execution.save()
    told = _choose_recipients(plan, recipients)
    guards = {"guard_wait": execution.guard_wait, "guard_failure": execution.guard_failure}
    details = {**(guards if plan.guards.exists() else {}), **({"recipients": told} if told else {})}
    record_act(plan, "plan started", actor, retries=retries, **details)
    advance_hosts_on_commit(plan)
    return execution


@transaction.atomic
def pause_plan(plan: Plan, *, actor: str, reason: str = "", by_itself: bool = False) -> Execution:
    """Start no more steps; what runs now goes on to its end.

    Args:
        by_itself: The plan pauses because of failures; who follows it is told.

    Raises:
        ExecutionError: It does not run.
    """
    execution = _in_state(plan, ExecutionState.RUNNING)
    execution.state, execution.reason = ExecutionState.PAUSED, shorten(reason or f"Paused by {actor}.", LONGEST_REASON)
    execution.has_paused_itself = by_itself
    execution.save(update_fields=["state", "reason", "has_paused_itself"])
    execution.waits.all().delete()
    record_act(plan, "plan paused", actor, reason=execution.reason)
    if by_itself:
        tell_paused(plan, execution.reason)
    return execution


@transaction.atomic
def resume_plan(plan: Plan, *, actor: str) -> Execution:
    """Go on with a paused plan.

    Raises:
        ExecutionError: It is not paused.
    """
    execution = _in_state(plan, ExecutionState.PAUSED)
    execution.state, execution.reason, execution.resumed_at = ExecutionState.RUNNING, "", timezone.now()
    execution.save(update_fields=["state", "reason", "resumed_at"])
    record_act(plan, "plan resumed", actor)
    advance_hosts_on_commit(plan)
    return execution


@transaction.atomic
def cancel_plan(plan: Plan, *, actor: str, reason: str = "") -> Execution:
    """End a plan: nothing more is started, and its queued and running runs are cancelled. What was measured stays.

    The steps of the cancelled runs have not failed: they are made again when the plan is started again.

    Raises:
        ExecutionError: It neither runs nor is paused.
    """
    execution = _in_state(plan, ExecutionState.RUNNING, ExecutionState.PAUSED)
    execution.state = ExecutionState.CANCELLED
    execution.reason = shorten(reason or f"Cancelled by {actor}.", LONGEST_REASON)
    execution.ended_at = timezone.now()
    execution.save(update_fields=["state", "reason", "ended_at"])
    execution.waits.all().delete()
    record_act(plan, "plan cancelled", actor)
    runs = list(open_runs(plan.pk))
    PlannedRun.objects.filter(run__in=runs).update(is_retried=True)
    for run in runs:
        cancel_run(run, actor)
    return execution


@transaction.atomic
def retry_failed(
    plan: Plan, *, actor: str, row: PlanConfiguration | None = None, point: PlanPoint | None = None
) -> int:
    """Make the failed steps of a plan, or of one cell, again; return how many.

    A plan that is done runs again.

    Raises:
        ExecutionError: Nothing has failed, or the plan was never started or is cancelled, so that nothing would be made.
    """
    _lock(plan)
    execution = execution_of(plan)
    if execution is None:
        raise ExecutionError("The plan was not started yet.")
    if execution.state == ExecutionState.CANCELLED:
        raise ExecutionError("The plan is cancelled: start it again first.")
    failed = _failed_steps(plan, row, point)
    if not failed:
        raise ExecutionError("No step has failed.")
    _make_again(plan, failed)
    if execution.state == ExecutionState.DONE:
        execution.state, execution.ended_at, execution.reason = ExecutionState.RUNNING, None, ""
        execution.save(update_fields=["state", "ended_at", "reason"])
    record_act(plan, "plan steps retried", actor, steps=len(failed))
    advance_hosts_on_commit(plan)
    return len(failed)


@transaction.atomic
def add_repetitions(plan: Plan, number: int, *, actor: str, seen: int | None = None) -> Plan:
    """Ask for more rounds of every cell; a plan that is done runs again.

    Args:
        seen: The most rounds that the plan had when somebody decided to add some; None: not said. A second click, or
            somebody else's, finds another number and adds nothing.

    Raises:
        ExecutionError: The number does not fit, rounds were added meanwhile, or the plan is a report's.
    """
    if plan.is_from_report:
        raise ExecutionError("A published report's plan cannot be changed.")
    _lock(plan)
    plan.refresh_from_db(fields=["stopping", "changed_by"])
    rule = plan.rule
    if seen is not None and seen != rule.most:
        raise ExecutionError(
            f"Nothing was added: the plan had {seen} rounds when you looked, and has {rule.most} since"
            f" {plan.changed_by or 'somebody'} changed it."
        )
    if not 1 <= number <= MOST_ROUNDS - rule.most:
        raise ExecutionError(f"repetitions: found {number}, expected 1 to {MOST_ROUNDS - rule.most} more")
    changed = {**plan.stopping}
    for name in ("rounds", "at_least", "at_most"):
        if name in changed:
            changed[name] += number
    plan.stopping = stopping_of(changed).data
    plan.changed_by = actor
    plan.save(update_fields=["stopping", "changed_by", "changed_at"])
    done = Execution.objects.filter(plan=plan, state=ExecutionState.DONE)
    done.update(state=ExecutionState.RUNNING, ended_at=None, reason="")
    record_act(plan, "plan repetitions added", actor, number=number)
    advance_hosts_on_commit(plan)
    return plan


@transaction.atomic
def change_priority(plan: Plan, priority: Priority, *, actor: str) -> Plan:
    """Give a plan a priority: the runs that it starts from now on have it, and those of it that wait get it.

    Raises:
        ExecutionError: The plan is a report's.
    """
    if plan.is_from_report:
        raise ExecutionError("A published report's plan cannot be changed.")
    # the rows that each start of a step locks: it comes before, with a run that is found here, or reads the new priority
    list(PlanConfiguration.objects.filter(plan=plan).select_for_update(of=("self",)).order_by("pk").values_list("pk"))
    plan.refresh_from_db(fields=["priority"])
    if plan.priority == priority:
        return plan
    plan.priority, plan.changed_by = priority, actor
    plan.save(update_fields=["priority", "changed_by", "changed_at"])
    record_act(plan, "plan priority changed", actor, priority=priority.label)
    set_priority(plan.study.lab, list(open_runs(plan.pk).values_list("pk", flat=True)), priority, actor)
    return plan


@transaction.atomic
def change_recipients(plan: Plan, recipients: Sequence[int], *, actor: str) -> Plan:
    """Choose by their ids which notification channels are told what becomes of a plan, also while it runs.

    Raises:
        ExecutionError: The plan is a report's, or one run of a schedule, whose channels are those of its schedule.
        PlanError: The lab has no such notification channel.
    """
    if plan.is_from_report:
        raise ExecutionError("A published report's plan cannot be changed.")
    told = _choose_recipients(plan, recipients)
    record_act(plan, "plan recipients changed", actor, recipients=told)
    return plan


def _choose_recipients(plan: Plan, recipients: Sequence[int] | None) -> list[str]:
    """Store who is told of a plan; return their names. Those of one run of a schedule are the schedule's."""
    if recipients is not None and (firing := find_firing(plan)):
        raise ExecutionError(f"This plan is one run of the schedule of {firing.plan}; change who is notified there.")
    return set_recipients(plan, recipients)


@transaction.atomic
def change_time_limit(plan: Plan, time_limit: int | None, *, actor: str) -> Plan:
    """Give the runs that a plan starts from now on a time limit in seconds; None: by each one's estimate.

    Raises:
        ExecutionError: The plan is a report's.
        PlanError: A host of the plan stops every run sooner, or a cell that is still to be run takes longer.
    """
    if plan.is_from_report:
        raise ExecutionError("A published report's plan cannot be changed.")
    configurations = [row.configuration for row in plan.rows.all() if row.configuration]
    check_limit_of_hosts([each.target for each in configurations if each.target], time_limit)
    _lock(plan)
    _check_limit_of_cells(plan, time_limit)
    plan.refresh_from_db(fields=["time_limit"])
    if plan.time_limit != time_limit:
        plan.time_limit, plan.changed_by = time_limit, actor
        plan.save(update_fields=["time_limit", "changed_by", "changed_at"])
        record_act(plan, "plan time limit changed", actor, seconds=time_limit)
    return plan


def _failed_steps(plan: Plan, row: PlanConfiguration | None = None, point: PlanPoint | None = None) -> list[PlannedRun]:
    """Return the newest runs of the steps that have failed and that a cell still asks for; of one cell where it is given."""
    failed = [planned for planned in _newest_of_steps(plan, row, point) if _has_failed(planned)]
    if not failed:
        return []
    page = PlanPage(load_plan(plan.pk), runs_of(plan.study, plan_id=plan.pk))
    wanted = {(cell.row.pk, cell.point.pk) for cell in page.cells if cell.remaining}
    return [planned for planned in failed if (planned.row_id, planned.point_id) in wanted]


def _make_again(plan: Plan, failed: Iterable[PlannedRun]) -> None:
    PlannedRun.objects.filter(pk__in=_all_runs_of_steps(plan, failed)).update(is_retried=True)


def _newest_of_steps(plan: Plan, row: PlanConfiguration | None, point: PlanPoint | None) -> Iterable[PlannedRun]:
    runs = PlannedRun.objects.filter(row__plan=plan).select_related("run").order_by("run_id")
    if row is not None:
        runs = runs.filter(row=row, point=point)
    return {(planned.row_id, planned.point_id, planned.round): planned for planned in runs}.values()


def _has_failed(planned: PlannedRun) -> bool:
    is_counted = planned.run.state == "finished" and not planned.failed_guard
    return planned.run.state in ENDED and not is_counted and not planned.is_retried


def _all_runs_of_steps(plan: Plan, failed: Iterable[PlannedRun]) -> list[int]:
    steps = {(planned.row_id, planned.point_id, planned.round) for planned in failed}
    runs = PlannedRun.objects.filter(row__plan=plan).values_list("pk", "row_id", "point_id", "round")
    return [pk for pk, *step in runs if tuple(step) in steps]


def _lock(plan: Plan) -> None:
    Plan.objects.select_for_update(of=("self",)).get(pk=plan.pk)


def _in_state(plan: Plan, *states: str) -> Execution:
    _lock(plan)
    execution = execution_of(plan)
    if execution is None:
        raise ExecutionError("The plan was not started yet.")
    if execution.state not in states:
        problem = f"The plan is {execution.state}, not {' or '.join(states)}. {execution.reason}"
        raise ExecutionError(problem.strip())
    return execution


def record_act(plan: Plan, action: str, actor: str, **details: Any) -> None:
    """Write an act on a plan into the audit trail."""
    AuditEvent.objects.record(plan.study.lab_id, action, f"{plan.name} of {plan.study.slug}", actor=actor, **details)

"""Services of plans: start, pause, resume and cancel them, retry what failed, add repetitions.

Pages, REST and commands call these functions; the audit event and the checks are inside. The steps themselves are
started by tasks (`steps.py`), and a cell is skipped by `apps.studies.plans.services.set_cell`.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.text import slugify

from apps.core.text import find_free_name
from apps.inventory.models import Target
from apps.labs.models import AuditEvent, Lab
from apps.plans.models import (
    Execution,
    ExecutionState,
    GuardFailure,
    Preparation,
    execution_of,
    load_plan,
    open_runs,
)
from apps.plans.plan_request import PlanRequest
from apps.plans.preparations import read_preparations
from apps.plans.scheduler import is_anything_left
from apps.runs.host_guards import LONGEST_WAIT
from apps.runs.services import cancel_run
from apps.runs.states import ENDED
from apps.studies.models import Configuration, Plan, PlanConfiguration, PlannedRun, PlanPoint, Study
from apps.studies.plans.draft import free_name
from apps.studies.plans.plan_import import save_plan
from apps.studies.plans.plan_page import PlanPage
from apps.studies.plans.problems import PlanError
from apps.studies.plans.run_assignment import runs_of
from apps.studies.plans.schema import WrittenPlan, plan_of
from apps.studies.plans.services import advance_hosts_on_commit
from apps.studies.plans.stopping_rule import MOST_ROUNDS, stopping_of

MOST_RETRIES = 10


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
    study = wanted.study or Study.objects.create(lab=wanted.lab, slug=_free_slug(wanted.lab, title), title=title)
    configurations = _configurations_of(study, wanted.targets)
    written = check_request(wanted, free_name(study, title), [configuration.name for configuration in configurations])
    position = Plan.objects.filter(study=study).count()
    plan, _ = save_plan(study, written, actor=actor, position=position)
    if wanted.repeats:
        plan.repeats = wanted.repeats
        plan.save(update_fields=["repeats"])
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


def check_request(wanted: PlanRequest, name: str, configurations: Iterable[str]) -> WrittenPlan:
    """Return the plan that is asked for as it would be written. Raises `PlanError`."""
    data = {
        "name": name, "title": wanted.title.strip(), "order": wanted.order, "seed": wanted.seed,
        "stopping": dict(wanted.stopping), "notes": wanted.notes, "points": list(wanted.points),
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
    return []


@transaction.atomic
def start_plan(
    plan: Plan, *, actor: str, retries: int = 0, guard_wait: int | None = None, guard_failure: str | None = None
) -> Execution:
    """Start a plan, or start it again after it was cancelled or done; its hosts get their first steps at once.

    Where nothing but failed steps is left of a plan that has ended, starting it again makes those again.

    Args:
        retries: How often a failed step is made again by itself.
        guard_wait: Seconds that a required guard may hold a step back; None: as before, or an hour.
        guard_failure: What becomes of a step whose guard did not hold: `skip`, `fail` or `again`; None: as before, or
            `skip`.

    Raises:
        ExecutionError: It runs already, is paused, or has nothing that can be started.
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
        raise ExecutionError(f"The plan is {execution.state} already.")
    page = PlanPage(load_plan(plan.pk), runs_of(plan.study, plan_id=plan.pk))
    if problems := find_start_problems(page):
        raise ExecutionError(" ".join(problems))
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
    execution.save()
    guards = {"guard_wait": execution.guard_wait, "guard_failure": execution.guard_failure}
    record_act(plan, "plan started", actor, retries=retries, **(guards if plan.guards.exists() else {}))
    advance_hosts_on_commit(plan)
    return execution


@transaction.atomic
def pause_plan(plan: Plan, *, actor: str, reason: str = "") -> Execution:
    """Start no more steps; what runs now goes on to its end.

    Raises:
        ExecutionError: It does not run.
    """
    execution = _in_state(plan, ExecutionState.RUNNING)
    execution.state, execution.reason = ExecutionState.PAUSED, reason or f"Paused by {actor}."
    execution.save(update_fields=["state", "reason"])
    execution.waits.all().delete()
    record_act(plan, "plan paused", actor, reason=execution.reason)
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
def cancel_plan(plan: Plan, *, actor: str) -> Execution:
    """End a plan: nothing more is started, and its queued and running runs are cancelled. What was measured stays.

    The steps of the cancelled runs have not failed: they are made again when the plan is started again.

    Raises:
        ExecutionError: It neither runs nor is paused.
    """
    execution = _in_state(plan, ExecutionState.RUNNING, ExecutionState.PAUSED)
    execution.state, execution.reason = ExecutionState.CANCELLED, f"Cancelled by {actor}."
    execution.ended_at = timezone.now()
    execution.save(update_fields=["state", "reason", "ended_at"])
    execution.waits.all().delete()
    record_act(plan, "plan cancelled", actor)
    runs = list(open_runs(plan))
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
        execution.state, execution.ended_at = ExecutionState.RUNNING, None
        execution.save(update_fields=["state", "ended_at"])
    record_act(plan, "plan steps retried", actor, steps=len(failed))
    advance_hosts_on_commit(plan)
    return len(failed)


@transaction.atomic
def add_repetitions(plan: Plan, number: int, *, actor: str) -> Plan:
    """Ask for more rounds of every cell; a plan that is done runs again.

    Raises:
        ExecutionError: The number does not fit, or the plan is a report's.
    """
    if plan.is_from_report:
        raise ExecutionError("A published report's plan cannot be changed.")
    rule = plan.rule
    if not 1 <= number <= MOST_ROUNDS - rule.most:
        raise ExecutionError(f"repetitions: found {number}, expected 1 to {MOST_ROUNDS - rule.most} more")
    changed = {**plan.stopping}
    for name in ("rounds", "at_least", "at_most"):
        if name in changed:
            changed[name] += number
    plan.stopping = stopping_of(changed).data
    plan.changed_by = actor
    plan.save(update_fields=["stopping", "changed_by", "changed_at"])
    Execution.objects.filter(plan=plan, state=ExecutionState.DONE).update(state=ExecutionState.RUNNING, ended_at=None)
    record_act(plan, "plan repetitions added", actor, number=number)
    advance_hosts_on_commit(plan)
    return plan


def _failed_steps(plan: Plan, row: PlanConfiguration | None = None, point: PlanPoint | None = None) -> list[PlannedRun]:
    return [planned for planned in _newest_of_steps(plan, row, point) if _has_failed(planned)]


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
        raise ExecutionError(f"The plan is {execution.state}, not {' or '.join(states)}.")
    return execution


def record_act(plan: Plan, action: str, actor: str, **details: Any) -> None:
    """Write an act on a plan into the audit trail."""
    AuditEvent.objects.record(plan.study.lab_id, action, f"{plan.name} of {plan.study.slug}", actor=actor, **details)

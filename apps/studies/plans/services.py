"""What a person sets for one cell of a plan, whether a plan may be deleted, and the message to its hosts of a change."""

from django.db import transaction
from django.db.models import QuerySet

from apps.core.task_queue import send_on_commit
from apps.labs.models import AuditEvent
from apps.runs.models import Run
from apps.studies.models import Plan, PlanCell, PlanConfiguration, PlanPoint

LONGEST_REASON = 1000


class PlanCellError(ValueError):
    """A cell cannot be changed so; the message is a sentence for people."""


@transaction.atomic
def set_cell(
    plan: Plan, row: PlanConfiguration, point: PlanPoint, *, actor: str, reason: str, note: str | None = None
) -> PlanCell | None:
    """Skip a cell with a reason, or run it again where the reason is empty; a run of it that is under way goes on.

    Args:
        plan: A plan of the lab.
        row: Its configuration.
        point: Its point.
        actor: Who does it, for the audit trail.
        reason: Why it is not run; empty: it is.
        note: What else is to be said of it; None keeps the note that it has.

    Returns:
        The stored cell, or None where nothing is left to be said of it.

    Raises:
        PlanCellError: The plan is a published report's.
    """
    if plan.is_from_report:
        raise PlanCellError("A published report's plan cannot be changed.")
    cell = _store_cell(plan, row, point, reason.strip(), note)
    act = "plan cell skipped" if reason.strip() else "plan cell written"
    details = {"row": row.name, "point": point.name, "reason": reason.strip()}
    AuditEvent.objects.record(plan.study.lab_id, act, f"{plan.name} of {plan.study.slug}", actor=actor, **details)
    advance_hosts_on_commit(plan)
    return cell


def exclude_cell(plan: Plan, row: PlanConfiguration, point: PlanPoint, reason: str) -> PlanCell:
    """Exclude a cell for a reason that the plan's execution found; what was measured of it stays."""
    cell = _store_cell(plan, row, point, reason, None)
    assert cell is not None, "a cell with a reason is stored"
    return cell


def _store_cell(plan: Plan, row: PlanConfiguration, point: PlanPoint, reason: str, note: str | None) -> PlanCell | None:
    texts = {"reason": reason[:LONGEST_REASON]} | ({} if note is None else {"note": note})
    cell: PlanCell = PlanCell.objects.update_or_create(row=row, point=point, defaults={"plan": plan, **texts})[0]
    if cell.reason or cell.note or cell.runs_of_id:
        return cell
    cell.delete()
    return None


def explain_no_deletion(plans: QuerySet[Plan]) -> str:
    """Return why these plans cannot be deleted now, as a sentence: runs that they started wait or are under way.

    Without its plan such a run would be carried out all the same, and nobody could see what for. Runs that a person
    started, of a plan that was never started itself, are no obstacle.
    """
    started = Run.objects.open().filter(planned_run__row__plan__execution__isnull=False)
    count = started.filter(planned_run__row__plan__in=plans).count()
    if not count:
        return ""
    runs = f"{count} run{'' if count == 1 else 's'}"
    return f"It cannot be deleted now: {runs} of its plan wait or are under way. Cancel the plan first."


def advance_hosts_on_commit(plan: Plan) -> None:
    """Let each host of a plan look for its next step when the transaction is committed; hosts that idle do nothing."""
    rows = PlanConfiguration.objects.filter(plan=plan).exclude(configuration__target=None)
    for host_id in sorted(set(rows.values_list("configuration__target__host_id", flat=True))):
        send_on_commit("plans.advance_host", plan.pk, host_id, expires=60)

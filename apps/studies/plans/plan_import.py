"""Plans into a study: as they are written in plan.yaml, or by the form. A second time changes nothing.

import_plans(study, data)              -> list[str]   a report's plans; what changed, one sentence each
save_plan(study, written, …)           -> (Plan, bool)   one plan, and whether anything changed

Rows and points are known by their names, so that runs keep their place when a plan is changed.
"""

from collections.abc import Mapping
from typing import Any

from django.db import models, transaction

from apps.labs.isolation import lab_scope
from apps.studies.models import Configuration, Guard, Plan, PlanCell, PlanConfiguration, PlanPoint, Study
from apps.studies.plans.guards import KINDS
from apps.studies.plans.problems import PlanError
from apps.studies.plans.schema import WrittenCell, WrittenPlan, WrittenPoint, plans_of

Fields = dict[str, Any]
BY_REPORT = "published report"


def import_plans(study: Study, data: Any) -> list[str]:
    """Write the plans of a plan.yaml, `{"plans": […]}`, and return a sentence for each change.

    Plans of the report that are no longer written are deleted.

    Raises:
        PlanError: A plan does not fit.
    """
    written = plans_of(data)
    sentences = []
    with lab_scope(study.lab_id), transaction.atomic():
        for position, written_plan in enumerate(written):
            known = Plan.objects.filter(study=study, name=written_plan.name).exists()
            plan, changed = save_plan(study, written_plan, actor=BY_REPORT, position=position, is_from_report=True)
            if changed:
                sentences.append(f"plan {plan.name}: {'changed' if known else 'made'}")
        gone = Plan.objects.filter(study=study, is_from_report=True).exclude(
            name__in=[written_plan.name for written_plan in written]
        )
        sentences += [f"plan {plan.name}: deleted, the report's data no longer have it" for plan in gone]
        gone.delete()
    return sentences


@transaction.atomic
def save_plan(
    study: Study,
    written: WrittenPlan,
    *,
    actor: str,
    position: int,
    is_from_report: bool = False,
    plan: Plan | None = None,
) -> tuple[Plan, bool]:
    """Save a plan and return it with whether anything changed.

    `plan` is the one to change; without it the one of this name, or a new one.

    Raises:
        PlanError: It does not fit.
    """
    known = plan or Plan.objects.filter(study=study, name=written.name).first()
    wanted: Fields = {
        "name": written.name, "title": written.title, "position": position, "order": written.order, "seed": written.seed,
        "stopping": written.stopping.data, "are_means": written.are_means, "notes": written.notes, "is_from_report": is_from_report,
        "time_limit": written.time_limit,
    }  # fmt: skip
    row = known or Plan(study=study)
    changed = known is None or _differs(known, wanted)
    for name, value in wanted.items():
        setattr(row, name, value)
    if changed:
        row.changed_by = actor
        row.save()
    inner = _save_parts(
        row, written, {configuration.name: configuration for configuration in study.configurations.all()}, actor
    )
    if inner and not changed:
        row.changed_by = actor
        row.save(update_fields=["changed_by", "changed_at"])
    return row, changed or inner


def _save_parts(plan: Plan, written: WrittenPlan, known: Mapping[str, Configuration], actor: str) -> bool:
    rows = {}
    for at, row in enumerate(written.rows):
        configuration = _configuration(row.configuration, known) if row.configuration else None
        rows[row.name] = {
            "position": at, "configuration": configuration, "own_label": row.label,
            "largest_file_size": row.largest_file_size, "limit_reason": row.limit_reason, "reason": row.reason,
        }  # fmt: skip
    points = {point.name: {"position": at, **_point_fields(point)} for at, point in enumerate(written.points)}
    stated_by = dict(Guard.objects.filter(plan=plan).exclude(stated_by="").values_list("kind", "stated_by"))
    guards: dict[str, Fields] = {
        guard.kind: {
            "position": at,
            "is_required": guard.is_required,
            "note": guard.note,
            "parameters": guard.parameters,
            "stated_by": stated_by.get(guard.kind, actor)[:200] if KINDS[guard.kind].is_statement else "",
        }
        for at, guard in enumerate(written.guards)
    }
    changed = [
        _save_named(PlanConfiguration, plan, "name", rows),
        _save_named(PlanPoint, plan, "name", points),
        _save_named(Guard, plan, "kind", guards),
    ]
    return any([*changed, _save_cells(plan, written.cells, known)])


def _point_fields(point: WrittenPoint) -> Fields:
    return {name: value for name, value in vars(point).items() if name != "name"}


def _save_named(model: type[models.Model], plan: Plan, key: str, wanted: Mapping[str, Fields]) -> bool:
    """Create, update and delete the plan's parts of one kind; return whether anything changed."""
    manager: Any = model._default_manager
    here = {getattr(stored, key): stored for stored in manager.filter(plan=plan)}
    changed = False
    for name, fields in wanted.items():
        existing = here.pop(name, None)
        if existing is not None and not _differs(existing, fields):
            continue
        existing = existing or model(plan=plan, **{key: name})
        for field, value in fields.items():
            setattr(existing, field, value)
        existing.save()
        changed = True
    manager.filter(pk__in=[row.pk for row in here.values()]).delete()
    return changed or bool(here)


def _save_cells(plan: Plan, cells: list[WrittenCell], known: Mapping[str, Configuration]) -> bool:
    rows = {row.name: row for row in PlanConfiguration.objects.filter(plan=plan)}
    points = {point.name: point for point in PlanPoint.objects.filter(plan=plan)}
    wanted = {(rows[cell.row].pk, points[cell.point].pk): cell for cell in cells}
    here = {(cell.row_id, cell.point_id): cell for cell in PlanCell.objects.filter(plan=plan)}
    changed = False
    for (row, point), cell in wanted.items():
        plan_cell = here.pop((row, point), None) or PlanCell(plan=plan, row_id=row, point_id=point)
        runs_of = _configuration(cell.runs_of, known) if cell.runs_of else None
        fields = {"reason": cell.reason, "note": cell.note, "runs_of": runs_of}
        if plan_cell.pk is None or _differs(plan_cell, fields):
            for name, value in fields.items():
                setattr(plan_cell, name, value)
            plan_cell.save()
            changed = True
    PlanCell.objects.filter(pk__in=[cell.pk for cell in here.values()]).delete()
    return changed or bool(here)


def _configuration(name: str, known: Mapping[str, Configuration]) -> Configuration:
    if name not in known:
        raise PlanError("configuration", name, f"a configuration of the study: {', '.join(known) or 'it has none'}")
    return known[name]


def _differs(row: models.Model, wanted: Fields) -> bool:
    return any(getattr(row, name) != value for name, value in wanted.items())

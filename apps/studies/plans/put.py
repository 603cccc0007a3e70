"""Plans into a study: as they are written in plan.yaml, or by the form. A second time changes nothing.

put_plan(study, data)                  -> list[str]   a report's plans; what changed, one sentence each
save_plan(study, written, …)           -> (Plan, bool)   one plan, and whether anything changed

Rows and points are known by their names, so that runs keep their place when a plan is changed.
"""

from collections.abc import Mapping
from typing import Any

from django.db import models, transaction

from apps.labs.isolation import lab_scope
from apps.studies.models import Configuration, Study
from apps.studies.planning.typed import WrittenCell, WrittenPlan, WrittenPoint, plans_of
from apps.studies.planning.words import PlanError
from apps.studies.plans.models import Guard, Plan, PlanCell, PlanConfiguration, PlanPoint

Fields = dict[str, Any]
BY_REPORT = "published report"


def put_plan(study: Study, data: Any) -> list[str]:
    """`data`: what plan.yaml holds, `{"plans": […]}`. Plans of the report that are no longer written are deleted. Raises `PlanError`."""
    written = plans_of(data)
    said = []
    with lab_scope(study.lab_id), transaction.atomic():
        for position, one in enumerate(written):
            known = Plan.objects.filter(study=study, name=one.name).exists()
            plan, changed = save_plan(study, one, who=BY_REPORT, position=position, is_from_report=True)
            if changed:
                said.append(f"plan {plan.name}: {'changed' if known else 'made'}")
        gone = Plan.objects.filter(study=study, is_from_report=True).exclude(name__in=[one.name for one in written])
        said += [f"plan {plan.name}: deleted, the report's data no longer have it" for plan in gone]
        gone.delete()
    return said


@transaction.atomic
def save_plan(
    study: Study,
    written: WrittenPlan,
    *,
    who: str,
    position: int,
    is_from_report: bool = False,
    plan: Plan | None = None,
) -> tuple[Plan, bool]:
    """`plan`: the one that is changed; without it the one of this name, or a new one. Raises `PlanError`."""
    known = plan or Plan.objects.filter(study=study, name=written.name).first()
    wanted: Fields = {
        "name": written.name, "title": written.title, "position": position, "order": written.order, "seed": written.seed,
        "stopping": written.stopping.data, "are_means": written.are_means, "notes": written.notes, "is_from_report": is_from_report,
    }  # fmt: skip
    kept = known or Plan(study=study)
    changed = known is None or _differs(known, wanted)
    for name, value in wanted.items():
        setattr(kept, name, value)
    if changed:
        kept.changed_by = who
        kept.save()
    inner = _put_parts(kept, written, {one.name: one for one in study.configurations.all()})
    if inner and not changed:
        kept.changed_by = who
        kept.save(update_fields=["changed_by", "changed_at"])
    return kept, changed or inner


def _put_parts(plan: Plan, written: WrittenPlan, known: Mapping[str, Configuration]) -> bool:
    rows = {}
    for at, row in enumerate(written.rows):
        configuration = _configuration(row.configuration, known) if row.configuration else None
        rows[row.name] = {
            "position": at, "configuration": configuration, "label": row.label or (configuration.label if configuration else row.name),
            "largest_file_size": row.largest_file_size, "limit_reason": row.limit_reason, "reason": row.reason,
        }  # fmt: skip
    points = {point.name: {"position": at, **_point_fields(point)} for at, point in enumerate(written.points)}
    guards: dict[str, Fields] = {
        guard.kind: {
            "position": at,
            "is_required": guard.is_required,
            "note": guard.note,
            "parameters": guard.parameters,
        }
        for at, guard in enumerate(written.guards)
    }
    changed = [
        _put_named(PlanConfiguration, plan, "name", rows),
        _put_named(PlanPoint, plan, "name", points),
        _put_named(Guard, plan, "kind", guards),
    ]
    return any([*changed, _put_cells(plan, written.cells, known)])


def _point_fields(point: WrittenPoint) -> Fields:
    return {name: value for name, value in vars(point).items() if name != "name"}


def _put_named(model: type[models.Model], plan: Plan, key: str, wanted: Mapping[str, Fields]) -> bool:
    """The plan's parts of one kind as they are wanted: kept where nothing changed, made, changed, deleted."""
    manager: Any = model._default_manager
    here = {getattr(one, key): one for one in manager.filter(plan=plan)}
    changed = False
    for name, fields in wanted.items():
        found = here.pop(name, None)
        if found is not None and not _differs(found, fields):
            continue
        found = found or model(plan=plan, **{key: name})
        for field, value in fields.items():
            setattr(found, field, value)
        found.save()
        changed = True
    manager.filter(pk__in=[one.pk for one in here.values()]).delete()
    return changed or bool(here)


def _put_cells(plan: Plan, cells: list[WrittenCell], known: Mapping[str, Configuration]) -> bool:
    rows = {row.name: row for row in PlanConfiguration.objects.filter(plan=plan)}
    points = {point.name: point for point in PlanPoint.objects.filter(plan=plan)}
    wanted = {(rows[cell.row].pk, points[cell.point].pk): cell for cell in cells}
    here = {(cell.row_id, cell.point_id): cell for cell in PlanCell.objects.filter(plan=plan)}
    changed = False
    for (row, point), cell in wanted.items():
        found = here.pop((row, point), None) or PlanCell(plan=plan, row_id=row, point_id=point)
        runs_of = _configuration(cell.runs_of, known) if cell.runs_of else None
        fields = {"reason": cell.reason, "note": cell.note, "runs_of": runs_of}
        if found.pk is None or _differs(found, fields):
            for name, value in fields.items():
                setattr(found, name, value)
            found.save()
            changed = True
    PlanCell.objects.filter(pk__in=[cell.pk for cell in here.values()]).delete()
    return changed or bool(here)


def _configuration(name: str, known: Mapping[str, Configuration]) -> Configuration:
    if name not in known:
        raise PlanError("configuration", name, f"a configuration of the study: {', '.join(known) or 'it has none'}")
    return known[name]


def _differs(row: models.Model, wanted: Fields) -> bool:
    return any(getattr(row, name) != value for name, value in wanted.items())

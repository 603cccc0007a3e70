"""How a study was measured: its tools, and its plans with their matrix."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Count
from django.utils.translation import gettext as _

from apps.lib import units
from apps.lib.tables import Section, Table
from apps.publishing.study_pages.words import number
from apps.runs.models import Run
from apps.studies.models import Study
from apps.studies.plans.models import Guard, PlanPoint
from apps.studies.plans.shown import CellShown, PlanShown, plans_of_study


@dataclass(frozen=True)
class Procedure:
    plans: Sequence[PlanShown]
    tools: Sequence[tuple[str, str, int]]  # name, version, runs

    @classmethod
    def of(cls, study: Study) -> "Procedure":
        return cls(plans_of_study(study), list(_tools_of(study)))


def _tools_of(study: Study) -> Iterable[tuple[str, str, int]]:
    found: Iterable[tuple[str, str, int]] = (
        Run.objects.filter(study_run__configuration__study=study)
        .order_by("tool", "tool_version").values_list("tool", "tool_version").annotate(n=Count("pk"))
    )  # fmt: skip
    return found


def procedure_of(procedure: Procedure) -> list[Section]:
    plans = [section for plan in procedure.plans for section in _plan(plan)]
    tools = _tools(procedure.tools)
    if not plans and not tools:
        return []
    return [Section(_("Procedure"), items=tuple(tools)), *plans]


def _tools(rows: Iterable[tuple[str, str, int]]) -> list[str]:
    """`fio 3.33: 12 runs`, written so that no language has to count."""
    return [
        _("%(tool)s; runs: %(runs)s") % {"tool": f"{tool} {version}".strip(), "runs": units.plain(n)}
        for tool, version, n in rows
    ]


def _plan(shown: PlanShown) -> Iterable[Section]:
    plan = shown.plan
    said = [_(shown.order_words), _rounds(shown), *(line for line in plan.notes.splitlines() if line.strip())]
    yield Section(plan.title, paragraphs=tuple(said), items=tuple(_guard(one) for one in plan.guards.all()), level=3)
    yield Section(_("Matrix"), table=_matrix(shown), items=tuple(_reasons(shown)), level=4)


def _rounds(shown: PlanShown) -> str:
    rule = shown.plan.rule
    if rule.kind == "fixed":
        return _("Rounds: %(rounds)s.") % {"rounds": rule.least}
    return _("The number of rounds is not printed.") if rule.kind == "not_printed" else rule.words


def _guard(guard: Guard) -> str:
    if guard.kind != "cache_rule":
        return _(guard.sentence)
    factor = number(f"{guard.parameters['factor']:g}")
    return _("File size at least %(factor)s × RAM, so that the page cache does not shape the result.") % {
        "factor": factor
    }


def _matrix(shown: PlanShown) -> Table:
    titles = [_("Configuration"), *(point.label or _size(point) or point.name for point in shown.points)]
    return Table.of(
        titles, [[row.row.label, *(_state(cell) for cell in row.cells)] for row in shown.rows], row_heads=True
    )


def _size(point: PlanPoint) -> str:
    """`4 × RAM`, `100 MiB`, or nothing."""
    if point.ram_multiple is not None:
        return number(f"{point.ram_multiple:g} × RAM")
    return number(units.size(point.file_size)) if point.file_size else ""


def _state(cell: CellShown) -> str:
    """`done (2 000 MiB)`: the size where the plan gives it as a multiple of RAM."""
    size = number(units.size(cell.file_size)) if cell.file_size and cell.point.ram_multiple else ""
    return f"{_(cell.state)} ({size})" if size else _(cell.state)


def _reasons(shown: PlanShown) -> Iterable[str]:
    """Why cells are not run, and what is said beside others."""
    for reason, cells in (*shown.reasons, *shown.notes):
        yield f"{', '.join(f'{cell.row.label} / {cell.point}' for cell in cells)}: {reason}"

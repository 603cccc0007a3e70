"""A study's procedure: its tools, and its plans with their matrix."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from apps.core import units
from apps.core.tables import Section, Table
from apps.runs.models import Run
from apps.studies.models import PlanPoint, Study
from apps.studies.plans.plan_page import (
    PlanPage,
    PlanPageCell,
    column_words,
    not_counted_text,
    options_text,
    plans_of_study,
    with_standing,
)
from apps.studies.plans.workload import unlike_options_of_jobs
from apps.wiki.documents.formats import number

_RULES = {
    "fixed": gettext_noop("Rounds: %(rounds)s."),
    "half_width": gettext_noop(
        "Until half of the %(confidence)s %% confidence interval is at most %(percent)s %% of the mean; "
        "at least %(at_least)s rounds, at most %(at_most)s."
    ),
    "steady_state": gettext_noop(
        "Until the steady state of the SNIA performance test: over the last %(window)s rounds a range of at most "
        "%(range_percent)s %% of the mean and a slope excursion of at most %(slope_percent)s %%; at most %(at_most)s rounds."
    ),
    "saturation": gettext_noop(
        "Point after point until p%(percentile)s of latency passes %(bound_ms)s ms; rounds of each point: "
        "%(rounds)s; points at least: %(least_points)s."
    ),
}


@dataclass(frozen=True)
class Procedure:
    plans: Sequence[PlanPage]
    tools: Sequence[tuple[str, str, int]]  # name, version, runs

    @classmethod
    def of(cls, study: Study) -> "Procedure":
        return cls(plans_of_study(study), list(_tools_of(study)))


def _tools_of(study: Study) -> Iterable[tuple[str, str, int]]:
    tools: Iterable[tuple[str, str, int]] = (
        Run.objects.filter(study_run__configuration__study=study)
        .order_by("tool", "tool_version").values_list("tool", "tool_version").annotate(n=Count("pk"))
    )  # fmt: skip
    return tools


def procedure_of(procedure: Procedure) -> list[Section]:
    plans = [section for plan in procedure.plans for section in _plan(plan)]
    tools = _tools(procedure.tools)
    if not plans and not tools:
        return []
    return [Section(_("Procedure"), items=tuple(tools)), *plans]


def _tools(rows: Iterable[tuple[str, str, int]]) -> list[str]:
    """Return tools as `fio 3.33: 12 runs`, in a form without plurals."""
    return [
        _("%(tool)s; runs: %(runs)s") % {"tool": f"{tool} {version}".strip(), "runs": units.plain(n)}
        for tool, version, n in rows
    ]


def _plan(plan_shown: PlanPage) -> Iterable[Section]:
    plan = plan_shown.plan
    paragraphs = [_order(plan_shown), _rounds(plan_shown), *(line for line in plan.notes.splitlines() if line.strip())]
    yield Section(
        plan.title,
        paragraphs=tuple(paragraphs),
        items=tuple(number(sentence) for _guard, sentence in plan_shown.guards),
        level=3,
    )
    lines = (*_reasons(plan_shown), *map(not_counted_text, plan_shown.not_counted))
    yield Section(_("Matrix"), table=_matrix(plan_shown), items=lines, level=4)


def _order(plan_shown: PlanPage) -> str:
    words = _(plan_shown.order_words)
    return words if plan_shown.plan.order == "not_printed" else with_standing(words, plan_shown.plan.standing)


def _rounds(plan_shown: PlanPage) -> str:
    rule = plan_shown.plan.rule
    if rule.kind == "not_printed":
        return _("The number of rounds is not printed.")
    return with_standing(_(_RULES[rule.kind]) % {"rounds": rule.least, **_figures(rule.data)}, plan_shown.plan.standing)


def _figures(rule: Mapping[str, object]) -> dict[str, str]:
    """Return the figures of a stopping rule in the document's language."""
    return {name: number(f"{value:g}") for name, value in rule.items() if isinstance(value, int | float)}


def _matrix(plan_shown: PlanPage) -> Table:
    unlike = unlike_options_of_jobs(plan_shown.points)
    titles = [_("Configuration"), *(_column(point, unlike.get(point.pk, ())) for point in plan_shown.points)]
    return Table.of(
        titles, [[row.row.label, *(_state(cell) for cell in row.cells)] for row in plan_shown.rows], row_heads=True
    )


def _column(point: PlanPoint, unlike: Sequence[Mapping[str, object]]) -> str:
    """Return a column's title, with the options of fio that tell it from the others: `4k reads (sync: fsync)`.

    Of jobs that run at the same time each is named.
    """
    title = point.label or _size(point) or point.name
    words = number(column_words(point, unlike) if point.jobs else ", ".join(map(options_text, unlike)))
    return f"{title} ({words})" if words else title


def _size(point: PlanPoint) -> str:
    """Return `4 × RAM`, `100 MiB`, or an empty text."""
    if point.ram_multiple is not None:
        return number(f"{point.ram_multiple:g} × RAM")
    return number(units.size(point.file_size)) if point.file_size else ""


def _state(cell: PlanPageCell) -> str:
    """Return `done 5/5 (2 000 MiB)`: rounds done and wanted, and the size where the plan gives it as a multiple of RAM."""
    size = number(units.size(cell.file_size)) if cell.file_size and cell.point.ram_multiple else ""
    is_counted = not cell.reason and not cell.row.plan.is_from_report
    rounds = f" {cell.progress.done}/{cell.progress.needed}" if is_counted else ""
    return f"{_(cell.state)}{rounds} ({size})" if size else f"{_(cell.state)}{rounds}"


def _reasons(plan_shown: PlanPage) -> Iterable[str]:
    """Yield why cells are not run, and the notes on others."""
    for reason, cells in (*plan_shown.reasons, *plan_shown.notes):
        yield f"{', '.join(f'{cell.row.label} / {cell.point}' for cell in cells)}: {reason}"

"""What a study measured: its own comparisons, and where it has none, one table for each thing that was measured."""

from django.db.models import Count
from django.utils.translation import gettext as _

from apps.comparison.answer import answer
from apps.comparison.cells import Comparison
from apps.comparison.grid import Grid, grid
from apps.comparison.in_studies.models import StudyComparison
from apps.comparison.question import Question, QuestionError
from apps.comparison.words import operation_of
from apps.lib import units
from apps.lib.reader_base import base
from apps.lib.tables import Section, Table
from apps.publishing.study_pages.printed import PictureOf
from apps.publishing.study_pages.words import number
from apps.runs.metrics import METRICS
from apps.runs.models import Sample
from apps.studies.models import Study

AXES = ("file_size", "block_size", "threads", "iodepth")
MOST_MEASURES = 24  # tables of one study; more are in the REST interface


def own_sections(study: Study, picture_of: PictureOf) -> list[Section]:
    """The comparisons that people put into the study, in their order."""
    return [_own(one, picture_of) for one in StudyComparison.objects.of_study(study)]


def _own(one: StudyComparison, picture_of: PictureOf) -> Section:
    try:
        comparison, _readings = answer(one.question_in(base()))
    except QuestionError as error:
        return Section(one.title, paragraphs=(str(error),), level=3)
    return _section(one, comparison, picture_of)


def _section(one: StudyComparison, comparison: Comparison, picture_of: PictureOf) -> Section:
    table = grid(comparison)
    said = tuple(text for text in (one.caption, _in_unit(table, comparison)) if text)
    picture = picture_of(one.name, one.title) if one.has_chart and comparison.samples else None
    shown = _table(comparison, table) if one.has_table and comparison.samples else None
    if not comparison.samples:
        said = (*said, _("Nothing was measured that answers this."))
    return Section(one.title, paragraphs=said, table=shown, picture=picture, level=3)


def measured_sections(study: Study) -> list[Section]:
    """Everything that was measured, one table for each operation and metric: configurations beside each other."""
    return [_measured(answer(question)[0]) for question in questions_of(study)]


def _measured(comparison: Comparison) -> Section:
    table = grid(comparison)
    title = f"{_(operation_of(comparison.operation))}: {_(comparison.metric.label)}"
    return Section(
        title, paragraphs=tuple(filter(None, [_in_unit(table, comparison)])), table=_table(comparison, table), level=3
    )


def questions_of(study: Study) -> list[Question]:
    """One for each operation and metric, along the axis that has most places. One query."""
    samples = Sample.objects.filter(run__study_run__configuration__study=study)
    places = {f"n_{name}": Count(f"point__{name}", distinct=True) for name in AXES}
    rows = (
        samples.values("measure__operation", "measure__metric")
        .annotate(**places)
        .order_by("measure__operation", "measure__metric")
    )
    return [
        Question(
            metric=row["measure__metric"],
            operation=row["measure__operation"],
            x=max(AXES, key=lambda name: (row[f"n_{name}"], -AXES.index(name))),
            baseline="none",
            base=base(),
            filters=(("study", study.slug),),
        )
        for row in rows[:MOST_MEASURES]
        if row["measure__metric"] in METRICS
    ]


def _in_unit(table: Grid, comparison: Comparison) -> str:
    words = [_("Values in %(unit)s.") % {"unit": table.unit.label}] if table.unit.label else []
    if any(cell.n > 1 for cell in comparison.cells):
        words.append(_("Means; behind ± half of the 95 % interval, then the number of runs."))
    return " ".join(words)


def _table(comparison: Comparison, table: Grid) -> Table:
    titles = [_(table.x_label), *comparison.series]
    rows = [
        [number(row.x), *(_cell(figure.value, figure.spread, figure.cell.n, figure.reason) for figure in row.figures)]
        for row in table.rows
    ]
    return Table.of(titles, rows, numbers=titles[1:], row_heads=True)


def _cell(value: str, spread: str, n: int, reason: str) -> str:
    """`182 ± 3,1 (5)`; of one run the bare number."""
    if not value:
        return {"not measured": _("not measured")}.get(reason, reason) or units.NO_VALUE
    return number(" ".join(part for part in (value, spread, f"({n})" if n > 1 else "") if part))

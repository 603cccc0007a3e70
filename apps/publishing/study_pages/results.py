"""What a study measured: its own comparisons, and where it has none, one table for each thing that was measured."""

from collections.abc import Iterable

from django.db.models import Count
from django.utils.translation import gettext as _

from apps.comparison.answer import Answer, answers
from apps.comparison.cells import Comparison
from apps.comparison.grid import Grid, grid
from apps.comparison.in_studies.answering import answers_of
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
Found = Comparison | QuestionError
MOST_MEASURES = 24  # tables of one study; more are in the REST interface


def own_of(study: Study) -> list[tuple[StudyComparison, Found]]:
    """The comparisons that people put into the study, in their order."""
    found = answers_of(StudyComparison.objects.of_study(study), base())
    return [(one, _without_readings(answer)) for one, answer in found]


def _without_readings(answer: Answer | QuestionError) -> Found:
    return answer if isinstance(answer, QuestionError) else answer[0]


def own_sections(found: Iterable[tuple[StudyComparison, Found]], picture_of: PictureOf) -> list[Section]:
    return [_own(*one, picture_of) for one in found]


def _own(one: StudyComparison, found: Found, picture_of: PictureOf) -> Section:
    if isinstance(found, QuestionError):
        return Section(one.title, paragraphs=(str(found),), level=3)
    return _section(one, found, picture_of)


def _section(one: StudyComparison, comparison: Comparison, picture_of: PictureOf) -> Section:
    table = grid(comparison)
    said = tuple(text for text in (one.caption, _in_unit(table, comparison)) if text)
    picture = picture_of(one.name, one.title) if one.has_chart and comparison.samples else None
    shown = _table(comparison, table) if one.has_table and comparison.samples else None
    if not comparison.samples:
        said = (*said, _("Nothing was measured that answers this."))
    return Section(one.title, paragraphs=said, table=shown, picture=picture, level=3)


def measured_of(study: Study) -> list[tuple[Question, Found]]:
    """Everything that was measured, by operation and metric: configurations beside each other."""
    questions = questions_of(study)
    return list(zip(questions, map(_without_readings, answers(questions)), strict=True))


def measured_sections(found: Iterable[tuple[Question, Found]]) -> list[Section]:
    """One table for each operation and metric."""
    return [_measured(*one) for one in found]


def _measured(question: Question, found: Found) -> Section:
    title = f"{_(operation_of(question.operation))}: {_(METRICS[question.metric].label)}"
    if isinstance(found, QuestionError):
        return Section(title, paragraphs=(str(found),), level=3)
    table = grid(found)
    return Section(title, paragraphs=tuple(filter(None, [_in_unit(table, found)])), table=_table(found, table), level=3)


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

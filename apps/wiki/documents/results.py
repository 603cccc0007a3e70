"""A study's results: its printed tables and charts, its comparisons, or one table for each measure."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from django.db.models import Count
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from apps.comparison.answer import Answer, answers
from apps.comparison.cells import Comparison
from apps.comparison.grid import ComparisonGrid, GridFigure, grid
from apps.comparison.in_studies.answers import answers_of
from apps.comparison.in_studies.models import StudyComparison
from apps.comparison.in_studies.printed_results import RebuiltChart, Results
from apps.comparison.labels import operation_of
from apps.comparison.question import Question, QuestionError
from apps.comparison.saved_comparisons.references import Missing, broken_text
from apps.core import units
from apps.core.tables import Picture, Section, Table
from apps.core.unit_base import base
from apps.runs.metrics import METRICS
from apps.runs.models import Sample
from apps.studies.models import Study
from apps.studies.report.flat_tables import as_read
from apps.studies.report.tables import PrintedTable
from apps.wiki.documents.formats import number

PictureOf = Callable[[str, str], Picture]  # from a chart's name and its title
AXES = ("file_size", "block_size", "threads", "iodepth")
Found = Comparison | QuestionError
Own = tuple[StudyComparison, Found, Sequence[Missing]]  # and what of it refers to something that is gone
ALSO = {
    "differs": gettext_noop("Confounders: also different, so the difference in speed may have another cause:"),
    "along": gettext_noop(
        "Differs along the axis, so a difference between its places need not come from the axis alone:"
    ),
    "mixed": gettext_noop("Mixed inside one series:"),
    "unknown": gettext_noop("Not known for every series, so it may differ as well:"),
}
MOST_MEASURES = 24  # tables of one study; more are in the REST interface


def own_of(study: Study) -> list[Own]:
    """Return the study's own comparisons in their order, with their answers."""
    results = answers_of(StudyComparison.objects.of_study(study), base())
    return [(comparison, _without_readings(answer), problems) for comparison, answer, problems in results]


def _without_readings(answer: Answer | QuestionError) -> Found:
    return answer if isinstance(answer, QuestionError) else answer[0]


def own_sections(owns: Iterable[Own], picture_of: PictureOf) -> list[Section]:
    return [_own(*own, picture_of) for own in owns]


def _own(
    study_comparison: StudyComparison, result: Found, problems: Sequence[Missing], picture_of: PictureOf
) -> Section:
    if isinstance(result, QuestionError):
        paragraphs = tuple(text for text in (study_comparison.caption, broken_text(result)) if text)
        return Section(study_comparison.title, paragraphs=paragraphs, level=3)
    return _section(study_comparison, result, problems, picture_of)


def _section(
    study_comparison: StudyComparison, comparison: Comparison, problems: Sequence[Missing], picture_of: PictureOf
) -> Section:
    table = grid(comparison)
    paragraphs = tuple(
        text for text in (study_comparison.caption, *map(str, problems), _in_unit(table, comparison)) if text
    )
    picture = (
        picture_of(study_comparison.name, study_comparison.title)
        if study_comparison.has_chart and comparison.samples
        else None
    )
    table_shown = _table(comparison, table) if study_comparison.has_table and comparison.samples else None
    if not comparison.samples:
        paragraphs = (*paragraphs, _("No results match."))
    items = tuple(_reservations(comparison)) if comparison.samples else ()
    return Section(
        study_comparison.title, paragraphs=paragraphs, items=items, table=table_shown, picture=picture, level=3
    )


def _reservations(comparison: Comparison) -> Iterable[str]:
    """Yield confounders and caveats of a comparison."""
    for kind, confounders in comparison.confounders_by_kind.items():
        if confounders:
            yield f"{_(ALSO[kind])} {'; '.join(other.words for other in confounders)}."
    for caveat in comparison.caveats:
        yield f"{_(caveat.title)}: {_(caveat.text)}"


def measured_of(study: Study) -> list[tuple[Question, Found]]:
    """Return the answers for everything that was measured, by operation and metric, with configurations side by side."""
    questions = questions_of(study)
    return list(zip(questions, map(_without_readings, answers(questions)), strict=True))


def measured_sections(pairs: Iterable[tuple[Question, Found]]) -> list[Section]:
    """Build one table for each operation and metric."""
    return [_measured(*pair) for pair in pairs]


def _measured(question: Question, result: Found) -> Section:
    title = f"{_(operation_of(question.operation))}: {_(METRICS[question.metric].label)}"
    if isinstance(result, QuestionError):
        return Section(title, paragraphs=(str(result),), level=3)
    table = grid(result)
    return Section(
        title, paragraphs=tuple(filter(None, [_in_unit(table, result)])), table=_table(result, table), level=3
    )


def questions_of(study: Study) -> list[Question]:
    """Return a question for each operation and metric, along the axis that has most places; one query."""
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


def _in_unit(table: ComparisonGrid, comparison: Comparison) -> str:
    words = [_("Values in %(unit)s.") % {"unit": table.unit.label}] if table.unit.label else []
    if any(cell.n > 1 for cell in comparison.cells):
        words.append(_("Means; behind ± half of the 95 % interval, then the number of runs."))
    return " ".join(words)


def _table(comparison: Comparison, table: ComparisonGrid) -> Table:
    titles = [_(table.x_label), *comparison.series]
    rows = [[number(row.x), *(_cell(figure) for figure in row.figures)] for row in table.rows]
    return Table.of(titles, rows, numbers=titles[1:], row_heads=True)


def _cell(figure: GridFigure) -> str:
    """Format a cell as `182 ± 3,1 (5)`, of one run as the number; a mixture says how many configurations it holds."""
    if not figure.value:
        return {"not measured": _("not measured")}.get(figure.reason, figure.reason) or units.NO_VALUE
    cell = figure.cell
    unlike = _("unlike configurations: %(count)s") % {"count": cell.unlike} if cell.unlike > 1 else ""
    count = "; ".join(filter(None, [str(cell.n) if cell.n > 1 else "", unlike]))
    return number(" ".join(part for part in (figure.value, figure.spread, f"({count})" if count else "") if part))


def printed_sections(results: Results, picture_of: PictureOf) -> list[Section]:
    """Build sections of the report's printed tables and charts; none for a lab's own study."""
    return [*map(_printed_table, results.tables), *(_printed_chart(chart, picture_of) for chart in results.charts)]


def _printed_table(table: PrintedTable) -> Section:
    form = table.form
    paragraphs = [_("In the report, lines %(lines)s.") % {"lines": form.source_lines}] if form.source_lines else []
    if form.unit:
        paragraphs.append(_("Values in %(unit)s.") % {"unit": form.unit})
    remarks = (
        f"{remark.row} / {remark.column}: {remark.cell.remark or _(remark.cell.kind)}" for remark in table.remarks
    )
    return Section(
        table.title,
        (*form.notes, *remarks),
        replace(as_read(table), is_quoted=True),
        tuple(filter(None, [" ".join(paragraphs)])),
        level=3,
    )


def _printed_chart(shown_chart: RebuiltChart, picture_of: PictureOf) -> Section:
    """Build the section of a chart with the report's own caption, axes and scale."""
    form = shown_chart.form
    picture = picture_of(form.name, form.title) if shown_chart.chart else None
    return Section(
        form.title,
        tuple(_reported(shown_chart)),
        paragraphs=tuple(_printed_notes(shown_chart)),
        picture=picture,
        level=3,
    )


def _printed_notes(shown_chart: RebuiltChart) -> Iterable[str]:
    form = shown_chart.form
    if form.note:
        yield form.note
    if form.not_drawn:
        yield _("Not drawn: %(reason)s") % {"reason": form.not_drawn}


def _reported(shown_chart: RebuiltChart) -> Iterable[str]:
    return (f"{_(name)}: {text}" for name, text in shown_chart.form.reported)

"""The comparisons that people put into a study, with their tables as the data are now."""

from dataclasses import dataclass

from django.urls import reverse

from apps.comparison.answer import Answer
from apps.comparison.caveats.rule import Caveat
from apps.comparison.cells import Comparison
from apps.comparison.charts.chart import Chart
from apps.comparison.charts.comparison import chart_of
from apps.comparison.grid import ComparisonGrid, grid
from apps.comparison.in_studies.answers import answers_of
from apps.comparison.in_studies.models import StudyComparison
from apps.comparison.question import QuestionError
from apps.comparison.saved_comparisons.references import Missing, broken_text
from apps.comparison.statistics.method import method_of
from apps.core.unit_base import base
from apps.studies.models import Study

MOST = 12  # on a page; others are in the list of the study's comparisons


@dataclass(frozen=True)
class Compared:
    """`table` is None where `problem` says why there is none."""

    row: StudyComparison
    table: ComparisonGrid | None
    series: tuple[str, ...]
    problem: str
    chart_address: str
    table_address: str
    found: Comparison | None = None
    chart: Chart | None = None  # where it is shown
    notes: tuple[Missing, ...] = ()  # what of it refers to something that is gone

    @property
    def has_samples(self) -> bool:
        return self.table is not None and bool(self.table.rows)

    @property
    def method(self) -> str:
        return method_of(self.found) if self.found else ""

    @property
    def caveats(self) -> list[tuple[Caveat, str]]:
        """Return each caveat with the letter that marks its cells."""
        return self.table.lettered(self.found.caveats) if self.table and self.found else []


def compared_of(study: Study) -> list[Compared]:
    rows = StudyComparison.objects.of_study(study)[:MOST]
    return [_compared(study, *answer) for answer in answers_of(rows, base())]


def _compared(
    study: Study, row: StudyComparison, answer: Answer | QuestionError, problems: tuple[Missing, ...]
) -> Compared:
    of_chart, of_table = (reverse(route, args=[study.slug, row.name]) for route in ("api-chart", "api-table"))
    if isinstance(answer, QuestionError):
        return Compared(row, None, (), broken_text(answer), of_chart, of_table)
    result, readings = answer
    table = grid(result)
    chart = chart_of(result, readings, table) if row.has_chart else None
    return Compared(row, table, tuple(result.series), "", of_chart, of_table, result, chart, problems)

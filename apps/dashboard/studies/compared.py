"""The comparisons that people put into a study, with their tables as the data are now."""

from dataclasses import dataclass

from django.urls import reverse

from apps.comparison.answer import answer
from apps.comparison.grid import Grid, grid
from apps.comparison.in_studies.models import StudyComparison
from apps.comparison.question import QuestionError
from apps.lib.reader_base import base
from apps.studies.models import Study

MOST = 12  # on a page; others are in the list of the study's comparisons


@dataclass(frozen=True)
class Compared:
    """`table` is None where `problem` says why there is none."""

    row: StudyComparison
    table: Grid | None
    series: tuple[str, ...]
    problem: str
    chart_address: str
    table_address: str

    @property
    def has_samples(self) -> bool:
        return self.table is not None and bool(self.table.rows)


def compared_of(study: Study) -> list[Compared]:
    return [_compared(study, one) for one in StudyComparison.objects.of_study(study)[:MOST]]


def _compared(study: Study, row: StudyComparison) -> Compared:
    addresses = [reverse(route, args=[study.slug, row.name]) for route in ("api-chart", "api-table")]
    try:
        found, _readings = answer(row.question_in(base()))
    except QuestionError as error:
        return Compared(row, None, (), str(error), *addresses)
    return Compared(row, grid(found), tuple(found.series), "", *addresses)

"""The printed tables and charts of a study, rebuilt from its samples as they are now.

results_of(study) → Results     two queries, and one more where a table shows slots
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from apps.comparison.drawing.chart import Chart
from apps.comparison.drawing.of_report import chart_of_report
from apps.inventory.models import Enclosure
from apps.studies.measured import samples_of
from apps.studies.models import Study
from apps.studies.reports import Report, report_of
from apps.studies.tables.building import PrintedTable, rebuilt
from apps.studies.tables.charts import ChartForm
from apps.studies.tables.form import TableForm
from apps.studies.tables.found import Samples

Layout = Sequence[tuple[str, Sequence[str]]]


@dataclass(frozen=True)
class ShownChart:
    """`chart` is None for one that cannot be drawn, and for a topology, which the inventory draws."""

    form: ChartForm
    chart: Chart | None


@dataclass(frozen=True)
class Results:
    study: Study
    report: Report | None

    @cached_property
    def samples(self) -> Samples:
        return samples_of(self.study)

    @cached_property
    def layout(self) -> Layout:
        """Of the first enclosure that a host of the study has laid out."""
        hosts = [one["name"] for one in self.report.told.get("hosts", [])] if self.report else []
        found = Enclosure.objects.filter(lab_id=self.study.lab_id, host__name__in=hosts).exclude(layout=[])
        row = found.order_by("id").first()
        return [(str(one.get("label", "")), one.get("slots", [])) for one in row.layout] if row else []

    @property
    def tables(self) -> list[PrintedTable]:
        return [self.table(form) for form in (self.report.tables if self.report else {}).values()]

    @property
    def charts(self) -> list[ShownChart]:
        return [self.chart(form) for form in (self.report.charts if self.report else {}).values()]

    def table(self, form: TableForm) -> PrintedTable:
        return rebuilt(form, self.samples, self.layout if form.from_slots else ())

    def chart(self, form: ChartForm) -> ShownChart:
        return ShownChart(form, chart_of_report(form, self.samples) if form.is_chart else None)


def results_of(study: Study) -> Results:
    return Results(study, report_of(study))

"""The printed tables and charts of a study, rebuilt from its samples as they are now.

results_of(study) → Results     two queries, and one more where a table shows slots
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from apps.comparison.charts.chart import Chart
from apps.comparison.charts.report import chart_of_report
from apps.inventory.models import Enclosure
from apps.runs.models import Sample
from apps.runs.states import State
from apps.studies.models import Study
from apps.studies.report.chart_definitions import ChartDefinition
from apps.studies.report.sample_selection import ReportSample, Samples
from apps.studies.report.table_definitions import TableDefinition
from apps.studies.report.tables import PrintedTable, rebuilt
from apps.studies.report_files import StudyReport, report_of

Layout = Sequence[tuple[str, Sequence[str]]]


@dataclass(frozen=True)
class RebuiltChart:
    """`chart` is None for one that cannot be drawn, and for a topology, which the inventory draws."""

    form: ChartDefinition
    chart: Chart | None


@dataclass(frozen=True)
class Results:
    study: Study
    report: StudyReport | None

    @cached_property
    def samples(self) -> Samples:
        return samples_of(self.study)

    @cached_property
    def layout(self) -> Layout:
        """Return the slot layout of the first enclosure of the study's hosts that has one."""
        hosts = [host["name"] for host in self.report.told.get("hosts", [])] if self.report else []
        enclosures = Enclosure.objects.filter(lab_id=self.study.lab_id, host__name__in=hosts).exclude(layout=[])
        row = enclosures.order_by("id").first()
        return [(str(shelf.get("label", "")), shelf.get("slots", [])) for shelf in row.layout] if row else []

    @property
    def tables(self) -> list[PrintedTable]:
        return [self.table(form) for form in (self.report.tables if self.report else {}).values()]

    @property
    def charts(self) -> list[RebuiltChart]:
        return [self.chart(form) for form in (self.report.charts if self.report else {}).values()]

    def table(self, form: TableDefinition) -> PrintedTable:
        return rebuilt(form, self.samples, self.layout if form.from_slots else ())

    def chart(self, form: ChartDefinition) -> RebuiltChart:
        return RebuiltChart(form, chart_of_report(form, self.samples) if form.is_chart else None)


def results_of(study: Study) -> Results:
    return Results(study, report_of(study))


MOST_SAMPLES = 20_000
_COLUMNS = {
    "id": "id", "run": "run_id", "configuration": "run__study_run__configuration__name", "operation": "measure__operation",
    "metric": "measure__metric", "value": "value", "low": "provenance__low", "high": "provenance__high",
    "printed": "printed", "quality": "provenance__quality", "missing_reason": "provenance__missing_reason",
    "note": "provenance__note", "cpu": "provenance__cpu", "file_size": "point__file_size", "block_size": "point__block_size",
    "threads": "point__threads", "iodepth": "point__iodepth", "alternatives": "provenance__alternatives",
    "source_line": "source_line",
}  # fmt: skip
_WORDS = ("quality", "missing_reason", "note")


def samples_of(study: Study) -> Samples:
    """Return the samples of the study's finished runs, at most the first ones in the order of configurations, in one query."""
    rows_found = Sample.objects.filter(run__study_run__configuration__study=study, run__state=State.FINISHED)
    ordered = rows_found.order_by("run__study_run__configuration__position", "id")
    return Samples(_found(row) for row in ordered.values_list(*_COLUMNS.values())[:MOST_SAMPLES])


def _found(row: tuple[object, ...]) -> ReportSample:
    fields = dict(zip(_COLUMNS, row, strict=True))
    fields |= {name: fields[name] or "" for name in _WORDS} | {"alternatives": fields["alternatives"] or ()}
    return ReportSample(**{**fields, "quality": fields["quality"] or "exact"})  # type: ignore[arg-type]

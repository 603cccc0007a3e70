"""Documents for wikis: built once from a comparison or a run, then written by any dialect. Nothing is computed here."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from django.conf import settings
from django.utils import timezone

from apps.comparison.caveats.rule import Caveat
from apps.comparison.cells import Comparison
from apps.comparison.details import effect_rows
from apps.comparison.grid import ComparisonGrid, grid
from apps.comparison.labels import label_of, operation_of, text_of
from apps.comparison.statistics.method import method_of
from apps.core import units
from apps.core.quantities import all_written
from apps.core.tables import Cell, Column, Document, Footer, LongTable, Section, Table, columns_of
from apps.core.unit_base import base
from apps.runs.metrics import METRICS, what
from apps.runs.models import Run, Workload
from apps.runs.sections import name_of
from apps.studies.report.flat_tables import as_read, data_of
from apps.studies.report.tables import PrintedTable
from apps.wiki.sample_rows import FIELDS, Extent

CSV_FIELDS = (
    "x", "series", "n", "mean", "median", "stdev", "minimum", "maximum", "ci_low", "ci_high", "merged",
    "ratio", "ratio_low", "ratio_high", "verdict", "runs", "low", "high", "quality", "missing",
    "method", "effect_size", "p", "p_adjusted", "more_runs", "advice", "unlike", "withheld", "unit", "outliers", "modes",
    "confounders", "unlike_facts", "unknown_facts",
)  # fmt: skip
SHOWN_LINES = 3  # of a caveat's arithmetic; the page behind the permalink has all


def of_comparison(comparison: Comparison, newest: datetime | None, permalink: str) -> Document:
    """Return a comparison as a document: values, confounders, effects, caveats and method."""
    table = grid(comparison)
    source = f"{comparison.samples} samples of {len(comparison.runs)} runs"
    return Document(
        title=table.title,
        paragraphs=tuple(_introduction(comparison, table)),
        sections=tuple(_sections(comparison, table)),
        footer=Footer(made(source, newest), permalink),
        data=_cells(comparison),
    )


def of_run(run: Run, extent: Extent, caveats: Sequence[Caveat], permalink: str) -> Document:
    """Return a run as a document: facts, workload, samples and caveats.

    `extent`: of the run's samples, which are not read before the document is written.
    """
    sections = [Section("Facts", table=_facts(run)), Section("Samples", table=_samples(run, extent, base()))]
    if jobs := _workload(run):
        sections.insert(1, Section("Workload", table=jobs))
    if caveats:
        sections.append(Section("Caveats", tuple(_caveat(caveat, base()) for caveat in caveats)))
    place = f" on {run.target}" if run.target else ""
    return Document(
        title=f"Run {run.pk}: {run.tool} {run.operations}{place}",
        paragraphs=(f"State: {run.get_state_display()}.{f' {run.problem}' if run.problem else ''}",),
        sections=tuple(sections),
        footer=Footer(made(f"{extent.count} samples of run {run.pk}", run.finished_at), permalink),
        data=_long(run, extent, columns_of(FIELDS), lambda row: tuple(row[name] for name in FIELDS)),
    )


def made(from_what: str, newest: datetime | None) -> str:
    """Return the footer's sentence: when the document was made, by which version, and from which data.

    Nothing else in a document depends on the clock.
    """
    data = f", the newest of {units.moment(newest)}" if newest else ""
    return f"Made {units.moment(timezone.now())} by Spindle {settings.VERSION} from {from_what}{data}."


def _introduction(comparison: Comparison, table: ComparisonGrid) -> list[str]:
    filters = "; ".join(f"{label_of(name)} {value}" for name, value in comparison.question.filters)
    sentences = [f"Values in {table.unit.label}."] if table.unit.label else []
    if comparison.baseline:
        sentences.append(f"Ratios are to {comparison.baseline}.")
    if filters:
        sentences.append(f"Only: {filters}.")
    return [" ".join(sentences)] if sentences else []


def _sections(comparison: Comparison, table: ComparisonGrid) -> list[Section]:
    titles = [
        table.x_label,
        *(f"{name} ({table.unit.label})" if table.unit.label else name for name in comparison.series),
    ]
    rows = [[row.x, *(figure.one_line for figure in row.figures)] for row in table.rows]
    sections = [Section("Values", table=Table.of(titles, rows, numbers=titles[1:], row_heads=True))]
    if comparison.confounders:
        lines = [f"{_KINDS[confounder.kind]}: {confounder.text}" for confounder in comparison.confounders]
        sections.append(Section("Like for like", (*lines, *_most_equal(comparison))))
    if comparison.effects:
        sections.append(Section("Factor by factor", tuple(_effect(row) for row in effect_rows(comparison))))
    if comparison.caveats:
        sections.append(
            Section("Caveats", tuple(_caveat(caveat, comparison.question.base) for caveat in comparison.caveats))
        )
    return [*sections, Section("Method", (method_of(comparison),))]


_KINDS = {
    "differs": "also differs", "along": "differs along the axis", "mixed": "mixed inside one series",
    "unknown": "not known for every series",
}  # fmt: skip


def _most_equal(comparison: Comparison) -> list[str]:
    suggestion = comparison.suggestion
    return [f"most else equal: {suggestion.units[0]} against {suggestion.units[1]}"] if suggestion else []


def _effect(row: dict[str, Any]) -> str:
    parts = [f"{held['at']} {held['ratios']}" for held in row["held"]]
    unlike = "" if row["is_alike"] else ", not like for like"
    return f"{row['factor']}: {row['level']} ÷ {row['against']} {row['range']}{unlike} ({'; '.join(parts)})"


def _caveat(caveat: Caveat, in_base: int) -> str:
    lines = all_written(caveat.arithmetic, in_base)
    first, more = "; ".join(lines[:SHOWN_LINES]), len(lines) - SHOWN_LINES
    return f"{caveat.title}: {caveat.text} {first}{f'; and {more} more' if more > 0 else ''}"


def _cells(comparison: Comparison) -> Table:
    rows = []
    for cell in comparison.cells:
        written = {
            "runs": " ".join(map(str, cell.runs)),
            "missing": cell.missing or None,
            "unit": comparison.metric.unit,
            "outliers": " ".join(str(outlier.run) for outlier in cell.outliers),
            "modes": " ".join(units.machine(mode.value) for mode in cell.modes),
            "confounders": " ".join(cell.confounders),
            "unlike_facts": " ".join(cell.unlike_facts),
            "unknown_facts": " ".join(cell.unknown),
        }
        rows.append([written[name] if name in written else getattr(cell, name) for name in CSV_FIELDS])
    return Table.of(CSV_FIELDS, rows)


def _facts(run: Run) -> Table:
    known = {"host": run.host and run.host.name, "tool": f"{run.tool} {run.tool_version}".strip(), **run.facts}
    rows = [[label_of(name), text_of(name, value)] for name, value in sorted(known.items()) if value is not None]
    return Table.of(["Fact", "Value"], rows, row_heads=True)


def _workload(run: Run) -> Table | None:
    options = options_of(run.workload)
    jobs = options.get("jobs") or ([options] if options else [])
    names = list(dict.fromkeys(name for job in jobs for name in job if name != "name"))
    rows = [[label_of(name), *(text_of(name, job.get(name)) for job in jobs)] for name in names]
    heads = [str(job.get("name", f"job {number}")) for number, job in enumerate(jobs)]
    return Table.of(["Option", *heads], rows, row_heads=True) if rows else None


def options_of(workload: Workload | None) -> dict[str, Any]:
    """Return a workload as it was asked for; where there is one job, its options stand at the top as well."""
    if workload is None:
        return {}
    only = workload.jobs[0] if len(workload.jobs) == 1 else {}
    return {**only, **workload.spec}


def _samples(run: Run, extent: Extent, in_base: int) -> Table:
    titles = ["Operation", "Metric", "Value", "File size", "Block size", "Threads", "I/O depth", "Printed"]
    return _long(
        run,
        extent,
        columns_of(titles, titles[2:7]),
        partial(_sample, names=run.sections_apart, in_base=in_base),
    )


def _sample(row: dict[str, Any], names: Mapping[int, str], in_base: int) -> tuple[Cell, ...]:
    name = name_of(names, row["operation"], row["section"])
    operation = what(operation_of(row["operation"]), row["note"])
    return (
        f"{name}: {operation}" if name else operation,
        METRICS[row["metric"]].label if row["metric"] in METRICS else row["metric"],
        _value(row, in_base),
        *(_point(name, row[name]) for name in ("file_size", "block_size", "threads", "iodepth")),
        row["printed"],
    )


def _long(
    run: Run, extent: Extent, columns: tuple[Column, ...], cells: Callable[[dict[str, Any]], tuple[Cell, ...]]
) -> LongTable:
    """Return a table with one row for each sample of the run; the rows are read when the table is written."""
    samples = run.samples.all()  # made here, while the lab's scope is set; the rows are read after the request
    return LongTable(columns, (), make=lambda: map(cells, extent.rows(samples)), digest=str(extent))


def _point(name: str, value: int | None) -> str:
    return units.NO_VALUE if value is None else text_of(name, value)


def _value(row: dict[str, Any], in_base: int) -> str:
    unit = row["unit"] or ""
    if row["value"] is not None:
        return units.human(row["value"], unit, in_base)
    bounds = units.bounds(row["low"], row["high"], partial(units.human, unit=unit, base=in_base))
    return bounds or str(row["missing_reason"])


MOST_REMARKS = 12  # the page behind the permalink has all


def of_table(table: PrintedTable, newest: datetime | None, permalink: str) -> Document:
    """Return a printed table of a study as a document, with the remarks about its cells."""
    data = data_of(table)
    samples = sum(len(cell.samples) for row in table.rows for cell in row.cells)
    return Document(
        title=table.title,
        paragraphs=(),
        sections=(Section(heading_of(table), table=as_read(table)), *_remarks(table)),
        footer=Footer(made(f"{samples} samples", newest), permalink),
        data=data,
    )


def heading_of(table: PrintedTable) -> str:
    """Return the heading of a printed table: its unit, and its lines in the report."""
    lines = f"lines {table.form.source_lines} of the report" if table.form.source_lines else ""
    return ", ".join(filter(None, [table.form.unit, lines])) or "Table"


def _remarks(table: PrintedTable) -> list[Section]:
    """Return the notes about the whole table and the remarks about its first doubtful cells; the others are counted."""
    remarks = table.remarks
    first = [
        f"{remark.row}, {remark.column}: {remark.cell.kind}. {remark.cell.remark}" for remark in remarks[:MOST_REMARKS]
    ]
    more = [f"and {len(remarks) - MOST_REMARKS} more cells with remarks"] if len(remarks) > MOST_REMARKS else []
    items = (*table.form.notes, *first, *more)
    return [Section("Remarks", items)] if items else []

"""Side-by-side tables: every measure of a few targets or of a study, by the same address as the page."""

from typing import Any

import msgspec
from django.http import HttpResponseBase
from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from apps.api.conditional import publish
from apps.api.documents import made
from apps.api.openapi import BASE
from apps.api.renderers import DOCUMENT
from apps.api.viewsets import ScopedAPIView
from apps.comparison.labels import operation_of
from apps.comparison.likeness import named
from apps.comparison.side_by_side.queries import answer, in_force
from apps.comparison.side_by_side.question import LAST, MOST_COLUMNS, MOST_RUNS, SideBySideQuestion, parse
from apps.comparison.side_by_side.table import SideBySideCell, SideBySidePlace, SideBySideRow, SideBySideTable
from apps.comparison.side_by_side.table_text import point_of
from apps.core import units
from apps.core.tables import Document, Footer, Section, Table
from apps.runs.metrics import METRICS, OPERATIONS

PLACE = ("operation", "metric", "unit", "file_size", "block_size", "threads", "iodepth", "section")
FIGURES = (
    "n", "without", "mean", "stdev", "half_interval", "minimum", "maximum", "low", "high", "in_ram",
    "ratio", "ratio_low", "ratio_high", "p", "verdict", "partly_in_ram", "unlike", "withheld",
)  # fmt: skip


def represent(table: SideBySideTable, question: SideBySideQuestion, permalink: str) -> dict[str, Any]:
    """Return the side-by-side table as plain data in base units."""
    return {
        "columns": [{"id": column.id, "name": column.name, "ram": column.ram} for column in table.columns],
        "baseline": table.baseline.id if table.baseline else None,
        "last": question.last,
        "rows": _rows(table),
        "permalink": permalink,
    }


def _rows(table: SideBySideTable) -> list[dict[str, Any]]:
    return [
        {
            **_place(row.place),
            "unit": row.metric.unit,
            "higher_is_better": row.metric.higher_is_better,
            "cells": [_cell(cell) for cell in cells if cell],
        }
        for row, cells in zip(table.rows, table.cells(), strict=True)
    ]


def _place(place: SideBySidePlace) -> dict[str, object]:
    return msgspec.structs.asdict(place) | {"parts": list(place.parts)}


def _cell(cell: SideBySideCell) -> dict[str, Any]:
    judgement = cell.judgement
    return {
        "column": cell.column, "n": cell.n, "without": cell.without, "mean": cell.mean, "stdev": cell.stdev,
        "half_interval": cell.half, "minimum": cell.low, "maximum": cell.high, "low": cell.bound_low,
        "high": cell.bound_high, "in_ram": cell.in_ram, "partly_in_ram": cell.partly_in_ram,
        "ratio": judgement and judgement.ratio, "ratio_low": judgement and judgement.low, "ratio_high": judgement and judgement.high,
        "p": judgement and judgement.p, "verdict": judgement and judgement.verdict,
        "unlike": cell.unlike, "withheld": cell.withheld, "confounders": list(cell.confounders),
    }  # fmt: skip


def document(table: SideBySideTable, permalink: str) -> Document:
    """Return the side-by-side table as a document for wikis and CSV."""
    titles = ["Measure", *(column.name for column in table.columns)]
    rows = [
        [_measure(row), *(_text(row, cell) for cell in cells)]
        for row, cells in zip(table.rows, table.cells(), strict=True)
    ]
    said = [f"Means of the last runs; ratios are to {table.baseline.name}."] if table.baseline else []
    return Document(
        title="Side by side",
        paragraphs=tuple(said),
        sections=(Section("Values", table=Table.of(titles, rows, numbers=titles[1:])),),
        footer=Footer(made(f"{len(table.rows)} measures of {len(table.columns)} columns", None), permalink),
        data=_flat(table),
    )


def _measure(row: SideBySideRow) -> str:
    unit = f" ({row.unit.label})" if row.unit.label else ""
    parts = [f"{operation_of(row.place.operation)} {row.metric.label}{unit}", point_of(row.place)]
    return " · ".join(filter(None, parts))


def _text(row: SideBySideRow, cell: SideBySideCell | None) -> str:
    """`182 ± 3.1 (n = 5; 0.54× worse; may be memory)`."""
    if cell is None:
        return "not measured"
    memory = "may be memory" if cell.in_ram else "may be partly memory" if cell.partly_in_ram else ""
    if cell.mean is None:
        bounds = units.bounds(cell.bound_low, cell.bound_high, row.unit.text)
        return (f"{bounds} ({memory})" if memory else bounds) if bounds else "no number"
    half = f" ± {row.unit.text(cell.half)}" if cell.half is not None else ""
    judged = f"; {units.significant(cell.judgement.ratio)}× {cell.judgement.verdict}" if cell.judgement else ""
    if cell.unlike > 1:
        judged = f"; {cell.unlike} unlike configurations"
    elif cell.confounders:
        judged = f"; not compared: {named(cell.confounders)} {'differ' if len(cell.confounders) > 1 else 'differs'} too"
    elif cell.withheld:
        judged = "; not compared: the baseline is a mixture"
    return f"{row.unit.text(cell.mean)}{half} (n = {cell.n}{judged}{f'; {memory}' if memory else ''})"


def _flat(table: SideBySideTable) -> Table:
    names = {column.id: column.name for column in table.columns}
    rows = []
    for plain in _rows(table):
        place = [plain[name] for name in PLACE]
        parts = "; ".join(plain["parts"])
        rows += [[names[cell["column"]], *place, *(cell[name] for name in FIGURES), parts] for cell in plain["cells"]]
    return Table.of(("column", *PLACE, *FIGURES, "parts"), rows)


class SideColumnSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField(help_text="of the target, or of the study's configuration")
    name = serializers.CharField()
    ram = serializers.FloatField(allow_null=True, help_text="of the host in its last run, bytes")


class SideCellSerializer(serializers.Serializer[Any]):
    column = serializers.IntegerField()
    n = serializers.IntegerField()
    without = serializers.IntegerField(help_text="samples that are no number")
    mean = serializers.FloatField(allow_null=True)
    stdev = serializers.FloatField(allow_null=True)
    half_interval = serializers.FloatField(allow_null=True, help_text="half of the mean's 95 % interval")
    minimum = serializers.FloatField(allow_null=True)
    maximum = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True, help_text="lower bound of those that are a range")
    high = serializers.FloatField(allow_null=True)
    in_ram = serializers.BooleanField(help_text="the file is no larger than RAM and went through the page cache")
    partly_in_ram = serializers.BooleanField(help_text="it is larger than RAM, and smaller than the plan asks")
    ratio = serializers.FloatField(allow_null=True, help_text="to the baseline, of geometric means")
    ratio_low = serializers.FloatField(allow_null=True)
    ratio_high = serializers.FloatField(allow_null=True)
    p = serializers.FloatField(allow_null=True, help_text="before Holm's correction, which the verdict follows")
    verdict = serializers.CharField(allow_null=True)
    unlike = serializers.IntegerField(
        help_text="configurations that the cell's values are of; of several there is no interval and no verdict"
    )
    withheld = serializers.CharField(
        allow_null=True, help_text="why there is no verdict although there are values; else null"
    )
    confounders = serializers.ListField(
        child=serializers.CharField(), help_text="facts of the workload that differ from the baseline's cell"
    )


class SideRowSerializer(serializers.Serializer[Any]):
    operation = serializers.CharField()
    metric = serializers.CharField()
    unit = serializers.CharField()
    higher_is_better = serializers.BooleanField()
    file_size = serializers.IntegerField(allow_null=True)
    block_size = serializers.IntegerField(allow_null=True)
    threads = serializers.IntegerField(allow_null=True)
    iodepth = serializers.IntegerField(allow_null=True)
    section = serializers.IntegerField(help_text="part of the tool's output, such as a job")
    parts = serializers.ListField(
        child=serializers.CharField(), help_text="what the cells' runs call it, where they have several"
    )
    cells = SideCellSerializer(many=True, help_text="of the columns that were measured here")


class SideBySideSerializer(serializers.Serializer[Any]):
    columns = SideColumnSerializer(many=True)
    baseline = serializers.IntegerField(allow_null=True, help_text="id of a column")
    last = serializers.IntegerField(help_text="runs of each target that count; all of a study's")
    rows = SideRowSerializer(many=True)
    permalink = serializers.URLField()


PARAMETERS = [
    OpenApiParameter("target", int, many=True, description=f"ids, at most {MOST_COLUMNS}; those measured last if none"),
    OpenApiParameter("study", description="its configurations, instead of targets"),
    OpenApiParameter("last", int, default=LAST, description=f"runs of each target, at most {MOST_RUNS}"),
    OpenApiParameter("baseline", int, description="id of a column; the first one where it is left out"),
    OpenApiParameter("metric", enum=list(METRICS), many=True),
    OpenApiParameter("operation", enum=list(OPERATIONS), many=True),
    BASE,
]


class SideBySideView(ScopedAPIView):
    """The side-by-side table of the page, by the same address."""

    serializer_class = SideBySideSerializer
    renderer_classes = DOCUMENT

    @extend_schema(
        operation_id="compare_side_by_side",
        parameters=PARAMETERS,
        description="Every measure of each column, from its last runs; ratios to the baseline.",
    )
    def get(self, request: Request) -> HttpResponseBase:
        given = {name: [str(value) for value in values] for name, values in request.query_params.lists()}
        question = in_force(parse(given))
        table = answer(question)
        permalink = request.build_absolute_uri(f"{reverse('side-by-side')}?{question.address}")
        return publish(
            request, represent(table, question, permalink), lambda: document(table, permalink), permalink,
            beside=[question.base],
        )  # fmt: skip

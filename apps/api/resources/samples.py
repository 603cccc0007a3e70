"""All samples as flat rows with their facts: a page at a time as JSON, all at once as CSV or NDJSON."""

from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponseBase, StreamingHttpResponse
from drf_spectacular.utils import extend_schema
from orjson import Fragment
from rest_framework import serializers
from rest_framework.request import Request

from apps.api.filters import filters
from apps.api.openapi import ANY_FACT
from apps.api.renderers import ROWS
from apps.api.viewsets import ScopedAPIView
from apps.comparison.answer import check_filters
from apps.comparison.queries.filters import matching
from apps.comparison.question import QuestionError
from apps.core.strict_json import to_json
from apps.runs.models import Sample
from apps.runs.states import State
from apps.wiki.dialects import csv
from apps.wiki.sample_lines import lines
from apps.wiki.sample_rows import header, parts, rows


class SampleSerializer(serializers.Serializer[Any]):
    """A measured value with the facts of its run; `apps/wiki/sample_rows.py` makes the answer."""

    id = serializers.IntegerField()
    run = serializers.IntegerField()
    operation = serializers.CharField()
    metric = serializers.CharField()
    value = serializers.FloatField(allow_null=True, help_text="in base units; null with a missing_reason or a bound")
    unit = serializers.CharField(allow_null=True, help_text="B/s, 1/s, ns, B or fraction")
    printed = serializers.CharField(help_text="the tool's own text with its unit")
    quality = serializers.CharField()
    missing_reason = serializers.CharField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    file_size = serializers.IntegerField(allow_null=True)
    block_size = serializers.IntegerField(allow_null=True)
    threads = serializers.IntegerField(allow_null=True)
    iodepth = serializers.IntegerField(allow_null=True)
    repetition = serializers.IntegerField()
    cpu = serializers.FloatField(allow_null=True, help_text="fraction of one core")
    source_line = serializers.IntegerField(allow_null=True)
    section = serializers.IntegerField()
    run_state = serializers.ChoiceField(State.choices, help_text="comparisons count samples of finished runs alone")
    note = serializers.CharField(help_text="what else is to be said of the value: of which disk it is, for one")
    section_name = serializers.CharField(
        help_text="of the job, stream or client that the section is, where it has a name"
    )
    facts = serializers.DictField()


class SamplesView(ScopedAPIView):
    """Samples of all runs, also of cancelled and failed ones."""

    renderer_classes = ROWS

    @extend_schema(
        operation_id="samples_list",
        description="CSV and NDJSON are streamed whole, JSON comes in pages. "
        "Samples of all runs, also of cancelled and failed ones: `run_state=finished` leaves those that comparisons "
        "count. Filters: `study`, `operation`, `metric`, `host`, `target`, `configuration`, `tool`, `run`, "
        f"`run_state`. {ANY_FACT}",
        responses={(200, "application/json"): SampleSerializer(many=True), (200, "application/x-ndjson"): str},
    )
    def get(self, request: Request, format: str | None = None) -> HttpResponseBase:
        given = filters(request)
        wanted = [(name, value) for name, value in given if name != "run_state"]
        samples = matching(_of_runs([value for name, value in given if name == "run_state"]), wanted)
        if wanted and not samples.exists():
            check_filters(wanted)
        form = request.accepted_renderer.format
        if form != "json":
            return _stream(samples, form)
        keys = [row["id"] for row in self.paginate_queryset(samples.values("id")) or ()]
        return self.get_paginated_response(list(rows(Sample.objects.filter(id__in=keys).order_by("id"))))


def _of_runs(states: list[str]) -> QuerySet[Sample]:
    """Return the samples of runs in one of these states; of all runs where none is given."""
    for state in states:
        if state not in State.values:
            raise QuestionError("run_state", state, f"one of: {', '.join(State.values)}")
    samples: QuerySet[Sample] = Sample.objects.all()
    return samples.filter(run__state__in=states) if states else samples


def _stream(samples: QuerySet[Sample], form: str) -> StreamingHttpResponse:
    kind = "text/csv; charset=utf-8" if form == "csv" else "application/x-ndjson"
    response = StreamingHttpResponse(_csv(samples) if form == "csv" else _ndjson(samples), content_type=kind)
    response.headers["Content-Disposition"] = f'attachment; filename="samples.{form}"'
    response.headers["Cache-Control"] = "private, no-store"
    return response


def _csv(samples: QuerySet[Sample]) -> Iterator[str]:
    yield csv.lines([header()])
    yield from map(lines, parts(samples))


def _ndjson(samples: QuerySet[Sample]) -> Iterator[bytes]:
    for part in parts(samples):
        facts = {key: Fragment(to_json(run["facts"])) for key, run in part.runs.items()}
        yield b"".join(to_json({**row, "facts": facts[row["run"]]}) + b"\n" for row in part.rows())

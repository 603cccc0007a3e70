"""All samples as flat rows with their facts: a page at a time as JSON, all at once as CSV or NDJSON."""

from collections.abc import Iterator

from django.db.models import QuerySet
from django.http import HttpResponseBase, StreamingHttpResponse
from orjson import Fragment
from rest_framework.request import Request

from apps.comparison.answer import check_filters
from apps.comparison.filtering import matching
from apps.comparison.question import QuestionError
from apps.publishing import schema
from apps.publishing.choosing import filters
from apps.publishing.dialects import csv
from apps.publishing.pagination import page
from apps.publishing.renderers import ROWS, to_json
from apps.publishing.resource import resource
from apps.publishing.rows import header, parts, rows
from apps.publishing.sample_lines import lines
from apps.runs.models import Sample
from apps.runs.states import State


@schema.described(
    schema.Sample, paged=True, errors=(400,), operation_id="samples_list",
    description="CSV and NDJSON are streamed whole, JSON comes in pages. "
    "Samples of all runs, also of cancelled and failed ones: `run_state=finished` leaves those that comparisons count. "
    f"Filters: `study`, `operation`, `metric`, `host`, `target`, `configuration`, `tool`, `run`, `run_state`. {schema.ANY_FACT}",
    also={(200, "text/csv"): str, (200, "application/x-ndjson"): str},
)  # fmt: skip
@resource(formats=ROWS)
def samples(request: Request) -> HttpResponseBase:
    given = filters(request)
    wanted = [(name, value) for name, value in given if name != "run_state"]
    found = matching(_of_runs([value for name, value in given if name == "run_state"]), wanted)
    if wanted and not found.exists():
        check_filters(wanted)
    form = request.accepted_renderer.format
    if form == "json":
        keys = found.values("id")
        return page(
            request, keys, lambda some: rows(Sample.objects.filter(id__in=[key["id"] for key in some]).order_by("id"))
        )
    return _streamed(found, form)


def _of_runs(states: list[str]) -> QuerySet[Sample]:
    """Samples of runs in one of these states, of all where none is given."""
    for state in states:
        if state not in State.values:
            raise QuestionError("run_state", state, f"one of: {', '.join(State.values)}")
    samples: QuerySet[Sample] = Sample.objects.all()
    return samples.filter(run__state__in=states) if states else samples


def _streamed(found: QuerySet[Sample], form: str) -> StreamingHttpResponse:
    kind = "text/csv; charset=utf-8" if form == "csv" else "application/x-ndjson"
    response = StreamingHttpResponse(_csv(found) if form == "csv" else _ndjson(found), content_type=kind)
    response.headers["Content-Disposition"] = f'attachment; filename="samples.{form}"'
    response.headers["Cache-Control"] = "private, no-store"
    return response


def _csv(found: QuerySet[Sample]) -> Iterator[str]:
    yield csv.lines([header()])
    yield from map(lines, parts(found))


def _ndjson(found: QuerySet[Sample]) -> Iterator[bytes]:
    for some in parts(found):
        facts = {run: Fragment(to_json(told["facts"])) for run, told in some.runs.items()}
        yield b"".join(to_json({**row, "facts": facts[row["run"]]}) + b"\n" for row in some.rows())

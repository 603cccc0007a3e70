"""The comparison of the compare page, by the same address, for scripts and wikis."""

from collections.abc import Sequence
from datetime import datetime

from django.db.models import Max
from django.http import HttpResponseBase
from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from apps.comparison.answer import answer
from apps.comparison.cells import Comparison
from apps.comparison.drawing.chart import Chart
from apps.comparison.drawing.of_comparison import chart_of, refusals
from apps.comparison.question import AXES, CHARTS, NOT_FILTERS, SCALES, QuestionError, parse
from apps.comparison.readings import Reading
from apps.publishing import comparison_schema, documents, pictures, schema, shown
from apps.publishing.answers import publish
from apps.publishing.renderers import DOCUMENT, PICTURES
from apps.publishing.resource import resource
from apps.runs.metrics import METRICS, OPERATIONS
from apps.runs.models import Run

PARAMETERS = [
    OpenApiParameter("metric", enum=list(METRICS), default="bandwidth"),
    OpenApiParameter("operation", enum=list(OPERATIONS), default="write"),
    OpenApiParameter("x", default="file_size", description="file_size, block_size, threads, iodepth, or any fact"),
    OpenApiParameter("series", default="label", description="one or more facts, with commas between them"),
    OpenApiParameter("baseline", description="a series' name, or `none`; the first series where it is left out"),
    OpenApiParameter("scale", enum=list(SCALES), default="linear"),
    schema.BASE,
    OpenApiParameter("chart", enum=list(CHARTS), description="how a picture is drawn; lines or bars where left out"),
    OpenApiParameter("axis", enum=list(AXES), default="even", description="x of lines in equal steps, or true"),
    *pictures.PARAMETERS,
]


@schema.described(
    comparison_schema.Comparison, errors=(400,), documents=True, pictures=True, operation_id="compare",
    parameters=PARAMETERS,
    description=f"Cells in base units, documents and pictures in people's. Filters: `study`, `host`, `run`, … {schema.ANY_FACT} "
    f"Reserved words are no filters: {', '.join(f'`{word}`' for word in sorted(NOT_FILTERS))}.",
)  # fmt: skip
@resource(formats=[*DOCUMENT, *PICTURES])
def compare(request: Request) -> HttpResponseBase:
    question = parse({name: [str(value) for value in values] for name, values in request.query_params.lists()})
    found, readings = answer(question)
    permalink = request.build_absolute_uri(f"{reverse('compare')}?{found.question.permalink}")
    newest = _newest(found)
    if pictures.is_picture(request):
        return pictures.picture(request, _drawn(found, readings), permalink)
    return publish(
        request,
        shown.comparison(found, permalink),
        lambda: documents.of_comparison(found, newest, permalink),
        permalink,
        beside=[question.base],  # of documents
    )


def _drawn(found: Comparison, readings: Sequence[Reading]) -> Chart:
    """A picture that was asked for by name is that one or an error, never another."""
    if said := refusals(found):
        raise QuestionError("chart", found.question.chart or found.question.axis, " ".join(said))
    return chart_of(found, readings)


def _newest(found: Comparison) -> datetime | None:
    """When the newest of the data came."""
    dates = Run.objects.filter(pk__in=found.runs).aggregate(finished=Max("finished_at"), made=Max("created_at"))
    newest: datetime | None = max((date for date in dates.values() if date), default=None)
    return newest

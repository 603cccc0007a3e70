"""Every measure of a few targets, or of a study's configurations, by the same address as the page."""

from django.http import HttpResponseBase
from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from apps.comparison.side_by_side.answer import answer, in_force
from apps.comparison.side_by_side.asked import LAST, MOST_COLUMNS, MOST_RUNS, parse
from apps.publishing import schema, side_by_side_schema
from apps.publishing.answers import publish
from apps.publishing.renderers import DOCUMENT
from apps.publishing.resource import resource
from apps.publishing.side_by_side import document, shown
from apps.runs.metrics import METRICS, OPERATIONS

PARAMETERS = [
    OpenApiParameter("target", int, many=True, description=f"ids, at most {MOST_COLUMNS}; those measured last if none"),
    OpenApiParameter("study", description="its configurations, instead of targets"),
    OpenApiParameter("last", int, default=LAST, description=f"runs of each target, at most {MOST_RUNS}"),
    OpenApiParameter("baseline", int, description="id of a column; the first one where it is left out"),
    OpenApiParameter("metric", enum=list(METRICS), many=True),
    OpenApiParameter("operation", enum=list(OPERATIONS), many=True),
    schema.BASE,
]


@schema.described(
    side_by_side_schema.SideBySide, errors=(400,), documents=True, operation_id="compare_side_by_side",
    parameters=PARAMETERS, description="Every measure of each column, from its last runs; ratios to the baseline.",
)  # fmt: skip
@resource(formats=DOCUMENT)
def side_by_side(request: Request) -> HttpResponseBase:
    asked = in_force(parse({name: [str(one) for one in values] for name, values in request.query_params.lists()}))
    found = answer(asked)
    permalink = request.build_absolute_uri(f"{reverse('side-by-side')}?{asked.address}")
    return publish(
        request, shown(found, asked, permalink), lambda: document(found, permalink), permalink,
        beside=[asked.base],
    )  # fmt: skip

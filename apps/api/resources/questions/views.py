"""`questions/` and `questions/{factor}/`: the answers of the pages, by the same addresses."""

from collections.abc import Collection
from typing import Any

from django.http import Http404, HttpResponse, HttpResponseBase
from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request

from apps.api import pictures
from apps.api.conditional import publish
from apps.api.openapi import ANY_FACT
from apps.api.renderers import DOCUMENT, PICTURES
from apps.api.resources.questions import documents
from apps.api.resources.questions.serializers import FactorAnswerSerializer, QuestionReportSerializer
from apps.api.viewsets import ScopedAPIView
from apps.comparison.charts.forest_picture import height_of, render_forest
from apps.comparison.like_for_like.answers import FactorAnswer
from apps.comparison.like_for_like.forest import forest
from apps.comparison.like_for_like.missing_plan import plans_for
from apps.comparison.like_for_like.report import answer_one, report
from apps.comparison.like_for_like.scope import labs_of
from apps.comparison.like_for_like.selection import FactorSelection, parse_selection
from apps.comparison.like_for_like.sentences import measure_words, sentence
from apps.comparison.like_for_like.set_caveats.findings import caveats_of_answer
from apps.comparison.like_for_like.set_caveats.words import marked
from apps.comparison.questions import BY_NAME
from apps.runs.metrics import METRICS, OPERATIONS

PARAMETERS = [
    OpenApiParameter(
        "operation", enum=list(OPERATIONS), description="with `metric`; else what the question asks first"
    ),
    OpenApiParameter("metric", enum=list(METRICS), description="with `operation`"),
    OpenApiParameter("against", description="the level that the others are held against"),
    OpenApiParameter("hold", description="facts to hold equal although they come with the factor, with commas"),
    OpenApiParameter("ignore", description="facts to leave out although they are held, with commas"),
    OpenApiParameter(
        "published", enum=["yes", "no"], default="no", description="published reports beside the lab's runs"
    ),
    OpenApiParameter("study", description="the slug of a study: its runs alone"),
]
FILTERS = f"Filters: `host`, `tool`, … {ANY_FACT}"


class QuestionsView(ScopedAPIView):
    """What a lab's runs can answer with everything else held equal."""

    serializer_class = QuestionReportSerializer
    renderer_classes = DOCUMENT

    @extend_schema(
        operation_id="questions_list",
        parameters=PARAMETERS,
        description=f"All questions, judged together by Holm's correction. {FILTERS}",
    )
    def get(self, request: Request, format: str | None = None) -> HttpResponseBase:
        selection = _selection(request)
        found = report(_labs(request, selection), selection)
        permalink = request.build_absolute_uri(f"{reverse('compare')}?{selection.address}".rstrip("?"))
        addresses = {name: _address(request, name, selection) for name in BY_NAME}
        data = QuestionReportSerializer(found, context={"permalink": permalink, "addresses": addresses}).data
        return publish(request, data, lambda: documents.of_report(found, permalink), permalink)


class QuestionView(ScopedAPIView):
    """One question with its strata."""

    serializer_class = FactorAnswerSerializer
    renderer_classes = (*DOCUMENT, *PICTURES)

    @extend_schema(
        operation_id="questions_read",
        parameters=[
            OpenApiParameter("factor", str, OpenApiParameter.PATH, enum=list(BY_NAME)),
            *PARAMETERS,
            *pictures.PARAMETERS,
        ],
        description=f"The effect of one factor. Pictures are forest plots. {FILTERS}",
    )
    def get(self, request: Request, factor: str, format: str | None = None) -> HttpResponseBase:
        if factor not in BY_NAME:
            raise Http404
        selection = _selection(request)
        answer = answer_one(_labs(request, selection), factor, selection)
        permalink = _address(request, factor, selection)
        if pictures.is_picture(request):
            return _picture(request, answer, permalink)
        plans = (
            [] if selection.published or selection.study else plans_for(answer, BY_NAME[factor], self.lab.pk, selection)
        )
        caveats = caveats_of_answer(answer)
        context = {"request": request, "addresses": {factor: permalink}, "plans": plans, "caveats": caveats}
        data = FactorAnswerSerializer(answer, context=context).data
        return publish(request, data, lambda: documents.of_answer(answer, caveats, permalink), permalink)


def _picture(request: Request, answer: FactorAnswer, permalink: str) -> HttpResponse:
    factor = BY_NAME[answer.factor]
    plot = marked(forest(answer, factor), caveats_of_answer(answer))
    title, told = f"{factor.title}: {measure_words(answer)}", sentence(answer, factor)
    rows = [*((row.label, row.marks, row.ratio, row.low, row.high) for row in plot.rows), *plot.caveats]
    return pictures.drawn(
        request,
        [title, told, rows],
        lambda form, look: render_forest(
            plot, title, told, form, width=look.width, height=look.height, theme=look.theme
        ),
        permalink,
        height_of(plot),
    )


def _selection(request: Request) -> FactorSelection:
    return parse_selection({name: [str(value) for value in values] for name, values in request.query_params.lists()})


def _labs(request: Request, selection: FactorSelection) -> Collection[int]:
    own: Any = request._request.lab  # type: ignore[attr-defined]
    return labs_of(own.pk, selection)


def _address(request: Request, name: str, selection: FactorSelection) -> str:
    path = reverse("question", args=[name])
    return request.build_absolute_uri(f"{path}?{selection.address}" if selection.address else path)

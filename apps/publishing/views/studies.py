"""Studies with their printed tables and charts. A whole study is also had as one document for wikis."""

from datetime import datetime
from typing import Any

from django.db.models import Max
from django.http import Http404, HttpResponseBase
from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from apps.comparison.answer import answer
from apps.comparison.drawing.as_json import as_json
from apps.comparison.drawing.as_table import as_table
from apps.comparison.drawing.chart import Chart
from apps.comparison.drawing.of_comparison import chart_of
from apps.comparison.in_studies.models import StudyComparison
from apps.comparison.question import QuestionError
from apps.comparison.study_results import Results, results_of
from apps.lib.reader_base import base
from apps.lib.tables import Document, Footer, Section
from apps.publishing import documents, pictures, schema, shown, study_schema
from apps.publishing.answers import publish, stream
from apps.publishing.pagination import page
from apps.publishing.problems import ProblemError
from apps.publishing.renderers import CSV, DOCUMENT, HTML, JSON, PICTURES
from apps.publishing.resource import resource
from apps.publishing.study_json import shown_study, shown_table, summaries
from apps.publishing.study_pages.addresses import FILE, LINK, addresses_of
from apps.publishing.study_pages.document import content_digest, document_of, samples_alone
from apps.publishing.study_pages.words import LANGUAGES, language_for
from apps.publishing.table_documents import of_table
from apps.runs.models import Run
from apps.studies.finding import study_named
from apps.studies.models import Study

LANGUAGE = OpenApiParameter("lang", enum=list(LANGUAGES), description="of a document; the study's own where left out")
PLACES = OpenApiParameter(
    "pictures", enum=[LINK, FILE], default=LINK,
    description="of a document: linked, or shown as files that the wiki has under the names <study>-<chart>.png",
)  # fmt: skip


@schema.described(study_schema.StudySummary, paged=True, errors=(), operation_id="studies_list")
@resource()
def studies(request: Request) -> Response:
    """Own studies and published ones, in the order in which they were made."""
    return page(request, Study.objects.select_related("lab"), lambda some: summaries(request, some))


@schema.described(
    study_schema.Study, errors=(400, 404), documents=True, operation_id="studies_read", parameters=[LANGUAGE, PLACES, schema.BASE],
)  # fmt: skip
@resource(formats=[*DOCUMENT, HTML])
def study(request: Request, slug: str) -> HttpResponseBase:
    """A study: what it is about, its tables, charts, claims and caveats; or all of it as one document."""
    found = study_named(slug)
    language = _chosen(request, "lang", LANGUAGES, language_for(found.language))
    addresses = addresses_of(request._request, found, _chosen(request, "pictures", (LINK, FILE), LINK))
    form = request.accepted_renderer.format
    if form == "csv":
        alone = samples_alone(found, language, addresses)
        return stream(request, [language, content_digest(alone)], lambda: alone, addresses.permalink)
    whole = None if form == "json" else document_of(found, language, addresses)
    return publish(
        request,
        shown_study(request, found),
        lambda: whole or document_of(found, language, addresses),
        addresses.permalink,
        beside=[language, content_digest(whole) if whole else ""],  # what documents show besides
    )


def _chosen(request: Request, name: str, choices: tuple[str, ...], usual: str) -> str:
    """What the address asks for, or what is usual."""
    asked = request.query_params.get(name, "") or usual
    if asked not in choices:
        raise QuestionError(name, asked, f"one of: {', '.join(choices)}")
    return asked


@schema.described(
    study_schema.Table, errors=(404,), documents=True, operation_id="tables_read", parameters=[schema.BASE]
)
@resource(formats=DOCUMENT)
def table(request: Request, slug: str, name: str) -> HttpResponseBase:
    """A printed table, rebuilt from the samples in its own order, headings and units; or a table that people put in the study."""
    results = results_of(study_named(slug))
    form = results.report.tables.get(name) if results.report else None
    newest, permalink = _newest(results.study), _permalink(request, results.study, f"table-{name}")
    if form is None:
        return _compared(request, results.study, name)
    found = results.table(form)
    return publish(request, shown_table(found), lambda: of_table(found, newest, permalink), permalink)


@schema.described(
    study_schema.Chart, errors=(404, 409), pictures=True, operation_id="charts_read", parameters=[schema.BASE, *pictures.PARAMETERS],
)  # fmt: skip
@resource(formats=[JSON, CSV, *PICTURES])
def chart(request: Request, slug: str, name: str) -> HttpResponseBase:
    """A chart of the report with its axes, limits and series, drawn from the samples; or one that people put in the study."""
    results = results_of(study_named(slug))
    permalink = _permalink(request, results.study, f"chart-{name}")
    drawn = _drawn(results, name)
    newest = _newest(results.study)
    if pictures.is_picture(request):
        return pictures.picture(request, drawn, permalink)
    return publish(request, as_json(drawn), lambda: _as_document(drawn, newest, permalink), permalink)


def _drawn(results: Results, name: str) -> Chart:
    form = results.report.charts.get(name) if results.report else None
    if form is None:
        return chart_of(*answer(_own(results.study, name).question_in(base())))
    if (found := results.chart(form).chart) is None:
        said = form.not_drawn or "It is a drawing of machines, which stands on their host's page."
        raise ProblemError(409, f"This chart cannot be drawn. {said}")
    return found


def _as_document(drawn: Chart, newest: datetime | None, permalink: str) -> Document:
    numbers = as_table(drawn)
    footer = Footer(documents.made(f"{len(numbers.rows)} points", newest), permalink)
    return Document(drawn.title, (drawn.description,), (Section("Values", table=numbers),), footer, numbers)


def _compared(request: Request, found: Study, name: str) -> HttpResponseBase:
    comparison, _readings = answer(_own(found, name).question_in(base()))
    newest, permalink = _newest(found), _permalink(request, found, f"table-{name}")
    return publish(
        request, shown.comparison(comparison, permalink), lambda: documents.of_comparison(comparison, newest, permalink),
        permalink, beside=[base()],
    )  # fmt: skip


def _own(found: Study, name: str) -> Any:
    for one in StudyComparison.objects.of_study(found):
        if one.name == name:
            return one
    raise Http404(f"Nothing called {name} in the study {found.slug}.")


def _permalink(request: Request, found: Study, place: str) -> str:
    return request.build_absolute_uri(f"{reverse('study', args=[found.slug])}#{place}")


def _newest(found: Study) -> datetime | None:
    """When the newest of its data came."""
    runs = Run.objects.filter(study_run__configuration__study=found)
    dates = runs.aggregate(finished=Max("finished_at"), made=Max("created_at"))
    newest: datetime | None = max((date for date in dates.values() if date), default=None)
    return newest

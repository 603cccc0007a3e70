"""Studies with their printed tables and charts. A whole study is also had as one document for wikis."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db.models import Count, Max
from django.http import Http404, HttpResponseBase
from django.urls import NoReverseMatch, reverse
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field, extend_schema_view
from rest_framework import serializers
from rest_framework.mixins import ListModelMixin
from rest_framework.request import Request

from apps.api import documents, pictures
from apps.api.conditional import publish, stream
from apps.api.documents import of_table
from apps.api.fields import LinkField, NumberField
from apps.api.openapi import BASE, problems
from apps.api.problems import ProblemError
from apps.api.renderers import CSV, DOCUMENT, HTML, JSON, PICTURES
from apps.api.resources.caveats import CaveatSerializer
from apps.api.resources.comparisons import ComparisonSerializer
from apps.api.viewsets import ScopedAPIView, ScopedViewSet
from apps.comparison.answer import Answer
from apps.comparison.charts.chart import Chart
from apps.comparison.charts.comparison import chart_of
from apps.comparison.charts.data_table import as_table
from apps.comparison.charts.json_payload import as_json
from apps.comparison.claims.models import Claim
from apps.comparison.in_studies.answers import answers_of
from apps.comparison.in_studies.caveats import caveats_of
from apps.comparison.in_studies.models import StudyComparison
from apps.comparison.in_studies.printed_results import Results, results_of
from apps.comparison.question import QuestionError
from apps.comparison.saved_comparisons.references import broken_text
from apps.core.tables import Document, Footer, Section
from apps.core.unit_base import base
from apps.plans.published_procedure import RepeatOffer, explain_no_repeat
from apps.runs.models import Run
from apps.studies.lookup import study_named
from apps.studies.models import Configuration, Plan, Study
from apps.studies.report.tables import PrintedCell, PrintedTable
from apps.studies.report_files import report_of
from apps.wiki.documents.addresses import FILE, LINK, addresses_of
from apps.wiki.documents.document import content_digest, document_of, samples_alone
from apps.wiki.documents.formats import LANGUAGES, language_for

Json = dict[str, Any]


class StudyOwnSerializer(serializers.ModelSerializer[Study]):
    """What a study is about."""

    url = LinkField("api-study", lookup="slug")
    page = LinkField("study", lookup="slug")
    slug = serializers.CharField()
    year = serializers.CharField(help_text="as known: 2008, or `not before 2004`")
    language = serializers.CharField()
    source = serializers.CharField()  # type: ignore[assignment]
    lab = serializers.CharField(source="lab.name")
    is_published = serializers.BooleanField(source="lab.is_published")

    class Meta:
        model = Study
        fields: tuple[str, ...] = (
            "id", "url", "page", "slug", "title", "title_english", "question", "site", "year", "language", "source",
            "notes", "lab", "is_published",
        )  # fmt: skip
        read_only_fields = fields


class StudySummarySerializer(StudyOwnSerializer):
    """A study with the counts of what it holds, which the view sets."""

    configuration_count = serializers.IntegerField()
    run_count = serializers.IntegerField()
    claim_count = serializers.IntegerField()

    class Meta(StudyOwnSerializer.Meta):
        fields = (*StudyOwnSerializer.Meta.fields, "configuration_count", "run_count", "claim_count")
        read_only_fields = fields


class StudyConfigurationSerializer(serializers.ModelSerializer[Configuration]):
    """A configuration of a study."""

    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    position = serializers.IntegerField()
    host = serializers.IntegerField(source="host_id", allow_null=True)
    host_name = serializers.CharField(source="host.name", allow_null=True)
    target = serializers.IntegerField(source="target_id", allow_null=True)
    runs = serializers.IntegerField(source="study_runs__count")

    class Meta:
        model = Configuration
        fields = ("name", "label", "position", "host", "host_name", "target", "runs")
        read_only_fields = fields


class StudyTableLinkSerializer(serializers.Serializer[Any]):
    """A table of a study, by its address."""

    name = serializers.CharField()
    title = serializers.CharField()
    source_lines = serializers.CharField()
    url = serializers.URLField()


class StudyChartLinkSerializer(serializers.Serializer[Any]):
    """A chart of a study, by its address."""

    name = serializers.CharField()
    title = serializers.CharField()
    is_drawn = serializers.BooleanField()
    not_drawn = serializers.CharField(help_text="why it cannot be drawn")
    report = serializers.DictField(help_text="the report's own words: kind, axes, series")
    url = serializers.URLField()


class StudyPlanSerializer(serializers.ModelSerializer[Plan]):
    """A plan of a study."""

    name = serializers.CharField()
    repeat_page = serializers.SerializerMethodField(
        help_text="the form of a new plan with this procedure chosen; null of own studies, and where fio cannot repeat it"
    )
    repeat_problem = serializers.SerializerMethodField(
        help_text="why fio cannot repeat the procedure of a published study; empty where it can"
    )

    class Meta:
        model = Plan
        fields = ("id", "name", "repeat_page", "repeat_problem")
        read_only_fields = fields

    @extend_schema_field(serializers.URLField(allow_null=True))
    def get_repeat_page(self, plan: Plan) -> str | None:
        can_be_repeated = plan.is_from_report and not explain_no_repeat(plan)
        return self.context["request"].build_absolute_uri(RepeatOffer(plan, "").address) if can_be_repeated else None

    def get_repeat_problem(self, plan: Plan) -> str:
        return explain_no_repeat(plan) if plan.is_from_report else ""


class StudyClaimsSerializer(serializers.Serializer[Any]):
    """How many claims of a study have which verdict."""

    count = serializers.IntegerField()
    verdicts = serializers.DictField(child=serializers.IntegerField())
    url = serializers.URLField()


class StudySerializer(StudyOwnSerializer):
    """A study with what it holds."""

    configurations = serializers.SerializerMethodField()
    tables = serializers.SerializerMethodField()
    charts = serializers.SerializerMethodField()
    claims = serializers.SerializerMethodField()
    plan = serializers.SerializerMethodField()
    caveats = serializers.SerializerMethodField()
    links = serializers.SerializerMethodField()

    class Meta(StudyOwnSerializer.Meta):
        fields = (
            *StudyOwnSerializer.Meta.fields, "configurations", "tables", "charts", "claims", "plan", "caveats", "links",
        )  # fmt: skip
        read_only_fields = fields

    @extend_schema_field(StudyConfigurationSerializer(many=True))
    def get_configurations(self, study: Study) -> Any:
        configurations = study.configurations.select_related("host").annotate(Count("study_runs"))
        return StudyConfigurationSerializer(configurations.order_by("position"), many=True).data

    @extend_schema_field(StudyTableLinkSerializer(many=True))
    def get_tables(self, study: Study) -> list[Json]:
        """Return the tables of the report, then those that people put into the study."""
        report = report_of(study)
        tables = [(table.name, table.title, table.source_lines) for table in report.tables.values()] if report else []
        tables += [(own.name, own.title, "") for own in comparisons_of(study) if own.has_table]
        return [
            {"name": name, "title": title, "source_lines": lines, "url": self.locate("api-table", study.slug, name)}
            for name, title, lines in tables
        ]

    @extend_schema_field(StudyChartLinkSerializer(many=True))
    def get_charts(self, study: Study) -> list[Json]:
        """Return the charts of the report, then those that people put into the study."""
        report = report_of(study)
        charts: list[Json] = [
            {
                "name": form.name,
                "title": form.title,
                "is_drawn": form.is_chart,
                "not_drawn": form.not_drawn,
                "report": dict(form.reported),
            }
            for form in (report.charts.values() if report else ())
        ]
        charts += [
            {"name": own.name, "title": own.title, "is_drawn": True, "not_drawn": "", "report": {}}
            for own in comparisons_of(study)
            if own.has_chart
        ]
        return [{**chart, "url": self.locate("api-chart", study.slug, chart["name"])} for chart in charts]

    @extend_schema_field(StudyClaimsSerializer)
    def get_claims(self, study: Study) -> Json:
        verdicts = Claim.objects.of_study(study).verdicts()
        url = f"{self.locate('api-claims')}?study={study.slug}"
        return {"count": sum(verdicts.values()), "verdicts": verdicts, "url": url}

    @extend_schema_field(StudyPlanSerializer(many=True))
    def get_plan(self, study: Study) -> Any:
        plans = Plan.objects.filter(study=study).select_related("study").prefetch_related("points").order_by("id")
        return StudyPlanSerializer(plans, many=True, context=self.context).data

    def get_caveats(self, study: Study) -> list[Json]:
        return list(CaveatSerializer(caveats_of([study])[study.pk], many=True).data)

    @extend_schema_field(serializers.DictField(child=serializers.URLField()))
    def get_links(self, study: Study) -> dict[str, str]:
        links = {
            "runs": f"{self.locate('api-runs')}?study={study.slug}",
            "samples": f"{self.locate('api-samples')}?study={study.slug}",
            "claims_page": self.locate("claims", study.slug),
            "mediawiki": f"{self.locate('api-study', study.slug)}?format=mediawiki",
        }
        for name, route in (("wiki_page", "study-wiki"), ("plan_page", "study-plan")):
            try:
                links[name] = self.locate(route, study.slug)
            except NoReverseMatch:
                continue
        return links

    def locate(self, route: str, *words: str) -> str:
        """Return the absolute address of a route."""
        return str(self.context["request"].build_absolute_uri(reverse(route, args=words)))


class TableSampleSerializer(serializers.Serializer[Any]):
    """A sample behind a printed number."""

    sample = serializers.IntegerField(source="id")
    run = serializers.IntegerField()
    value = NumberField(allow_null=True, help_text="in base units")
    low = NumberField(allow_null=True)
    high = NumberField(allow_null=True)
    quality = serializers.CharField()


class TableCellSerializer(serializers.Serializer[PrintedCell]):
    """A cell of a printed table."""

    text = serializers.CharField(help_text="as the report prints it")
    kind = serializers.CharField(
        help_text="empty, repaired, approximate, from the text, bound, range, not readable, not available, not measured"
    )
    remark = serializers.CharField()
    span = serializers.IntegerField()
    samples = TableSampleSerializer(many=True)


class TableHeadSerializer(serializers.Serializer[Any]):
    """A heading of a printed table."""

    text = serializers.CharField()
    span = serializers.IntegerField()
    down = serializers.IntegerField()


class TableRowSerializer(serializers.Serializer[Any]):
    """A row of a printed table."""

    head = serializers.CharField()
    cells = TableCellSerializer(many=True)


class TableSerializer(serializers.Serializer[PrintedTable]):
    """A printed table with the samples behind its numbers."""

    name = serializers.CharField(source="form.name")
    title = serializers.CharField(source="form.title")
    source_lines = serializers.CharField(source="form.source_lines")
    unit = serializers.CharField(source="form.unit")
    notes = serializers.ListField(source="form.notes", child=serializers.CharField())
    heads = serializers.ListField(child=serializers.ListField(child=TableHeadSerializer()))
    columns = serializers.ListField(child=serializers.CharField(), help_text="headings above each other as one")
    rows = TableRowSerializer(many=True)


class ChartSerializer(serializers.Serializer[Any]):
    """A chart, as the page's script reads it: `apps.comparison.charts.json_payload` writes it."""

    kind = serializers.CharField()
    title = serializers.CharField()
    description = serializers.CharField()
    caption = serializers.CharField()
    caveats = serializers.ListField(
        child=serializers.CharField(), help_text="of the runs that it shows, in words; pictures have them too"
    )
    unit = serializers.CharField()
    baseUnit = serializers.CharField()  # noqa: N815 (as the page's script reads it)
    x = serializers.DictField()
    y = serializers.DictField()
    z = serializers.DictField(allow_null=True)
    series = serializers.ListField(child=serializers.DictField())
    named = serializers.IntegerField(help_text="how many series a legend names")
    unnamed = serializers.CharField(help_text="a legend's last entry, where there are more")
    lines = serializers.ListField(child=serializers.DictField())
    regions = serializers.ListField(child=serializers.DictField())
    tiles = serializers.ListField(child=serializers.DictField())
    ramp = serializers.ListField(child=serializers.CharField())


LANGUAGE = OpenApiParameter("lang", enum=list(LANGUAGES), description="of a document; the study's own where left out")
PLACES = OpenApiParameter(
    "pictures", enum=[LINK, FILE], default=LINK,
    description="of a document: linked, or shown as files that the wiki has under the names <study>-<chart>.png",
)  # fmt: skip


@extend_schema_view(
    list=extend_schema(description="Own studies and published ones, in the order in which they were made.")
)
class StudyViewSet(ListModelMixin, ScopedViewSet[Study]):
    """Own studies and published ones, in the order in which they were made."""

    model = Study
    serializer_class = StudySummarySerializer
    serializer_classes = {"retrieve": StudySerializer}
    formats = {"retrieve": [*DOCUMENT, HTML]}
    detail_parameters = {"retrieve": ("lang", "pictures")}

    def get_queryset(self) -> Any:
        return super().get_queryset().select_related("lab")

    def paginate_queryset(self, queryset: Any) -> list[Any]:
        """Return a page of studies with their counts: three queries for all of them."""
        return add_counts(super().paginate_queryset(queryset) or [])

    @extend_schema(parameters=[LANGUAGE, PLACES, BASE], responses={200: StudySerializer, **problems(409)})
    def retrieve(self, request: Request, slug: str) -> HttpResponseBase:
        """Return a study: what it is about, its tables, charts, claims and caveats.

        In the other formats it is the whole study as one document; as CSV its samples alone.
        """
        study = study_named(slug)
        language = choose(request, "lang", LANGUAGES, language_for(study.language))
        addresses = addresses_of(request._request, study, choose(request, "pictures", (LINK, FILE), LINK))
        form = request.accepted_renderer.format
        if form == "csv":
            alone = samples_alone(study, language, addresses)
            return stream(request, [language, content_digest(alone)], lambda: alone, addresses.permalink)
        whole = None if form == "json" else document_of(study, language, addresses)
        return publish(
            request,
            self.get_serializer(study).data,
            lambda: whole or document_of(study, language, addresses),
            addresses.permalink,
            beside=[language, content_digest(whole) if whole else ""],  # what documents show besides
        )


class TableView(ScopedAPIView):
    """A table of a study."""

    serializer_class = TableSerializer
    renderer_classes = DOCUMENT
    parameters = ()

    @extend_schema(parameters=[BASE], responses={200: TableSerializer, **problems(409)}, operation_id="tables_read")
    def get(self, request: Request, slug: str, name: str) -> HttpResponseBase:
        """Return a printed table, rebuilt from the samples in its own order, headings and units.

        It may also be a table that people put in the study.
        """
        results = results_of(study_named(slug))
        study, form = results.study, results.report.tables.get(name) if results.report else None
        newest, permalink = find_newest(study), permalink_of(request, study, f"table-{name}")
        if form is None:
            comparison, _readings = answer_own(study, name)
            return publish(
                request,
                ComparisonSerializer(comparison, context={"permalink": permalink}).data,
                lambda: documents.of_comparison(comparison, newest, permalink),
                permalink,
                beside=[base()],
            )
        table = results.table(form)
        return publish(request, TableSerializer(table).data, lambda: of_table(table, newest, permalink), permalink)


class ChartView(ScopedAPIView):
    """A chart of a study."""

    serializer_class = ChartSerializer
    renderer_classes = (JSON, CSV, *PICTURES)
    parameters = pictures.NAMES

    @extend_schema(
        parameters=[BASE, *pictures.PARAMETERS],
        responses={200: ChartSerializer, **problems(409)},
        operation_id="charts_read",
    )
    def get(self, request: Request, slug: str, name: str) -> HttpResponseBase:
        """Return a chart of the report with its axes, limits and series, drawn from the samples.

        It may also be a chart that people put in the study.
        """
        results = results_of(study_named(slug))
        permalink = permalink_of(request, results.study, f"chart-{name}")
        chart = draw(results, name)
        newest = find_newest(results.study)
        if pictures.is_picture(request):
            return pictures.picture(request, chart, permalink)
        return publish(request, as_json(chart), lambda: document_of_numbers(chart, newest, permalink), permalink)


def add_counts(studies: Sequence[Any]) -> list[object]:
    """Set how many configurations, runs and claims each study has."""
    keys = [study.pk for study in studies]
    configurations = count(Configuration.objects.filter(study__in=keys), "id")
    runs = count(Configuration.objects.filter(study__in=keys), "study_runs")
    claims = count(Claim.objects.filter(study__in=keys), "id")
    for study in studies:
        study.configuration_count = configurations.get(study.pk, 0)
        study.run_count = runs.get(study.pk, 0)
        study.claim_count = claims.get(study.pk, 0)
    return list(studies)


def count(rows: Any, what: str) -> dict[int, int]:
    """Return how many rows each study has, by the study's id; a study without any is left out."""
    return dict(rows.order_by().values_list("study").annotate(Count(what)))


def comparisons_of(study: Study) -> list[Any]:
    """Return the comparisons that people put into the study."""
    return list(StudyComparison.objects.of_study(study))


def choose(request: Request, name: str, choices: tuple[str, ...], usual: str) -> str:
    """Return the choice that the address names, or `usual` where it names none."""
    choice = request.query_params.get(name, "") or usual
    if choice not in choices:
        raise QuestionError(name, choice, f"one of: {', '.join(choices)}")
    return choice


def draw(results: Results, name: str) -> Chart:
    """Return a chart of the study. Raise a 409 where it cannot be drawn."""
    form = results.report.charts.get(name) if results.report else None
    if form is None:
        return chart_of(*answer_own(results.study, name))
    chart = results.chart(form).chart
    if chart is None:
        reason = form.not_drawn or "It is a drawing of machines, which stands on their host's page."
        raise ProblemError(409, f"This chart cannot be drawn. {reason}")
    return chart


def document_of_numbers(chart: Chart, newest: datetime | None, permalink: str) -> Document:
    """Return the chart's numbers as a document."""
    numbers = as_table(chart)
    footer = Footer(documents.made(f"{len(numbers.rows)} points", newest), permalink)
    return Document(chart.title, (chart.description,), (Section("Values", table=numbers),), footer, numbers)


def answer_own(study: Study, name: str) -> Answer:
    """Return the answer of a comparison that people put into the study. Raise a 409 where it cannot be made any more."""
    own = next((comparison for comparison in comparisons_of(study) if comparison.name == name), None)
    if own is None:
        raise Http404(f"Nothing called {name} in the study {study.slug}.")
    [(_row, answer, _problems)] = answers_of([own], base())
    if isinstance(answer, QuestionError):
        raise ProblemError(409, broken_text(answer))
    return answer


def permalink_of(request: Request, study: Study, place: str) -> str:
    """Return the address of a place on the study's page."""
    return request.build_absolute_uri(f"{reverse('study', args=[study.slug])}#{place}")


def find_newest(study: Study) -> datetime | None:
    """Return when the newest of the study's data came."""
    runs = Run.objects.filter(study_run__configuration__study=study)
    dates = runs.aggregate(finished=Max("finished_at"), made=Max("created_at"))
    newest: datetime | None = max((date for date in dates.values() if date), default=None)
    return newest

"""A study's page as one context. The number of queries does not grow with what was measured."""

from collections.abc import Sequence

from django.urls import reverse
from django.utils.translation import gettext as _

from apps.comparison.claims.matched.presentation import MatchedClaim
from apps.comparison.claims.models import Claim
from apps.comparison.claims.presentation import matched_of
from apps.comparison.in_studies.caveats import caveats_of
from apps.comparison.in_studies.printed_results import Results, results_of
from apps.comparison.like_for_like.cards import report_rows
from apps.comparison.like_for_like.report_questions import questions_of_report
from apps.dashboard.studies.charts import ChartOnPage, charts_of, not_drawn
from apps.dashboard.studies.files import kept_files, measured, provenance, uploaded_files
from apps.dashboard.studies.machines import configuration_table, machines_of
from apps.dashboard.studies.study_comparisons import Compared, compared_of
from apps.dashboard.studies.study_metadata import StudyMetadata, told_of
from apps.dashboard.studies.values import ValuesOf, have_figures, values_of
from apps.studies.models import Configuration, Study
from apps.studies.plans.plan_page import plans_of_study
from apps.studies.report.tables import PrintedTable

FORMATS = (
    ("csv", "CSV"),
    ("json", "JSON"),
    ("mediawiki", "MediaWiki"),
    ("dokuwiki", "DokuWiki"),
    ("markdown", "Markdown"),
)
PICTURES = (("svg", "SVG"), ("png", "PNG"), ("csv", "CSV"), ("json", "JSON"))
Contents = list[tuple[str, str, list[tuple[str, str]]]]  # anchor, words, and what stands below it


def context_of(study: Study) -> dict[str, object]:
    results = results_of(study)
    configurations = list(study.configurations.select_related("host", "target"))
    machines = machines_of(study, results.report, configurations)
    claims, reported = Claim.objects.of_study(study), told_of(study, results.report)
    tables, charts = results.tables, charts_of(results, machines)
    asked = questions_of_report(study)
    kept_claims, compared = list(claims.defer("computed", "definition")), compared_of(study)
    return {
        "study": study,
        "told": reported,
        "machines": machines,
        "configurations": configuration_table(results.report, configurations),
        "asked": report_rows(asked) if asked else [],
        "plans": plans_of_study(study),
        "tables": [(table, reverse("api-table", args=[study.slug, table.name])) for table in tables],
        "charts": [chart for chart in charts if chart.is_shown],
        "not_drawn": not_drawn(charts),
        "compared": compared,
        "measured": measured(study),
        "values": _values(results, configurations),
        "has_printed_figures": have_figures(tables),
        "claims": kept_claims,
        "matched_claims": _matched_claims(kept_claims),
        "verdicts": claims.verdicts(),
        "caveats": caveats_of([study])[study.pk],
        "caveats_elsewhere": _elsewhere(kept_claims, compared),
        "uploaded": list(uploaded_files(study)),
        "kept": kept_files(study),
        "provenance": provenance(study),
        "contents": _contents(reported, tables, charts, has_asked=asked is not None),
        "formats": FORMATS,
        "pictures": PICTURES,
    }


def _matched_claims(kept_claims: Sequence[Claim]) -> list[tuple[Claim, MatchedClaim]]:
    """Return the claims about questions, each with its matched sets; one query where there are any."""
    about = [claim.pk for claim in kept_claims if claim.is_about_question]
    pairs = [(claim, matched_of(claim)) for claim in Claim.objects.filter(pk__in=about)] if about else []
    return [(claim, matched) for claim, matched in pairs if matched]


def _values(results: Results, configurations: Sequence[Configuration]) -> list[ValuesOf]:
    """Return the values of a report, which are few; other studies are read by their comparisons."""
    return (
        values_of(results.samples, {configuration.name: configuration.label for configuration in configurations})
        if results.report
        else []
    )


def _elsewhere(claims: Sequence[Claim], compared: Sequence[Compared]) -> list[tuple[str, str, list[str]]]:
    """Return (address, name, titles of caveats) for claims and comparisons with caveats."""
    result = [(claim.get_absolute_url(), claim.code, [caveat["title"] for caveat in claim.caveats]) for claim in claims]
    result += [
        (f"#chart-{item.row.name}", item.row.title, [caveat.title for caveat, _letter in item.caveats])
        for item in compared
    ]
    return [item for item in result if item[2]]


def _contents(
    reported: StudyMetadata, tables: Sequence[PrintedTable], charts: Sequence[ChartOnPage], *, has_asked: bool
) -> Contents:
    below = [("tables", f"{_('Printed tables')} ({len(tables)})")] if tables else []
    below += [("charts", f"{_('Charts')} ({len(charts)})")] if charts else []
    parts: Contents = [
        ("about", _("Question and source"), []), ("set-up", _("Set-up"), []), ("procedure", _("Procedure"), []),
        ("results", _("Results"), below),
        *([("questions", _("Questions"), [])] if has_asked else []),
        ("claims", _("Claims"), []), ("caveats", _("Caveats"), []),
    ]  # fmt: skip
    if reported.has_remarks:
        parts.append(("remarks", _("Remarks and contradictions"), []))
    return [*parts, ("files", _("Files and provenance"), [])]

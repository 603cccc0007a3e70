"""A study's page as one context. The number of queries does not grow with what was measured."""

from collections.abc import Sequence
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from apps.comparison.claiming.models import Claim
from apps.comparison.study_caveats import caveats_of
from apps.comparison.study_results import Results, results_of
from apps.dashboard.studies.charts import ChartOnPage, charts_of, not_drawn
from apps.dashboard.studies.compared import compared_of
from apps.dashboard.studies.files import kept_files, measured, provenance, uploaded_files
from apps.dashboard.studies.machines import configuration_table, machines_of
from apps.dashboard.studies.told import Told, told_of
from apps.dashboard.studies.values import ValuesOf, have_figures, values_of
from apps.studies.models import Configuration, Study
from apps.studies.plans.shown import plans_of_study
from apps.studies.tables.building import PrintedTable

FORMATS = (
    ("csv", "CSV"),
    ("json", "JSON"),
    ("mediawiki", "MediaWiki"),
    ("dokuwiki", "DokuWiki"),
    ("markdown", "Markdown"),
)
PICTURES = (("svg", "SVG"), ("png", "PNG"), ("csv", "CSV"), ("json", "JSON"))
Contents = list[tuple[str, str, list[tuple[str, str]]]]  # anchor, words, and what stands below it


def context_of(study: Study) -> dict[str, Any]:
    results = results_of(study)
    configurations = list(study.configurations.select_related("host", "target"))
    machines = machines_of(study, results.report, configurations)
    claims, told = Claim.objects.of_study(study), told_of(study, results.report)
    tables, charts = results.tables, charts_of(results, machines)
    return {
        "study": study,
        "told": told,
        "machines": machines,
        "configurations": configuration_table(results.report, configurations),
        "plans": plans_of_study(study),
        "tables": [(table, reverse("api-table", args=[study.slug, table.name])) for table in tables],
        "charts": [one for one in charts if one.is_shown],
        "not_drawn": not_drawn(charts),
        "compared": compared_of(study),
        "measured": measured(study),
        "values": _values(results, configurations),
        "has_printed_figures": have_figures(tables),
        "claims": list(claims.defer("computed", "definition")),
        "verdicts": claims.verdicts(),
        "caveats": caveats_of([study])[study.pk],
        "uploaded": list(uploaded_files(study)),
        "kept": kept_files(study),
        "provenance": provenance(study),
        "contents": _contents(told, tables, charts),
        "formats": FORMATS,
        "pictures": PICTURES,
    }


def _values(results: Results, configurations: Sequence[Configuration]) -> list[ValuesOf]:
    """Of a report, whose values are few. A study of one's own is read by its comparisons."""
    return values_of(results.samples, {one.name: one.label for one in configurations}) if results.report else []


def _contents(told: Told, tables: Sequence[PrintedTable], charts: Sequence[ChartOnPage]) -> Contents:
    below = [("tables", f"{_('Printed tables')} ({len(tables)})")] if tables else []
    below += [("charts", f"{_('Charts')} ({len(charts)})")] if charts else []
    parts: Contents = [
        ("about", _("Question and source"), []), ("set-up", _("Set-up"), []), ("procedure", _("Procedure"), []),
        ("results", _("Results"), below), ("claims", _("Claims"), []), ("caveats", _("Caveats"), []),
    ]  # fmt: skip
    if told.has_remarks:
        parts.append(("remarks", _("Remarks and contradictions"), []))
    return [*parts, ("files", _("Files and provenance"), [])]

"""Studies as the REST interface shows them. Field names are fixed: scripts rely on them; more may be added."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Count
from django.urls import NoReverseMatch, reverse

from apps.comparison.claiming.models import Claim
from apps.comparison.in_studies.models import StudyComparison
from apps.comparison.study_caveats import caveats_of
from apps.publishing.shown import AnyRequest, caveat
from apps.studies.models import Configuration, Study
from apps.studies.plans.models import Plan
from apps.studies.reports import Report, report_of
from apps.studies.tables.building import PrintedCell, PrintedTable

OWN = ("slug", "title", "title_english", "question", "site", "year", "language", "source", "notes")


def summaries(request: AnyRequest, studies: Sequence[Study]) -> list[dict[str, Any]]:
    """Three queries for all of them."""
    keys = [one.pk for one in studies]
    configurations = _counted(Configuration.objects.filter(study__in=keys), "id")
    runs = _counted(Configuration.objects.filter(study__in=keys), "study_runs")
    claims = _counted(Claim.objects.filter(study__in=keys), "id")
    return [
        _own(request, one)
        | {"configuration_count": configurations.get(one.pk, 0), "run_count": runs.get(one.pk, 0)}
        | {"claim_count": claims.get(one.pk, 0)}
        for one in studies
    ]


def _counted(rows: Any, what: str) -> dict[int, int]:
    return dict(rows.order_by().values_list("study").annotate(Count(what)))


def shown_study(request: AnyRequest, study: Study) -> dict[str, Any]:
    report, verdicts = report_of(study), Claim.objects.of_study(study).verdicts()
    configurations = study.configurations.select_related("host").annotate(Count("study_runs")).order_by("position")
    return _own(request, study) | {
        "configurations": [_configuration(one) for one in configurations],
        "tables": _tables(request, study, report),
        "charts": _charts(request, study, report),
        "claims": {"count": sum(verdicts.values()), "verdicts": verdicts, "url": _claims(request, study)},
        "plan": [{"id": one.pk, "name": one.name} for one in Plan.objects.filter(study=study).order_by("id")],
        "caveats": [caveat(one) for one in caveats_of([study])[study.pk]],
        "links": _links(request, study),
    }


def _own(request: AnyRequest, study: Study) -> dict[str, Any]:
    return {
        "id": study.pk,
        "url": request.build_absolute_uri(reverse("api-study", args=[study.slug])),
        "page": request.build_absolute_uri(reverse("study", args=[study.slug])),
        **{name: getattr(study, name) for name in OWN},
        "lab": study.lab.name,
        "is_published": study.lab.is_published,
    }


def _configuration(one: Any) -> dict[str, Any]:
    return {
        "name": one.name, "label": one.label, "position": one.position, "host": one.host_id,
        "host_name": one.host.name if one.host else None, "target": one.target_id, "runs": one.study_runs__count,
    }  # fmt: skip


def _tables(request: AnyRequest, study: Study, report: Report | None) -> list[dict[str, Any]]:
    printed = [(one.name, one.title, one.source_lines) for one in report.tables.values()] if report else []
    own = [(one.name, one.title, "") for one in _put(study) if one.has_table]
    return [
        {"name": name, "title": title, "source_lines": lines, "url": _address(request, "api-table", study, name)}
        for name, title, lines in (*printed, *own)
    ]


def _charts(request: AnyRequest, study: Study, report: Report | None) -> list[dict[str, Any]]:
    forms = report.charts.values() if report else []
    printed = [(one.name, one.title, one.is_chart, one.not_drawn, dict(one.reported)) for one in forms]
    own: list[tuple[str, str, bool, str, dict[str, str]]] = [
        (one.name, one.title, True, "", {}) for one in _put(study) if one.has_chart
    ]
    return [
        {
            "name": name, "title": title, "is_drawn": is_drawn, "not_drawn": why, "report": told,
            "url": _address(request, "api-chart", study, name),
        }
        for name, title, is_drawn, why, told in (*printed, *own)
    ]  # fmt: skip


def _put(study: Study) -> list[Any]:
    return list(StudyComparison.objects.of_study(study))


def _address(request: AnyRequest, route: str, study: Study, name: str) -> str:
    return request.build_absolute_uri(reverse(route, args=[study.slug, name]))


def _claims(request: AnyRequest, study: Study) -> str:
    return request.build_absolute_uri(f"{reverse('api-claims')}?study={study.slug}")


def _links(request: AnyRequest, study: Study) -> dict[str, str]:
    found = {
        "runs": f"{reverse('api-runs')}?study={study.slug}",
        "samples": f"{reverse('api-samples')}?study={study.slug}",
        "claims_page": reverse("claims", args=[study.slug]),
        "mediawiki": f"{reverse('api-study', args=[study.slug])}?format=mediawiki",
    }
    for name, route in (("wiki_page", "study-wiki"), ("plan_page", "study-plan")):
        try:
            found[name] = reverse(route, args=[study.slug])
        except NoReverseMatch:
            continue
    return {name: request.build_absolute_uri(address) for name, address in found.items()}


def shown_table(found: PrintedTable) -> dict[str, Any]:
    form = found.form
    return {
        "name": form.name,
        "title": form.title,
        "source_lines": form.source_lines,
        "unit": form.unit,
        "notes": list(form.notes),
        "heads": [[{"text": one.text, "span": one.span, "down": one.down} for one in row] for row in found.heads],
        "columns": list(found.columns),
        "rows": [{"head": row.head, "cells": [_cell(one) for one in row.cells]} for row in found.rows],
    }


def _cell(found: PrintedCell) -> dict[str, Any]:
    values = [
        {"sample": one.id, "run": one.run, "value": one.value, "low": one.low, "high": one.high, "quality": one.quality}
        for one in found.samples
    ]
    return {"text": found.text, "kind": found.kind, "remark": found.remark, "span": found.span, "samples": values}

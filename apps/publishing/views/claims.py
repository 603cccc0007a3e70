"""Claims of studies: statement, verdict, numbers, samples, and the readings that would turn the verdict."""

from typing import Any

from django.db.models import Prefetch, Q
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from apps.comparison.claiming.models import Claim, VerdictChange
from apps.comparison.claims.outcomes import VERDICTS
from apps.comparison.question import QuestionError, text
from apps.lib.quantities import written
from apps.lib.reader_base import base
from apps.publishing import claim_schema, schema
from apps.publishing.answers import no_document, publish
from apps.publishing.pagination import page
from apps.publishing.resource import resource

PARAMETERS = [
    OpenApiParameter("study", description="slug or id; the same name twice means either"),
    OpenApiParameter("verdict", enum=list(VERDICTS)),
    schema.BASE,
]


@schema.described(
    claim_schema.Claim, paged=True, errors=(400,), parameters=PARAMETERS, operation_id="claims_list",
    description="In the order in which they were written.",
)  # fmt: skip
@resource()
def claims(request: Request) -> Response:
    return page(request, _chosen(request), lambda found: [_shown(request, one) for one in found])


@schema.described(
    claim_schema.Claim, errors=(404,), operation_id="claims_read", also={304: None}, parameters=[schema.BASE]
)
@resource()
def claim(request: Request, pk: int) -> HttpResponseBase:
    """One claim, with the history of its verdict."""
    found = get_object_or_404(Claim.objects.select_related("study").prefetch_related(_history()), pk=pk)
    permalink = request.build_absolute_uri(found.get_absolute_url())
    return publish(request, _shown(request, found), no_document, permalink)


def _history() -> Any:
    """Without the numbers of former evaluations, which may be long."""
    return Prefetch("history", VerdictChange.objects.defer("computed"))


def _chosen(request: Request) -> Any:
    chosen = Claim.objects.select_related("study").prefetch_related(_history())
    if studies := request.query_params.getlist("study"):
        either = Q()
        for one in studies:
            name = text("study", one)
            either |= Q(study__slug=name) | (Q(study=int(name)) if name.isdecimal() and len(name) < 19 else Q())
        chosen = chosen.filter(either)
    if verdicts := request.query_params.getlist("verdict"):
        for one in verdicts:
            if one not in VERDICTS:
                raise QuestionError("verdict", one, f"one of: {', '.join(VERDICTS)}")
        chosen = chosen.filter(verdict__in=verdicts)
    return chosen


def _computed(claim: Claim, in_base: int) -> dict[str, Any]:
    """With its sentences in the units that the address asks for."""
    checks = [
        {
            **check,
            "sentence": written(check["sentence"], in_base),
            "lines": [{**line, "words": written(line["words"], in_base)} for line in check["lines"]],
        }
        for check in claim.computed.get("checks", [])
    ]
    return {**claim.computed, "checks": checks} if checks else claim.computed


def _shown(request: Request, claim: Claim) -> dict[str, Any]:
    return {
        "id": claim.pk,
        "url": request.build_absolute_uri(reverse("api-claim", args=[claim.pk])),
        "page": request.build_absolute_uri(claim.get_absolute_url()),
        "study": claim.study.slug,
        "code": claim.code,
        "statement": claim.statement,
        "language": claim.language,
        "statement_english": claim.statement_english,
        "source_lines": claim.source_lines,
        "quote": claim.quote,
        "comment": claim.comment,
        "kind": claim.kind,
        "definition": claim.definition,
        "verdict": claim.verdict,
        "computed": _computed(claim, base()),
        "samples": claim.samples,
        "sensitivity": claim.overturned_by,
        "doubtful_samples": claim.sensitivity.get("doubtful_samples", 0),
        "readings_tried": claim.sensitivity.get("readings_tried", 0),
        "problem": claim.problem,
        "evaluated_at": claim.evaluated_at,
        "history": [
            {"at": one.at, "before": one.before or None, "after": one.after, "why": one.why}
            for one in claim.history.all()
        ],
    }

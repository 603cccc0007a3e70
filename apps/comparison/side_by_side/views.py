"""The page: one address for what was chosen, and a list to choose from."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from apps.comparison.labels import operation_of
from apps.comparison.question import QuestionError
from apps.comparison.side_by_side.queries import answer, in_force, newest_measured
from apps.comparison.side_by_side.question import MOST_COLUMNS, SideBySideQuestion, parse
from apps.comparison.side_by_side.table import SideBySideTable
from apps.comparison.side_by_side.table_text import rows_of
from apps.comparison.views import FORMATS
from apps.core.unit_base import base as reader_base
from apps.core.units import BASES
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.runs.metrics import METRICS
from apps.runs.models import Measure
from apps.studies.models import Study

TEMPLATE = "comparison/side-by-side.html"
OFFERED = 200  # targets to choose from; more are found through the list of targets


@require_safe
@member_required()
def side_by_side(request: LabRequest) -> HttpResponse:
    try:
        question = parse({"base": [str(reader_base())], **_address(request)})
    except QuestionError as error:
        return render(request, TEMPLATE, {"error": error, "asked": SideBySideQuestion()}, status=400)
    question = in_force(question)
    table = answer(question)
    context = {"table": table, "rows": rows_of(table, _filters(question, table))}
    return render(request, TEMPLATE, {**_context(question), **context})


@require_safe
@member_required()
def chooser(request: LabRequest) -> HttpResponse:
    """Show a form that chooses columns and rows and leads to the page's address."""
    try:
        question = parse(_address(request))
    except QuestionError:
        question = SideBySideQuestion()
    measured = set(Measure.objects.values_list("operation", "metric"))
    context = {
        "asked": question, "targets": newest_measured(OFFERED), "most": MOST_COLUMNS,
        "studies": Study.objects.order_by("title"),
        "operations": [(name, operation_of(name)) for name in sorted({name for name, _ in measured})],
        "metrics": [(name, METRICS[name].label) for name in METRICS if name in {metric for _, metric in measured}],
    }  # fmt: skip
    return render(request, "comparison/side-by-side-chooser.html", context)


def _address(request: LabRequest) -> dict[str, list[str]]:
    return {name: [str(value) for value in values] for name, values in request.GET.lists()}


def _context(question: SideBySideQuestion) -> dict[str, Any]:
    page, rest, query = reverse("side-by-side"), reverse("api-side-by-side"), question.address
    plain = question.with_(base=BASES[0]).address
    return {
        "asked": question,
        "chooser": f"{reverse('side-by-side-chooser')}?{query}",
        "bases": [
            (base, f"{page}?{plain}&base={base}") for base in BASES
        ],  # said, because what is not said is the reader's
        "exports": [(label, f"{rest}?{query}&format={name}") for name, label in FORMATS],
    }


def _filters(question: SideBySideQuestion, table: SideBySideTable) -> list[tuple[str, str]]:
    """Return the filters of the comparison page that shows the same columns as its series."""
    filters = (
        [("study", question.study)] if question.study else [pair for column in table.columns for pair in column.filters]
    )
    return list(dict.fromkeys(filters))

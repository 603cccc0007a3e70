"""The page: one address for what was chosen, and a list to choose from."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote, urlencode

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_safe

from apps.comparison.question import QuestionError
from apps.comparison.side_by_side.answer import begun, in_force
from apps.comparison.side_by_side.asked import MOST_COLUMNS, Asked, parse
from apps.comparison.side_by_side.html import inside
from apps.comparison.side_by_side.loading import newest_measured
from apps.comparison.side_by_side.table import Column
from apps.comparison.views import FORMATS
from apps.comparison.words import operation_of
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.lib.reader_base import base as reader_base
from apps.lib.units import BASES
from apps.runs.metrics import METRICS
from apps.runs.models import Measure
from apps.studies.models import Study

TEMPLATE = "comparison/side-by-side.html"
PLACE = mark_safe("<!-- inside -->")  # nothing that people wrote can look like it: that is escaped
OFFERED = 200  # targets to choose from; more are found through the list of targets


@require_safe
@member_required()
def side_by_side(request: LabRequest) -> HttpResponse:
    try:
        asked = parse({"base": [str(reader_base())], **_address(request)})
    except QuestionError as error:
        return render(request, TEMPLATE, {"error": error, "asked": Asked()}, status=400)
    asked = in_force(asked)
    with begun(asked) as found:  # the page is written around the inside of its table while the database sums up
        page = render(request, TEMPLATE, _context(asked))
        table = found()
    if not table.rows:
        return render(request, TEMPLATE, {**_context(asked), "table": table})
    filled = inside(table, _comparison_of(asked, table.columns))
    page.content = page.content.replace(PLACE.encode(), filled.encode())
    return page


@require_safe
@member_required()
def chooser(request: LabRequest) -> HttpResponse:
    """Which columns, which rows: a form that leads to the page's address."""
    try:
        asked = parse(_address(request))
    except QuestionError:
        asked = Asked()
    measured = set(Measure.objects.values_list("operation", "metric"))
    context = {
        "asked": asked, "targets": newest_measured(OFFERED), "most": MOST_COLUMNS,
        "studies": Study.objects.order_by("title"),
        "operations": [(name, operation_of(name)) for name in sorted({name for name, _ in measured})],
        "metrics": [(name, METRICS[name].label) for name in METRICS if name in {metric for _, metric in measured}],
    }  # fmt: skip
    return render(request, "comparison/side-by-side-chooser.html", context)


def _address(request: LabRequest) -> dict[str, list[str]]:
    return {name: [str(value) for value in values] for name, values in request.GET.lists()}


def _context(asked: Asked) -> dict[str, Any]:
    page, rest, query = reverse("side-by-side"), reverse("api-side-by-side"), asked.address
    plain = asked.with_(base=BASES[0]).address
    return {
        "asked": asked,
        "place": PLACE,
        "chooser": f"{reverse('side-by-side-chooser')}?{query}",
        "bases": [
            (base, f"{page}?{plain}&base={base}") for base in BASES
        ],  # said, because what is not said is the reader's
        "exports": [(label, f"{rest}?{query}&format={name}") for name, label in FORMATS],
    }


def _comparison_of(asked: Asked, chosen: Sequence[Column]) -> str:
    """The comparison page for one row, with the same columns as its series; braces are left for the row to fill."""
    filters = [("study", asked.study)] if asked.study else [pair for column in chosen for pair in column.filters]
    rest = urlencode(list(dict.fromkeys(filters)), quote_via=quote)  # which leaves no brace as it is
    return f"{reverse('compare')}?metric={{metric}}&operation={{operation}}&series=label&{rest}"

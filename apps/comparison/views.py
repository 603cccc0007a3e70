"""The compare page: one view and one address for the page and for its changing part."""

from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe
from django_htmx.http import push_url

from apps.comparison.answer import answer
from apps.comparison.carried import carried
from apps.comparison.cells import Comparison
from apps.comparison.choices import choices
from apps.comparison.confounders import MOST_SERIES
from apps.comparison.counts import Counts, counts
from apps.comparison.details import effect_rows
from apps.comparison.drawing.as_json import as_json
from apps.comparison.drawing.chart import Chart, Kind
from apps.comparison.drawing.kinds import NAMES, SCALES
from apps.comparison.drawing.of_comparison import chart_of, refusals
from apps.comparison.grid import grid
from apps.comparison.loading import load
from apps.comparison.method import method_of
from apps.comparison.question import NO_BASELINE, Question, QuestionError, parse
from apps.comparison.readings import Reading
from apps.comparison.words import label_of, text_of
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import Role
from apps.lib.reader_base import base, remember

FORMATS = (
    ("csv", "CSV"),
    ("json", "JSON"),
    ("mediawiki", "MediaWiki"),
    ("dokuwiki", "DokuWiki"),
    ("markdown", "Markdown"),
)
DOWNLOADS = (("csv", "CSV"), ("json", "JSON"), ("svg", "SVG"), ("png", "PNG"))


@require_safe
@member_required()
def compare(request: LabRequest) -> HttpResponse:
    is_fragment = bool(request.htmx)  # type: ignore[attr-defined]
    template = "comparison/_compare.html" if is_fragment else "comparison/compare.html"
    try:
        question = _asked(request)
        context = _context(request, question, counts(question) if is_fragment else {})
    except QuestionError as error:
        context = _refused(error)
        # htmx shows no answer with a 4xx; the sentence is what the reader needs
        return render(request, template, context, status=200 if is_fragment else 400)
    response = render(request, template, context)
    if not is_fragment:
        return response
    if "base" in request.GET:  # chosen in the form: for all pages
        remember(response, question.base)
    return push_url(response, context["permalink"])


@require_safe
@member_required()
def filters(request: LabRequest) -> HttpResponse:
    """All choices of the filters with their counts, asked for when they are opened: the page does without them."""
    try:
        question = _asked(request)
        found = choices(question, load(question), counts(question))
    except QuestionError as error:
        raise Http404(str(error)) from None
    return render(request, "comparison/_facets.html", {"choices": found})


def _asked(request: LabRequest) -> Question:
    """Units that the address leaves open are the reader's."""
    asked = {name: [str(value) for value in values] for name, values in request.GET.lists()}
    return parse({"base": [str(base())], **asked})


def _context(request: LabRequest, question: Question, counted: Counts) -> dict[str, Any]:
    comparison, readings, lost = _answered(question)
    table = grid(comparison)
    drawn = chart_of(comparison, readings, table)
    return {
        "question": question,
        "lost_baseline": lost,
        "comparison": comparison,
        "grid": table,
        "chart": as_json(drawn),
        **_chosen_chart(request, comparison, drawn),
        "choices": choices(question, readings, counted),
        "chosen": [
            (name, label_of(name), text_of(name, value), _link(question.without(name, value)))
            for name, value in question.filters
        ],
        "caveats": table.lettered(comparison.caveats),
        "confounders": comparison.confounders_by_kind,
        "suggestion": _suggested(question, comparison),
        "effects": effect_rows(comparison),
        "ceilings": carried(readings),
        "only_with_baseline": len(comparison.series) > MOST_SERIES,
        "permalink": _link(comparison.question),
        "exports": _exports(request, comparison),
        "side_by_side": _side_by_side(question),
        "method": method_of(comparison),
        "no_baseline": NO_BASELINE,
        "may_save": request.member.covers(Role.ENGINEER),
    }


def _chosen_chart(request: LabRequest, comparison: Comparison, drawn: Chart) -> dict[str, Any]:
    """How it is drawn, how else it could be, why it is not what was asked for, and where it can be had."""
    in_force = comparison.question.with_(chart=drawn.kind.value, axis=drawn.x.scale)
    return {
        "kind": drawn.kind.value,
        "kinds": NAMES.items(),
        "downloads": [(name, label, _in_rest(request, in_force, name)) for name, label in DOWNLOADS],
        "picture": _in_rest(request, in_force, "svg"),
        "axes": SCALES.items(),
        "has_true_axis": drawn.kind is Kind.LINE,
        "refusals": refusals(comparison),
    }


def _answered(question: Question) -> tuple[Comparison, list[Reading], str]:
    """Whoever flips the operation may lose the series that was the baseline: the page goes on with another, and says
    so.
    """
    try:
        return *answer(question), ""
    except QuestionError as error:
        if error.field != "baseline":
            raise
        return *answer(question.with_(baseline="")), question.baseline


def _suggested(question: Question, comparison: Comparison) -> dict[str, Any] | None:
    found = comparison.suggestion
    if found is None:
        return None
    names = {name for name, _ in found.filters}
    kept = (pair for pair in question.filters if pair[0] not in names)
    narrowed = question.with_(filters=(*kept, *found.filters), baseline="")
    return {"units": found.units, "contrast": found.contrast, "link": _link(narrowed)}


def _link(question: Question) -> str:
    return f"{reverse('compare')}?{question.permalink}"


def _refused(error: QuestionError) -> dict[str, Any]:
    asked = Question()
    return {
        "error": error,
        "question": asked,
        "choices": choices(asked, []),
        "kinds": NAMES.items(),
        "side_by_side": _side_by_side(asked),
    }


def _side_by_side(question: Question) -> str:
    """Of the study that is looked at, where it is one; else of what was measured last."""
    studies = [value for name, value in question.filters if name == "study"]
    return reverse("side-by-side") + (f"?{urlencode({'study': studies[0]})}" if len(studies) == 1 else "")


def _exports(request: LabRequest, comparison: Comparison) -> list[tuple[str, str, str]]:
    """(format, its name, absolute address in the REST interface)."""
    return [(name, label, _in_rest(request, comparison.question, name)) for name, label in FORMATS]


def _in_rest(request: LabRequest, question: Question, form: str) -> str:
    return f"{request.build_absolute_uri('/api/v1/compare/')}?{question.address}&format={form}"

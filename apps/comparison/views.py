"""The compare page; one view serves the page and its part that changes."""

from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe
from django_htmx.http import push_url

from apps.comparison.answer import answer
from apps.comparison.ceilings import find_ceilings
from apps.comparison.cells import Comparison, Withheld
from apps.comparison.charts.chart import Chart, ChartKind
from apps.comparison.charts.comparison import chart_of, refusals
from apps.comparison.charts.json_payload import as_json
from apps.comparison.charts.registry import NAMES, SCALES
from apps.comparison.confounders import MOST_SERIES
from apps.comparison.default_question import FirstView, first_view
from apps.comparison.details import effect_rows
from apps.comparison.grid import grid
from apps.comparison.labels import label_of, text_of
from apps.comparison.like_for_like.views import OWN_PARAMETERS, questions, short_questions
from apps.comparison.queries.choices import (
    MOST_LISTED,
    MOST_VALUES,
    Choices,
    Counts,
    choices,
    counts,
    newest_readings,
)
from apps.comparison.queries.samples import load
from apps.comparison.question import MOST_DRAWN, NO_BASELINE, Question, QuestionError, TooManySamplesError, parse
from apps.comparison.readings import POINT, Reading
from apps.comparison.series import rows_of
from apps.comparison.statistics.method import method_of
from apps.core.unit_base import base, remember
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import Role

FORMATS = (
    ("csv", "CSV"),
    ("json", "JSON"),
    ("mediawiki", "MediaWiki"),
    ("dokuwiki", "DokuWiki"),
    ("markdown", "Markdown"),
)
PICTURES = (("svg", "SVG"), ("png", "PNG"))
TILED = (ChartKind.HEAT, ChartKind.MATRIX)  # a row for each series, so all are drawn


@require_safe
@member_required()
def compare(request: LabRequest) -> HttpResponse:
    """Return the comparison of the address; without one, the questions that the lab's runs can answer.

    The start page loads the first of their answers with `?short=1`.
    """
    is_fragment = bool(request.htmx)  # type: ignore[attr-defined]
    if request.GET.get("short"):
        return short_questions(request)
    if not is_fragment and not set(request.GET) - OWN_PARAMETERS:
        return questions(request)
    return _compared(request, None)


@require_safe
@member_required()
def free(request: LabRequest) -> HttpResponse:
    """Return the comparison of the lab's newest configurations, to go on from."""
    return _compared(request, first_view(request.lab.pk))


def _compared(request: LabRequest, first: FirstView | None) -> HttpResponse:
    is_fragment = bool(request.htmx)  # type: ignore[attr-defined]
    template = "comparison/_compare.html" if is_fragment else "comparison/compare.html"
    try:
        question = _question_of(request)
        suggested = first.question.with_(base=question.base) if first else question
        context = _context(request, suggested, counts(question) if is_fragment else {})
        context["all_link"] = _link(suggested.with_(filters=())) if first else ""
        context["first_study"] = first.study if first else None
    except QuestionError as error:
        context = _refused(request, error)
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
    """Return all choices of the filters with their counts; loaded when they are opened."""
    try:
        question = _question_of(request)
        all_choices, newest = _all_choices(question)
    except QuestionError as error:
        raise Http404(str(error)) from None
    return render(request, "comparison/_facets.html", {"choices": all_choices, "newest": newest})


def _all_choices(question: Question) -> tuple[Choices, int]:
    """Return all filters; of a question with too many samples those of its newest runs, and how many these are."""
    try:
        return choices(question, load(question), counts(question), MOST_LISTED), 0
    except TooManySamplesError:
        return _newest_choices(question)


def _newest_choices(question: Question) -> tuple[Choices, int]:
    readings, runs = newest_readings(question)
    return choices(question, readings, most=MOST_LISTED), runs


def _question_of(request: LabRequest) -> Question:
    """Return the question of the address; units that it leaves open are the reader's."""
    query = {name: [str(value) for value in values] for name, values in request.GET.lists()}
    return parse({"base": [str(base())], **query})


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
        "choices": choices(question, readings, counted, MOST_LISTED if counted else MOST_VALUES),
        "chosen": _chosen(question),
        "caveats": table.lettered(comparison.caveats),
        "confounders": comparison.confounders_by_kind,
        "mixtures": sum(cell.unlike > 1 for cell in comparison.cells),
        "confounded": sum(cell.withheld is Withheld.CONFOUNDED for cell in comparison.cells),
        "suggestion": _suggested(question, comparison),
        "effects": effect_rows(comparison),
        "ceilings": find_ceilings(readings),
        "only_with_baseline": len(comparison.series) > MOST_SERIES,
        "permalink": _link(comparison.question),
        "share_link": request.build_absolute_uri(_link(comparison.question)),
        "pairs_but_draw": [pair for pair in comparison.question.pairs() if pair[0] != "draw"],
        "series_rows": rows_of(comparison, _link),
        "usual_order": _link(comparison.question.with_(order=())) if comparison.question.order else "",
        "usual_draw": _link(comparison.question.with_(draw=())) if comparison.question.draw else "",
        "most_drawn": MOST_DRAWN,
        "exports": _exports(request, comparison),
        "side_by_side": _side_by_side(question),
        "method": method_of(comparison),
        "no_baseline": NO_BASELINE,
        "may_save": request.member.covers(Role.ENGINEER),
    }


def _chosen(question: Question) -> list[tuple[str, str, str, str]]:
    """Return name, label and text of each filter in force, and the address without it."""
    return [
        (name, label_of(name), _filter_text(name, value), _link(question.without(name, value)))
        for name, value in question.filters
    ]


def _filter_text(name: str, value: str) -> str:
    """Return a filter's value as text: a size with its unit; of many runs only their number."""
    if name == "run" and "," in value:
        return f"{value.count(',') + 1} of them"
    return text_of(name, int(value) if name in POINT and value.isdecimal() else value)


def _chosen_chart(request: LabRequest, comparison: Comparison, drawn: Chart) -> dict[str, Any]:
    """Return the context of the chart: its kind, the other kinds, why it is not the one that was asked for, and its pictures."""
    in_force = comparison.question.with_(chart=drawn.kind.value, axis=drawn.x.scale)
    return {
        "kind": drawn.kind.value,
        "kinds": NAMES.items(),
        "pictures": [(name, label, _in_rest(request, in_force, name)) for name, label in PICTURES],
        "picture": _in_rest(request, in_force, "svg"),
        "axes": SCALES.items(),
        "has_true_axis": drawn.kind is ChartKind.LINE,
        "is_tiled": drawn.kind in TILED,
        "refusals": refusals(comparison),
    }


def _answered(question: Question) -> tuple[Comparison, list[Reading], str]:
    """Answer the question, with another baseline where its own is gone (as when the operation changes), and report that."""
    try:
        return *answer(question), ""
    except QuestionError as error:
        if error.field != "baseline":
            raise
        return *answer(question.with_(baseline="")), question.baseline


def _suggested(question: Question, comparison: Comparison) -> dict[str, Any] | None:
    suggestion = comparison.suggestion
    if suggestion is None:
        return None
    names = {name for name, _ in suggestion.filters}
    other_filters = (pair for pair in question.filters if pair[0] not in names)
    narrowed = question.with_(filters=(*other_filters, *suggestion.filters), baseline="", draw=())
    return {"units": suggestion.units, "contrast": suggestion.contrast, "link": _link(narrowed)}


def _link(question: Question) -> str:
    return f"{reverse('compare')}?{question.permalink}"


def _refused(request: LabRequest, error: QuestionError) -> dict[str, Any]:
    """Return the context of a question without an answer; one that is too large can be narrowed down on its page."""
    question, all_choices, newest = Question(), choices(Question(), []), 0
    if isinstance(error, TooManySamplesError):
        question = _question_of(request)
        all_choices, newest = _newest_choices(question)
    return {
        "error": error,
        "is_too_large": isinstance(error, TooManySamplesError),
        "newest": newest,
        "question": question,
        "choices": all_choices,
        "chosen": _chosen(question),
        "kinds": NAMES.items(),
        "side_by_side": _side_by_side(question),
    }


def _side_by_side(question: Question) -> str:
    """Return the address of the side-by-side table of the study in question, else of what was measured last."""
    studies = [value for name, value in question.filters if name == "study"]
    return reverse("side-by-side") + (f"?{urlencode({'study': studies[0]})}" if len(studies) == 1 else "")


def _exports(request: LabRequest, comparison: Comparison) -> list[tuple[str, str, str]]:
    """Return (format, its name, absolute address in the REST interface) for each download."""
    return [(name, label, _in_rest(request, comparison.question, name)) for name, label in FORMATS]


def _in_rest(request: LabRequest, question: Question, form: str) -> str:
    return f"{request.build_absolute_uri('/api/v1/compare/')}?{question.address}&format={form}"

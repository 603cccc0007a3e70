"""The compare page: one view and one address for the page and for its changing part."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django_htmx.http import push_url

from apps.comparison.answer import answer
from apps.comparison.charts import chart_data
from apps.comparison.choices import choices
from apps.comparison.compare import METHOD, Comparison
from apps.comparison.grid import grid
from apps.comparison.question import NO_BASELINE, Question, QuestionError, parse
from apps.comparison.readings import Reading
from apps.comparison.words import label_of, text_of
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest

FORMATS = (
    ("csv", "CSV, all digits"),
    ("json", "JSON"),
    ("mediawiki", "MediaWiki"),
    ("dokuwiki", "DokuWiki"),
    ("markdown", "Markdown"),
)


@member_required()
def compare(request: LabRequest) -> HttpResponse:
    is_fragment = bool(request.htmx)  # type: ignore[attr-defined]
    template = "comparison/_compare.html" if is_fragment else "comparison/compare.html"
    try:
        question = parse({name: [str(value) for value in values] for name, values in request.GET.lists()})
        context = _context(request, question)
    except QuestionError as error:
        context = {"error": error, "question": Question(), "choices": choices(Question(), [])}
        # htmx shows no answer with a 4xx; the sentence is what the reader needs
        return render(request, template, context, status=200 if is_fragment else 400)
    response = render(request, template, context)
    return push_url(response, context["permalink"]) if is_fragment else response


def _context(request: LabRequest, question: Question) -> dict[str, Any]:
    comparison, readings, lost = _answered(question)
    table = grid(comparison)
    return {
        "question": question,
        "lost_baseline": lost,
        "comparison": comparison,
        "grid": table,
        "chart": chart_data(comparison, table),
        "choices": choices(question, readings),
        "chosen": [
            (name, label_of(name), text_of(name, value), _link(question.without(name, value)))
            for name, value in question.filters
        ],
        "caveats": [(caveat, table.letters.get(caveat.rule, "")) for caveat in comparison.caveats],
        "confounders": {
            kind: [one for one in comparison.confounders if one.kind == kind]
            for kind in ("differs", "mixed", "unknown")
        },
        "permalink": _link(comparison.question),
        "exports": _exports(request, comparison),
        "method": METHOD,
        "no_baseline": NO_BASELINE,
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


def _link(question: Question) -> str:
    return f"{reverse('compare')}?{question.address}"


def _exports(request: LabRequest, comparison: Comparison) -> list[tuple[str, str, str]]:
    """(format, its name, absolute address in the REST interface)."""
    here = request.build_absolute_uri("/api/v1/compare/")
    return [(name, label, f"{here}?{comparison.question.address}&format={name}") for name, label in FORMATS]

"""Compare opens on the questions that a lab's runs can answer; each has a page with its matched sets."""

from collections.abc import Iterable
from math import exp
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from apps.comparison.labels import label_of
from apps.comparison.like_for_like.answers import FactorAnswer
from apps.comparison.like_for_like.cards import AnswerCard, card_of, claim_link_of, link_of, report_rows
from apps.comparison.like_for_like.contrast_table import contrast_tables
from apps.comparison.like_for_like.forest import MOST_ROWS
from apps.comparison.like_for_like.free_comparison import address_of_answer
from apps.comparison.like_for_like.missing_plan import plans_for
from apps.comparison.like_for_like.nearest import NearestPair
from apps.comparison.like_for_like.report import answer_one, report
from apps.comparison.like_for_like.report_questions import questions_of_reports
from apps.comparison.like_for_like.scope import labs_of
from apps.comparison.like_for_like.selection import FactorSelection, parse_selection
from apps.comparison.like_for_like.sentences import (
    METHOD,
    measure_words,
    missing_words,
    nearest_words,
    words_of_measure,
)
from apps.comparison.like_for_like.set_caveats.findings import (
    SetCaveats,
    caveats_of_answer,
    caveats_of_few,
    has_few_runs,
)
from apps.comparison.like_for_like.set_caveats.words import caveat_rows, looked_words, marks_of
from apps.comparison.question import QuestionError
from apps.comparison.questions import BY_NAME
from apps.comparison.questions.factor import Factor
from apps.core import units
from apps.core.unit_base import base
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import Role
from apps.runs.metrics import METRICS

SHORT = 4  # answers on the start page
OWN_PARAMETERS = frozenset({"base", "published"})  # of the page of questions; with any other it is a comparison
DOWNLOADS = (
    ("json", "JSON"), ("csv", "CSV"), ("mediawiki", "MediaWiki"), ("dokuwiki", "DokuWiki"), ("markdown", "Markdown"),
    ("svg", "SVG"), ("png", "PNG"),
)  # fmt: skip


def questions(request: LabRequest) -> HttpResponse:
    """Return the page of all questions."""
    selection = _selection(request)
    labs = labs_of(request.lab.pk, selection)
    has_few = has_few_runs(labs)
    found = report(labs, selection, in_detail=has_few)
    caveats = caveats_of_few(found.answered) if has_few else {}
    reports = questions_of_reports(labs) if selection.published else []
    return render(
        request,
        "comparison/questions.html",
        {
            "cards": [card_of(answer, selection, caveats.get(answer.factor)) for answer in found.answered],
            "open": [card_of(answer, selection) for answer in found.open],
            "report": found,
            "reports": [(one.study, report_rows(one)) for one in reports],
            "selection": selection,
            "may_claim": request.member.covers(Role.ENGINEER),
            "other": reverse("compare") + ("" if selection.published else "?published=yes"),
            "method": METHOD,
        },
    )


def short_questions(request: LabRequest) -> HttpResponse:
    """Return the first answers in one sentence each, for the start page."""
    selection = FactorSelection()
    labs = labs_of(request.lab.pk, selection)
    has_few = has_few_runs(labs)
    found = report(labs, selection, in_detail=has_few)
    answers = found.answered[:SHORT]
    caveats = caveats_of_few(answers) if has_few else {}
    cards = [card_of(answer, selection, caveats.get(answer.factor)) for answer in answers]
    return render(request, "comparison/_questions-short.html", {"cards": cards, "report": found})


@require_safe
@member_required()
def question(request: LabRequest, factor: str) -> HttpResponse:
    """Return the page of one question."""
    if factor not in BY_NAME:
        raise Http404
    try:
        selection = _selection(request)
        answer = answer_one(labs_of(request.lab.pk, selection), factor, selection)
    except QuestionError as error:
        return render(request, "comparison/factor.html", {"error": error, "factor": BY_NAME[factor]}, status=400)
    return render(request, "comparison/factor.html", _context(request, answer, BY_NAME[factor], selection))


def _selection(request: LabRequest) -> FactorSelection:
    return parse_selection({name: [str(value) for value in values] for name, values in request.GET.lists()})


def _context(request: LabRequest, answer: FactorAnswer, factor: Factor, selection: FactorSelection) -> dict[str, Any]:
    caveats = caveats_of_answer(answer)
    free = address_of_answer(answer, factor)
    card = AnswerCard(answer, factor, link_of(factor, selection), free, caveats=caveats, most_rows=MOST_ROWS)
    measured = selection.with_(operation=answer.operation, metric=answer.metric)  # another measure has other levels
    found = caveat_rows(caveats)
    may_start = request.member.covers(Role.ENGINEER) and not selection.published and not selection.study
    return {
        "card": card,
        "answer": answer,
        "factor": factor,
        "selection": selection,
        "contrasts": _contrasts(answer, factor, selection, caveats),
        "caveats": found,
        "is_warned": any(caveat.warning for caveat in found),
        "caveats_looked_at": looked_words(caveats),
        "all_sets": f"/api/v1/questions/{factor.name}/?{urlencode([*selection.pairs(), ('format', 'json')])}",
        "may_claim": request.member.covers(Role.ENGINEER),
        "claim_link": claim_link_of(factor, selection, answer, against=selection.against),
        "nearest": [
            (
                [
                    f"{factor.level_name(level)} {units.human(exp(group.logs.mean), METRICS[answer.metric].unit, base())}"
                    for level, group in zip(pair.levels, pair.groups, strict=True)
                ],
                nearest_words(pair),
                _address_if_unknown_is_equal(pair, factor, selection),
            )
            for pair in answer.nearest
        ],
        "held": _moves(answer.held, lambda name: selection.ignore(name), factor, selection),
        "implied": _moves(answer.implied, lambda name: selection.hold(name), factor, selection),
        "moved": [
            (_(label_of(name)), link_of(factor, selection.unmoved(name)), name in selection.moved.held)
            for name in (*selection.moved.held, *selection.moved.ignored)
        ],
        "nowhere": [_(label_of(name)) for name in answer.nowhere],
        "measures": [
            (words_of_measure(*measure), link_of(factor, selection.with_(operation=measure[0], metric=measure[1], against="")),
             measure == (answer.operation, answer.metric))
            for measure in dict.fromkeys((*factor.asks, (answer.operation, answer.metric)))
        ],
        "missing": card.missing,
        "settling": [missing_words(missing, factor) for missing in answer.settling],
        "plans": plans_for(answer, factor, request.lab.pk, selection) if may_start else [],
        "may_start": may_start,
        "levels": [
            (factor.level_name(level), n, link_of(factor, measured.with_(against=level)))
            for level, n in (answer.candidates or {}).items()
        ],
        "other": link_of(factor, selection.with_(published=not selection.published)),
        "downloads": [
            (label, f"/api/v1/questions/{factor.name}/?{selection.address}{'&' if selection.address else ''}format={name}")
            for name, label in DOWNLOADS
        ],
        "measure": measure_words(answer),
        "method": METHOD,
    }  # fmt: skip


def _contrasts(
    answer: FactorAnswer, factor: Factor, selection: FactorSelection, caveats: SetCaveats
) -> list[dict[str, Any]]:
    """Return the tables of the contrasts, with the address of a claim about each and the letters of their sets' caveats."""
    return [
        {
            **table,
            "claim": claim_link_of(factor, selection, answer, level=contrast.level, against=contrast.against),
            "rows": [
                {**row, "marks": marks_of(caveats, effect)}
                for row, effect in zip(table["rows"], contrast.effects, strict=False)
            ],
        }
        for table, contrast in zip(contrast_tables(answer, factor), answer.contrasts, strict=True)
    ]


def _address_if_unknown_is_equal(pair: NearestPair, factor: Factor, selection: FactorSelection) -> str:
    """Return the address that ignores what is not known of a pair; empty where it also differs in what is known."""
    if pair.differs:
        return ""
    for name in pair.unknown:
        selection = selection.ignore(name)
    return link_of(factor, selection)


def _moves(names: Iterable[str], move: Any, factor: Factor, selection: FactorSelection) -> list[tuple[str, str]]:
    moved = {*selection.moved.held, *selection.moved.ignored}
    return [(_(label_of(name)), link_of(factor, move(name))) for name in names if name not in moved]

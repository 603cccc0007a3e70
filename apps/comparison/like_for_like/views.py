"""Compare opens on the questions that a lab's runs can answer; each has a page with its matched sets."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import exp
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from apps.comparison.labels import label_of
from apps.comparison.like_for_like.answers import FactorAnswer, LevelContrast, StratumEffect
from apps.comparison.like_for_like.forest import FEW_ROWS, MOST_ROWS, forest
from apps.comparison.like_for_like.forest_svg import ForestPlaces, places
from apps.comparison.like_for_like.free_comparison import address_of_answer, address_of_stratum
from apps.comparison.like_for_like.report import answer_one, report
from apps.comparison.like_for_like.report_questions import questions_of_reports
from apps.comparison.like_for_like.scope import labs_of
from apps.comparison.like_for_like.selection import FactorSelection, parse_selection
from apps.comparison.like_for_like.sentences import (
    finding_words,
    labels_of_strata,
    measure_words,
    missing_words,
    nearest_words,
    ratio_text,
    reason,
    sentence,
    subtitle,
    value_text,
    words_of_measure,
)
from apps.comparison.like_for_like.strata import IDENTITIES
from apps.comparison.question import QuestionError
from apps.comparison.questions import BY_NAME
from apps.comparison.questions.factor import Factor
from apps.comparison.statistics.method import MATCHED
from apps.core import units
from apps.core.unit_base import base
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import Role
from apps.runs.metrics import METRICS

MOST_SETS, FEWEST_SETS = 120, 12  # in the tables of one page together, and in each of them at least
OWN_PARAMETERS = frozenset({"base", "published"})  # of the page of questions; with any other it is a comparison
CHIPS = {"effect": "approved", "depends": "warning", "no difference shown": "none", "too few runs": "pending"}
DOWNLOADS = (
    ("json", "JSON"), ("csv", "CSV"), ("mediawiki", "MediaWiki"), ("dokuwiki", "DokuWiki"), ("markdown", "Markdown"),
    ("svg", "SVG"), ("png", "PNG"),
)  # fmt: skip


@dataclass(frozen=True)
class AnswerCard:
    """One answer as the page of questions shows it."""

    answer: FactorAnswer
    factor: Factor
    link: str
    free: str
    plot: ForestPlaces | None

    @property
    def title(self) -> str:
        return str(self.factor.title)

    @property
    def subtitle(self) -> str:
        return subtitle(self.answer)

    @property
    def sentence(self) -> str:
        return sentence(self.answer, self.factor)

    @property
    def reason(self) -> str:
        return reason(self.answer, self.factor)

    @property
    def missing(self) -> list[str]:
        return [missing_words(missing, self.factor) for missing in self.answer.missing]

    @property
    def not_held(self) -> list[str]:
        """Return the facts that could not be held because no run tells them."""
        return [_(label_of(name)) for name in self.answer.nowhere]

    @property
    def is_apart_in_time(self) -> bool:
        """Return whether in some set one level was measured before the other."""
        return any(effect.is_apart_in_time for contrast in self.answer.answered for effect in contrast.usable)

    @property
    def finding(self) -> str:
        return finding_words(self.answer.finding)

    @property
    def chip(self) -> str:
        return CHIPS[self.answer.finding.value]


def questions(request: LabRequest) -> HttpResponse:
    """Return the page of all questions."""
    selection = _selection(request)
    labs = labs_of(request.lab.pk, selection)
    found = report(labs, selection)
    reports = questions_of_reports(labs) if selection.published else []
    return render(
        request,
        "comparison/questions.html",
        {
            "cards": [_card(answer, selection) for answer in found.answered],
            "open": [_card(answer, selection) for answer in found.open],
            "report": found,
            "reports": [
                (one.study, [_card(answer, FactorSelection(study=one.study.slug)) for answer in one.answers])
                for one in reports
            ],
            "selection": selection,
            "other": reverse("compare") + ("" if selection.published else "?published=yes"),
            "method": MATCHED,
        },
    )


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


def _link(factor: Factor, selection: FactorSelection) -> str:
    path = reverse("question", args=[factor.name])
    return f"{path}?{selection.address}" if selection.address else path


def _card(answer: FactorAnswer, selection: FactorSelection) -> AnswerCard:
    factor = BY_NAME[answer.factor]
    plot = places(forest(answer, factor, FEW_ROWS)) if answer.is_answered else None
    return AnswerCard(answer, factor, _link(factor, selection), address_of_answer(answer, factor), plot)


def _context(request: LabRequest, answer: FactorAnswer, factor: Factor, selection: FactorSelection) -> dict[str, Any]:
    plot = places(forest(answer, factor, MOST_ROWS)) if answer.contrasts else None
    card = AnswerCard(answer, factor, _link(factor, selection), address_of_answer(answer, factor), plot)
    measured = selection.with_(operation=answer.operation, metric=answer.metric)  # another measure has other levels
    return {
        "card": card,
        "answer": answer,
        "factor": factor,
        "selection": selection,
        "contrasts": [_contrast(contrast, answer, factor) for contrast in answer.contrasts],
        "all_sets": f"/api/v1/questions/{factor.name}/?{urlencode([*selection.pairs(), ('format', 'json')])}",
        "nearest": [
            (
                [
                    f"{factor.level_name(level)} {units.human(exp(group.logs.mean), METRICS[answer.metric].unit, base())}"
                    for level, group in zip(pair.levels, pair.groups, strict=True)
                ],
                nearest_words(pair),
            )
            for pair in answer.nearest
        ],
        "held": _moves(answer.held, lambda name: selection.ignore(name), factor, selection),
        "implied": _moves(answer.implied, lambda name: selection.hold(name), factor, selection),
        "moved": [
            (_(label_of(name)), _link(factor, selection.unmoved(name)), name in selection.moved.held)
            for name in (*selection.moved.held, *selection.moved.ignored)
        ],
        "nowhere": [_(label_of(name)) for name in answer.nowhere],
        "measures": [
            (words_of_measure(*measure), _link(factor, selection.with_(operation=measure[0], metric=measure[1], against="")),
             measure == (answer.operation, answer.metric))
            for measure in dict.fromkeys((*factor.asks, (answer.operation, answer.metric)))
        ],
        "missing": [
            (missing_words(missing, factor), missing.like.runs[-1] if missing.like.runs else None)
            for missing in answer.missing
        ],
        "may_start": request.member.covers(Role.ENGINEER) and not selection.published and not selection.study,
        "levels": [
            (factor.level_name(level), n, _link(factor, measured.with_(against=level)))
            for level, n in (answer.candidates or {}).items()
        ],
        "other": _link(factor, selection.with_(published=not selection.published)),
        "downloads": [
            (label, f"/api/v1/questions/{factor.name}/?{selection.address}{'&' if selection.address else ''}format={name}")
            for name, label in DOWNLOADS
        ],
        "measure": measure_words(answer),
        "method": MATCHED,
    }  # fmt: skip


def _moves(names: Iterable[str], move: Any, factor: Factor, selection: FactorSelection) -> list[tuple[str, str]]:
    moved = {*selection.moved.held, *selection.moved.ignored}
    return [(_(label_of(name)), _link(factor, move(name))) for name in names if name not in moved]


def _contrast(contrast: LevelContrast, answer: FactorAnswer, factor: Factor) -> dict[str, Any]:
    """Return one contrast for the page, with its matched sets that have most runs."""
    combined = contrast.combination
    most = max(FEWEST_SETS, MOST_SETS // len(answer.contrasts))
    labels = labels_of_strata(contrast.effects, most)
    return {
        "title": f"{factor.level_name(contrast.level)} ÷ {factor.level_name(contrast.against)}",
        "finding": finding_words(contrast.finding),
        "chip": CHIPS[contrast.finding.value],
        "ratio": ratio_text(contrast.ratio) if contrast.ratio else "",
        "interval": _interval(contrast.interval),
        "combined": combined,
        "tau": ratio_text(contrast.tau) if contrast.tau else "",
        "i2": f"{100 * combined.i2:.0f} %" if combined else "",
        "p": f"{contrast.p_adjusted:.2g}" if contrast.p_adjusted is not None else "",
        "prediction": _interval(contrast.prediction),
        "dependence": [
            (value_text(contrast.dependence.fact, value or None), ratio_text(ratio))
            for value, ratio in contrast.dependence.values
        ]
        if contrast.dependence
        else [],
        "depends_on": _(label_of(contrast.dependence.fact)) if contrast.dependence and contrast.dependence.fact else "",
        "rows": [
            _row(effect, label, answer, factor) for effect, label in zip(contrast.effects[:most], labels, strict=True)
        ],
        "left_out": max(0, len(contrast.effects) - most),
    }


def _row(effect: StratumEffect, label: str, answer: FactorAnswer, factor: Factor) -> dict[str, Any]:
    return {
        "label": label,
        "n": effect.n,
        "ratio": ratio_text(effect.ratio),
        "interval": _interval(effect.interval),
        "differs": [_(label_of(name)) for name in effect.stratum.differs if name not in (*factor.facts, *IDENTITIES)],
        "unknown": [_(label_of(name)) for name in effect.stratum.unknown],
        "apart": effect.is_apart_in_time,
        "facts": [(_(label_of(name)), value_text(name, value)) for name, value in sorted(effect.stratum.facts.items())],
        "runs": address_of_stratum(effect, answer, factor),
    }


def _interval(interval: tuple[float, float] | None) -> str:
    if interval is None:
        return ""
    return _("%(low)s to %(high)s") % {"low": ratio_text(interval[0]), "high": ratio_text(interval[1])}

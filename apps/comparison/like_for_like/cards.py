"""Answers as cards and rows of pages: their words, their small plot, and the addresses to which they lead."""

from dataclasses import dataclass
from functools import cached_property
from urllib.parse import quote, urlencode

from django.urls import reverse
from django.utils.translation import gettext as _

from apps.comparison.labels import label_of
from apps.comparison.like_for_like.answers import FactorAnswer
from apps.comparison.like_for_like.contrast_table import CHIPS
from apps.comparison.like_for_like.forest import FEW_ROWS, forest
from apps.comparison.like_for_like.forest_svg import ForestPlaces, places
from apps.comparison.like_for_like.free_comparison import address_of_answer
from apps.comparison.like_for_like.report_questions import AskedQuestion, ReportQuestions
from apps.comparison.like_for_like.selection import FactorSelection, QuestionReference
from apps.comparison.like_for_like.sentences import (
    all_missing_words,
    finding_words,
    reason,
    sentence,
    subtitle,
    unjudged_text,
)
from apps.comparison.like_for_like.set_caveats.findings import SetCaveats
from apps.comparison.like_for_like.set_caveats.words import marked, titles_of
from apps.comparison.questions import BY_NAME
from apps.comparison.questions.factor import Factor


@dataclass(frozen=True)
class AnswerCard:
    """One answer as the page of questions shows it. `caveats` is None where nobody looked for them."""

    answer: FactorAnswer
    factor: Factor
    link: str
    free: str
    claim_link: str = ""
    caveats: SetCaveats | None = None
    most_rows: int = FEW_ROWS  # of the plot

    @cached_property
    def plot(self) -> ForestPlaces | None:
        """Return the forest plot, made only for pages that show it; None where no set has both levels."""
        if not self.answer.contrasts:
            return None
        return places(marked(forest(self.answer, self.factor, self.most_rows), self.caveats))

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
    def unjudged(self) -> str:
        """Return the ratios of sets that have too few runs for a verdict."""
        return unjudged_text(self.answer, self.factor)

    @property
    def missing(self) -> list[str]:
        return all_missing_words(self.answer, self.factor)

    @property
    def not_held(self) -> list[str]:
        """Return the facts that could not be held because no run tells them."""
        return [_(label_of(name)) for name in self.answer.nowhere]

    @property
    def is_apart_in_time(self) -> bool:
        """Return whether in some set one level was measured before the other."""
        return any(effect.is_apart_in_time for contrast in self.answer.answered for effect in contrast.usable)

    @property
    def caveat_titles(self) -> list[str]:
        """Return the titles of the caveats of the runs in its sets."""
        return titles_of(self.caveats) if self.caveats else []

    @property
    def finding(self) -> str:
        return finding_words(self.answer.finding)

    @property
    def chip(self) -> str:
        return CHIPS[self.answer.finding.value]


def link_of(factor: Factor, selection: FactorSelection) -> str:
    return QuestionReference(factor, selection).address


def claim_link_of(
    factor: Factor, selection: FactorSelection, answer: FactorAnswer, *, level: str = "", against: str = ""
) -> str:
    """Return the address at which a claim about an answer is written, or about one contrast of it."""
    asked = selection.with_(operation=answer.operation, metric=answer.metric, against=against)
    pairs = [*asked.pairs(), *([("level", level)] if level else [])]
    return f"{reverse('claim-about', args=[factor.name])}?{urlencode(pairs, quote_via=quote)}"


def card_of(answer: FactorAnswer, selection: FactorSelection, caveats: SetCaveats | None = None) -> AnswerCard:
    factor = BY_NAME[answer.factor]
    claim_link = claim_link_of(factor, selection, answer)
    free = address_of_answer(answer, factor)
    return AnswerCard(answer, factor, link_of(factor, selection), free, claim_link, caveats)


def report_rows(report: ReportQuestions) -> list[tuple[AskedQuestion, AnswerCard]]:
    """Return what a report asked in its own words, each with the answer of its own runs."""
    selection = FactorSelection(study=report.study.slug)
    cards = [card_of(answer, selection) for answer in report.answers]
    return list(zip(report.asked, cards, strict=True))

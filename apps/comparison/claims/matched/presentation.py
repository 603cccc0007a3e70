"""A claim about a question as pages show it: what is claimed, the matched sets, and what differs beside the factor."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.urls import reverse

from apps.comparison.claims.matched.claimed_question import ClaimedQuestion
from apps.comparison.claims.matched.confounders import confounder_sets, confounder_words
from apps.comparison.claims.matched.sentences import claimed_text
from apps.comparison.claims.matched.stored_answer import answer_of
from apps.comparison.like_for_like.answers import FactorAnswer
from apps.comparison.like_for_like.contrast_table import contrast_tables
from apps.comparison.like_for_like.forest import FEW_ROWS, MOST_ROWS, forest
from apps.comparison.like_for_like.forest_svg import ForestPlaces, places
from apps.comparison.like_for_like.sentences import all_missing_words, measure_words, nearest_words, sentence
from apps.comparison.questions.factor import Factor


@dataclass(frozen=True)
class MatchedClaim:
    """A claim's question with its stored answer. Nothing is computed from runs."""

    claimed: ClaimedQuestion
    computed: Mapping[str, Any]
    evidence: Mapping[str, Any]
    verdict: str

    @cached_property
    def answer(self) -> FactorAnswer | None:
        """Return the answer; None where no run counted."""
        stored = self.computed.get("answer")
        return answer_of(stored) if stored else None

    @property
    def factor(self) -> Factor:
        return self.claimed.rules

    @property
    def title(self) -> str:
        return str(self.factor.title)

    @property
    def wanted(self) -> str:
        """Return the ratio that is claimed, in words."""
        return claimed_text(self.claimed)

    @property
    def measure(self) -> str:
        return measure_words(self.answer) if self.answer else ""

    @property
    def sentence(self) -> str:
        """Return the answer, or why there is none."""
        return sentence(self.answer, self.factor) if self.answer else ""

    @property
    def link(self) -> str:
        """Return the address of the question's page."""
        return f"{reverse('question', args=[self.factor.name])}?{self.claimed.selection.address}"

    @property
    def contrasts(self) -> list[dict[str, Any]]:
        return contrast_tables(self.answer, self.factor) if self.answer else []

    @property
    def sets(self) -> int:
        """Return how many matched sets there are, those with too few runs among them."""
        return len(self.answer.strata) if self.answer else 0

    @property
    def sets_left_out(self) -> int:
        """Return the sets that are not kept with the claim because there are very many."""
        contrast = self.computed.get("answer", {}).get("contrast") or {}
        return int(contrast.get("sets_left_out", 0))

    @cached_property
    def plot(self) -> ForestPlaces | None:
        return self._plot(MOST_ROWS)

    @cached_property
    def small_plot(self) -> ForestPlaces | None:
        return self._plot(FEW_ROWS)

    def _plot(self, rows: int) -> ForestPlaces | None:
        return places(forest(self.answer, self.factor, rows)) if self.answer and self.answer.contrasts else None

    @property
    def missing(self) -> list[str]:
        return all_missing_words(self.answer, self.factor) if self.answer else []

    @property
    def nearest(self) -> list[str]:
        return [nearest_words(pair) for pair in self.answer.nearest] if self.answer else []

    @property
    def confounders(self) -> list[tuple[str, str]]:
        """Return what differs beside the factor, or may, with the number of sets in which it does."""
        return [(confounder_words(one), confounder_sets(one)) for one in self.evidence.get("confounders", [])]

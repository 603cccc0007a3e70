"""The questions of a lab with their answers: what is loaded once is asked for all of them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from apps.comparison.like_for_like.answers import (
    FactorAnswer,
    LevelContrast,
    answer_factor,
    choose,
    judge,
    with_what_is_missing,
    with_what_would_settle,
)
from apps.comparison.like_for_like.fact_codes import FactCodes
from apps.comparison.like_for_like.run_group import RunGroup
from apps.comparison.like_for_like.selection import FactorSelection
from apps.comparison.queries.run_groups import load_groups
from apps.comparison.question import QuestionError
from apps.comparison.questions import BY_NAME, FACTORS, MEASURES
from apps.comparison.questions.factor import Factor, Measure

Groups = Mapping[Measure, Sequence[RunGroup]]
ALWAYS = tuple({name: None for factor in FACTORS for name in factor.always})


@dataclass(frozen=True)
class QuestionReport:
    """All questions with their answers, judged together: those with an answer, and those without one yet."""

    answered: tuple[FactorAnswer, ...]
    open: tuple[FactorAnswer, ...]
    runs: int
    tests: int

    @property
    def answers(self) -> tuple[FactorAnswer, ...]:
        return (*self.answered, *self.open)


def report(labs: Collection[int], selection: FactorSelection, *, in_detail: bool = False) -> QuestionReport:
    """Return the answers to all questions from the runs of these labs, in a constant number of statements.

    `in_detail`: with the runs of each group and their dates.
    """
    measures = [(selection.operation, selection.metric)] if selection.metric else MEASURES
    groups = _chosen(load_groups(labs, measures, selection.study, in_detail=in_detail), selection)
    codes: dict[Measure, FactCodes] = {}
    answers = judge([first_answer(factor, groups, selection, codes) for factor in FACTORS])
    return QuestionReport(
        answered=tuple(answer for answer in answers if answer.is_answered),
        open=tuple(answer for answer in answers if not answer.is_answered and answer.candidates),
        runs=sum(group.n for some in groups.values() for group in some),
        tests=sum(len(answer.answered) for answer in answers),
    )


def answer_one(labs: Collection[int], name: str, selection: FactorSelection) -> FactorAnswer:
    """Return the answer to one question.

    Raises:
        QuestionError: There is no such question, or no such level to hold others against.
    """
    factor, groups = _asked(labs, name, selection)
    return _answer_asked(factor, groups, selection)


def answer_pair(
    labs: Collection[int], name: str, selection: FactorSelection, level: str
) -> tuple[FactorAnswer, LevelContrast | None]:
    """Return the answer to one question, and of it the contrast of a level against the one that the selection names.

    The findings are those of the question's page, corrected for all its levels. Where no set has both levels with
    enough runs, the answer is about these two alone: the nearest pair, and the runs that are missing.

    Raises:
        QuestionError: There is no such question, or no run has one of the levels.
    """
    factor, groups = _asked(labs, name, selection)
    answer = _answer_asked(factor, groups, selection)
    if level not in (answer.candidates or {}):
        raise QuestionError("level", level, f"one of the levels: {', '.join(answer.candidates or {})}")
    pair = {level, selection.against}
    contrast = next((one for one in answer.contrasts if {one.level, one.against} == pair), None)
    if contrast is None or contrast.combination is None:
        both = {
            measure: [group for group in some if factor.level_of(group.facts) in pair]
            for measure, some in groups.items()
        }
        answer = _answer_asked(factor, both, selection)
        contrast = next(iter(answer.contrasts), None)
    return answer, contrast


def _asked(labs: Collection[int], name: str, selection: FactorSelection) -> tuple[Factor, Groups]:
    factor = BY_NAME.get(name)
    if factor is None:
        raise QuestionError("question", name, f"one of: {', '.join(BY_NAME)}")
    measures = [(selection.operation, selection.metric)] if selection.metric else factor.asks
    return factor, _chosen(load_groups(labs, measures, selection.study, in_detail=True), selection)


def _answer_asked(factor: Factor, groups: Groups, selection: FactorSelection) -> FactorAnswer:
    answer = with_what_would_settle(judge([first_answer(factor, groups, selection, {})])[0])
    levels = answer.candidates or {}
    if selection.against and selection.against not in levels:
        raise QuestionError("against", selection.against, f"one of the levels: {', '.join(levels)}")
    return answer


def _chosen(groups: Groups, selection: FactorSelection) -> Groups:
    if not selection.filters:
        return groups
    return {measure: selection.chosen(some) for measure, some in groups.items()}


def first_answer(
    factor: Factor,
    groups: Groups,
    selection: FactorSelection,
    codes: dict[Measure, FactCodes],
) -> FactorAnswer:
    """Return the answer for the first of the factor's measures that has one."""
    asks = [(selection.operation, selection.metric)] if selection.metric else factor.asks
    answers: list[FactorAnswer] = []
    for measure in asks:
        some = groups.get(measure, [])
        if measure not in codes:
            codes[measure] = FactCodes(some, ALWAYS)
        answers.append(answer_factor(factor, some, measure, selection.moved, selection.against, codes[measure]))
        if answers[-1].is_answered:
            break
    answer = choose(answers)
    return with_what_is_missing(answer, factor, codes[answer.operation, answer.metric], selection.moved)

"""Current answers of the comparisons in studies."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from apps.comparison.answer import Answer, answers
from apps.comparison.in_studies.models import StudyComparison
from apps.comparison.question import NO_BASELINE, Question, QuestionError
from apps.comparison.saved_comparisons.question import resolve_all
from apps.comparison.saved_comparisons.references import Missing


class StudyComparisonAnswer(NamedTuple):
    """`problems`: what of the comparison refers to something that is not there any more."""

    row: StudyComparison
    answer: Answer | QuestionError
    problems: tuple[Missing, ...] = ()


def answers_of(rows: Iterable[StudyComparison], base: int) -> Iterator[StudyComparisonAnswer]:
    """Yield the answer of each comparison in order, in units of `base`; as many queries for many as for one."""
    requests = [(row, _question(row, base)) for row in resolve_all(list(rows))]
    results = answers([question for _, question in requests if isinstance(question, Question)])
    for row, question in requests:
        if isinstance(question, QuestionError):
            yield StudyComparisonAnswer(row, question)
        else:
            yield _without_lost_baseline(row, question, next(results))


def _without_lost_baseline(
    row: StudyComparison, question: Question, answer: Answer | QuestionError
) -> StudyComparisonAnswer:
    """Return the answer with chart and table where only the baseline is gone."""
    problems = row.resolved.problems
    if not isinstance(answer, QuestionError) or answer.field != "baseline":
        return StudyComparisonAnswer(row, answer, problems)
    (rest,) = answers([question.with_(baseline=NO_BASELINE, baseline_of=())])
    return StudyComparisonAnswer(row, rest, (*problems, Missing("baseline", question.baseline)))


def _question(row: StudyComparison, base: int) -> Question | QuestionError:
    try:
        return row.question_in(base)
    except QuestionError as error:
        return error

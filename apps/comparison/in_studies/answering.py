"""The answers of comparisons that people put into studies, as the data are now."""

from collections.abc import Iterable, Iterator

from apps.comparison.answer import Answer, answers
from apps.comparison.in_studies.models import StudyComparison
from apps.comparison.question import Question, QuestionError

Answered = tuple[StudyComparison, Answer | QuestionError]


def answers_of(rows: Iterable[StudyComparison], base: int) -> Iterator[Answered]:
    """In their order, in units of `base`; as many queries for many as for one."""
    asked = [(row, _question(row, base)) for row in rows]
    found = answers([one for _, one in asked if isinstance(one, Question)])
    for row, question in asked:
        yield row, next(found) if isinstance(question, Question) else question


def _question(row: StudyComparison, base: int) -> Question | QuestionError:
    try:
        return row.question_in(base)
    except QuestionError as error:
        return error

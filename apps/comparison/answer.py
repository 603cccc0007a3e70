"""Answers of questions as comparisons, and the caveats of single runs."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from functools import cache
from itertools import groupby
from operator import attrgetter

from apps.comparison import caveats
from apps.comparison.caveats.rule import Caveat
from apps.comparison.cells import Comparison
from apps.comparison.compare import compare
from apps.comparison.queries.filters import NAMED
from apps.comparison.queries.samples import by_parts, load_many
from apps.comparison.question import OWN_WORDS, Question, QuestionError
from apps.comparison.readings import POINT, Reading
from apps.runs.models import Run

Answer = tuple[Comparison, list[Reading]]


def answer(question: Question) -> Answer:
    """Return the comparison and the readings it was made from, in a constant number of queries.

    Raises:
        QuestionError: The question cannot be answered.
    """
    (result,) = answers([question])
    if isinstance(result, QuestionError):
        raise result
    return result


def answers(questions: Sequence[Question]) -> Iterator[Answer | QuestionError]:
    """Yield the answer of each question, or why it has none; as many queries for many questions as for one."""
    names = cache(lambda: known_names(name for question in questions for name, _ in question.filters))
    for question, result in zip(questions, load_many(questions), strict=True):
        yield result if isinstance(result, QuestionError) else _answer(question, result, names)


def _answer(question: Question, readings: list[Reading], names: Callable[[], set[str]]) -> Answer | QuestionError:
    try:
        if not readings:
            _check(question.filters, names())
        return compare(readings, question), readings
    except QuestionError as error:
        return error


def caveats_of_runs(runs: Iterable[int]) -> dict[int, list[Caveat]]:
    """Return the caveats of each run by itself, for `caveats[]` in the REST interface.

    Takes a constant number of queries for every 5,000 samples.
    """
    findings = {run: caveats.Alone() for run in runs}
    for readings in by_parts(findings):
        for run, own in groupby(readings, attrgetter("run")):
            findings[run].add(list(own))
    return {run: alone.caveats() for run, alone in findings.items()}


def check_filters(filters: Sequence[tuple[str, str]]) -> None:
    """Check that the filters name facts that some run has, where nothing was found.

    Raises:
        QuestionError: A filter names what no run has.
    """
    _check(filters, known_names(name for name, _ in filters))


def known_names(names: Iterable[str]) -> set[str]:
    """Return those of the names that some run has as a fact or label, or that all runs have; at most one query."""
    known = {*NAMED, *POINT, "run"}
    facts: set[str] = Run.objects.fact_names(set(names) - known)
    return known | facts


def _check(filters: Iterable[tuple[str, str]], known: set[str]) -> None:
    for name, value in filters:
        if name not in known:
            near = get_close_matches(name, [*OWN_WORDS, *NAMED, *POINT, "run"], n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise QuestionError(name, value, f"a filter by a fact or label that some run has{hint}")

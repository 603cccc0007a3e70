"""From a question to its answer, and the caveats of one run."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from functools import cache
from itertools import groupby
from operator import attrgetter

from django.db.models import Q, Value

from apps.comparison import caveats
from apps.comparison.by_parts import by_parts
from apps.comparison.caveats.rule import Caveat
from apps.comparison.cells import Comparison
from apps.comparison.compare import compare
from apps.comparison.filtering import NAMED
from apps.comparison.loading import load_many
from apps.comparison.question import OWN_WORDS, Question, QuestionError
from apps.comparison.readings import POINT, Reading
from apps.runs.models import Run

Answer = tuple[Comparison, list[Reading]]


def answer(question: Question) -> Answer:
    """The comparison and the readings it was made from. Raises `QuestionError`; the number of queries does not grow
    with the data.
    """
    (found,) = answers([question])
    if isinstance(found, QuestionError):
        raise found
    return found


def answers(questions: Sequence[Question]) -> Iterator[Answer | QuestionError]:
    """Of each question its answer, or why it has none. As many queries for many questions as for one: see
    `loading.py`.
    """
    names = cache(lambda: known_names(name for one in questions for name, _ in one.filters))
    for question, found in zip(questions, load_many(questions), strict=True):
        yield found if isinstance(found, QuestionError) else _answer(question, found, names)


def _answer(question: Question, readings: list[Reading], names: Callable[[], set[str]]) -> Answer | QuestionError:
    try:
        if not readings:
            _check(question.filters, names())
        return compare(readings, question), readings
    except QuestionError as error:
        return error


def caveats_of_runs(runs: Iterable[int]) -> dict[int, list[Caveat]]:
    """What the rules find in each run by itself, for `caveats[]` in the REST interface; a constant number of queries for
    every 5,000 samples.
    """
    found = {run: caveats.Alone() for run in runs}
    for readings in by_parts(found):
        for run, own in groupby(readings, attrgetter("run")):
            found[run].add(list(own))
    return {run: alone.caveats() for run, alone in found.items()}


def check_filters(filters: Sequence[tuple[str, str]]) -> None:
    """Nothing was found: because of a name that no run has? Then say so instead of showing an empty page."""
    _check(filters, known_names(name for name, _ in filters))


def known_names(names: Iterable[str]) -> set[str]:
    """Which of these some run has as a fact or label, and the names that all runs have. At most one query."""
    known = {*NAMED, *POINT, "run"}
    asked = sorted(set(names) - known)
    if not asked:
        return known
    first, *others = [
        Run.objects.filter(Q(facts__has_key=name) | Q(labels__has_key=name)).values_list(Value(name))[:1]
        for name in asked
    ]
    return known | {name for (name,) in first.union(*others, all=True)}


def _check(filters: Iterable[tuple[str, str]], known: set[str]) -> None:
    for name, value in filters:
        if name not in known:
            near = get_close_matches(name, [*OWN_WORDS, *NAMED, *POINT, "run"], n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise QuestionError(name, value, f"a filter by a fact or label that some run has{hint}")

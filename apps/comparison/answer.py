"""From a question to its answer, and the caveats of one run."""

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import groupby
from operator import attrgetter

from django.db.models import Q

from apps.comparison import caveats
from apps.comparison.by_parts import by_parts
from apps.comparison.caveats.rule import Caveat
from apps.comparison.cells import Comparison
from apps.comparison.compare import compare
from apps.comparison.loading import NAMED, load
from apps.comparison.question import OWN_WORDS, Question, QuestionError
from apps.comparison.readings import POINT, Reading
from apps.runs.models import Run


def answer(question: Question) -> tuple[Comparison, list[Reading]]:
    """The comparison and the readings it was made from. Raises `QuestionError`; the number of queries does not grow
    with the data.
    """
    readings = load(question)
    if not readings:
        check_filters(question.filters)
    return compare(readings, question), readings


def caveats_of_runs(runs: Iterable[int]) -> dict[int, list[Caveat]]:
    """What the rules find in each run by itself, for `caveats[]` in the REST interface; a constant number of queries for
    every 5,000 samples.
    """
    found = {run: caveats.Alone() for run in runs}
    for readings in by_parts(found):
        for run, own in groupby(readings, attrgetter("run")):
            found[run].add(list(own))
    return {run: alone.caveats() for run, alone in found.items()}


def check_filters(filters: Iterable[tuple[str, str]]) -> None:
    """Nothing was found: because of a name that no run has? Then say so instead of showing an empty page."""
    known = {*NAMED, *POINT, "run"}
    for name, value in filters:
        if name not in known and not Run.objects.filter(Q(facts__has_key=name) | Q(labels__has_key=name)).exists():
            near = get_close_matches(name, [*OWN_WORDS, *known], n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise QuestionError(name, value, f"a filter by a fact or label that some run has{hint}")

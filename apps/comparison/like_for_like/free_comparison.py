"""The addresses of free comparisons that show the runs of an answer, or of one of its matched sets."""

from collections.abc import Mapping, Sequence

from django.urls import reverse

from apps.comparison.like_for_like.answers import FactorAnswer, StratumEffect
from apps.comparison.like_for_like.run_group import SEVERAL
from apps.comparison.question import Question
from apps.comparison.questions.factor import Factor
from apps.comparison.readings import POINT

MOST_RUNS = 400  # in an address
MOST_HOSTS = 50  # in an address
MOST_APART = 4  # facts beside the factor's that name a series
X = "file_size"
_FILTERS = ("tool", "raid_level", "raid_implementation", "interface", "disk_model", "filesystem", *POINT, "host")
_APART = ("host", *(name for name in _FILTERS if name != "host"))


def address_of_answer(answer: FactorAnswer, factor: Factor) -> str:
    """Return the free comparison of the sets' runs: just these or, of very many, those of the sets' hosts.

    What is equal within each set and differs between them, such as the host, names the series too, so that no cell
    mixes what the sets keep apart.
    """
    effects = [effect for contrast in answer.contrasts for effect in contrast.effects]
    runs = sorted(
        {run for effect in effects for level in effect.stratum.sides for run in effect.stratum.sides[level].runs}
    )
    facts = [effect.stratum.facts for effect in effects]
    filters: tuple[tuple[str, str], ...] = ()
    if 0 < len(runs) <= MOST_RUNS:
        filters = (("run", ",".join(map(str, runs))),)
    elif effects:
        filters = tuple(sorted({*_common(facts), *_hosts(facts)}))
    return _address(answer.operation, answer.metric, factor, filters, _apart(facts, factor))


def address_of_stratum(effect: StratumEffect, answer: FactorAnswer, factor: Factor) -> str:
    """Return the free comparison of a matched set's runs; an empty text where they are too many to name."""
    sides = effect.stratum.sides
    runs = sorted({run for level in (effect.level, effect.against) for run in sides[level].runs})
    if not 0 < len(runs) <= MOST_RUNS:
        return ""
    return _address(answer.operation, answer.metric, factor, (("run", ",".join(map(str, runs))),))


def _common(facts: Sequence[Mapping[str, str]]) -> set[tuple[str, str]]:
    """Return the filters by what all sets hold at the same value."""
    names = [name for name in _FILTERS if len({one.get(name) for one in facts}) == 1 and name in facts[0]]
    return {(name, facts[0][name]) for name in names if facts[0][name] != SEVERAL}


def _hosts(facts: Sequence[Mapping[str, str]]) -> set[tuple[str, str]]:
    """Return filters by the hosts of the sets, of which each holds one; none where a set holds no host or several."""
    hosts = {one.get("host", SEVERAL) for one in facts}
    return set() if SEVERAL in hosts or len(hosts) > MOST_HOSTS else {("host", host) for host in hosts}


def _apart(facts: Sequence[Mapping[str, str]], factor: Factor) -> tuple[str, ...]:
    """Return the held facts by which the sets differ, the host first; what is along x is apart already."""
    names = (name for name in _APART if name not in (X, factor.fact) and len({one.get(name) for one in facts}) > 1)
    return tuple(names)[:MOST_APART]


def _address(
    operation: str, metric: str, factor: Factor, filters: tuple[tuple[str, str], ...], apart: tuple[str, ...] = ()
) -> str:
    asked = Question(metric, operation, X, (factor.fact, *apart), filters=filters)
    return f"{reverse('compare')}?{asked.address}"

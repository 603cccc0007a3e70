"""The addresses of free comparisons that show the runs of an answer, or of one of its matched sets."""

from django.urls import reverse

from apps.comparison.like_for_like.answers import FactorAnswer, StratumEffect
from apps.comparison.like_for_like.run_group import SEVERAL
from apps.comparison.question import Question
from apps.comparison.questions.factor import Factor
from apps.comparison.readings import POINT

MOST_RUNS = 400  # in an address
_FILTERS = ("tool", "raid_level", "raid_implementation", "interface", "disk_model", "filesystem", *POINT, "host")


def address_of_answer(answer: FactorAnswer, factor: Factor) -> str:
    """Return the free comparison of the levels, narrowed to what all matched sets have in common."""
    effects = [effect for contrast in answer.contrasts for effect in contrast.effects]
    runs = sorted(
        {run for effect in effects for level in effect.stratum.sides for run in effect.stratum.sides[level].runs}
    )
    filters: tuple[tuple[str, str], ...] = ()
    if 0 < len(runs) <= MOST_RUNS:
        filters = (("run", ",".join(map(str, runs))),)
    elif effects:
        facts = [effect.stratum.facts for effect in effects]
        common = {
            name: facts[0][name] for name in _FILTERS if len({one.get(name) for one in facts}) == 1 and name in facts[0]
        }
        filters = tuple(sorted((name, value) for name, value in common.items() if value != SEVERAL))
    return _address(answer.operation, answer.metric, factor, filters)


def address_of_stratum(effect: StratumEffect, answer: FactorAnswer, factor: Factor) -> str:
    """Return the free comparison of a matched set's runs; an empty text where they are too many to name."""
    sides = effect.stratum.sides
    runs = sorted({run for level in (effect.level, effect.against) for run in sides[level].runs})
    if not 0 < len(runs) <= MOST_RUNS:
        return ""
    return _address(answer.operation, answer.metric, factor, (("run", ",".join(map(str, runs))),))


def _address(operation: str, metric: str, factor: Factor, filters: tuple[tuple[str, str], ...]) -> str:
    asked = Question(metric, operation, "file_size", (factor.fact,), filters=filters)
    return f"{reverse('compare')}?{asked.address}"

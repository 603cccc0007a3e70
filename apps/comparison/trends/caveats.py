"""What speaks against a change: told with it, because a notification has no page around it."""

from itertools import pairwise

from apps.comparison.caveats import of_readings
from apps.comparison.loading import of_runs
from apps.comparison.trends.shape import Change, Trend
from apps.comparison.trends.words import span
from apps.lib import units

LOOKED_AT = 3  # runs on either side
FEW_AFTER = 5
WIDE = 0.1
SPARSE = 3.0  # times the usual distance in time


def against(change: Change, found: Trend) -> list[str]:
    """In sentences, what weighs most first. A constant number of queries."""
    return [*_of_the_numbers(change, found), *_of_the_runs(change, found)]


def _of_the_numbers(change: Change, found: Trend) -> list[str]:
    said = []
    if not change.is_settled:
        said.append("The interval does not leave “no change” out yet; more runs will tell.")
    if change.n_after < FEW_AFTER:
        said.append(f"Only {change.n_after} runs since the change.")
    if found.noise is not None and found.noise > WIDE:
        said.append(f"Runs scatter by {units.human(found.noise, 'fraction')} here by themselves.")
    if found.drift is not None:
        said.append("The values also drift steadily; the change is what is left beside that.")
    if gap := _gap(change, found):
        said.append(gap)
    return said


def _gap(change: Change, found: Trend) -> str:
    """Nights without runs just before the change: it happened somewhere in them."""
    times = [one.at for one in found.points]
    between = sorted((later - earlier).total_seconds() for earlier, later in pairwise(times))
    here = (times[change.place] - times[change.place - 1]).total_seconds()
    usual = between[len(between) // 2]
    if here <= max(SPARSE * usual, 1):
        return ""
    return f"No runs for {span(here)} before it, so it may have happened at any time in between."


def _of_the_runs(change: Change, found: Trend) -> list[str]:
    """The rules' findings in the runs after that were not found before: what is new with the change."""
    places = range(max(0, change.place - LOOKED_AT), min(len(found.points), change.place + LOOKED_AT))
    readings = of_runs(found.points[place].run for place in places)
    sides: tuple[dict[str, str], dict[str, str]] = ({}, {})
    for place in places:
        for one in of_readings(readings[found.points[place].run]):
            sides[place >= change.place][one.rule] = f"{one.title}: {'; '.join(one.arithmetic[:2])}"
    before, after = sides
    new = [f"Since the change, {text}" for rule, text in after.items() if rule not in before]
    gone = [f"Before the change, {text}" for rule, text in before.items() if rule not in after]
    return [*new, *gone]

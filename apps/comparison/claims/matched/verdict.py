"""The verdict on a claim about a question: one rule on the ratio that the matched sets have. Pure.

The 95 % interval of the ratio is held against the ratios that the claim allows. It lies within them: supported; outside:
contradicted; neither: not shown. An interval that leaves out 1 while the finding is no effect, after correction for all
levels that were compared, shows nothing. Sets that disagree have no common ratio: the claim is supported where each set
supports it by itself, contradicted where each contradicts it, and else partly so. Without a set that has enough runs on
both sides there is no verdict.
"""

from collections.abc import Iterable

from apps.comparison.claims.checks.outcomes import CONTRADICTED, NOT_CHECKABLE, NOT_SHOWN, PARTLY, SUPPORTED
from apps.comparison.claims.matched.claimed_question import ClaimedQuestion
from apps.comparison.like_for_like.answers import LevelContrast, MatchedFinding

Interval = tuple[float, float]


def verdict_of_contrast(claimed: ClaimedQuestion, contrast: LevelContrast | None) -> str:
    """Return the verdict from the contrast of the claim's two levels; None is a contrast that no set has."""
    if contrast is None or contrast.combination is None:
        return NOT_CHECKABLE
    allowed = claimed.claimed_ratios
    if contrast.interval is None:  # sets disagree
        return _together(_of_interval(effect.interval, allowed) for effect in contrast.usable if effect.interval)
    low, high = contrast.interval
    if contrast.finding is not MatchedFinding.EFFECT and not low <= 1 <= high:
        return NOT_SHOWN
    return _of_interval(contrast.interval, allowed)


def _of_interval(interval: Interval, allowed: Interval) -> str:
    if allowed[0] <= interval[0] and interval[1] <= allowed[1]:
        return SUPPORTED
    return CONTRADICTED if interval[1] < allowed[0] or interval[0] > allowed[1] else NOT_SHOWN


def _together(verdicts: Iterable[str]) -> str:
    found = {*verdicts}
    if len(found) == 1:
        return found.pop()
    return PARTLY if SUPPORTED in found else NOT_SHOWN

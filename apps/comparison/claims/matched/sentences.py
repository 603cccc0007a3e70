"""What a claim says of a question, in words."""

from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from apps.comparison.claims.matched.claimed_question import USUAL_MARGIN, ClaimedQuestion
from apps.comparison.like_for_like.sentences import ratio_text, words_of_measure

DIRECTION_WORDS = {
    "higher": pgettext_lazy("of a level, against another", "is higher"),
    "lower": pgettext_lazy("of a level, against another", "is lower"),
    "same": pgettext_lazy("of a level, against another", "is the same"),
    "not_higher": pgettext_lazy("of a level, against another", "is not higher"),
    "not_lower": pgettext_lazy("of a level, against another", "is not lower"),
}
_STATEMENTS = {
    "higher": gettext_lazy("%(measure)s: %(level)s is higher than %(against)s, everything else held equal"),
    "lower": gettext_lazy("%(measure)s: %(level)s is lower than %(against)s, everything else held equal"),
    "same": gettext_lazy("%(measure)s: %(level)s is the same as %(against)s, everything else held equal"),
    "not_higher": gettext_lazy("%(measure)s: %(level)s is not higher than %(against)s, everything else held equal"),
    "not_lower": gettext_lazy("%(measure)s: %(level)s is not lower than %(against)s, everything else held equal"),
}


def statement_of(claimed: ClaimedQuestion) -> str:
    """Return a sentence for the claim, such as `Bandwidth of write: RAID 5 is higher than single disk, …`."""
    factor = claimed.rules
    words = {
        "level": factor.level_name(claimed.level), "against": factor.level_name(claimed.against),
        "measure": words_of_measure(claimed.operation, claimed.metric),
    }  # fmt: skip
    return capfirst(str(_STATEMENTS[claimed.direction]) % words)


def claimed_text(claimed: ClaimedQuestion) -> str:
    """Return the ratio that is claimed, such as `RAID 5 ÷ single disk above 1`."""
    factor = claimed.rules
    low, high = claimed.claimed_ratios
    words = {
        "level": factor.level_name(claimed.level), "against": factor.level_name(claimed.against),
        "low": ratio_text(low), "high": ratio_text(high),
    }  # fmt: skip
    if claimed.direction in ("higher", "lower") and claimed.size is None:
        above, below = _("%(level)s ÷ %(against)s above 1"), _("%(level)s ÷ %(against)s below 1")
        return (above if claimed.direction == "higher" else below) % words
    if claimed.direction in ("higher", "not_lower"):
        return _("%(level)s ÷ %(against)s at least %(low)s") % words
    if claimed.direction in ("lower", "not_higher"):
        return _("%(level)s ÷ %(against)s at most %(high)s") % words
    return _("%(level)s ÷ %(against)s from %(low)s to %(high)s") % words


def usual_margin_text() -> str:
    """Return the margin that is taken where none is typed."""
    return f"{USUAL_MARGIN:.0%}"

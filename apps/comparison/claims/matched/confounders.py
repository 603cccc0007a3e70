"""What differs beside the factor in a claim's matched sets, or may, in the reader's words. Pure."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.comparison.labels import label_of


def confounder_words(confounder: Mapping[str, Any]) -> str:
    """Return one entry of a claim's evidence in a few words."""
    words = {"fact": _(label_of(confounder["fact"])), "values": confounder["text"]}
    if confounder["kind"] == "implied":
        return _("%(fact)s (%(values)s): implied by the factor") % words
    if confounder["kind"] == "unknown":
        return _("%(fact)s not known, taken as equal") % words
    if confounder["kind"] == "not_recorded":
        return _("%(fact)s recorded by no run") % words
    if confounder["kind"] == "time":
        return _("measured one after the other")
    return _("also different: %(fact)s (%(values)s)") % words


def confounder_sets(confounder: Mapping[str, Any]) -> str:
    """Return in how many matched sets it is so."""
    n = confounder["comparisons"]
    return ngettext("in %(n)s matched set", "in %(n)s matched sets", n) % {"n": n}

"""Cache of the RAID controller."""

from django.utils.translation import gettext_lazy as _

from apps.comparison.questions.factor import RANDOM_WRITES_FIRST, STREAMS, Factor, of_fact
from apps.core import units


def name_of(level: str) -> str:
    """Return `256 MiB cache`."""
    if level == "none":
        return str(_("no cache"))
    return str(_("%(size)s cache") % {"size": units.size(int(level))}) if level.isdigit() else level


FACTOR = Factor(
    name="controller_cache",
    fact="controller_cache",
    title=_("Controller cache"),
    question=_("Does the controller's cache change the speed?"),
    level_of=of_fact("controller_cache"),
    asks=(*RANDOM_WRITES_FIRST, *STREAMS[1:]),
    implied=("controller*", "cache_protection", "cache_policy", "write_policy"),
    acts_through=("write_policy", "cache_policy"),
    first=("none",),
    name_of=name_of,
)

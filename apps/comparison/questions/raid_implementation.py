"""Hardware against software RAID."""

from django.utils.translation import gettext_lazy as _

from apps.comparison.questions.factor import CONTROLLER, STREAMS_FIRST, Factor, Facts, named

NAMES = {"hardware": _("hardware RAID"), "software": _("software RAID")}


def level_of(facts: Facts) -> str | None:
    """Return `hardware` or `software`; None for single disks, mixtures and what is not known."""
    value = facts.get("raid_implementation", "").lower()
    return value if value in NAMES else None


FACTOR = Factor(
    name="raid_implementation",
    fact="raid_implementation",
    title=_("Hardware against software RAID"),
    question=_("Is hardware RAID faster than software RAID?"),
    level_of=level_of,
    asks=STREAMS_FIRST,
    implied=(*CONTROLLER, "raid_version"),
    first=("software",),
    name_of=named(NAMES),
)

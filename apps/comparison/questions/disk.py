"""One disk among its kind: equal disks of one host against each other."""

from django.utils.translation import gettext_lazy as _

from apps.comparison.questions.factor import RANDOM_FIRST, Factor, Facts

OWN = ("disk_serial", "disk", "serial", "place")


def level_of(facts: Facts) -> str | None:
    """Return the serial number of a single disk, or the place of it where no serial is known."""
    if facts.get("raid_level", "").lower() not in ("single", "none", "jbod") and facts.get("disk_count") != "1":
        return None
    return next((facts[name] for name in OWN if name in facts), None)


FACTOR = Factor(
    name="disk",
    fact="target",
    title=_("One disk among its kind"),
    question=_("Is one disk slower than its kind?"),
    level_of=level_of,
    asks=RANDOM_FIRST,
    own=OWN,
)

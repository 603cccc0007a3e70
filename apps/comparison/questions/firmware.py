"""Firmware of disks and controllers before and after an update."""

from django.utils.translation import gettext_lazy as _

from apps.comparison.questions.factor import STREAMS_FIRST, Factor, Facts

OWN = ("disk_firmware", "controller_firmware", "firmware")


def level_of(facts: Facts) -> str | None:
    """Return the versions of all firmware that is known."""
    known = [facts[name] for name in OWN if name in facts]
    return " / ".join(known) or None


FACTOR = Factor(
    name="firmware",
    fact="disk_firmware",
    title=_("Firmware before and after"),
    question=_("Did other firmware change the speed?"),
    level_of=level_of,
    asks=STREAMS_FIRST,
    own=OWN,
    name_of=lambda level: _("firmware %(version)s") % {"version": level},
    is_order_of_time=True,
)

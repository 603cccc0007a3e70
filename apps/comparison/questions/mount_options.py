"""Mount options of one filesystem."""

from django.utils.translation import gettext_lazy as _

from apps.comparison.questions.factor import STREAMS_FIRST, Factor, named, of_fact

FACTOR = Factor(
    name="mount_options",
    fact="mount_options",
    title=_("Mount options"),
    question=_("Do mount options change the speed?"),
    level_of=of_fact("mount_options"),
    asks=STREAMS_FIRST,
    first=("defaults", "rw,relatime"),
    name_of=named({"none": _("no options")}),
)

"""Kernel lines before and after an upgrade."""

from django.utils.translation import gettext_lazy as _

from apps.comparison.questions.factor import STREAMS_FIRST, Factor, of_fact

FACTOR = Factor(
    name="kernel",
    fact="kernel",
    title=_("Kernel before and after"),
    question=_("Did another kernel change the speed?"),
    level_of=of_fact("kernel"),
    asks=STREAMS_FIRST,
    implied=("os", "os_*", "kernel_*"),
    name_of=lambda level: _("kernel %(line)s") % {"line": level},
    is_order_of_time=True,
)

"""Disk interface: SCSI, SATA, SAS, NVMe and others."""

from django.utils.translation import gettext_lazy as _

from apps.comparison.questions.factor import CONTROLLER, DISK, STREAMS_FIRST, Factor, of_fact

FACTOR = Factor(
    name="interface",
    fact="interface",
    title=_("Disk interface"),
    question=_("Which disk interface is faster?"),
    level_of=of_fact("interface"),
    asks=STREAMS_FIRST,
    implied=(*DISK, *CONTROLLER),
    first=("SATA", "SCSI"),
)

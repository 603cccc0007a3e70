"""Native against guest."""

from django.utils.translation import gettext_lazy as _

from apps.comparison.questions.factor import STREAMS_FIRST, Factor, Facts, named

NAMES = {"native": _("native"), "guest": _("guest")}


def level_of(facts: Facts) -> str | None:
    """Return `native` or `guest`."""
    value = facts.get("environment", "").lower()
    return value if value in NAMES else None


# A guest is a host of its own, with the machine's processor: without it nobody knows whether the machine is the same.
FACTOR = Factor(
    name="environment",
    fact="environment",
    title=_("Native against guest"),
    question=_("What does a virtual machine cost?"),
    level_of=level_of,
    asks=STREAMS_FIRST,
    implied=(
        "host",
        "machine",
        "ram",
        "kernel*",
        "os",
        "os_*",
        "hypervisor*",
        "guest*",
        "board",
        "bios*",
        "controller*",
    ),
    always=("cpu",),
    first=("native",),
    name_of=named(NAMES),
)

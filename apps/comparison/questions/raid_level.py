"""RAID levels against each other and against a single disk."""

import re

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.comparison.questions.factor import CONTROLLER, STREAMS_FIRST, Factor, Facts

SINGLE = "single"
_SINGLE = frozenset({"single", "none", "jbod", "single disk"})
_LEVEL = re.compile(r"(?:raid)?[\s_-]*(\d+)(?:[\s_-]*\(.*\))?", re.IGNORECASE)


def level_of(facts: Facts) -> str | None:
    """Return `single`, `0`, `5` … (`RAID-5` and `raid5` are `5`)."""
    value = facts.get("raid_level")
    if value is None or " + " in value:
        return None
    if value.lower() in _SINGLE:
        return SINGLE
    match = _LEVEL.fullmatch(value.strip())
    return match[1] if match else value


def implied_between(ours: str, theirs: str) -> tuple[str, ...]:
    """Return what the levels imply: a single disk has neither chunk nor RAID, a mirror has no chunk."""
    if SINGLE in (ours, theirs):
        return ("chunk_size", "disk_count", "raid_implementation", "raid_version", *CONTROLLER)
    return ("chunk_size",) if "1" in (ours, theirs) else ()


def name_of(level: str) -> str | Promise:
    """Return `RAID 5`, or words for a single disk."""
    return _("single disk") if level == SINGLE else f"RAID {level}" if level.isdigit() else level


FACTOR = Factor(
    name="raid_level",
    fact="raid_level",
    title=_("RAID level"),
    question=_("Which RAID level is faster?"),
    level_of=level_of,
    asks=STREAMS_FIRST,
    first=(SINGLE, "0", "1"),
    name_of=name_of,
    implied_between=implied_between,
)

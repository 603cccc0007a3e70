"""Direct against buffered I/O."""

from django.utils.translation import gettext_lazy as _

from apps.comparison.questions.factor import STREAMS_FIRST, Factor, Facts, named


def level_of(facts: Facts) -> str | None:
    """Return `direct` or `buffered`."""
    if facts.get("direct") in ("0", "1"):
        return "direct" if facts["direct"] == "1" else "buffered"
    sync = facts.get("sync")
    return None if sync is None or " + " in sync else "direct" if sync == "direct" else "buffered"


def jobs_of(level: str, facts: Facts) -> dict[str, bool]:
    """Return the option that makes a job of this level."""
    return {"direct": level == "direct"}


FACTOR = Factor(
    name="direct",
    fact="direct",
    title=_("Direct against buffered I/O"),
    question=_("Is direct I/O faster than buffered?"),
    level_of=level_of,
    asks=STREAMS_FIRST,
    own=("direct", "sync"),
    first=("buffered",),
    jobs_of=jobs_of,
    name_of=named({"direct": _("direct I/O"), "buffered": _("buffered I/O")}),
)

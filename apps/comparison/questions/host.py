"""One host against another."""

from django.utils.translation import gettext_lazy as _

from apps.comparison.questions.factor import CONTROLLER, HOST_HARDWARE, HOST_SOFTWARE, STREAMS_FIRST, Factor, Facts


def level_of(facts: Facts) -> str | None:
    """Return the host's name, or that of a report's machine."""
    return facts.get("host") or facts.get("machine")


FACTOR = Factor(
    name="host",
    fact="host",
    title=_("One host against another"),
    question=_("Which host is faster?"),
    level_of=level_of,
    asks=STREAMS_FIRST,
    own=("host", "machine"),
    implied=(*HOST_HARDWARE, *HOST_SOFTWARE, *CONTROLLER),
)

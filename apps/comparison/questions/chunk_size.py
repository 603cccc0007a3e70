"""Chunk sizes of striped arrays."""

from django.utils.translation import gettext_lazy as _

from apps.comparison.questions.factor import STREAMS_FIRST, Factor, Facts
from apps.core import units


def level_of(facts: Facts) -> str | None:
    """Return the bytes of a chunk; None where there is none or it is not known."""
    value = facts.get("chunk_size")
    return None if value in (None, "none") or " + " in str(value) else value


def name_of(level: str) -> str:
    """Return `64 KiB chunk`."""
    return units.size(int(level)) if level.isdigit() else level


FACTOR = Factor(
    name="chunk_size",
    fact="chunk_size",
    title=_("Chunk size"),
    question=_("Which chunk size is faster?"),
    level_of=level_of,
    asks=STREAMS_FIRST,
    implied=("mkfs_options",),
    name_of=name_of,
)

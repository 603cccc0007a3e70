"""Files that fit into the host's RAM against larger ones: what is read or written from memory, and what from the disk."""

import math

from django.utils.translation import gettext_lazy as _

from apps.comparison.questions.factor import STREAMS_FIRST, Factor, Facts, named
from apps.comparison.readings import FILE_SIZE_OVER_RAM

MIB = 1 << 20
FITS, LARGER = "fits", "larger"


def level_of(facts: Facts) -> str | None:
    """Return `fits` or `larger`; None where a size is not known or a run went through several."""
    multiple = multiple_of(facts)
    return None if multiple is None else FITS if multiple <= 1 else LARGER


def multiple_of(facts: Facts) -> float | None:
    """Return all files of a run together ÷ RAM, of a guest its own; each thread has a file of its own."""
    size, threads = _number(facts.get("file_size")), _number(facts.get("threads"))
    ram = _number(facts.get("guest_ram") or facts.get("ram"))
    return size * (threads or 1) / ram if size and ram else None


def one_size(facts: Facts) -> tuple[str, float]:
    """Return the file size, of which each side of a set has one, and how far it is from the RAM."""
    return facts.get("file_size", ""), abs(math.log(multiple_of(facts) or 1))


def jobs_of(level: str, facts: Facts) -> dict[str, int]:
    """Return a file size of this level for jobs on a host with this RAM: half of it, or twice as much, of all threads."""
    ram, threads = _number(facts.get("ram")) or 0.0, _number(facts.get("threads")) or 1
    size = int(ram * (0.5 if level == FITS else 2) / threads)
    return {"file_size": max(MIB, size // MIB * MIB)}


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if 0 < number < math.inf else None


FACTOR = Factor(
    name="file_against_ram",
    fact=FILE_SIZE_OVER_RAM,
    title=_("File size against RAM"),
    question=_("How much faster are files that fit into RAM?"),
    level_of=level_of,
    asks=STREAMS_FIRST,
    own=("file_size",),
    first=(LARGER,),
    name_of=named({FITS: _("files that fit into RAM"), LARGER: _("files larger than RAM")}),
    is_of_point=True,
    one_of=one_size,
    jobs_of=jobs_of,
)

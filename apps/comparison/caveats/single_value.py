"""A printed value that stands for several repetitions which are not there."""

from collections.abc import Sequence

from apps.comparison.caveats.rule import CaveatRule
from apps.comparison.readings import Reading


def stands_for_several(reading: Reading) -> bool:
    """Return whether a report's figure stands for several repetitions, according to its note."""
    return reading.origin == "published" or "mean of" in reading.note.lower()


def check(readings: Sequence[Reading]) -> str | None:
    measured = [reading for reading in readings if reading.value is not None]
    if len(measured) != 1 or not stands_for_several(measured[0]):
        return None
    note = next((part.strip() for part in measured[0].note.split(";") if "mean of" in part.lower()), "")
    text = f" ({note})" if note else ""
    return f"n = 1 printed value{text}: the single repetitions are not there, so their spread is unknown"


RULE = CaveatRule(
    name="single_value",
    title="A mean without its repetitions",
    text="The report prints one figure per point; whether a difference is more than chance cannot be computed from it.",
    of_cell=check,
)

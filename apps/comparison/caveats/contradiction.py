"""A figure that another one of its job contradicts, where nothing shows which of them is wrong (`apps.parsers.laws`)."""

from apps.comparison.caveats.rule import CaveatRule
from apps.comparison.readings import Reading
from apps.parsers.laws.law import DOUBT


def check(reading: Reading) -> str | None:
    _, mark, reason = reading.note.partition(f"{DOUBT}: ")
    return f"run {reading.run}, {reading.operation}: {reason}" if mark else None


RULE = CaveatRule(
    name="contradiction",
    title="Figures contradict each other",
    text="What the tool printed of one job cannot all be right, and nothing says which figure is wrong.",
    of_reading=check,
)

"""The run lay on another filesystem, or in another directory, than its target: its value is not the target's."""

from apps.comparison.caveats.rule import CaveatRule
from apps.comparison.readings import MeasuredMachine


def check(machine: MeasuredMachine) -> str | None:
    expected = machine.content.get("expected_place")
    found = machine.content.get("found_place")
    return f"the target is {expected}, the run lay in {found}" if expected and found else None


RULE = CaveatRule(
    name="other_place",
    title="Not where its target lies",
    text="The host read another place from the run's open folder than its target has, so the value belongs to that place.",
    of_machine=check,
)

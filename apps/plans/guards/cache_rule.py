"""The test file is at least so many times as large as the host's RAM, so that the page cache does not shape the result."""

from collections.abc import Mapping
from typing import Any

from apps.core.units import multiple, size
from apps.plans.guards.evidence import FAILED, NOT_CHECKED, PASSED, GuardEvidence, StepFacts
from apps.studies.plans.guards import CacheRule

KIND = "cache_rule"
IS_LASTING = True  # waiting does not change the outcome


def check_before(step: StepFacts, parameters: Mapping[str, Any]) -> GuardEvidence:
    """Compare the file with the host's RAM as the inventory has it."""
    if step.file_size is None:
        return GuardEvidence(KIND, NOT_CHECKED, "the step has no test file of its own size")
    if step.ram is None:
        return GuardEvidence(KIND, NOT_CHECKED, "the host's RAM is not known")
    least = CacheRule(parameters["factor"], parameters.get("tolerance", 0.0)).least
    is_met = step.file_size / step.ram >= least
    times = multiple(step.file_size / step.ram)
    text = f"{size(step.file_size)} / {size(step.ram)} RAM = {times} {'≥' if is_met else '<'} {multiple(least)}"
    return GuardEvidence(KIND, PASSED if is_met else FAILED, text)

"""The filesystem has room for the test files: the agent looks before it starts fio, and refuses the run otherwise."""

from collections.abc import Mapping
from typing import Any

from apps.core.units import size
from apps.plans.guards.evidence import PASSED, GuardEvidence, RunReport

KIND = "space"


def check_after(report: RunReport, _parameters: Mapping[str, Any]) -> GuardEvidence | None:
    """Return that the host found room for the run's files. None: the run has not finished."""
    if not report.is_finished:
        return None
    return GuardEvidence(
        KIND, PASSED, f"the agent found room for {size(report.files_bytes)} before it started fio", "host"
    )

"""What a plan's guards ask of a host right before a run: kinds that its agent checks, with their limits."""

import re
from typing import Any

from apps.inventory.models import Host
from apps.plans.models import Execution
from apps.runs.host_guards import BY_KIND
from apps.runs.host_guards.filesystem import GUARD as FILESYSTEM
from apps.runs.host_guards.filesystem import expect
from apps.runs.models import Run
from apps.studies.models import Plan, PlanConfiguration

MD = "md"  # the software of an array at which a host's agent looks by /proc/mdstat
FIRST_VERSION = (1, 2)  # of agents that check guards


def checks_guards(host: Host) -> bool:
    """Return whether the host's agent is new enough to check guards before a run."""
    agent = getattr(host, "agent", None)
    numbers = re.findall(r"\d+", agent.version)[:2] if agent else []
    return tuple(map(int, numbers)) >= FIRST_VERSION


def request_host_guards(plan: Plan, execution: Execution, row: PlanConfiguration) -> list[dict[str, Any]]:
    """Return the guards of a plan that the host checks, as a run asks for them. A guard without a wait of its own has the plan's."""
    asked = [
        {"guard": guard.kind, "is_required": guard.is_required, "wait_s": execution.guard_wait, **guard.parameters}
        for guard in plan.guards.all()
        if guard.kind in BY_KIND
    ]
    for guard in asked:
        if guard["guard"] == FILESYSTEM.kind and row.configuration and row.configuration.target:
            guard["expected"] = expect(row.configuration.target, _first_options(row))
    return asked


def _first_options(row: PlanConfiguration) -> str:
    """Return the mount options under which the first finished run of this row was made, for the others shall have the same."""
    first = Run.objects.finished().filter(planned_run__row=row).order_by("pk").first()
    return str(first.place.get("options", "")) if first else ""

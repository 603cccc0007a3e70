"""Why a host's test directory takes no runs, in one sentence: for the host's page and for the form that starts runs."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet, Subquery

from apps.agents.models import Agent
from apps.inventory.models import Target
from apps.inventory.vocabulary import TargetKind
from apps.labs.models import Lab

UNDECIDED = (Agent.State.PENDING, Agent.State.QUARANTINED)


def with_targets(agents: "QuerySet[Agent]") -> "QuerySet[Agent]":
    """Annotate agents with what `find_obstacle` reads.

    `offers_target`: whether the host has a target for runs. `gone_reason`: why its directory that went last is gone.
    """
    targets = Target.objects.filter(host=OuterRef("host"))
    gone = targets.filter(kind=TargetKind.DIRECTORY, gone_at__isnull=False).order_by("-gone_at", "-id")
    return agents.annotate(
        offers_target=Exists(targets.filter(is_agents_own=True)), gone_reason=Subquery(gone.values("gone_reason")[:1])
    )


def find_obstacle(agent: Any) -> str:
    """Return why no run can start in the directory of an approved agent; empty where no reason is known.

    The agent is from `with_targets`.
    """
    if agent.directory_problem or agent.state != Agent.State.APPROVED or agent.offers_target:
        return str(agent.directory_problem)
    if agent.gone_reason:
        return f"Its directory for test files takes no runs: {agent.gone_reason}."
    if agent.has_reported:
        return "Its agent has not reported yet what its directory for test files lies on; no run can start there until it has."
    return ""


def start_notes(agents: Iterable[Any]) -> list[dict[str, Any]]:
    """Return what hinders runs on the hosts of approved agents, as rows of `host` and `sentence`.

    That is a missing directory, a missing fio, or the agent's own files on the disk that is measured.
    """
    notes = []
    for agent in agents:
        obstacle = find_obstacle(agent)
        if not obstacle and not agent.offers_target:
            obstacle = "Its agent is approved and has not reported yet; its directory is offered here when it has."
        sentences = agent.shortcomings if agent.directory_problem or not obstacle else [obstacle, *agent.shortcomings]
        notes += [{"host": agent.host, "sentence": sentence} for sentence in sentences]
    return notes


def report_hosts(lab: Lab) -> dict[str, Any]:
    """Return what the form that starts runs says of the lab's hosts.

    `host_notes`: what hinders runs on up to 200 hosts with an approved agent. `hosts_waiting`: whether an agent waits
    for a decision.
    """
    agents = Agent.objects.filter(lab=lab, state=Agent.State.APPROVED).select_related("host").order_by("host__name")
    return {
        "host_notes": start_notes(with_targets(agents)[:200]),
        "hosts_waiting": Agent.objects.filter(lab=lab, state__in=UNDECIDED).exists(),
    }

"""Why a host's test directories take no runs, in a sentence each: for the host's page and the form that starts runs."""

from collections.abc import Iterable
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.functions import JSONObject

from apps.agents.models import Agent
from apps.inventory.models import Target
from apps.inventory.target_identity import explain_no_runs
from apps.inventory.vocabulary import TargetKind
from apps.labs.models import Lab

MOST_GONE = 100  # targets of one host that are looked at
MOST_OTHERS = 50
UNDECIDED = (Agent.State.PENDING, Agent.State.QUARANTINED)


def with_targets(agents: "QuerySet[Agent]") -> "QuerySet[Agent]":
    """Annotate agents with what `find_obstacle` reads.

    `offered_paths`: those of the host's targets that take runs. `gone_reason`: why its directory that went last is
    gone. `gone_targets`: path and reason of those that went last.
    """
    targets = Target.objects.filter(host=OuterRef("host"), kind=TargetKind.DIRECTORY)
    gone = targets.filter(gone_at__isnull=False).order_by("-gone_at", "-id")
    pairs = gone.values(pair=JSONObject(path="path", reason="gone_reason"))[:MOST_GONE]
    return agents.annotate(
        offered_paths=ArraySubquery(targets.filter(is_agents_own=True).values("path")),
        gone_reason=Subquery(gone.values("gone_reason")[:1]),
        gone_targets=ArraySubquery(pairs),
    )


def find_obstacle(agent: Any) -> str:
    """Return why no run can start on the host of an approved agent; empty where one can, or no reason is known.

    The agent is from `with_targets`.
    """
    problems = agent.directory_problems
    is_usable = len(problems) < len(agent.directories) or not problems
    if agent.state != Agent.State.APPROVED or (agent.offered_paths and is_usable):
        return "" if is_usable else " ".join(problems)
    if problems:
        return " ".join([*problems, *find_unmounted(agent)])
    if agent.gone_reason:
        return f"Its directory for test files takes no runs: {agent.gone_reason}."
    if agent.has_reported:
        return "Its agent has not reported yet what its directory for test files lies on; no run can start there until it has."
    return ""


def find_unmounted(agent: Any) -> list[str]:
    """Return why directories take no runs in which the host itself sees no problem, as where nothing is mounted now."""
    sound = [item["path"] for item in agent.directories if item.get("path") and not item.get("problem")]
    reasons: dict[str, str] = {}
    for pair in agent.gone_targets:  # the newest first
        reasons.setdefault(pair["path"], pair["reason"])
    unused = [path for path in sound if path not in agent.offered_paths and path in reasons]
    return [f"Its directory for test files, {path}, takes no runs: {reasons[path]}." for path in unused]


def start_notes(agents: Iterable[Any]) -> list[dict[str, Any]]:
    """Return what hinders runs on the hosts of approved agents, as rows of `host` and `sentence`.

    That is a missing directory, a missing fio, or the agent's own files on the disk that is measured.
    """
    notes = []
    for agent in agents:
        obstacle = find_obstacle(agent)
        if not obstacle and not agent.offered_paths:
            obstacle = "Its agent is approved and has not reported yet; its directory is offered here when it has."
        sentences = agent.shortcomings if agent.directory_problems or not obstacle else [obstacle, *agent.shortcomings]
        if agent.offered_paths or agent.directory_problems:
            sentences = [*sentences, *find_unmounted(agent)]
        notes += [{"host": agent.host, "sentence": sentence} for sentence in sentences]
    return notes


def report_hosts(lab: Lab) -> dict[str, Any]:
    """Return what the form that starts runs says of the lab's hosts.

    `host_notes`: what hinders runs on up to 200 hosts with an approved agent. `hosts_waiting`: whether an agent waits
    for a decision. `other_targets`: targets of hosts with an approved agent that take no runs, each with the reason.
    """
    agents = Agent.objects.filter(lab=lab, state=Agent.State.APPROVED).select_related("host").order_by("host__name")
    return {
        "host_notes": start_notes(with_targets(agents)[:200]),
        "hosts_waiting": Agent.objects.filter(lab=lab, state__in=UNDECIDED).exists(),
        "other_targets": find_other_targets(lab),
    }


def find_other_targets(lab: Lab) -> list[dict[str, Any]]:
    """Return targets of hosts with an approved agent that take no runs, as rows of `target` and `why`; at most 50."""
    others = Target.objects.filter(lab=lab, is_agents_own=False, host__agent__state=Agent.State.APPROVED)
    ordered = others.select_related("host__agent").order_by("gone_at", "host__name", "name")[:MOST_OTHERS]
    return [{"target": target, "why": explain_no_runs(target, target.host.agent)} for target in ordered]

"""What a host is doing, in one word, for lists of hosts: from its agent and its open attempt."""

from collections.abc import Iterable
from dataclasses import dataclass

from apps.agents.models import Agent
from apps.inventory.models import Host
from apps.labs.models import Lab
from apps.runs.attempts import Attempt
from apps.runs.states import OPEN, State


@dataclass(frozen=True)
class HostStatus:
    """`state`: pending, quarantined, revoked, maintenance, busy, unknown, idle, offline; or `no agent`, for hosts
    known by reports only."""

    host: Host
    agent: Agent | None
    attempt: Attempt | None

    @property
    def state(self) -> str:
        if self.agent is None:
            return "no agent"
        if self.agent.state != Agent.State.APPROVED:
            return str(self.agent.state)
        if self.attempt and self.attempt.state == State.UNKNOWN:
            return "unknown"
        if not self.agent.is_online:
            return "offline"
        if self.attempt:
            return "busy"
        return "maintenance" if self.host.is_in_maintenance else "idle"

    @property
    def explanation(self) -> str:
        return {
            "pending": "Its agent waits for an owner's approval.",
            "quarantined": "Its secret was used from another machine; it gets no work until an owner decides.",
            "revoked": "An owner has revoked its agent.",
            "unknown": "Its lease ran out during a run. The run may still be going on; nothing is started elsewhere.",
            "offline": "Its agent has not been heard of for a minute.",
            "busy": "Its agent is online and works on a run.",
            "maintenance": f"In maintenance: its agent is online and gets no new runs. {self.host.maintenance_note}".strip(),
            "idle": "Its agent is online and waits for work.",
        }.get(self.state, "No agent reports from this host; it is known from reports or entered by hand.")


def statuses(hosts: Iterable[Host]) -> list[HostStatus]:
    """The hosts' states, in two queries however many there are."""
    found = list(hosts)
    ids = [host.pk for host in found]
    agents = {agent.host_id: agent for agent in Agent.objects.filter(host__in=ids)}
    attempts = {one.host_id: one for one in Attempt.objects.filter(host__in=ids, state__in=OPEN).select_related("run")}
    return [HostStatus(host, agents.get(host.pk), attempts.get(host.pk)) for host in found]


def with_agents(lab: Lab, limit: int = 200) -> list[HostStatus]:
    """The lab's hosts that have an agent, by name: those that can be given work."""
    return statuses(Host.objects.filter(lab=lab, agent__isnull=False).order_by("name")[:limit])

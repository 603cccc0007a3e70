"""The state of hosts in one word for lists, from each host's agent and its open attempt."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from apps.agents.models import Agent
from apps.agents.obstacles import find_obstacle, with_targets
from apps.agents.trust import Twin, twins_of
from apps.inventory.models import Host
from apps.labs.models import Lab
from apps.runs.models import Attempt
from apps.runs.states import OPEN, State


@dataclass(frozen=True)
class HostStatus:
    """A host as lists and panels show it.

    `state`: pending, quarantined, revoked, approved (not heard of since), maintenance, busy, unknown, idle, offline; or
    `no agent`, for hosts known by reports only.
    """

    host: Host
    agent: Agent | None
    attempt: Attempt | None
    twins: list[Twin] = field(default_factory=list)

    @property
    def state(self) -> str:
        if self.agent is None:
            return "no agent"
        if self.agent.state != Agent.State.APPROVED:
            return str(self.agent.state)
        if self.attempt and self.attempt.state == State.UNKNOWN:
            return "unknown"
        if self.agent.last_seen_at is None:
            return "approved"
        if not self.agent.is_online:
            return "offline"
        if self.attempt:
            return "busy"
        return "maintenance" if self.host.is_in_maintenance else "idle"

    @property
    def obstacle(self) -> str:
        """Return why no run can start in the agent's directory, or an empty string."""
        return find_obstacle(self.agent) if self.agent else ""

    @property
    def explanation(self) -> str:
        """Return the host's state in a sentence, with what prevents runs on it."""
        if not self.obstacle:
            return self._of_state
        return f"{'Its agent is online.' if self.state == 'idle' else self._of_state} {self.obstacle}"

    @property
    def _of_state(self) -> str:
        return {
            "pending": "Its agent waits for an owner's approval and gets no work until then.",
            "quarantined": "Its secret was used from another machine, or an owner has put it here; it gets no work until an owner decides.",
            "approved": "Its agent is approved; its first report is awaited and comes within seconds if it runs.",
            "revoked": "An owner has revoked its agent.",
            "unknown": "Its lease ran out during a run. The run may still be going on; nothing is started elsewhere.",
            "offline": "Its agent has not been heard of for a minute.",
            "busy": "Its agent is online and works on a run.",
            "maintenance": f"In maintenance: its agent is online and gets no new runs. {self.host.maintenance_note}".strip(),
            "idle": "Its agent is online and waits for work.",
        }.get(self.state, "No agent reports from this host; it is known from reports or entered by hand.")


def statuses(hosts: Iterable[Host]) -> list[HostStatus]:
    """Return the states of hosts in two queries, and a third where an agent waits for approval."""
    result = list(hosts)
    ids = [host.pk for host in result]
    agents = {agent.host_id: agent for agent in with_targets(Agent.objects.filter(host__in=ids))}
    attempts = {
        attempt.host_id: attempt
        for attempt in Attempt.objects.filter(host__in=ids, state__in=OPEN).select_related("run")
    }
    twins = twins_of(list(agents.values()))
    return [
        HostStatus(host, agent, attempts.get(host.pk), twins.get(agent.pk, []) if agent else [])
        for host in result
        for agent in [agents.get(host.pk)]
    ]


def with_agents(lab: Lab, limit: int = 200) -> list[HostStatus]:
    """Return the lab's hosts that have an agent, sorted by name."""
    return statuses(Host.objects.filter(lab=lab, agent__isnull=False).order_by("name")[:limit])

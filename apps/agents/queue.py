"""Why a run that has not begun waits, in one sentence: the state of its host, and the run before it."""

from collections.abc import Iterable

from django.utils import timezone

from apps.agents.dispatch import find_dispatcher_silence
from apps.agents.models import Agent
from apps.core.units import elapsed
from apps.runs.models import Attempt, Run
from apps.runs.states import OPEN, State

WAITING = (State.QUEUED, State.OFFERED)


def waiting_reasons(runs: Iterable[Run]) -> dict[int, str]:
    """Return why each run waits that waits for its host, by the run's id.

    The number of queries does not grow with the runs.
    """
    waiting = [run for run in runs if run.state in WAITING]
    hosts = {run.host_id for run in waiting}
    if not waiting:
        return {}
    agents = {agent.host_id: agent for agent in Agent.objects.filter(host__in=hosts)}
    attempts = {one.host_id: one for one in Attempt.objects.filter(host__in=hosts, state__in=OPEN)}
    silence = find_dispatcher_silence() if hosts - attempts.keys() else ""
    return {run.pk: _reason(run, agents.get(run.host_id), attempts.get(run.host_id), silence) for run in waiting}


def _reason(run: Run, agent: Agent | None, attempt: Attempt | None, silence: str) -> str:
    return _no_trust(run, agent) or _not_there(run, agent) or _busy(run, attempt, silence)


def _no_trust(run: Run, agent: Agent | None) -> str:
    if agent is None:
        return f"{run.host} has no agent: nothing runs there until one is enrolled."
    return {
        Agent.State.PENDING: f"The agent of {run.host} waits for an owner's approval, and gets no work before.",
        Agent.State.QUARANTINED: f"{run.host} is in quarantine and gets no work until an owner approves its agent again.",
        Agent.State.REVOKED: f"The agent of {run.host} was revoked: it gets no work. Cancel this run, or enrol the host again.",
    }.get(Agent.State(agent.state), "")


def _not_there(run: Run, agent: Agent | None) -> str:
    assert agent
    host = run.host
    if host and host.is_in_maintenance:
        note = f" ({host.maintenance_note})" if host.maintenance_note else ""
        return f"{host} is in maintenance and gets no new runs until that ends{note}; then this one begins by itself."
    if agent.last_seen_at is None:
        return f"{host} is offline: its agent has not been heard of yet."
    if not agent.is_online:
        ago = elapsed((timezone.now() - agent.last_seen_at).total_seconds())
        return f"{host} is offline: its agent was last heard of {ago} ago. It gets this run when it is back."
    return ""


def _busy(run: Run, attempt: Attempt | None, silence: str) -> str:
    if attempt is None and silence:
        return f"{silence}: {run.host} is online and gets it when a worker is back. Nothing is lost."
    if attempt is None or attempt.run_id == run.pk:
        return f"{run.host} is online and gets it in a moment."
    if attempt.state == State.UNKNOWN:
        return f"{run.host} has gone quiet during run {attempt.run_id}; nothing else is started there until that has ended."
    if attempt.overdue_at and attempt.overdue_at < timezone.now():
        return f"{run.host} works on run {attempt.run_id}, which is overdue and is being stopped; then the oldest run is next."
    return f"{run.host} works on run {attempt.run_id}. It gets its runs one after another, oldest first."

"""Who is calling: an agent's secret, its machine, and that it is the only living copy."""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Q
from django.utils import timezone

from apps.agents.models import Agent
from apps.labs.isolation import all_labs
from apps.labs.models import AuditEvent, digest
from apps.lib.sql import Given

# Agents that hold a long poll open in this process: agent id → instance. A killed agent's connection closes, and its entry goes.
polling_now: dict[int, str] = {}


KNOWN = """id = %(agent)s AND state = %(approved)s AND secret_sha256 = %(secret)s
    AND machine = %(machine)s AND instance = %(instance)s"""
APPROVED = "host_id IN (SELECT host_id FROM agents_agent WHERE id = %(agent)s AND state = %(approved)s)"
WELL_KNOWN = f"host_id IN (SELECT host_id FROM agents_agent WHERE {KNOWN})"  # noqa: S608  (nothing of anybody's)
AS_EVER = f"""{KNOWN} AND boot_id = %(boot_id)s AND version = %(version)s AND fio_version = %(fio_version)s
    AND policy = %(policy)s::jsonb"""


class RefusedError(Exception):
    """The caller gets this status and sentence; nothing was done."""

    def __init__(self, status: int, detail: str, state: str = "") -> None:
        super().__init__(detail)
        self.status, self.detail, self.state = status, detail, state


@dataclass(frozen=True)
class Caller:
    authorization: str
    instance: str
    machine: str

    @classmethod
    def from_headers(cls, headers: Mapping[str, str]) -> "Caller":
        return cls(
            headers.get("authorization", ""),
            headers.get("x-spindle-instance", "")[:40],
            headers.get("x-spindle-machine", "")[:64],
        )


def identify(caller: Caller) -> Agent:
    """The approved agent behind this call. Raises `RefusedError` (401, 403, 409)."""
    agent = _by_secret(caller.authorization)
    if agent.machine and not hmac.compare_digest(agent.machine, caller.machine):
        _quarantine(agent, caller)
    if agent.state in (Agent.State.PENDING, Agent.State.QUARANTINED):
        raise RefusedError(403, f"This host is {agent.get_state_display()}; an owner of the lab decides.", agent.state)
    if caller.instance != agent.instance:
        _take_over(agent, caller.instance)
    return agent


def still_approved(agent: int) -> Given:
    """For a statement about a row with `host_id`: this agent is the host's, and approved."""
    return Given(APPROVED, {"agent": agent, "approved": Agent.State.APPROVED})


def well_known(caller: Caller) -> Given:
    """For a statement about a row with `host_id`: all that `identify` asks of a caller, as far as nothing is out of the ordinary.
    Raises `RefusedError` (401).
    """
    return Given(WELL_KNOWN, _asked_of(caller))


def known_as_ever(caller: Caller, said: Mapping[str, object]) -> Given:
    """For a statement about agents: the same, and this one says the same of itself as ever (`AS_EVER` has the names)."""
    return Given(AS_EVER, {**_asked_of(caller), **said})


def _asked_of(caller: Caller) -> dict[str, object]:
    number, key = _parts(caller.authorization)
    known = {"secret": digest(key), "machine": caller.machine, "instance": caller.instance}
    return {"agent": number, "approved": Agent.State.APPROVED, **known}


def number_of(caller: Caller) -> int | None:
    """Which agent it says it is."""
    try:
        return _parts(caller.authorization)[0]
    except RefusedError:
        return None


def _parts(authorization: str) -> tuple[int, str]:
    """The agent's number and its key."""
    kind, _, secret = authorization.partition(" ")
    prefix, _, rest = secret.partition("_")
    number, _, key = rest.partition("_")
    if kind != "Bearer" or prefix != "spa" or not number.isdecimal() or not key:
        raise RefusedError(401, "Expected 'Authorization: Bearer spa_<agent id>_<secret>'.")
    return int(number[:18]), key


def _by_secret(authorization: str) -> Agent:
    number, key = _parts(authorization)
    with all_labs():
        agent: Agent | None = Agent.objects.filter(pk=number).first()
    if agent is None or not hmac.compare_digest(agent.secret_sha256, digest(key)) or agent.state == Agent.State.REVOKED:
        raise RefusedError(401, "No agent has this secret, or it was revoked.")
    return agent


def _quarantine(agent: Agent, caller: Caller) -> None:
    with all_labs():
        if Agent.objects.filter(pk=agent.pk, state=Agent.State.APPROVED).update(state=Agent.State.QUARANTINED):
            AuditEvent.objects.record(
                agent.lab_id, "agent quarantined", str(agent.host), known=agent.machine, came_from=caller.machine
            )
    raise RefusedError(
        403, "This secret came from another machine; the host is in quarantine.", Agent.State.QUARANTINED
    )


def _take_over(agent: Agent, instance: str) -> None:
    """A restarted agent takes its predecessor's place; while that one still holds its poll open, the newcomer waits."""
    if agent.instance and polling_now.get(agent.pk) == agent.instance:
        raise RefusedError(409, "Another copy of this agent is alive.")
    with all_labs():
        Agent.objects.filter(pk=agent.pk).update(instance=instance, last_seen_at=timezone.now())
    agent.instance = instance


def stamp(agent: Agent, **reported: object) -> None:
    """Write down what the agent says of itself, only when it changed or the last stamp is 10 s old."""
    news = {name: value for name, value in reported.items() if getattr(agent, name) != value}
    stale = Q(last_seen_at=None) | Q(last_seen_at__lt=timezone.now() - timedelta(seconds=10))
    if news:
        Agent.objects.filter(pk=agent.pk).update(last_seen_at=timezone.now(), **news)
    else:
        Agent.objects.filter(stale, pk=agent.pk).update(last_seen_at=timezone.now())

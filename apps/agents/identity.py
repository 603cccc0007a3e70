"""Authentication of agents: the secret, the machine, and that it is the only running copy of the agent."""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Any

from django.db.models import Q
from django.utils import timezone

from apps.agents.models import Agent
from apps.agents.trust import is_other, read_hardware
from apps.core.sql import CLOCKS_APART, is_recent
from apps.core.text import whole_number
from apps.labs.isolation import all_labs
from apps.labs.models import AuditEvent, digest

IDENTIFYING = ("lab_id", "host_id", "secret_sha256", "machine", "hardware", "state", "instance")  # of an `Agent`
LONGEST_HOLD = CLOCKS_APART + timedelta(seconds=30)  # of a poll; what lies further ahead was set by a clock that was
ASK_AGAIN_S = 3  # how soon a host that waits for approval asks again


class RefusedError(Exception):
    """A request that is refused with this status and sentence; nothing was done."""

    def __init__(self, status: int, detail: str, state: str = "") -> None:
        super().__init__(detail)
        self.status, self.detail, self.state = status, detail, state

    @property
    def more(self) -> dict[str, Any]:
        """Return what the refusal says besides: the agent's state, and when to ask again while it waits for approval.

        The wait is short, so that a host that is approved soon has its first work.
        """
        return {"state": self.state, **({"poll_s": ASK_AGAIN_S} if self.state == Agent.State.PENDING else {})}


@dataclass(frozen=True)
class Caller:
    """What a request says about the agent that sends it: its secret, copy, machine id and network cards."""

    authorization: str
    instance: str
    machine: str
    hardware: str = ""

    @classmethod
    def from_headers(cls, headers: Mapping[str, str]) -> "Caller":
        """Read from a request's headers who calls."""
        return cls(
            headers.get("authorization", ""),
            headers.get("x-spindle-instance", "")[:40],
            headers.get("x-spindle-machine", "")[:64],
            read_hardware(headers.get("x-spindle-hardware", "")),
        )


class IdentityDoubt(Enum):
    """What differs between a caller and the agent that it says it is; the first difference counts."""

    SECRET = "another secret, or a revoked one"  # noqa: S105
    MACHINE = "another machine"
    HARDWARE = "other network cards"
    APPROVAL = "not approved"
    INSTANCE = "another copy of the program"


def identify(caller: Caller, agent: Agent | None = None) -> Agent:
    """Return the approved agent behind this call.

    `agent`: the one with the caller's number, where it has been read already. A call from another machine puts the host
    into quarantine; a restarted agent takes the place of its predecessor.

    Raises:
        RefusedError: 401 for a wrong secret; 403 for another machine or an agent that is not approved; 409 while
            another copy of the agent is running.
    """
    agent = _by_secret(caller.authorization, agent)
    match find_doubt(agent, caller):
        case IdentityDoubt.MACHINE:
            _quarantine(agent, caller)
        case IdentityDoubt.HARDWARE:
            _refuse_copy(agent, caller.hardware)
        case IdentityDoubt.APPROVAL:
            raise RefusedError(
                403, f"This host is {agent.get_state_display()}; an owner of the lab decides.", agent.state
            )
        case IdentityDoubt.INSTANCE:
            _take_over(agent, caller)
    return agent


def find_doubt(agent: Agent | None, caller: Caller) -> IdentityDoubt | None:
    """Return the first difference between a caller and this agent; None where there is none and it is to be served.

    Nothing is changed.

    Raises:
        RefusedError: 401 where the caller shows no agent's secret at all.
    """
    if agent is None or not _has_secret(agent, parse_secret(caller.authorization)[1]):
        return IdentityDoubt.SECRET
    if agent.machine and not hmac.compare_digest(agent.machine.encode(), caller.machine.encode()):
        return IdentityDoubt.MACHINE
    if is_other(agent.hardware, caller.hardware):
        return IdentityDoubt.HARDWARE
    if agent.state != Agent.State.APPROVED:
        return IdentityDoubt.APPROVAL
    return None if caller.instance == agent.instance else IdentityDoubt.INSTANCE


def _has_secret(agent: Agent, key: str) -> bool:
    return hmac.compare_digest(agent.secret_sha256, digest(key)) and agent.state != Agent.State.REVOKED


def parse_secret(authorization: str) -> tuple[int, str]:
    """Parse the `Authorization` header of an agent into the agent's number and its key.

    Raises:
        RefusedError: 401 for any other header.
    """
    kind, _, secret = authorization.partition(" ")
    prefix, _, rest = secret.partition("_")
    number, _, key = rest.partition("_")
    agent = whole_number(number)
    if kind != "Bearer" or prefix != "spa" or agent is None or not key:
        raise RefusedError(401, "Expected 'Authorization: Bearer spa_<agent id>_<secret>'.")
    return agent, key


def _by_secret(authorization: str, agent: Agent | None = None) -> Agent:
    number, key = parse_secret(authorization)
    if agent is None:
        with all_labs():
            agent = Agent.objects.filter(pk=number).first()
    if agent is None or agent.pk != number or not _has_secret(agent, key):
        raise RefusedError(401, "No agent has this secret, or it was revoked.")
    return agent


def find_agent(caller: Caller) -> Agent | None:
    """Return the agent that has the caller's secret, if it is not revoked; None otherwise. Nothing is changed."""
    try:
        return _by_secret(caller.authorization)
    except RefusedError:
        return None


def _quarantine(agent: Agent, caller: Caller) -> None:
    with all_labs():
        if Agent.objects.filter(pk=agent.pk, state=Agent.State.APPROVED).update(state=Agent.State.QUARANTINED):
            AuditEvent.objects.record(
                agent.lab_id, "agent quarantined", str(agent.host), actor=agent.author, known=agent.machine,
                came_from=caller.machine,
            )  # fmt: skip
    raise RefusedError(
        403, "This secret came from another machine; the host is in quarantine.", Agent.State.QUARANTINED
    )


def _refuse_copy(agent: Agent, hardware: str) -> None:
    """Refuse a machine that has the agent's secret and machine id, but other network cards.

    It is a copy of the host's image, or the host with exchanged cards; an owner decides which. The agent that has the
    known cards goes on meanwhile.

    Raises:
        RefusedError: 403, always.
    """
    is_asked = (
        agent.other_hardware_at is not None
    )  # an owner is asked about one copy at a time, and never again about a refused one
    if not is_asked and hardware not in (agent.other_hardware, *agent.refused_hardware):
        with all_labs():
            quiet = Agent.objects.filter(pk=agent.pk, other_hardware_at=None)
            if quiet.update(other_hardware=hardware, other_hardware_at=timezone.now()):
                AuditEvent.objects.record_repeated(
                    agent.lab_id, "agent's secret came from other hardware", str(agent.host), actor=agent.author
                )
    raise RefusedError(
        403,
        "This secret belongs to a machine with other network cards. If this is a copy of it, enrol it anew with --again; if its cards were"
        " exchanged, an owner of the lab has to say so.",
        Agent.State.QUARANTINED,
    )


def _take_over(agent: Agent, caller: Caller) -> None:
    """Let a restarted agent take the place of its predecessor.

    Raises:
        RefusedError: 409 while the predecessor's poll is still held open.
    """
    instance = caller.instance
    now = timezone.now()
    if agent.instance and agent.polling_until and now < agent.polling_until <= now + LONGEST_HOLD:
        raise RefusedError(409, "Another copy of this agent is alive.")
    with all_labs():
        known = {"hardware": caller.hardware} if caller.hardware else {}
        Agent.objects.filter(pk=agent.pk).update(instance=instance, last_seen_at=timezone.now(), **known)
    agent.instance = instance


def stamp(agent: Agent, polling_until: datetime | None = None, **reported: object) -> None:
    """Store what the agent reports of itself, if it changed or the last time it was stored is 10 s ago.

    `polling_until`: until when the agent's poll is held at most. Meanwhile no other copy of the agent is served.
    """
    changed = {name: value for name, value in reported.items() if getattr(agent, name) != value}
    if polling_until:
        changed["polling_until"] = polling_until
    stale = Q(last_seen_at=None) | ~is_recent("last_seen_at", timezone.now(), timedelta(seconds=10))
    mine = Agent.objects.filter(pk=agent.pk) if changed else Agent.objects.filter(stale, pk=agent.pk)
    mine.update(last_seen_at=timezone.now(), **changed)

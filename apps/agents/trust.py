"""Decisions of an owner about an agent. Each is one filtered UPDATE and one entry in the audit trail."""

import re
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from apps.agents.models import Agent
from apps.inventory.editing.deletion import loss_of
from apps.inventory.models import Host
from apps.labs.models import AuditEvent
from apps.runs.models import Attempt

State = Agent.State
MOST_REFUSED = 50  # refused copies of one host that are remembered
# act → (states it may be taken in, state it leads to, words for the trail)
DECISIONS: dict[str, tuple[tuple[str, ...], str, str]] = {
    "approve": ((State.PENDING, State.QUARANTINED), State.APPROVED, "agent approved"),
    "quarantine": ((State.APPROVED, State.PENDING), State.QUARANTINED, "agent quarantined"),
    "revoke": ((State.PENDING, State.APPROVED, State.QUARANTINED), State.REVOKED, "agent revoked"),
}


@dataclass(frozen=True)
class Twin:
    """Another agent of the lab that reports the same machine id as one that waits for approval."""

    agent: Agent
    hint: str


def decide(agent: Agent, act: str, actor: str) -> bool:
    """Take an owner's decision about an agent; return whether its state changed.

    Raises:
        KeyError: `act` is none of `DECISIONS`.
    """
    before, after, words = DECISIONS[act]
    fields = {"state": after, **({"approved_at": timezone.now()} if act == "approve" else {})}
    changed = Agent.objects.filter(pk=agent.pk, state__in=before).update(**fields)
    if changed:
        AuditEvent.objects.record(agent.lab_id, words, str(agent.host), actor=actor)
    if changed and act == "revoke":  # it will never say what became of a run that was given up
        Attempt.objects.settle_abandoned(agent.host_id)
    return bool(changed)


def twins_of(agents: list[Agent]) -> dict[int, list[Twin]]:
    """Return, for each agent that waits for approval, the lab's other agents that report the same machine id.

    Revoked agents are left out. It takes one query, however many agents there are.
    """
    waiting = [agent for agent in agents if agent.state == State.PENDING]
    if not waiting:
        return {}
    machines = {agent.machine for agent in waiting}
    others = list(Agent.objects.filter(machine__in=machines).exclude(state=State.REVOKED).select_related("host"))
    return {
        agent.pk: [
            Twin(other, _hint(agent, other))
            for other in others
            if other.machine == agent.machine and other.pk != agent.pk and other.lab_id == agent.lab_id
        ]
        for agent in waiting
    }


def _hint(agent: Agent, other: Agent) -> str:
    if is_same(agent.hardware, other.hardware):
        return "It also has the same network cards, so it is very likely the same machine, enrolled again."
    if is_other(agent.hardware, other.hardware):
        return "Its network cards are others, so it is very likely another machine, made from the same image."
    return "Whether its network cards are the same is not known."


def replace(agent: Agent, former: Agent, actor: str) -> bool:
    """Approve a waiting agent in the place of a former one with the same machine id; return whether it was done.

    The waiting agent takes over the former one's host with all its history, the former one's secret becomes invalid,
    and the host entry under which it waited is removed. False: they are no such pair any more; nothing was changed.
    """
    with transaction.atomic():
        pair = {row.pk: row for row in Agent.objects.select_for_update().filter(pk__in=(agent.pk, former.pk))}
        new, old = pair.get(agent.pk), pair.get(former.pk)
        if not new or not old or new.pk == old.pk or new.state != State.PENDING:
            return False
        if (new.lab_id, new.machine) != (old.lab_id, old.machine):
            return False
        host, waited_on = old.host, new.host
        old.delete()
        Agent.objects.filter(pk=new.pk).update(host=host, state=State.APPROVED, approved_at=timezone.now())
        AuditEvent.objects.record(new.lab_id, "agent replaced", str(host), actor=actor, waited_as=str(waited_on))
        _remove_if_unused(waited_on)
    return True


def _remove_if_unused(host: Host) -> None:
    """Delete the host, unless somebody has meanwhile given it anything that would be lost."""
    loss = loss_of(host)
    if not (loss.forbidden or loss.lost or loss.freed):
        host.delete()


def accept_hardware(agent: Agent, actor: str) -> bool:
    """Accept exchanged network cards as the host's own; return whether anything changed."""
    changed = (
        Agent.objects.filter(pk=agent.pk)
        .exclude(other_hardware="")
        .filter(other_hardware=agent.other_hardware)
        .update(
            hardware=agent.other_hardware,
            other_hardware="",
            other_hardware_at=None,
            refused_hardware=[cards for cards in agent.refused_hardware if cards != agent.other_hardware],
        )
    )
    if changed:
        AuditEvent.objects.record(agent.lab_id, "agent's hardware accepted", str(agent.host), actor=actor)
    return bool(changed)


def refuse_hardware(agent: Agent, actor: str) -> bool:
    """Refuse the machine with other network cards as a copy of the host's image; return whether anything changed.

    The copy stays refused. An owner is asked again only when a machine with yet other cards calls.
    """
    refused = [cards for cards in agent.refused_hardware if cards != agent.other_hardware]
    rows = Agent.objects.filter(pk=agent.pk, other_hardware=agent.other_hardware).exclude(other_hardware_at=None)
    changed = rows.update(other_hardware_at=None, refused_hardware=[*refused, agent.other_hardware][-MOST_REFUSED:])
    if changed:
        AuditEvent.objects.record(agent.lab_id, "agent's copy refused", str(agent.host), actor=actor)
    return bool(changed)


CARD_HASH = re.compile(r"[0-9a-f]{16}")
MOST_CARDS = 16


def read_hardware(reported: Any) -> str:
    """Return the hashes of network cards that an agent reports, sorted and joined by commas.

    `reported`: a list, or a text with commas. Anything else in it is left out. The result is empty for an agent that
    reports none: an older one, or one in a container.
    """
    words = reported.split(",") if isinstance(reported, str) else reported if isinstance(reported, list) else []
    return ",".join(
        sorted({word for word in words[:100] if isinstance(word, str) and CARD_HASH.fullmatch(word)})[:MOST_CARDS]
    )


def is_other(known: str, reported: str) -> bool:
    """Return whether both texts have hashes of network cards, and none in common."""
    return bool(known and reported) and not set(known.split(",")) & set(reported.split(","))


def is_same(known: str, reported: str) -> bool:
    """Return whether both texts have hashes of network cards, and at least one in common."""
    return bool(known and reported) and not is_other(known, reported)

"""An owner's decisions about an agent: each one filtered UPDATE, and each written down."""

from django.utils import timezone

from apps.agents.models import Agent
from apps.labs.models import AuditEvent

State = Agent.State
# act → (states it may be taken in, state it leads to, words for the trail)
DECISIONS: dict[str, tuple[tuple[str, ...], str, str]] = {
    "approve": ((State.PENDING, State.QUARANTINED), State.APPROVED, "agent approved"),
    "quarantine": ((State.APPROVED, State.PENDING), State.QUARANTINED, "agent quarantined"),
    "revoke": ((State.PENDING, State.APPROVED, State.QUARANTINED), State.REVOKED, "agent revoked"),
}


def decide(agent: Agent, act: str, who: str) -> bool:
    """True if the agent's state changed. KeyError for an act that is none of `DECISIONS`."""
    before, after, words = DECISIONS[act]
    fields = {"state": after, **({"approved_at": timezone.now()} if act == "approve" else {})}
    changed = Agent.objects.filter(pk=agent.pk, state__in=before).update(**fields)
    if changed:
        AuditEvent.objects.record(agent.lab_id, words, str(agent.host), who=who)
    return bool(changed)

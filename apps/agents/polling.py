"""What a poll is answered: offers, cancels, and what the host may forget. One short visit to the database."""

from dataclasses import dataclass, field
from typing import Any

from apps.agents.identity import stamp, still_approved
from apps.agents.models import Agent
from apps.lib.sql import rows
from apps.runs.attempts import LEASE, Attempt, Offer, offered, offering
from apps.runs.states import ENDED, ON_HOST, State
from apps.runs.workload import status_interval

MAX_WAIT = 25.0


@dataclass(frozen=True)
class Held:
    """An attempt as the host names it."""

    attempt: int
    token: int
    state: str


@dataclass(frozen=True)
class Report:
    """A poll's body, checked."""

    boot_id: str = ""
    agent_version: str = ""
    fio_version: str = ""
    policy: dict[str, Any] = field(default_factory=dict)
    attempts: tuple[Held, ...] = ()
    wait: float = 0.0

    @classmethod
    def from_json(cls, body: Any) -> "Report":
        """Raises ValueError that names what was found and expected."""
        if not isinstance(body, dict):
            raise ValueError(f"found {type(body).__name__}, expected an object")
        wait = body.get("wait", 0)
        policy = body.get("policy") or {}
        if type(wait) not in (int, float) or not isinstance(policy, dict) or len(policy) > 40:
            raise ValueError("wait is a number of seconds and policy an object of at most 40 entries")
        return cls(
            boot_id=str(body.get("boot_id") or "")[:64],
            agent_version=str(body.get("agent_version") or "")[:40],
            fio_version=str(body.get("fio_version") or "")[:60],
            policy=policy,
            attempts=tuple(_held(row) for row in (body.get("attempts") or [])[:100]),
            wait=min(max(float(wait), 0.0), MAX_WAIT),
        )


def _held(row: Any) -> Held:
    if not isinstance(row, dict) or type(row.get("attempt")) is not int or type(row.get("token")) is not int:
        raise ValueError(f"found {row!r} in attempts, expected attempt, token and state")
    return Held(row["attempt"], row["token"], str(row.get("state", "")))


def note(agent: Agent, report: Report) -> None:
    """Once per poll: what the host says of itself and of its attempts."""
    stamp(
        agent,
        boot_id=report.boot_id,
        version=report.agent_version,
        fio_version=report.fio_version,
        policy=report.policy,
    )
    Attempt.objects.renew(agent.host_id, [(held.attempt, held.token) for held in report.attempts])
    _hear_the_hosts_word(agent, report)


def _hear_the_hosts_word(agent: Agent, report: Report) -> None:
    """Leave `unknown` by what the host names, or does not name any more."""
    named = {held.attempt: held for held in report.attempts}
    for attempt in Attempt.objects.filter(host_id=agent.host_id, state=State.UNKNOWN):
        held = named.get(attempt.pk)
        if held and held.token == attempt.token:
            attempt.seen(held.state)
        elif held is None:
            attempt.move(State.INTERRUPTED, reason="The host no longer knows this attempt: its spool is gone.")


def answer(agent: Agent, report: Report) -> dict[str, Any] | None:
    """What there is to tell now, or None: then the poll may wait."""
    known = [held.attempt for held in report.attempts]
    offers = _offers(agent, known)
    cancel = forget = []
    if known:
        mine = Attempt.objects.filter(pk__in=known, host_id=agent.host_id)
        cancel = list(mine.filter(state__in=ON_HOST, cancel_wanted_at__isnull=False).values_list("pk", flat=True))
        whole = mine.filter(
            state__in=ENDED, manifest__isnull=False
        )  # what ended here without its bytes stays on the host
        forget = list(whole.values_list("pk", flat=True))
    return message(offers, cancel, forget) if offers or cancel or forget else None


def message(offers: list[dict[str, Any]], cancel: list[int], forget: list[int]) -> dict[str, Any]:
    return {"offers": offers, "cancel": cancel, "forget": forget, "lease_s": LEASE.seconds, "poll_s": 0}


def _offers(agent: Agent, known: list[int]) -> list[dict[str, Any]]:
    approved = still_approved(agent.pk)  # it may have been revoked while its poll was held
    offer = offered(rows(*offering(agent.host_id, approved)))
    return [] if offer is None or offer.attempt in known else [as_told(offer)]


def as_told(offer: Offer) -> dict[str, Any]:
    return {**vars(offer), "status_interval": status_interval(offer.workload)}

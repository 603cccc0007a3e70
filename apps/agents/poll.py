"""What a poll is answered: offers, cancels, and what the host may forget."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Q

from apps.agents import fields
from apps.agents.identity import stamp
from apps.agents.models import Agent
from apps.agents.services import note_inventory_refusal, settle_directories
from apps.runs.models import LEASE, Attempt, Run, request_dispatch
from apps.runs.states import ENDED, ON_HOST, State
from apps.runs.workload import status_interval

MAX_WAIT = 25.0
MOST_HELD = 1000  # attempts in one host's spool
KNOWN = (State.QUEUED, State.OFFERED, State.ACCEPTED, State.RUNNING)  # of which the host need not be asked


@dataclass(frozen=True)
class Held:
    """An attempt that the host has in hand, as it reports it."""

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
    directories: list[dict[str, Any]] = field(default_factory=list)  # where they lie; empty for the oldest agents
    inventory_refused: str = ""

    @property
    def host_facts(self) -> dict[str, object]:
        """Return what the host reports of itself, by the names of `Agent`'s fields."""
        return {
            "directories": self.directories,
            "boot_id": self.boot_id,
            "version": self.agent_version,
            "fio_version": self.fio_version,
            "policy": self.policy,
        }

    def is_known(self, agent: Agent) -> bool:
        """Return whether there is nothing to take in: no attempt in hand, and the host as it was at its last poll."""
        if self.attempts or (self.inventory_refused and not agent.inventory_refusal):
            return False
        return all(getattr(agent, name) == value for name, value in self.host_facts.items())

    @classmethod
    def from_json(cls, body: Any) -> "Report":
        """Parse the body of a poll.

        Raises:
            ValueError: With what was found and what was expected.
        """
        if not isinstance(body, dict):
            raise ValueError(f"found {fields.told(body)}, expected an object")
        return cls(
            boot_id=fields.text("boot_id", body.get("boot_id"), 64),
            agent_version=fields.text("agent_version", body.get("agent_version"), 40),
            fio_version=fields.text("fio_version", body.get("fio_version"), 60, is_cut=True),
            policy=fields.policy_of(body.get("policy")),
            attempts=tuple(_held(row) for row in fields.rows("attempts", body.get("attempts"), MOST_HELD)),
            wait=min(max(fields.number("wait", body.get("wait", 0)), 0.0), MAX_WAIT),
            directories=_directories(body),
            inventory_refused=fields.text("inventory_refused", body.get("inventory_refused"), 500, is_cut=True),
        )


def _directories(body: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the directories of a poll; agents before version 1.1 report their only one as `directory`."""
    only = fields.place_of("directory", body.get("directory")).as_json
    if body.get("directories") is None:
        return [dict(only)] if only else []
    return fields.directories_of(body["directories"])


def _held(row: Any) -> Held:
    if not isinstance(row, dict):
        raise fields.wrong("attempts", row, "objects of attempt, token and state")
    return Held(
        fields.whole("attempts.attempt", row.get("attempt")),
        fields.whole("attempts.token", row.get("token")),
        fields.text("attempts.state", row.get("state"), 40),
    )


def note(agent: Agent, report: Report, polling_until: datetime | None = None) -> None:
    """Store what a poll reports of the host, and renew the leases of the attempts that it has in hand."""
    is_elsewhere = agent.directories != report.directories
    if report.inventory_refused and not agent.inventory_refusal:
        note_inventory_refusal(agent, report.inventory_refused)
    stamp(agent, polling_until, **report.host_facts)
    if is_elsewhere and report.directories:
        agent.directories = report.directories
        settle_directories(agent)
    Attempt.objects.renew(agent.host_id, [(held.attempt, held.token) for held in report.attempts])
    _hear_the_hosts_word(agent, report)


def _hear_the_hosts_word(agent: Agent, report: Report) -> None:
    """Settle the host's attempts in state `unknown`, and those that a person gave up, by what the host reports.

    An attempt that it reports goes on in the state that it gives; one that it no longer knows is interrupted, and if it
    was given up, the host's queue goes on.
    """
    named = {held.attempt: held for held in report.attempts}
    for attempt in Attempt.objects.may_be_on_host().filter(~Q(state__in=KNOWN), host_id=agent.host_id):
        held = named.get(attempt.pk)
        if held and held.token == attempt.token:
            _ = attempt.resume(held.state) or attempt.seen(held.state)
        elif held is None and attempt.state == State.UNKNOWN:
            attempt.move(State.INTERRUPTED, reason="The host no longer knows this attempt: its spool is gone.")
        elif held is None:
            Attempt.objects.settle_abandoned(agent.host_id)


def answer(agent: Agent, report: Report) -> dict[str, Any] | None:
    """Return what there is to tell the host now; None where there is nothing, so that the poll may be held."""
    known = [held.attempt for held in report.attempts]
    offers = _offers(agent, known)
    cancel = forget = []
    if known:
        mine = Attempt.objects.filter(pk__in=known, host_id=agent.host_id)
        cancel = list(mine.filter(state__in=ON_HOST, cancel_wanted_at__isnull=False).values_list("pk", flat=True))
        # of an attempt that ended without its bytes, the host keeps its files
        whole = mine.filter(state__in=ENDED, manifest__isnull=False)
        forget = list(whole.values_list("pk", flat=True))
    return message(offers, cancel, forget, agent.wanted_directories) if offers or cancel or forget else None


def answer_again(agent: Agent, report: Report) -> dict[str, Any] | None:
    """Return what there is to tell a host whose poll is held, also that other directories are wanted now."""
    before = agent.wanted_directories
    agent.wanted_directories = (
        Agent.objects.filter(pk=agent.pk).values_list("wanted_directories", flat=True).first() or []
    )
    news = answer(agent, report)
    if news is None and agent.wanted_directories != before:
        return message([], [], [], agent.wanted_directories)
    return news


def message(
    offers: list[dict[str, Any]], cancel: list[int], forget: list[int], look_at: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the answer of a poll: offers, attempts to cancel, attempts to forget, and directories to look at."""
    told = {"offers": offers, "cancel": cancel, "forget": forget, "lease_s": LEASE.seconds, "poll_s": 0}
    return told | {"look_at": list(look_at)} if look_at else told


def _offers(agent: Agent, known: list[int]) -> list[dict[str, Any]]:
    """Return the host's open offer, as a list of one, or nothing.

    The agent is looked up again, for it may have been revoked while its poll was held.
    """
    offered = Attempt.objects.filter(
        host_id=agent.host_id,
        state=State.OFFERED,
        host__is_in_maintenance=False,
        host__agent=agent.pk,
        host__agent__state=Agent.State.APPROVED,
    )
    numbers = list(offered.exclude(pk__in=known).order_by().values_list("pk", flat=True))
    if not numbers:  # nearly always; the ORM takes ten times as long to compose the statement below
        return []
    place = ("run__planned_run__row__configuration", "run__planned_run__row__plan__study", "run__planned_run__point")
    of_study = ("run__study_run__configuration__study",)
    attempts = offered.filter(pk__in=numbers).select_related("run__workload", "run__target", *place, *of_study)
    return [describe_offer(attempt) for attempt in attempts]


LONGEST_ABOUT = 300  # letters


def describe_place(run: Run) -> str:
    """Return in a few words what a run is for, which the host's administrator reads: its step of a plan, study or note."""
    planned = getattr(run, "planned_run", None)
    of_study = getattr(run, "study_run", None)
    if planned:
        plan = planned.row.plan
        words = f"plan {plan.title} of study {plan.study}: {planned.row.label}, {planned.point}, round {planned.round}"
    elif of_study:
        words = f"study {of_study.configuration.study}: {of_study.configuration.label}"
    else:
        words = run.note.partition("\n")[0]
    return words[:LONGEST_ABOUT]


def describe_offer(attempt: Attempt) -> dict[str, Any]:
    """Return an offer as docs/reference/agent-protocol.md describes it.

    It has the typed workload, and the filesystem by which the host recognises the target.
    """
    run = attempt.run
    assert run.workload
    guards = {"guards": run.guards} if run.guards else {}
    return {
        "attempt": attempt.pk,
        "token": attempt.token,
        "run": run.pk,
        "workload": run.workload.spec,
        "target": {"path": run.target.path, **run.target.lies_on} if run.target else {},
        "status_interval": status_interval(run.workload.spec),
        "limit_s": run.limit_seconds,
        "is_limit_asked": run.time_limit is not None,
        "about": describe_place(run),
        **guards,
    }


def ask_for_dispatch(agent: Agent, report: Report) -> None:
    """Send the dispatch task for a host that has nothing in hand while a run for it waits.

    Nothing else may have noticed that the host is back.
    """
    if not report.attempts and Run.objects.filter(host_id=agent.host_id, state=State.QUEUED).exists():
        request_dispatch(agent.host_id)


def find_hosts_with_news(hosts: Iterable[int]) -> set[int]:
    """Return those of the hosts that have an offer or a cancel open: one query for all polls of a process."""
    wanted = Q(state=State.OFFERED) | Q(state__in=ON_HOST, cancel_wanted_at__isnull=False)
    return set(Attempt.objects.filter(wanted, host__in=hosts).values_list("host_id", flat=True))

"""The queue of a lab: its running and waiting runs in the order of dispatch, with the reason why each waits.

The one place for reasons: the state of a run's host, the run before it, the dispatcher.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.paginator import Paginator
from django.db.models import Case, IntegerField, QuerySet, Value, When, Window
from django.db.models.functions import RowNumber
from django.utils import timezone

from apps.agents.dispatch import find_dispatcher_silence
from apps.agents.models import Agent
from apps.core.quantities import written
from apps.core.units import elapsed
from apps.inventory.models import Host
from apps.labs.models import Lab
from apps.runs.host_guards.evidence import describe_wait, entry_of, waiting_entry
from apps.runs.models import DISPATCH_ORDER, Attempt, Run
from apps.runs.queue import WAITING
from apps.runs.states import ON_HOST, Priority, State
from apps.runs.workload import planned_seconds

LEAST_PROGRESS = 0.05  # from which on the time left is extrapolated


def waiting_reasons(runs: Iterable[Run]) -> dict[int, str]:
    """Return why each run waits that waits for its host, by the run's id.

    The number of queries does not grow with the runs.
    """
    waiting = [run for run in runs if run.state in WAITING]
    outlooks = host_outlooks(run.host_id for run in waiting)
    return {run.pk: _reason(run, outlooks[run.host_id]) for run in waiting}


@dataclass(frozen=True)
class HostOutlook:
    """What decides when a host takes its next run. `attempt`: what is, or may be, on it; `silence`: of the dispatcher."""

    agent: Agent | None
    attempt: Attempt | None
    silence: str

    @property
    def takes_work(self) -> bool:
        """Return whether the host takes its next run as soon as it is free."""
        agent = self.agent
        is_there = agent is not None and agent.state == Agent.State.APPROVED and agent.is_online
        is_quiet = self.attempt is not None and self.attempt.state not in (*WAITING, State.ACCEPTED, State.RUNNING)
        return is_there and not is_quiet and not self.silence


def host_outlooks(hosts: Iterable[int | None]) -> dict[int | None, HostOutlook]:
    """Return the outlook of each of the hosts, in at most three queries."""
    ids = set(hosts)
    if not ids:
        return {}
    agents = {agent.host_id: agent for agent in Agent.objects.filter(host__in=ids)}
    attempts = {attempt.host_id: attempt for attempt in Attempt.objects.may_be_on_host().filter(host__in=ids)}
    silence = find_dispatcher_silence() if ids - attempts.keys() else ""
    return {pk: HostOutlook(agents.get(pk), attempts.get(pk), "" if pk in attempts else silence) for pk in ids}


def _reason(run: Run, outlook: HostOutlook) -> str:
    return _no_trust(run, outlook.agent) or _not_there(run, outlook.agent) or _busy(run, outlook)


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


def _busy(run: Run, outlook: HostOutlook) -> str:
    attempt, silence = outlook.attempt, outlook.silence
    if attempt is None and silence:
        return f"{silence}: {run.host} is online and gets it when a worker is back. Nothing is lost."
    if attempt is None or attempt.run_id == run.pk:
        return f"{run.host} is online and gets it in a moment."
    if attempt.state == State.UNKNOWN:
        return f"{run.host} has gone quiet during run {attempt.run_id}; nothing else is started there until that has ended."
    if attempt.abandoned_at and attempt.answered_at is None:
        return f"{run.host} has not said yet that run {attempt.run_id}, which was given up, has ended there."
    if attempt.overdue_at and attempt.overdue_at < timezone.now():
        return f"{run.host} works on run {attempt.run_id}, which is overdue and is being stopped; then the first run is next."
    return f"{run.host} works on run {attempt.run_id}. It gets its runs one after another, by priority and age."


def _standing(run: Run, attempt: Attempt | None) -> str:
    """Return what is special about a run that is on its host; empty where it just runs."""
    if attempt is None:
        return ""
    if attempt.state == State.UNKNOWN:
        return f"{run.host} has gone quiet. fio may still be running there; nothing is started elsewhere."
    if attempt.cancel_wanted_at:
        return f"It is being cancelled: {run.host} has been asked to stop it."
    if attempt.is_overdue:
        return "It is overdue: its host stops it."
    if attempt.state == State.ACCEPTED and (waiting := waiting_entry(map(entry_of, attempt.guards))):
        return f"Nothing is started yet. It waits for {written(describe_wait(waiting))}."
    if attempt.abandoned_at:
        return f"It was given up by {attempt.abandoned_by}; {run.host} is back and still runs it."
    return ""


@dataclass(frozen=True)
class QueueRow:
    """A run of the queue. `place`: 0 on its host, else its number among the host's waiting runs.

    `seconds_left`: until it ends, of a running one; `seconds_before`: until it begins, of a waiting one. None where
    that is not known.
    """

    run: Run
    place: int
    reason: str
    seconds_left: float | None = None
    seconds_before: float | None = None

    @property
    def is_on_host(self) -> bool:
        return self.place == 0

    @property
    def priority(self) -> str:
        return str(Priority(self.run.priority).label)

    @property
    def may_move(self) -> bool:
        return self.run.state == State.QUEUED

    @property
    def may_be_abandoned(self) -> bool:
        return self.run.state == State.UNKNOWN


@dataclass(frozen=True)
class HostQueue:
    """A host's part of the queue, or of a page of it."""

    host: Host
    rows: list[QueueRow]

    @property
    def is_quiet(self) -> bool:
        """Return whether the host has gone quiet during a run, so that its runs may be given up."""
        return any(row.may_be_abandoned for row in self.rows)


def find_queue(lab: Lab) -> QuerySet[Any]:
    """Return the lab's running and waiting runs, host by host in the order in which each takes them.

    Those whose host is done, and whose result is being read, are left out. `place` is annotated as in `QueueRow`.
    """
    rank = Case(
        When(state__in=ON_HOST, then=Value(0)), When(state=State.OFFERED, then=Value(1)), default=Value(2),
        output_field=IntegerField(),
    )  # fmt: skip
    order = ("rank", *DISPATCH_ORDER)
    open_runs = Run.objects.open().filter(lab=lab, host__isnull=False, finished_at=None).alias(rank=rank)
    number = Window(RowNumber(), partition_by=["host_id", Case(When(rank=0, then=0), default=1)], order_by=order)
    runs = open_runs.annotate(number=number, is_waiting=Case(When(rank=0, then=0), default=1))
    related: QuerySet[Any] = runs.select_related("host", "target", "workload").order_by("host__name", "host_id", *order)
    return related


def queue_rows(runs: Sequence[Any]) -> list[QueueRow]:
    """Return the rows of these runs from `find_queue`, with reasons and times. The queries do not grow with them."""
    outlooks = host_outlooks(run.host_id for run in runs)
    rows: list[QueueRow] = []
    clocks: dict[int, QueueClock] = {}
    for run in runs:
        outlook = outlooks[run.host_id]
        clock = clocks.setdefault(run.host_id, QueueClock(outlook, run))
        rows.append(clock.row(run))
    return rows


class QueueClock:
    """Adds up how long the runs of one host take, in the order of dispatch."""

    def __init__(self, outlook: HostOutlook, first: Any) -> None:
        self.outlook = outlook
        # where the host's part begins on an earlier page, what is before it is not known
        is_whole = not first.is_waiting or (first.number == 1 and _is_free_before(outlook, first))
        may_begin = is_whole and outlook.takes_work and not first.host.is_in_maintenance
        self.until: float | None = 0.0 if may_begin else None

    def row(self, run: Any) -> QueueRow:
        if run.is_waiting:
            row = QueueRow(run, run.number, _reason(run, self.outlook), seconds_before=self.until)
            self._add(planned_seconds(run.workload.spec) if run.workload else None)
            return row
        attempt = self.outlook.attempt
        own = attempt if attempt and attempt.run_id == run.pk else None
        left = find_time_left(run, own)
        self._add(left)
        return QueueRow(run, 0, _standing(run, own), seconds_left=left)

    def _add(self, seconds: float | None) -> None:
        self.until = None if self.until is None or seconds is None else self.until + seconds


def _is_free_before(outlook: HostOutlook, first: Run) -> bool:
    return outlook.attempt is None or outlook.attempt.run_id == first.pk


def find_time_left(run: Run, attempt: Attempt | None, now: datetime | None = None) -> float | None:
    """Return about how many seconds a run still takes: by its jobs' runtimes, else by its progress; None if unknown."""
    if run.state != State.RUNNING or run.started_at is None or (attempt and attempt.cancel_wanted_at):
        return None
    took = ((now or timezone.now()) - run.started_at).total_seconds()
    planned = planned_seconds(run.workload.spec) if run.workload else None
    if planned is not None:
        return max(planned - took, 0.0)
    if run.progress < LEAST_PROGRESS or took <= 0:
        return None
    return max(took * (1 - run.progress) / run.progress, 0.0)


def by_host(rows: Iterable[QueueRow]) -> list[HostQueue]:
    """Return rows, which come host by host, grouped by host."""
    hosts: list[HostQueue] = []
    for row in rows:
        host = row.run.host
        assert host
        if not hosts or hosts[-1].host.pk != host.pk:
            hosts.append(HostQueue(host, []))
        hosts[-1].rows.append(row)
    return hosts


PAGE = 200


def queue_page(lab: Lab, number: str | None) -> Any:
    """Return a page of the lab's queue; its `hosts` are the parts of hosts."""
    page: Any = Paginator(find_queue(lab), PAGE).get_page(number)
    page.hosts = by_host(queue_rows(list(page.object_list)))
    return page

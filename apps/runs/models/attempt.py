"""Models of attempts at runs: leases, fencing tokens, chunks, and every change of state as one filtered UPDATE.

If the UPDATE changes no row, somebody else was first: the method returns False and changes nothing.
"""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, ClassVar, Self

from django.db import models, transaction
from django.db.models import Q
from django.utils import timezone

from apps.core.sql import is_due
from apps.core.task_queue import send_on_commit
from apps.core.units import elapsed
from apps.inventory.models import Host
from apps.labs.isolation import LabManager, LabQuerySet, LabScoped, ThroughParent
from apps.runs.models.run import Run
from apps.runs.states import ENDED, ON_HOST, OPEN, State, before

LEASE = timedelta(seconds=60)
# What keeps a host from new work: an open attempt, or an abandoned one of which the host has not said yet that it has ended.
MAY_BE_ON_HOST = Q(state__in=sorted(OPEN)) | Q(abandoned_at__isnull=False, answered_at__isnull=True)
# So close to the server's clock a host's is believed as it is: an agent waits half a minute for an answer, and what it said may
# have lain as long.
CLOSE = timedelta(seconds=35)
DAY_S = 24 * 3600
MAX_TRIES = 3  # of reading a result in; after that it is a dead letter, shown on the run
LONGEST_WAIT = timedelta(minutes=5)  # for the next of them


class NextFencingToken(models.Func):
    """The next number of one sequence for all hosts: a newer attempt always has the greater one.

    The shift keeps new tokens above those of earlier versions, whose lower 24 bits were drawn.
    """

    template = "(nextval('runs_fencing_token') << 24)"
    output_field = models.BigIntegerField()


def request_dispatch(host_id: int | None) -> None:
    """Send the task that offers the host's next run, when the transaction commits. A duplicate finds nothing to do.

    It is named, not imported: who may get work is known to the agents' side. The beat looks at all hosts, so that an
    older message need not be kept.
    """
    send_on_commit("agents.dispatch_host", host_id, expires=60)


def send_run_ended(run_id: int) -> None:
    """Send the task that goes on with a plan when one of its runs ends without a result, when the transaction commits.

    It is named, not imported: plans are above runs. What a lost message leaves, the beat finds.
    """
    send_on_commit("plans.run_ended", run_id, expires=60)


def to_server_time(told: datetime, clock: datetime | None, since: datetime, now: datetime) -> datetime:
    """Return by the server's clock a moment that a host tells by its own, which may be wrong by years.

    Runs of all hosts stand in one order of time, so what a run stores is the server's time.

    Args:
        told: The moment by the host's clock.
        clock: What that clock said when the host sent this; None for older agents, which do not tell.
        since: The earliest moment that it can be, by the server's clock.
        now: When it arrived.
    """
    longest = max(now - since, timedelta())
    age = now - told
    if clock is not None and abs(clock - now) > CLOSE:
        age = clock - told
    elif clock is None and not -CLOSE <= age <= longest + CLOSE:
        age = timedelta()  # it says nothing of its clock, and this cannot be: it has just happened
    return now - min(max(age, timedelta()), longest)


class AttemptQuerySet(LabQuerySet["Attempt"]):
    def open(self) -> Self:
        return self.filter(state__in=OPEN)

    def may_be_on_host(self) -> Self:
        """Return the attempts that keep their host from new work."""
        return self.filter(MAY_BE_ON_HOST)

    def abandoned(self) -> Self:
        """Return the abandoned attempts whose host has not been heard of since."""
        return self.filter(abandoned_at__isnull=False, answered_at=None)

    def settle_abandoned(self, host_id: int) -> int:
        """Note that the host has nothing of its abandoned attempts any more, so that its queue goes on; return how many.

        It has said so, or its agent was revoked and will never say anything.
        """
        settled: int = self.abandoned().filter(host_id=host_id).update(answered_at=timezone.now())
        if settled:
            request_dispatch(host_id)
        return settled

    def lease_expired(self, now: datetime) -> Self:
        return self.filter(is_due("lease_until", now, LEASE), state__in=[State.ACCEPTED, State.RUNNING])

    def to_read_in(self, now: datetime) -> Self:
        """Return the complete attempts whose result is not in samples yet and whose next try is due."""
        return self._not_read(now).filter(tries__lt=MAX_TRIES)

    def cut_short(self, now: datetime) -> Self:
        """Return those of which every try was cut short: a worker that is killed cannot say so itself."""
        return self._not_read(now).filter(tries__gte=MAX_TRIES)

    def _not_read(self, now: datetime) -> Self:
        is_next = is_due("next_try_at", now, LONGEST_WAIT)
        return self.filter(is_next, manifest__isnull=False, ingested_at=None, read_problem="")

    def renew(self, host_id: int, named: Iterable[tuple[int, int]]) -> None:
        """Extend the leases of the attempts and tokens that the host names: they live. Any that were `unknown` are known again (`Attempt.seen`)."""
        until = timezone.now() + LEASE
        for pk, token in named:
            self.filter(pk=pk, token=token, host_id=host_id, state__in=ON_HOST).update(lease_until=until)


def _of_run(moved: dict[str, Any]) -> dict[str, Any]:
    """Return what of an attempt's change its run shows."""
    fields = {"state": moved["state"]}
    if moved["state"] == State.FINISHED and moved.get("manifest"):
        # measured, being read: it is finished when its samples are there (`Run.is_reading`)
        fields["state"] = State.RUNNING
    if moved["state"] in ENDED:
        ended_at = moved.get("ended_at") or timezone.now()
        fields |= {"finished_at": ended_at, "problem": moved.get("reason", "")}
    if moved.get("abandoned_at"):
        fields |= {"finished_at": None, "abandoned_at": moved["abandoned_at"]}  # nobody knows when it ended
    if "started_at" in moved:
        fields["started_at"] = moved["started_at"]
    return fields


class Attempt(LabScoped):
    """One try at a run by one host's agent.

    As in `Run`, `isolation.add_constraints` checks the references; the constraint `attempt_number_in_run` finds a
    run's attempts.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="attempts", db_constraint=False, db_index=False)
    host = models.ForeignKey(Host, on_delete=models.PROTECT, related_name="attempts", db_constraint=False)
    number = models.PositiveIntegerField()
    token = models.BigIntegerField(unique=True, db_default=NextFencingToken())
    state = models.CharField(max_length=12, choices=State.choices, default=State.OFFERED)
    lease_until = models.DateTimeField(null=True)
    offered_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True)
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    boot_id = models.CharField(max_length=64, blank=True)
    argv = models.JSONField(default=list)
    exit_status = models.IntegerField(null=True)
    signal = models.IntegerField(null=True)
    reason = models.TextField(blank=True)
    manifest = models.JSONField(null=True)
    cancel_wanted_at = models.DateTimeField(null=True)
    ingested_at = models.DateTimeField(null=True)
    tries = models.PositiveSmallIntegerField(default=0, help_text="of reading its result in")
    next_try_at = models.DateTimeField(null=True)
    read_problem = models.TextField(
        blank=True, default="", db_default="", help_text="why its result was given up; empty if it was not"
    )
    overdue_at = models.DateTimeField(
        null=True, help_text="by the server's clock: three times its estimate and a margin"
    )

    guards = models.JSONField(
        default=list, db_default=models.Value([], models.JSONField()),
        help_text="what the run's guards found on the host right before fio started, as its agent sent it",
    )  # fmt: skip
    abandoned_at = models.DateTimeField(null=True, help_text="when a person gave it up")
    abandoned_by = models.CharField(max_length=200, blank=True, default="", db_default="")
    abandon_reason = models.TextField(blank=True, default="", db_default="")
    answered_at = models.DateTimeField(
        null=True, help_text="of an abandoned attempt: when its host was back and said whether it still has it"
    )

    objects: ClassVar[Any] = LabManager.from_queryset(AttemptQuerySet)()

    class Meta:
        ordering = ["run", "number"]
        constraints = [
            models.UniqueConstraint(fields=["run", "number"], name="attempt_number_in_run"),
            # Two benchmarks on one host would measure each other, so the fence is the host, not only the disk.
            # An abandoned attempt may still run there until the host has said something.
            models.UniqueConstraint(fields=["host"], condition=MAY_BE_ON_HOST, name="one_open_attempt_per_host"),
        ]

    def __str__(self) -> str:
        return f"attempt {self.number} of {self.run}"

    @property
    def is_to_be_read(self) -> bool:
        """Return whether the result has arrived and is not read into samples yet."""
        return self.manifest is not None and self.ingested_at is None and not self.read_problem

    @property
    def is_overdue(self) -> bool:
        return bool(self.state == State.RUNNING and self.overdue_at and self.overdue_at < timezone.now())

    def move(
        self,
        state: State,
        *,
        out_of: Collection[State] = (),
        of_run: Mapping[str, datetime] | None = None,
        **fields: Any,
    ) -> bool:
        """Change the state if it may follow the one in the database now; the run follows its attempt.

        The end of an attempt lets its host have the next run. Returns False where the attempt has another state or
        token by now: nothing is changed then. `out_of`: the only states to leave, where not every one may be left.
        `of_run`: when the run began or ended by the server's clock, where the attempt has the host's.
        """
        changes = {"state": state, **fields}
        with transaction.atomic():
            current = Attempt.objects.filter(pk=self.pk, token=self.token, state__in=out_of or before(state))
            if not current.update(**changes):
                return False
            of_the_run = {**_of_run(changes), **(of_run or {})}
            Run.objects.filter(pk=self.run_id).exclude(state__in=ENDED).update(**of_the_run)
            if state in ENDED:
                request_dispatch(self.host_id)
                if not changes.get("manifest"):  # else the end is announced when the result is read in
                    send_run_ended(self.run_id)
        for name, value in changes.items():
            setattr(self, name, value)
        return True

    def accept(self) -> bool:
        now = timezone.now()
        moved = self.move(State.ACCEPTED, accepted_at=now, lease_until=now + LEASE)
        return moved or self._is_now(State.ACCEPTED)

    def run_started(
        self,
        started_at: datetime,
        boot_id: str,
        argv: list[str],
        limit_seconds: int | None = None,
        clock: datetime | None = None,
    ) -> bool:
        """Note that fio runs. `started_at` is the host's time, which the attempt keeps; `clock` as for `to_server_time`."""
        now = timezone.now()
        fields: dict[str, Any] = {
            "started_at": started_at,
            "boot_id": boot_id,
            "argv": argv,
            "lease_until": now + LEASE,
            "overdue_at": now + timedelta(seconds=limit_seconds) if limit_seconds else None,
        }
        began = to_server_time(started_at, clock, self.accepted_at or self.offered_at, now)
        return self.move(State.RUNNING, of_run={"started_at": began}, **fields) or self._is_now(State.RUNNING)

    def find_end(self, ended_at: datetime, clock: datetime | None) -> datetime:
        """Return when the run ended by the server's clock; `ended_at` is the host's time, `clock` as for `to_server_time`."""
        now, began = timezone.now(), self.run.started_at
        took = ended_at - self.started_at if self.started_at else None
        if clock is None and began and took is not None and timedelta() <= took <= now - began + CLOSE:
            return min(began + took, now)
        return to_server_time(ended_at, clock, began or self.offered_at, now)

    @property
    def clock_ahead(self) -> timedelta | None:
        """Return how far the host's clock was ahead of the server's when fio began; None where it was close or is not known.

        Negative where it was behind.
        """
        began = self.run.started_at
        ahead = self.started_at - began if self.started_at and began else timedelta()
        return ahead if abs(ahead) > CLOSE else None

    @property
    def clock_words(self) -> str:
        """Return in a sentence that the host's clock was wrong, and whose time stands where; empty where it was not."""
        ahead = self.clock_ahead
        if ahead is None:
            return ""
        seconds = round(abs(ahead).total_seconds())
        length = f"{seconds // DAY_S} days" if seconds >= 2 * DAY_S else elapsed(seconds)
        return (
            f"When attempt {self.number} began, its host's clock was {length} {'ahead of' if ahead > timedelta() else 'behind'}"
            " the server's. The times of its start, end and guards stand here as the host says; lists, trends and"
            " comparisons have the server's time."
        )

    def seen(self, state: str) -> None:
        """Move an `unknown` attempt back to the state that its host reports."""
        if self.state == State.UNKNOWN:
            to = State.ACCEPTED if state == State.ACCEPTED else State.RUNNING
            self.move(to, lease_until=timezone.now() + LEASE)

    def lose(self) -> bool:
        """Mark the attempt as `unknown` after its lease expired; nothing is started anywhere."""
        return self.move(State.UNKNOWN)

    def abandon(self, actor: str, reason: str) -> bool:
        """End an attempt whose host has gone quiet, by a person's decision; return False where it is not `unknown`.

        When it ended is not known, so no time is stored. Its host gets nothing new before it is back and has said
        whether it still has it.
        """
        fields: dict[str, Any] = {
            "abandoned_at": timezone.now(), "abandoned_by": actor[:200], "abandon_reason": reason, "answered_at": None,
            "reason": f"Given up by {actor}, because its host had gone quiet: {reason}",
        }  # fmt: skip
        return self.move(State.INTERRUPTED, out_of=[State.UNKNOWN], **fields)

    def resume(self, reported: str = State.RUNNING) -> bool:
        """Open an abandoned attempt again, because its host is back and still has it; return whether it was one.

        It blocks its host like any other then, and its result counts as late. One that the host had only accepted is
        cancelled: what was given up does not begin any more. A wish to cancel it from before stays.
        """
        now = timezone.now()
        is_begun = reported != State.ACCEPTED
        fields: dict[str, Any] = {
            "state": State.RUNNING if is_begun else State.ACCEPTED, "answered_at": now, "reason": "",
            "lease_until": now + LEASE, **({} if is_begun else {"cancel_wanted_at": now}),
        }  # fmt: skip
        with transaction.atomic():
            abandoned = Attempt.objects.abandoned().filter(pk=self.pk, token=self.token, state=State.INTERRUPTED)
            if not abandoned.update(**fields):
                return False
            given_up = Run.objects.filter(pk=self.run_id, state=State.INTERRUPTED, abandoned_at__isnull=False)
            given_up.update(state=fields["state"], problem="")
        for name, value in fields.items():
            setattr(self, name, value)
        return True

    def want_cancel(self) -> bool:
        """Ask the host to stop; an offer nobody accepted yet ends here at once."""
        now = timezone.now()
        if self.state == State.OFFERED and self.move(
            State.CANCELLED, ended_at=now, reason="Cancelled before it began."
        ):
            return True
        return bool(Attempt.objects.filter(pk=self.pk, state__in=OPEN).update(cancel_wanted_at=now))

    def _is_now(self, state: State) -> bool:
        """Return whether the attempt is in this state: a request that is repeated after a lost answer is no error."""
        return bool(Attempt.objects.filter(pk=self.pk, token=self.token, state=state).exists())


class Chunk(ThroughParent):
    """A piece of an attempt's stream, exactly as sent. The bytes move into an artefact when the attempt is complete."""

    lab_path: ClassVar[str] = "attempt__lab_id"

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="chunks")
    stream = models.CharField(max_length=20)
    sequence = models.PositiveIntegerField()
    sha256 = models.CharField(max_length=64)
    size = models.PositiveIntegerField()
    data = models.BinaryField(null=True)

    class Meta:
        ordering = ["attempt", "stream", "sequence"]
        constraints = [
            models.UniqueConstraint(fields=["attempt", "stream", "sequence"], name="chunk_once"),
        ]

    def __str__(self) -> str:
        return f"{self.stream} {self.sequence}"

"""Attempts at runs: leases, fencing tokens, chunks, and every change of state as one filtered UPDATE.

Zero rows changed means that somebody else was there first; the caller is told `False` and changes nothing.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any, ClassVar, Self

import orjson
from django.db import connection, models
from django.db.models import Q
from django.utils import timezone

from apps.inventory.models import Host
from apps.labs.isolation import LabManager, LabQuerySet, LabScoped, ThroughParent
from apps.lib.sql import ALWAYS, Given, one_row
from apps.runs.models import Run
from apps.runs.states import ENDED, ON_HOST, OPEN, State, before

LEASE = timedelta(seconds=60)
# Written out in statements, so that a plan made once for all values may use the index of open attempts.
IS_OPEN = f"state IN ({', '.join(repr(str(state)) for state in sorted(OPEN))})"
MAY_BE_ACCEPTED = f"state IN ({', '.join(repr(str(state)) for state in before(State.ACCEPTED))})"
MAX_TRIES = 3  # of reading a result in; after that it is a dead letter, shown on the run


# One statement, so that a click reaches the host in one round trip: the offer that waits, or a new one for the oldest queued run. A rival
# claim skips the locked run, or meets "one open attempt per host" and makes nothing. Fencing tokens come from one sequence for all hosts:
# a newer attempt always has the greater one. Their lower 24 bits are drawn: an offer may be heard before it is on disk, and a database that
# lost it in a crash may give its number again, but not its token.
FENCING_NUMBER = "(nextval('runs_fencing_token') << 24) + floor(random() * 16777216)::bigint"
# What a host may begin with.
QUEUED = """FROM runs_run run JOIN inventory_host host ON host.id = run.host_id
    WHERE run.host_id = {host} AND run.state = 'queued' AND NOT host.is_in_maintenance"""
OFFER = """
WITH held AS (
    SELECT id, token, run_id, state FROM runs_attempt WHERE host_id = %(host)s AND {is_open} AND {given}
), next AS (
    SELECT run.id, run.lab_id {queued} AND NOT EXISTS (SELECT FROM held) AND {given}
    ORDER BY run.id LIMIT 1 FOR UPDATE OF run SKIP LOCKED
), made AS (
    INSERT INTO runs_attempt (lab_id, run_id, host_id, number, token, state, offered_at, boot_id, argv, reason, tries)
    SELECT lab_id, id, %(host)s, 1 + (SELECT count(*) FROM runs_attempt WHERE run_id = next.id),
           {number}, 'offered', now(), '', '[]', '', 0
    FROM next
    ON CONFLICT DO NOTHING RETURNING id, token, run_id
), moved AS (
    UPDATE runs_run SET state = 'offered' WHERE id IN (SELECT run_id FROM made)
)
SELECT offer.id, offer.token, offer.run_id, workload.spec::text
FROM (SELECT id, token, run_id FROM made UNION ALL SELECT id, token, run_id FROM held WHERE state = 'offered') offer
JOIN runs_run run ON run.id = offer.run_id JOIN runs_workload workload ON workload.id = run.workload_id
"""
# Whether a host's agent is to be told something, or may be: what OFFER would find, and attempts that it should have named.
HAS_WORK = """
EXISTS (SELECT FROM runs_attempt WHERE host_id = {host} AND {is_open}) OR EXISTS (SELECT {queued})"""
# The usual word of a host about what it has in hand. Whatever else is to be done about an attempt is not for these.
IS_USUAL = "state IN ('accepted', 'running') AND cancel_wanted_at IS NULL"
RENEW = f"UPDATE runs_attempt SET lease_until = %(until)s WHERE id = %(attempt)s AND token = %(fence)s AND {IS_USUAL}"  # noqa: S608
NO_LONGER_USUAL = f"SELECT id FROM runs_attempt WHERE id = ANY(%(held)s::bigint[]) AND NOT ({IS_USUAL})"  # noqa: S608
# One statement again: the attempt moves if its state may be followed by the new one, and the run follows it.
MOVE = """
WITH moved AS (
    UPDATE runs_attempt SET {attempt} WHERE id = %(id)s AND token = %(token)s AND state = ANY(%(before)s) AND {given}
    RETURNING run_id
), followed AS (
    UPDATE runs_run SET {run} WHERE id IN (SELECT run_id FROM moved) AND state <> ALL(%(ended)s)
)
SELECT run_id FROM moved
"""
# The usual accept lies between a click and fio, and a run has fourteen indexes: the attempt, which is the fence, moves, and the run follows
# when the host has its answer. If that is never asked for, the run follows the attempt's next move.
ACCEPT = """
UPDATE runs_attempt SET state = 'accepted', accepted_at = %(now)s, lease_until = %(until)s
WHERE id = %(id)s AND token = %(token)s AND {may_be_accepted} AND {given} RETURNING run_id
"""
FOLLOW = """
UPDATE runs_run SET state = 'accepted'
WHERE id = %(run)s AND {may_be_accepted} AND EXISTS (SELECT FROM runs_attempt WHERE run_id = %(run)s AND state = 'accepted')
RETURNING id
"""


@dataclass(frozen=True)
class Offer:
    attempt: int
    token: int
    run: int
    workload: dict[str, Any]


def offering(host_id: int, given: Given = ALWAYS) -> tuple[str, dict[str, Any]]:
    """The statement that says what the host may take now, `given` that. Repeatable until it is accepted, and safe against any number of
    concurrent calls."""
    queued = QUEUED.format(host="%(host)s")
    parts = {"given": given.sql, "number": FENCING_NUMBER, "is_open": IS_OPEN, "queued": queued}
    return OFFER.format(**parts), {"host": host_id, **given.values}


def has_work(host: str) -> str:
    """The condition, of a host that is the value of this column."""
    return HAS_WORK.format(host=host, is_open=IS_OPEN, queued=QUEUED.format(host=host))


def renewing(attempt: int, token: int) -> tuple[str, dict[str, Any]]:
    """The beginning of a statement that renews the lease of a usual attempt."""
    return RENEW, {"attempt": attempt, "fence": token, "until": timezone.now() + LEASE}


def offered(answer: list[tuple[Any, ...]]) -> Offer | None:
    """What that statement answered."""
    if not answer:
        return None
    attempt, token, run, spec = answer[0]
    return Offer(attempt, token, run, orjson.loads(spec))


def accepting(attempt: int, token: int, given: Given = ALWAYS) -> tuple[str, dict[str, Any]]:
    """The statement that accepts, and then answers with the attempt's run, on disk; with nothing where it is not to be accepted now."""
    now = timezone.now()
    moving = {"id": attempt, "token": token, "now": now, "until": now + LEASE}
    return ACCEPT.format(given=given.sql, may_be_accepted=MAY_BE_ACCEPTED), {**moving, **given.values}


def following(run: int) -> tuple[str, dict[str, Any]]:
    """The statement by which a run follows its attempt that was accepted."""
    return FOLLOW.format(may_be_accepted=MAY_BE_ACCEPTED), {"run": run}


class AttemptQuerySet(LabQuerySet["Attempt"]):
    def open(self) -> Self:
        return self.filter(state__in=OPEN)

    def lease_expired(self, now: datetime) -> Self:
        return self.filter(state__in=[State.ACCEPTED, State.RUNNING], lease_until__lt=now)

    def to_read_in(self, now: datetime) -> Self:
        """Complete attempts whose result is not in samples yet and whose next try is due."""
        return self.filter(next_try_at__lt=now, manifest__isnull=False, ingested_at=None, tries__lt=MAX_TRIES)

    def renew(self, host_id: int, named: Iterable[tuple[int, int]]) -> None:
        """The host named these (attempt, token) pairs: they live. Any that were `unknown` are known again (`Attempt.seen`)."""
        until = timezone.now() + LEASE
        for pk, token in named:
            self.filter(pk=pk, token=token, host_id=host_id, state__in=ON_HOST).update(lease_until=until)


def _of_run(moved: dict[str, Any]) -> dict[str, Any]:
    """What of an attempt's change its run shows."""
    shown = {"state": moved["state"]}
    if moved["state"] in ENDED:
        shown |= {"finished_at": moved.get("ended_at") or timezone.now(), "problem": moved.get("reason", "")}
    if "started_at" in moved:
        shown["started_at"] = moved["started_at"]
    return shown


def _assigned(model: type[models.Model], fields: dict[str, Any], values: dict[str, Any]) -> str:
    """`column = %(name)s, …` for an UPDATE; the values, as the database takes them, go into `values`."""
    for name, value in fields.items():
        values[f"{model._meta.model_name}_{name}"] = _field(model, name).get_db_prep_save(value, connection)
    return _assignments(model, tuple(fields))


@cache
def _assignments(model: type[models.Model], names: tuple[str, ...]) -> str:
    return ", ".join(f"{_field(model, name).column} = %({model._meta.model_name}_{name})s" for name in names)


def _field(model: type[models.Model], name: str) -> "models.Field[Any, Any]":
    field = model._meta.get_field(name)
    assert isinstance(field, models.Field)
    return field


class Attempt(LabScoped):
    """One try at a run by one host's agent. As in `Run`, `same_lab.py` checks the references; `attempt_number_in_run` finds a run's attempts."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="attempts", db_constraint=False, db_index=False)
    host = models.ForeignKey(Host, on_delete=models.PROTECT, related_name="attempts", db_constraint=False)
    number = models.PositiveIntegerField()
    token = models.BigIntegerField(unique=True)
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

    objects: ClassVar[Any] = LabManager.from_queryset(AttemptQuerySet)()

    class Meta:
        ordering = ["run", "number"]
        constraints = [
            models.UniqueConstraint(fields=["run", "number"], name="attempt_number_in_run"),
            # Two benchmarks on one host would measure each other, so the fence is the host, not only the disk.
            models.UniqueConstraint(
                fields=["host"], condition=Q(state__in=sorted(OPEN)), name="one_open_attempt_per_host"
            ),
        ]

    def __str__(self) -> str:
        return f"attempt {self.number} of {self.run}"

    def move(self, state: State, given: Given = ALWAYS, **fields: Any) -> bool:
        """Change the state if it may follow the one in the database now, and `given` that; the run follows its attempt."""
        mine = {"state": state, **fields}
        values: dict[str, Any] = {"id": self.pk, "token": self.token, "before": before(state), "ended": sorted(ENDED)}
        changes = {"attempt": _assigned(Attempt, mine, values), "run": _assigned(Run, _of_run(mine), values)}
        if one_row(MOVE.format(**changes, given=given.sql), values | dict(given.values)) is None:
            return False
        for name, value in mine.items():
            setattr(self, name, value)
        return True

    def accept(self) -> bool:
        now = timezone.now()
        moved = self.move(State.ACCEPTED, accepted_at=now, lease_until=now + LEASE)
        return moved or self._is_now(State.ACCEPTED)

    def run_started(self, started_at: datetime, boot_id: str, argv: list[str]) -> bool:
        fields: dict[str, Any] = {
            "started_at": started_at,
            "boot_id": boot_id,
            "argv": argv,
            "lease_until": timezone.now() + LEASE,
        }
        return self.move(State.RUNNING, **fields) or self._is_now(State.RUNNING)

    def seen(self, state: str) -> None:
        """The host says what it does: out of `unknown`, back to what it is."""
        if self.state == State.UNKNOWN:
            to = State.ACCEPTED if state == State.ACCEPTED else State.RUNNING
            self.move(to, lease_until=timezone.now() + LEASE)

    def lose(self) -> bool:
        """The lease ran out: we no longer know. Nothing is started anywhere."""
        return self.move(State.UNKNOWN)

    def want_cancel(self) -> bool:
        """Ask the host to stop; an offer nobody accepted yet ends here at once."""
        now = timezone.now()
        if self.state == State.OFFERED and self.move(
            State.CANCELLED, ended_at=now, reason="Cancelled before it began."
        ):
            return True
        return bool(Attempt.objects.filter(pk=self.pk, state__in=OPEN).update(cancel_wanted_at=now))

    def _is_now(self, state: State) -> bool:
        """Asked again after a lost answer: the same word is no error."""
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

"""Starting runs: a checked workload on a target becomes queued runs, and the host's agent hears of it."""

from asyncio import Event
from functools import cache
from typing import Any, TypeVar

import orjson
from django.db import connection, models
from django.utils import timezone

from apps.inventory.models import Host, Target
from apps.labs.models import Lab
from apps.lib.bell import ring
from apps.lib.sql import ALWAYS, NOT_DURABLE_YET, Given, durable_after, one_row, rows
from apps.runs import workload
from apps.runs.attempts import FENCING_NUMBER, OPEN_NOW, Attempt, Offer, offered, offering
from apps.runs.models import Run, Workload
from apps.runs.states import State
from apps.runs.waiting import accepts, waiting_here

MAX_REPETITIONS = 100
Stored = TypeVar("Stored", bound=models.Model)
TARGET = """
SELECT target.id, target.lab_id, target.name, target.is_agents_own, host.id, host.lab_id, host.name, host.is_in_maintenance
FROM inventory_target target JOIN inventory_host host ON host.id = target.host_id
WHERE target.id = %(target)s AND target.lab_id = %(lab)s
"""
# The lab's row for a workload, made if it is new. None at all: another transaction has just stored the same one, and the statement sees it
# when it is asked again.
WORKLOAD = """
WITH place AS (
    {place}
), new AS (
    INSERT INTO runs_workload (lab_id, tool, sha256, spec)
    SELECT %(lab)s, %(tool)s, %(sha256)s::varchar, %(spec)s::jsonb FROM place
    WHERE NOT EXISTS (SELECT FROM runs_workload WHERE lab_id = %(lab)s AND sha256 = %(sha256)s::varchar)
    ON CONFLICT DO NOTHING RETURNING id
), asked AS (
    SELECT id FROM new UNION ALL SELECT id FROM runs_workload WHERE lab_id = %(lab)s AND sha256 = %(sha256)s::varchar
)
"""
KEEP = WORKLOAD.format(place="SELECT") + "SELECT id FROM asked"  # noqa: S608  (constant)
PLACE = """
    SELECT target.lab_id, target.id AS target_id, target.host_id
    FROM inventory_target target JOIN inventory_host host ON host.id = target.host_id
    WHERE target.id = %(target)s AND target.lab_id = %(lab)s AND target.host_id = %(host)s AND target.is_agents_own
          AND NOT host.is_in_maintenance AND {given}
"""
# One statement, because a person waits for it: the runs, and the offer of the first one, if the host's agent waits here and the host has
# nothing else in hand or before it. A rival claim meets "one open attempt per host"; then the run is queued as the others are.
START = """, numbered AS MATERIALIZED (
    SELECT nextval('runs_run_id_seq') AS id, number, asked.id AS workload_id
    FROM place, asked, generate_series(1, %(repetitions)s::int) number, {not_durable_yet} ORDER BY number
), made AS (
    INSERT INTO runs_attempt (lab_id, run_id, host_id, number, token, state, offered_at, boot_id, argv, reason, tries)
    SELECT lab_id, numbered.id, host_id, 1, {fencing_number}, 'offered', now(), '', '[]', '', 0 FROM numbered, place
    WHERE number = 1 AND {waits}
          AND NOT EXISTS (SELECT FROM runs_attempt WHERE host_id = %(host)s AND state = ANY(%(open)s))
          AND NOT EXISTS (SELECT FROM runs_run WHERE host_id = %(host)s AND state = 'queued')
    ON CONFLICT DO NOTHING RETURNING id, token, run_id
), queued AS (
    INSERT INTO runs_run (id, lab_id, tool, tool_version, origin, workload_id, host_id, target_id, state, repetition, facts, labels,
                          problem, progress, created_by, created_at)
    SELECT numbered.id, lab_id, %(tool)s, '', 'dispatched', workload_id, host_id, target_id,
           CASE WHEN made.id IS NULL THEN 'queued' ELSE 'offered' END, numbered.number, '{{}}', '{{}}', '', 0, %(who)s::varchar, now()
    FROM place, numbered LEFT JOIN made ON made.run_id = numbered.id
)
SELECT numbered.id, number, workload_id, now(), made.id, made.token
FROM numbered LEFT JOIN made ON made.run_id = numbered.id ORDER BY number
"""


NOBODY = Given("FALSE")


class StaleError(workload.WorkloadError):
    """What the caller knows of the target, or what was `given`, is no longer so. Nothing was queued."""


def workload_for(lab: Lab, spec: dict[str, Any]) -> Workload:
    """The lab's row for this workload; the same request is stored once."""
    asked, values = _asked(lab, spec)
    [(asked.pk,)] = _asked_twice(KEEP, values)
    return asked


def _asked(lab: Lab, spec: dict[str, Any]) -> tuple[Workload, dict[str, Any]]:
    """The workload without its id, and its values for `WORKLOAD`."""
    values = {"tool": spec["tool"], "sha256": workload.digest(spec)}
    stored = {"lab": lab.pk, "spec": orjson.dumps(spec).decode(), **values}
    return _as_stored(Workload(lab=lab, spec=spec, **values)), stored


def _asked_twice(sql: str, values: dict[str, Any]) -> list[tuple[Any, ...]]:
    return rows(sql, values) or rows(sql, values)


def _as_stored(instance: Stored) -> Stored:
    instance._state.adding, instance._state.db = False, connection.alias
    return instance


def find_target(lab: Lab, pk: int) -> Target | None:
    """The lab's own target with its host, as far as a start looks at them; what else they have is read when it is asked for."""
    row = one_row(TARGET, {"target": pk, "lab": lab.pk})
    if row is None:
        return None
    target: Target = Target.from_db(connection.alias, ["id", "lab_id", "name", "is_agents_own"], row[:4])
    target.host = Host.from_db(connection.alias, ["id", "lab_id", "name", "is_in_maintenance"], row[4:])
    return target


def of_jobs(spec: dict[str, Any]) -> dict[str, Any]:
    """One job's options may be given by themselves."""
    if "jobs" in spec:
        return spec
    return {"tool": spec.get("tool", "fio"), "jobs": [{key: value for key, value in spec.items() if key != "tool"}]}


def checked(lab: Lab, target: Target, spec: Any, repetitions: int) -> dict[str, Any]:
    """The workload with every option filled in. Raises `WorkloadError` with field, found and expected."""
    complete = workload.checked(spec)
    if not 1 <= repetitions <= MAX_REPETITIONS:
        raise workload.WorkloadError("repetitions", repetitions, f"1 to {MAX_REPETITIONS}")
    if target.lab_id != lab.pk or not target.is_agents_own:
        raise workload.WorkloadError("target", target.name, "the directory that the host's own agent offers")
    if target.host.is_in_maintenance:
        raise workload.WorkloadError("target", target.name, f"a host that is not in maintenance; {target.host} is")
    return complete


def start_runs(*, lab: Lab, target: Target, spec: Any, repetitions: int = 1, who: str = "") -> list[Run]:
    """Queue `repetitions` runs of a workload that is `checked`; where it may not run nothing is queued."""
    return queue_runs(lab, target, checked(lab, target, spec, repetitions), repetitions, who=who)


def queue_runs(
    lab: Lab, target: Target, spec: dict[str, Any], repetitions: int, *, who: str, given: Given = ALWAYS,
    accepts_are_awaited: bool = False,
) -> list[Run]:  # fmt: skip
    """The same where it is checked already, and only `given` that (a condition on `target` and `host`); else `StaleError`.
    `accepts_are_awaited`: the caller answers nobody before `accepts` says that the first run is on disk, if it stands there.
    """
    asked, values = _asked(lab, spec)
    values |= {"host": target.host_id, "target": target.pk, "repetitions": repetitions, "who": who, "open": OPEN_NOW}
    waiting = waiting_here.get(target.host_id)
    waits = waiting.given if waiting else NOBODY
    made = _asked_twice(_starting(given.sql, waits.sql), {**values, **given.values, **waits.values})
    if not made:
        raise StaleError("target", target.name, "a target that takes runs; this one has just changed")
    asked.pk = made[0][2]
    offer = _offered(target.host_id, waits, made[0], asked.spec) if waiting else None

    def tell() -> bool:
        """Is somebody going to wait for the disk?"""
        if waiting is None or offer is None:
            ring(f"host:{target.host_id}")
            return False
        if is_awaited := accepts_are_awaited and offer.run == made[0][0]:
            accepts[offer.run] = Event()
        waiting.hear(offer)
        return is_awaited

    durable_after(tell)
    taken = offer.run if offer else None
    return [_run(row, asked, target, who, State.OFFERED if row[0] == taken else State.QUEUED) for row in made]


@cache
def _starting(given: str, waits: str) -> str:
    return WORKLOAD.format(place=PLACE.format(given=given)) + START.format(
        waits=waits, not_durable_yet=NOT_DURABLE_YET, fencing_number=FENCING_NUMBER
    )


def _offered(host: int, waits: Given, first: tuple[Any, ...], spec: dict[str, Any]) -> Offer | None:
    """To the agent that waits here: the first of these runs, or what was before it."""
    run, _, _, _, attempt, token = first
    return Offer(attempt, token, run, spec) if attempt else offered(rows(*offering(host, waits)))


def _run(row: tuple[Any, ...], asked: Workload, target: Target, who: str, state: State) -> Run:
    """What START has inserted."""
    pk, repetition, _, created_at, _, _ = row
    run = Run(
        id=pk, lab=asked.lab, tool=asked.tool, origin=Run.Origin.DISPATCHED, workload=asked, host=target.host, target=target,
        state=state, repetition=repetition, created_by=who, created_at=created_at,
    )  # fmt: skip
    return _as_stored(run)


def cancel(run: Run, who: str) -> bool:
    """Cancel from every state: a queued run at once, one on a host as soon as its agent hears of it."""
    if Run.objects.filter(pk=run.pk, state=State.QUEUED).update(
        state=State.CANCELLED, finished_at=timezone.now(), problem=f"Cancelled by {who} before it was offered."
    ):
        ring(f"run:{run.pk}", {"state": State.CANCELLED, "ended": True})
        return True
    attempt = Attempt.objects.open().filter(run=run).first()
    if attempt is None or not attempt.want_cancel():
        return False
    ring(f"host:{run.host_id}")
    return True

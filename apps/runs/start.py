"""Starting runs: a checked workload on a target becomes queued runs, and the host's agent hears of it."""

from typing import Any, TypeVar

import orjson
from django.db import connection, models
from django.utils import timezone

from apps.inventory.models import Host, Target
from apps.labs.models import Lab
from apps.lib.bell import ring
from apps.lib.sql import NOT_DURABLE_YET, durable_after, one_row, rows, together
from apps.runs import workload
from apps.runs.attempts import Attempt, Offer, offered, offering
from apps.runs.models import Run, Workload
from apps.runs.states import State
from apps.runs.waiting import Waiting, waiting_here

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
WITH new AS (
    INSERT INTO runs_workload (lab_id, tool, sha256, spec)
    SELECT %(lab)s, %(tool)s, %(sha256)s::varchar, %(spec)s::jsonb
    WHERE NOT EXISTS (SELECT FROM runs_workload WHERE lab_id = %(lab)s AND sha256 = %(sha256)s::varchar)
    ON CONFLICT DO NOTHING RETURNING id
), asked AS (
    SELECT id FROM new UNION ALL SELECT id FROM runs_workload WHERE lab_id = %(lab)s AND sha256 = %(sha256)s::varchar
)
"""
KEEP = "SELECT id FROM asked"
START = """
INSERT INTO runs_run (lab_id, tool, tool_version, origin, workload_id, host_id, target_id, state, repetition, facts, labels, problem,
                      progress, created_by, created_at)
SELECT %(lab)s, %(tool)s, '', 'dispatched', asked.id, %(host)s, %(target)s, 'queued', number, '{}', '{}', '', 0, %(who)s::varchar, now()
FROM asked, generate_series(1, %(repetitions)s::int) number, {not_durable_yet} ORDER BY number
RETURNING id, repetition, workload_id, created_at
"""
START = START.replace("{not_durable_yet}", NOT_DURABLE_YET)


def workload_for(lab: Lab, spec: dict[str, Any]) -> Workload:
    """The lab's row for this workload; the same request is stored once."""
    asked, values = _asked(lab, spec)
    [(asked.pk,)] = _with_workload(KEEP, values)
    return asked


def _asked(lab: Lab, spec: dict[str, Any]) -> tuple[Workload, dict[str, Any]]:
    """The workload without its id, and its values for `WORKLOAD`."""
    values = {"tool": spec["tool"], "sha256": workload.digest(spec)}
    stored = {"lab": lab.pk, "spec": orjson.dumps(spec).decode(), **values}
    return _as_stored(Workload(lab=lab, spec=spec, **values)), stored


def _with_workload(sql: str, values: dict[str, Any]) -> list[tuple[Any, ...]]:
    return rows(WORKLOAD + sql, values) or rows(WORKLOAD + sql, values)


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
    asked, values = _asked(lab, checked(lab, target, spec, repetitions))
    values |= {"host": target.host_id, "target": target.pk, "repetitions": repetitions, "who": who}
    waiting = waiting_here.get(target.host_id)
    made, offer = _queued_and_offered(values, waiting) if waiting else (_with_workload(START, values), None)
    durable_after(lambda: waiting.hear(offer) if waiting and offer else ring(f"host:{target.host_id}"))
    asked.pk, taken = made[0][2], offer.run if offer else None
    return [_run(row, asked, target, who, State.OFFERED if row[0] == taken else State.QUEUED) for row in made]


def _queued_and_offered(values: dict[str, Any], waiting: Waiting) -> tuple[list[tuple[Any, ...]], Offer | None]:
    """An agent that waits here is offered its next run by the transaction that queues it."""
    made, offer = together((WORKLOAD + START, values), offering(values["host"], waiting.given))
    return made or _with_workload(START, values), offered(offer)


def _run(row: tuple[Any, ...], asked: Workload, target: Target, who: str, state: State) -> Run:
    """What START has inserted."""
    pk, repetition, _, created_at = row
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

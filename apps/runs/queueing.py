"""Runs on their way into the queue: one statement and what its answer means. Who asks it may be a thread or the event loop."""

from functools import cache
from typing import Any, TypeVar

import orjson
from django.db import DEFAULT_DB_ALIAS, models

from apps.inventory.models import Target
from apps.labs.models import Lab
from apps.lib.sql import ALWAYS, NOT_DURABLE_YET, Given
from apps.runs import workload
from apps.runs.attempts import FENCING_NUMBER, IS_OPEN, Offer
from apps.runs.models import Run, Workload
from apps.runs.states import State
from apps.runs.waiting import waiting_here

Stored = TypeVar("Stored", bound=models.Model)
Statement = tuple[str, dict[str, Any]]
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
          AND NOT EXISTS (SELECT FROM runs_attempt WHERE host_id = %(host)s AND {is_open})
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


class Wish:
    """Runs of a checked workload on a target, to be queued `given` that (a condition on `target` and `host`)."""

    def __init__(
        self, lab: Lab, target: Target, spec: dict[str, Any], repetitions: int, who: str, given: Given = ALWAYS
    ) -> None:
        self.lab, self.target, self.spec, self.who = lab, target, spec, who
        values = stored_values(lab, spec)
        self.waiting = waiting_here.get(target.host_id)
        self.waits = self.waiting.given if self.waiting else NOBODY
        values |= {
            "host": target.host_id,
            "target": target.pk,
            "repetitions": repetitions,
            "who": who,
        }
        self.statement: Statement = (
            _starting(given.sql, self.waits.sql),
            {**values, **given.values, **self.waits.values},
        )

    def made(self, answer: list[tuple[Any, ...]]) -> None:
        """What the statement answered, at its second try if it answered nothing at the first."""
        if not answer:
            raise StaleError("target", self.target.name, "a target that takes runs; this one has just changed")
        self.answer = answer
        self.first, _, _, _, attempt, token = answer[0]
        self.offer = Offer(attempt, token, self.first, self.spec) if attempt else None

    @property
    def may_be_behind_another(self) -> bool:
        """The host's agent waits here, and has got none of these runs: an older one may be its next."""
        return self.waiting is not None and self.offer is None

    def runs(self) -> list[Run]:
        """What START has inserted."""
        asked = asked_for(self.lab, self.spec, self.answer[0][2])
        return [self._run(asked, pk, repetition, created_at) for pk, repetition, _, created_at, _, _ in self.answer]

    def _run(self, asked: Workload, pk: int, repetition: int, created_at: Any) -> Run:
        is_offered = self.offer is not None and self.offer.run == pk
        run = Run(
            id=pk, lab=asked.lab, tool=asked.tool, origin=Run.Origin.DISPATCHED, workload=asked, host=self.target.host,
            target=self.target, state=State.OFFERED if is_offered else State.QUEUED, repetition=repetition, created_by=self.who,
            created_at=created_at,
        )  # fmt: skip
        return as_stored(run)


def stored_values(lab: Lab, spec: dict[str, Any]) -> dict[str, Any]:
    """For `WORKLOAD`."""
    text = orjson.dumps(spec).decode()
    return {"lab": lab.pk, "tool": spec["tool"], "sha256": workload.digest(spec), "spec": text}


def asked_for(lab: Lab, spec: dict[str, Any], pk: int) -> Workload:
    """What `WORKLOAD` has stored."""
    return as_stored(Workload(id=pk, lab=lab, tool=spec["tool"], spec=spec, sha256=workload.digest(spec)))


def as_stored(instance: Stored) -> Stored:
    instance._state.adding, instance._state.db = False, DEFAULT_DB_ALIAS
    return instance


@cache
def _starting(given: str, waits: str) -> str:
    return WORKLOAD.format(place=PLACE.format(given=given)) + START.format(
        waits=waits, not_durable_yet=NOT_DURABLE_YET, fencing_number=FENCING_NUMBER, is_open=IS_OPEN
    )

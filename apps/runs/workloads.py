"""The lab's rows of workloads, for many at once; those that are new are made."""

from collections.abc import Mapping
from typing import Any

from django.db import DEFAULT_DB_ALIAS

from apps.lib.few_rows import array
from apps.lib.pipelined import Asking
from apps.runs.models import Workload

_WORKLOADS = """
WITH wanted AS (
    SELECT * FROM unnest(%(digests)s::text[], %(tools)s::text[], %(specs)s::jsonb[]) AS wanted(sha256, tool, spec)
), new AS (
    INSERT INTO runs_workload (lab_id, sha256, tool, spec) SELECT %(lab)s, sha256, tool, spec FROM wanted
    WHERE NOT EXISTS (SELECT FROM runs_workload here WHERE here.lab_id = %(lab)s AND here.sha256 = wanted.sha256)
    ON CONFLICT DO NOTHING RETURNING sha256, id
)
SELECT sha256, id FROM new UNION ALL
SELECT here.sha256, here.id FROM wanted JOIN runs_workload here ON here.lab_id = %(lab)s AND here.sha256 = wanted.sha256"""
_COLUMNS = ["id", "lab_id", "tool", "sha256", "spec"]


def workloads_asked(lab_id: int, specs: Mapping[str, dict[str, Any]]) -> Asking[dict[str, Workload]]:
    """By the digests of what is asked."""
    if not specs:
        return {}
    digests = sorted(specs)  # in one order, or two who add the same would wait for each other
    values = {
        "lab": lab_id,
        "digests": array("text", digests),
        "tools": array("text", [specs[one]["tool"] for one in digests]),
        "specs": array("jsonb", [specs[one] for one in digests]),
    }
    known: dict[str, int] = dict((yield _WORKLOADS, values))
    if len(known) < len(specs):  # another transaction has just added some, which the next statement sees
        known = dict((yield _WORKLOADS, values))
    return {one: _workload(lab_id, known[one], one, specs[one]) for one in digests}


def _workload(lab_id: int, pk: int, sha256: str, spec: dict[str, Any]) -> Workload:
    row: Workload = Workload.from_db(DEFAULT_DB_ALIAS, _COLUMNS, (pk, lab_id, spec["tool"], sha256, spec))
    return row

"""Rows of lists of runs: what a row shows and nothing else, in the order of the list."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from django.core.paginator import Page

from apps.labs.isolation import visible_labs
from apps.lib import sql
from apps.lib.paging import CappedPaginator
from apps.runs.measured import measures, operations_of
from apps.runs.models import Run
from apps.runs.sections import Sections, jobs_of
from apps.runs.workload import SAID, operations

PRINTED = ("machine", "path")  # labels of an uploaded run


class Listed(NamedTuple):
    """A run as a row shows it. `words` are the `rw` of its jobs, `said` what its facts say instead."""

    pk: int
    lab_id: int
    state: str
    problem: str
    tool: str
    tool_version: str
    host_id: int | None
    host_name: str
    target_id: int | None
    target_name: str
    repetition: int
    origin: str
    created_by: str
    created_at: datetime
    seconds: float | None
    words: list[Any]
    said: list[Any]
    printed: list[Any]  # the machine and the path that the tool's output names
    sections: Sections
    measures: list[int] | None  # where nothing else says what it did

    @property
    def operations(self) -> str:
        return operations(
            self.words, self.said, jobs_of(self.tool, self.sections), partial(operations_of, self.measures)
        )

    @classmethod
    def of(cls, run: Run) -> "Listed":
        """Of a whole one with its host, target and workload."""
        return cls(
            run.pk, run.lab_id, run.state, run.problem, run.tool, run.tool_version,
            run.host_id, run.host.name if run.host else "", run.target_id, run.target.name if run.target else "",
            run.repetition, run.origin, run.created_by, run.created_at, run.seconds,
            [job["rw"] for job in run.workload.jobs] if run.workload else [], [run.facts.get(name) for name in SAID],
            [run.labels.get(name) for name in PRINTED], run.sections, run.measures,
        )  # fmt: skip


# From their keys: PostgreSQL plans it once for every list. The facts are those of `SAID`, the labels those of `PRINTED`.
ROWS = f"""
SELECT run.id, run.lab_id, run.state, run.problem, run.tool, run.tool_version, run.host_id, coalesce(host.name, ''),
    run.target_id, coalesce(target.name, ''), run.repetition, run.origin, run.created_by, run.created_at,
    extract(epoch FROM run.finished_at - run.started_at)::float8,
    coalesce(jsonb_path_query_array(workload.spec, '$.jobs[*].rw'), '[]'),
    jsonb_build_array(run.facts -> 'configuration', run.facts -> 'rw', run.facts -> 'caption'),
    jsonb_build_array(run.labels -> 'machine', run.labels -> 'path'), run.sections, {measures("run")}
FROM runs_run run
LEFT JOIN inventory_host host ON host.id = run.host_id
LEFT JOIN inventory_target target ON target.id = run.target_id
LEFT JOIN runs_workload workload ON workload.id = run.workload_id
WHERE run.id = ANY(%(runs)s) AND (%(labs)s::bigint[] IS NULL OR run.lab_id = ANY(%(labs)s))"""  # noqa: S608


def listed(keys: Sequence[int]) -> list[Listed]:
    """Of those in scope, in this order."""
    if not keys:
        return []
    found = sql.rows(ROWS, {"runs": list(keys), "labs": visible_labs()}, binary=True)
    rows = {row[0]: Listed(*row) for row in found}
    return [rows[key] for key in keys if key in rows]


def newest(runs: Any, start: int, stop: int) -> list[int]:
    """Keys of these of the runs (a QuerySet), newest first. Each lab's own newest come from the index in order; of several labs at once all
    runs would have to be sorted.
    """
    if start >= stop:
        return []
    keys, labs = runs.order_by("-created_at", "-pk").values_list("pk", "created_at"), visible_labs()
    if labs and len(labs) > 1:
        first, *others = [keys.filter(lab_id=lab)[:stop] for lab in labs]
        keys = first.union(*others, all=True).order_by("-created_at", "-pk")
    return [key for key, _ in keys[start:stop]]


class NewestFirst(CappedPaginator):
    """Pages of `Listed`, of a QuerySet of runs."""

    def page(self, number: Any) -> "Page[Any]":
        number = self.validate_number(number)
        start = (number - 1) * self.per_page
        keys = newest(self.object_list, start, min(start + self.per_page, self.count))
        return Page(listed(keys), number, self)


def as_listed(runs: Iterable[Run | Listed]) -> Iterable[Listed]:
    return (run if isinstance(run, Listed) else Listed.of(run) for run in runs)

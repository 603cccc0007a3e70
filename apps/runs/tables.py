"""Rows and pages of lists of runs: what a row shows, the order, and a paginator for lists of hundreds of thousands."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cached_property, partial
from typing import Any, NamedTuple

from django.core.paginator import Page, Paginator

from apps.labs.isolation import visible_labs
from apps.runs.models import Run, operations_of
from apps.runs.sections import Sections, jobs_of
from apps.runs.states import READING, State
from apps.runs.workload import SAID, operations

MOST = 10_000


class CappedPaginator(Paginator):  # type: ignore[type-arg]  # not subscriptable at run time
    """Counts no further than `MOST` rows, because to count all of them takes longer than to show a page.

    Those after them are found by narrowing the list; `is_capped` says that there are some.
    """

    @cached_property
    def _counted(self) -> int:
        rows: Any = self.object_list
        return int(rows.order_by()[: MOST + 1].count())

    @cached_property
    def count(self) -> int:
        return min(self._counted, MOST)

    @property
    def is_capped(self) -> bool:
        return self._counted > MOST


PRINTED = ("machine", "path")  # labels of an uploaded run
TOLD = (*PRINTED, "caption", "transcribed")  # labels that are an output's own words, and no person's
_STATES, _ORIGINS = dict(State.choices), dict(Run.Origin.choices)


def shown_labels(labels: dict[str, str]) -> dict[str, str]:
    """Return the labels that a list shows: those of people."""
    return {name: value for name, value in labels.items() if name not in TOLD}


class RunRow(NamedTuple):
    """A run as a row shows it. `words` are the `rw` of its jobs, `descriptions` what its facts say instead."""

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
    descriptions: list[Any]
    labels: dict[str, str]
    note: str
    priority: int
    is_late: bool
    printed: list[Any]  # the machine and the path that the tool's output names
    sections: Sections
    measures: list[int] | None  # where nothing else says what it did

    @property
    def operations(self) -> str:
        return operations(
            self.words, self.descriptions, jobs_of(self.tool, self.sections), partial(operations_of, self.measures)
        )

    @property
    def is_reading(self) -> bool:
        """Tell a run whose host has ended it while its result is still being read, as `Run.is_reading` does."""
        return self.state == State.RUNNING and self.seconds is not None

    @property
    def state_words(self) -> str:
        return READING if self.is_reading else _STATES.get(self.state, self.state)

    @property
    def origin_words(self) -> str:
        return _ORIGINS.get(self.origin, self.origin)

    @property
    def actor(self) -> str:
        """Return who asked for the run, or nothing where its origin already says so."""
        return "" if self.created_by == self.origin_words else self.created_by

    @property
    def printed_machine(self) -> str:
        return str(self.printed[0] or "")

    @property
    def printed_path(self) -> str:
        return str(self.printed[1] or "")

    @classmethod
    def of(cls, run: Run) -> "RunRow":
        """Return the row of a run that was loaded with host, target and workload."""
        return cls(
            run.pk, run.lab_id, run.state, run.problem, run.tool, run.tool_version,
            run.host_id, run.host.name if run.host else "", run.target_id, run.target.name if run.target else "",
            run.repetition, run.origin, run.created_by, run.created_at, run.seconds,
            [job["rw"] for job in run.workload.jobs] if run.workload else [], [run.facts.get(name) for name in SAID],
            shown_labels(run.labels), run.note, run.priority, run.is_late,
            [run.labels.get(name) for name in PRINTED], run.sections, run.measures,
        )  # fmt: skip


def listed(keys: Sequence[int]) -> list[RunRow]:
    """Return rows of those of the runs that are in scope, in this order."""
    rows = {run.pk: RunRow.of(run) for run in Run.objects.filter(pk__in=keys).for_list()}
    return [rows[key] for key in keys if key in rows]


def newest(runs: Any, start: int, stop: int) -> list[int]:
    """Return the keys of a slice of a queryset of runs, newest first.

    Each lab's newest runs come from the index in order; of several labs at once all runs would have to be sorted.
    """
    if start >= stop:
        return []
    keys, labs = runs.order_by("-created_at", "-pk").values_list("pk", "created_at"), visible_labs()
    if labs and len(labs) > 1:
        first, *others = [keys.filter(lab_id=lab)[:stop] for lab in labs]
        keys = first.union(*others, all=True).order_by("-created_at", "-pk")
    return [key for key, _ in keys[start:stop]]


class NewestFirst(CappedPaginator):
    """Pages of `RunRow`, of a QuerySet of runs."""

    def page(self, number: Any) -> "Page[Any]":
        number = self.validate_number(number)
        start = (number - 1) * self.per_page
        keys = newest(self.object_list, start, min(start + self.per_page, self.count))
        return Page(listed(keys), number, self)


def as_listed(runs: Iterable[Run | RunRow]) -> Iterable[RunRow]:
    return (run if isinstance(run, RunRow) else RunRow.of(run) for run in runs)

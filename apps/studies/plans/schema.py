"""A plan as it is written, in plan.yaml or by the form, checked: one door for both. Raises `PlanError`.

    plans_of({"plans": [{"name": "bonnie", "title": "…", "order": "interleaved", "stopping": {…}, "configurations": […], "points": […],
                         "guards": […], "cells": […]}]})

configurations   {configuration | name + label, largest_file_size, limit_reason, reason}
points           {name, label, tool, command, file_size | ram_multiple, block_size, threads, iodepth, operations, labels, job | jobs}
guards           {kind, required | is_required, note, factor, tolerance, wait_s, seconds, load, rate, celsius}
cells            {row, point, reason | runs_of, note}
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from apps.runs.host_guards.names import name_fields
from apps.runs.workload import LONGEST_LIMIT
from apps.studies.plans.guards import HOST_NUMBERS, KINDS, Parameters, parameters_of
from apps.studies.plans.order import ORDERS
from apps.studies.plans.problems import PlanError, listed, number, only, read_size, read_text, whole, yes_or_no
from apps.studies.plans.stopping_rule import MOST_POINTS as MOST_POINTS
from apps.studies.plans.stopping_rule import Stopping, stopping_of
from apps.studies.plans.workload import begins_at, check_job, read_job, read_jobs, share_size

SLUG = re.compile(r"[A-Za-z0-9_-]{1,60}")
TIB = 1024**4
MOST_ROWS = 1000
MOST_CELLS = 60_000  # rows × points
RAM_MULTIPLES = (0.01, 100.0)
LONGEST_TYPED_NOTES = 4000  # characters, as a run's note
LONGEST_NOTES = 2 * LONGEST_TYPED_NOTES  # with what Spindle adds of a repeated report
PLAN = (
    "name", "title", "order", "seed", "stopping", "are_means", "notes", "time_limit", "configurations", "points",
    "guards", "cells",
)  # fmt: skip
ROW = ("configuration", "name", "label", "largest_file_size", "limit_reason", "reason")
POINT = (
    "name", "label", "tool", "command", "file_size", "ram_multiple", "block_size", "threads", "iodepth", "operations",
    "labels", "job", "jobs",
)  # fmt: skip
GUARD = ("kind", "is_required", "note", "factor", "tolerance", *HOST_NUMBERS)
CELL = ("row", "point", "reason", "note", "runs_of")


@dataclass(frozen=True)
class WrittenRow:
    name: str
    configuration: str = ""
    label: str = ""
    largest_file_size: int | None = None
    limit_reason: str = ""
    reason: str = ""


@dataclass(frozen=True)
class WrittenPoint:
    name: str
    tool: str
    label: str = ""
    command: str = ""
    file_size: int | None = None
    ram_multiple: float | None = None
    block_size: int | None = None
    threads: int | None = None
    iodepth: int | None = None
    operations: list[str] = field(default_factory=list)
    labels: dict[str, Any] = field(default_factory=dict)
    job: dict[str, Any] | None = None
    jobs: list[dict[str, Any]] | None = None


@dataclass(frozen=True)
class WrittenGuard:
    kind: str
    is_required: bool
    note: str
    parameters: Parameters


@dataclass(frozen=True)
class WrittenCell:
    row: str
    point: str
    reason: str
    note: str
    runs_of: str


@dataclass(frozen=True)
class WrittenPlan:
    name: str
    title: str
    order: str
    seed: int | None
    stopping: Stopping
    are_means: bool
    notes: str
    time_limit: int | None
    rows: list[WrittenRow]
    points: list[WrittenPoint]
    guards: list[WrittenGuard]
    cells: list[WrittenCell]


def plans_of(data: Any) -> list[WrittenPlan]:
    only("plan", data, ("plans",))
    plans = [plan_of(entry, f"plans[{at}]") for at, entry in enumerate(listed("plans", data.get("plans")))]
    _once("plans", [plan.name for plan in plans])
    return plans


def plan_of(data: Any, where: str = "plan") -> WrittenPlan:
    only(where, data, PLAN)
    order = data.get("order", "interleaved")
    if not isinstance(order, str) or order not in ORDERS:
        raise PlanError(f"{where}.order", order, f"one of {', '.join(ORDERS)}")
    seed = data.get("seed")
    if order == "randomized":
        whole(f"{where}.seed", seed, 0, 2**53)
    rows = [_row(place, entry) for place, entry in _entries(where, data, "configurations")]
    points = [_point(place, entry) for place, entry in _entries(where, data, "points")]
    _some(f"{where}.configurations", rows, MOST_ROWS)
    _some(f"{where}.points", points, MOST_POINTS)
    if len(rows) * len(points) > MOST_CELLS:
        found = f"{len(rows)} configurations × {len(points)} points"
        raise PlanError(f"{where}.points", found, f"at most {MOST_CELLS:,} cells of a matrix")
    _once(f"{where}.configurations", [row.name for row in rows])
    _once(f"{where}.points", [point.name for point in points])
    stopping = stopping_of(data.get("stopping"))
    _check_rule(stopping, points)
    guards = [_guard(place, entry) for place, entry in _entries(where, data, "guards")]
    _once(f"{where}.guards", [guard.kind for guard in guards])
    cells = [_cell(place, entry, rows, points) for place, entry in _entries(where, data, "cells")]
    _once(f"{where}.cells", [f"{cell.row} × {cell.point}" for cell in cells])
    _check_reasons(where, rows, points, cells)
    return WrittenPlan(
        name=_slug(f"{where}.name", data.get("name")), title=_text(f"{where}.title", data.get("title"), 200), order=order,
        seed=seed if order == "randomized" else None, stopping=stopping,
        are_means=yes_or_no(f"{where}.are_means", data.get("are_means", False)),
        notes=_words(where, data, "notes", LONGEST_NOTES),
        time_limit=_optional("time_limit", data.get("time_limit"), 1, LONGEST_LIMIT), rows=rows, points=points, guards=guards, cells=cells,
    )  # fmt: skip


def _row(where: str, data: Any) -> WrittenRow:
    only(where, data, ROW)
    configuration = _words(where, data, "configuration", 200)
    name = _slug(f"{where}.name", data.get("name") or configuration)
    label = _words(where, data, "label", 200)
    reason = _words(where, data, "reason", LONGEST_NOTES)
    if not configuration and not label:
        raise PlanError(where, data, "a configuration of the study, or a label and the reason why it is not run")
    largest = _optional(f"{where}.largest_file_size", data.get("largest_file_size"), 1, 1024 * TIB, read_size)
    limit_reason = _words(where, data, "limit_reason", 300)
    if largest and not limit_reason:
        raise PlanError(f"{where}.limit_reason", limit_reason, "the reason why files end there")
    return WrittenRow(name, configuration, label, largest, limit_reason, reason)


def _check_reasons(where: str, rows: list[WrittenRow], points: list[WrittenPoint], cells: list[WrittenCell]) -> None:
    """Check that a row without a configuration says why it is not run, or that each of its cells says where its numbers are."""
    places = {(cell.row, cell.point) for cell in cells}
    for row in rows:
        if not row.configuration and not row.reason and any((row.name, point.name) not in places for point in points):
            raise PlanError(
                f"{where}.configurations", row.name, "a configuration, a reason, or a note at each of its cells"
            )


def _point(where: str, data: Any) -> WrittenPoint:
    only(where, data, POINT)
    multiple = data.get("ram_multiple")
    if multiple is not None and data.get("file_size") is not None:
        raise PlanError(f"{where}.ram_multiple", multiple, "either a file size or a multiple of the RAM, not both")
    file_size = _optional(f"{where}.file_size", data.get("file_size"), 1, 1024 * TIB, read_size)
    jobs = read_jobs(f"{where}.jobs", data["jobs"]) if data.get("jobs") is not None else None
    if jobs and file_size is None and multiple is None:
        file_size, jobs = share_size(jobs)
    has_job = "job" in data and not (jobs and data["job"] is None)
    point = WrittenPoint(
        name=_slug(f"{where}.name", data.get("name")),
        tool=_text(f"{where}.tool", data.get("tool"), 40),
        label=_words(where, data, "label", 120),
        command=_words(where, data, "command", 300),
        file_size=file_size,
        ram_multiple=None if multiple is None else number(f"{where}.ram_multiple", multiple, *RAM_MULTIPLES),
        block_size=_optional(f"{where}.block_size", data.get("block_size"), 1, TIB, read_size),
        threads=_optional(f"{where}.threads", data.get("threads"), 1, 100_000),
        iodepth=_optional(f"{where}.iodepth", data.get("iodepth"), 1, 100_000),
        operations=[_text(place, operation, 40) for place, operation in _entries(where, data, "operations")],
        labels=_labels(f"{where}.labels", data.get("labels")),
        job=read_job(f"{where}.job", data["job"]) if has_job else None,
        jobs=jobs,
    )
    check_job(where, point)
    return point


def _check_rule(stopping: Stopping, points: Sequence[WrittenPoint]) -> None:
    """Check that a rule can be judged by points of several jobs. Raises `PlanError`."""
    for point in points:
        if point.jobs and stopping.kind == "saturation":
            found = f"{stopping.kind} with {point.label or point.name}"
            raise PlanError(
                "stopping.kind", found, "another rule: jobs that run at the same time are no one load to raise"
            )
        if point.jobs and not stopping.is_fixed and len(set(map(begins_at, point.jobs))) > 1:
            found = f"{stopping.kind} with {point.label or point.name}"
            expected = "a fixed number of rounds: its jobs begin at different times, so that they have no rate together"
            raise PlanError("stopping.kind", found, expected)


def _guard(where: str, data: Any) -> WrittenGuard:
    data = only(where, name_guard_fields(where, data), GUARD)
    kind = data.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise PlanError(f"{where}.kind", kind, f"one of {', '.join(KINDS)}")
    given = {name: value for name, value in data.items() if name in ("factor", "tolerance", *HOST_NUMBERS)}
    note = _words(where, data, "note", LONGEST_NOTES)
    is_required = yes_or_no(f"{where}.is_required", data.get("is_required", True))
    return WrittenGuard(kind, is_required, note, parameters_of(kind, given))


def name_guard_fields(where: str, guard: Any) -> Any:
    """Return a guard with its fields under the names that this module checks, whichever spelling was sent.

    Raises:
        PlanError: It has a field under both names.
    """
    return name_fields(where, guard, PlanError) if isinstance(guard, Mapping) else guard


def _cell(where: str, data: Any, rows: list[WrittenRow], points: list[WrittenPoint]) -> WrittenCell:
    only(where, data, CELL)
    for word, known in (("row", [row.name for row in rows]), ("point", [point.name for point in points])):
        if data.get(word) not in known:
            raise PlanError(f"{where}.{word}", data.get(word), f"one of {', '.join(known)}")
    texts = {word: _words(where, data, word, LONGEST_NOTES) for word in ("reason", "note", "runs_of")}
    if not any(texts.values()):
        raise PlanError(where, data, "a reason why it is not run, a note, or where its runs are held")
    return WrittenCell(data["row"], data["point"], texts["reason"], texts["note"], texts["runs_of"])


def _slug(field_name: str, value: Any) -> str:
    if not isinstance(value, str) or not SLUG.fullmatch(value):
        raise PlanError(field_name, value, "a short name of letters, digits, - and _")
    return value


def _text(field_name: str, value: Any, most: int) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > most:
        raise PlanError(field_name, value, f"a text of 1 to {most} letters")
    return value.strip()


def _words(where: str, data: Any, name: str, most: int) -> str:
    return read_text(f"{where}.{name}", data.get(name), most)


def _entries(where: str, data: Any, name: str) -> list[tuple[str, Any]]:
    """Return the entries of a list, each with its place; none where it is left out. Raises `PlanError`."""
    return [(f"{where}.{name}[{at}]", entry) for at, entry in enumerate(listed(f"{where}.{name}", data.get(name)))]


def _labels(where: str, value: Any) -> dict[str, Any]:
    if value is not None and not isinstance(value, dict):
        raise PlanError(where, value, "an object of labels")
    return dict(value or {})


def _optional(
    field_name: str, value: Any, low: int, high: int, read: Callable[[str, Any, int, int], int] = whole
) -> int | None:
    return None if value is None else read(field_name, value, low, high)


def _once(field_name: str, names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise PlanError(field_name, name, "each only once")


def _some(field_name: str, values: Sequence[object], most: int) -> None:
    if not 1 <= len(values) <= most:
        raise PlanError(field_name, len(values), f"1 to {most} of them")

"""A plan as it is written, in plan.yaml or by the form, checked: one door for both. Raises `PlanError`.

    plans_of({"plans": [{"name": "bonnie", "title": "…", "order": "interleaved", "stopping": {…}, "configurations": […], "points": […],
                         "guards": […], "cells": […]}]})

configurations   {configuration | name + label, largest_file_size, limit_reason, reason}
points           {name, label, tool, command, file_size | ram_multiple, block_size, threads, iodepth, operations, labels, job}
guards           {kind, required, note, factor, tolerance, wait_s, seconds, load, rate, celsius}
cells            {row, point, reason | runs_of, note}
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from apps.studies.plans.guards import HOST_NUMBERS, KINDS, Parameters, parameters_of
from apps.studies.plans.order import ORDERS
from apps.studies.plans.problems import PlanError, number, only, whole
from apps.studies.plans.stopping_rule import MOST_POINTS as MOST_POINTS
from apps.studies.plans.stopping_rule import Stopping, stopping_of
from apps.studies.plans.workload import check_job

SLUG = re.compile(r"[A-Za-z0-9_-]{1,60}")
TIB = 1024**4
MOST_ROWS = 1000
PLAN = (
    "name", "title", "order", "seed", "stopping", "are_means", "notes", "configurations", "points", "guards", "cells",
)  # fmt: skip
ROW = ("configuration", "name", "label", "largest_file_size", "limit_reason", "reason")
POINT = (
    "name", "label", "tool", "command", "file_size", "ram_multiple", "block_size", "threads", "iodepth", "operations",
    "labels", "job",
)  # fmt: skip
GUARD = ("kind", "required", "note", "factor", "tolerance", *HOST_NUMBERS)
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
    rows: list[WrittenRow]
    points: list[WrittenPoint]
    guards: list[WrittenGuard]
    cells: list[WrittenCell]


def plans_of(data: Any) -> list[WrittenPlan]:
    only("plan", data, ("plans",))
    plans = [plan_of(entry, f"plans[{at}]") for at, entry in enumerate(data.get("plans") or [])]
    _once("plans", [plan.name for plan in plans])
    return plans


def plan_of(data: Any, where: str = "plan") -> WrittenPlan:
    only(where, data, PLAN)
    order = data.get("order", "interleaved")
    if order not in ORDERS:
        raise PlanError(f"{where}.order", order, f"one of {', '.join(ORDERS)}")
    seed = data.get("seed")
    if order == "randomized":
        whole(f"{where}.seed", seed, 0, 2**53)
    rows = [_row(f"{where}.configurations[{at}]", entry) for at, entry in enumerate(data.get("configurations") or [])]
    points = [_point(f"{where}.points[{at}]", entry) for at, entry in enumerate(data.get("points") or [])]
    _some(f"{where}.configurations", rows, MOST_ROWS)
    _some(f"{where}.points", points, MOST_POINTS)
    _once(f"{where}.configurations", [row.name for row in rows])
    _once(f"{where}.points", [point.name for point in points])
    guards = [_guard(f"{where}.guards[{at}]", entry) for at, entry in enumerate(data.get("guards") or [])]
    _once(f"{where}.guards", [guard.kind for guard in guards])
    cells = [_cell(f"{where}.cells[{at}]", entry, rows, points) for at, entry in enumerate(data.get("cells") or [])]
    _once(f"{where}.cells", [f"{cell.row} × {cell.point}" for cell in cells])
    _check_reasons(where, rows, points, cells)
    return WrittenPlan(
        name=_slug(f"{where}.name", data.get("name")), title=_text(f"{where}.title", data.get("title"), 200), order=order,
        seed=seed if order == "randomized" else None, stopping=stopping_of(data.get("stopping")),
        are_means=bool(data.get("are_means", False)), notes=str(data.get("notes") or "").strip(), rows=rows, points=points, guards=guards,
        cells=cells,
    )  # fmt: skip


def _row(where: str, data: Any) -> WrittenRow:
    only(where, data, ROW)
    configuration = str(data.get("configuration") or "")
    name = _slug(f"{where}.name", data.get("name") or configuration)
    label = str(data.get("label") or "")
    reason = str(data.get("reason") or "").strip()
    if not configuration and not label:
        raise PlanError(where, data, "a configuration of the study, or a label and the reason why it is not run")
    largest = _optional(f"{where}.largest_file_size", data.get("largest_file_size"), 1, 1024 * TIB)
    limit_reason = str(data.get("limit_reason") or "").strip()
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
    point = WrittenPoint(
        name=_slug(f"{where}.name", data.get("name")),
        tool=_text(f"{where}.tool", data.get("tool"), 40),
        label=str(data.get("label") or ""),
        command=str(data.get("command") or ""),
        file_size=_optional(f"{where}.file_size", data.get("file_size"), 1, 1024 * TIB),
        ram_multiple=None if multiple is None else number(f"{where}.ram_multiple", multiple, 0.01, 100),
        block_size=_optional(f"{where}.block_size", data.get("block_size"), 1, TIB),
        threads=_optional(f"{where}.threads", data.get("threads"), 1, 100_000),
        iodepth=_optional(f"{where}.iodepth", data.get("iodepth"), 1, 100_000),
        operations=[_text(f"{where}.operations", operation, 40) for operation in data.get("operations") or []],
        labels=dict(data.get("labels") or {}),
        job=data.get("job"),
    )
    check_job(where, point)
    return point


def _guard(where: str, data: Any) -> WrittenGuard:
    only(where, data, GUARD)
    kind = data.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise PlanError(f"{where}.kind", kind, f"one of {', '.join(KINDS)}")
    given = {name: value for name, value in data.items() if name in ("factor", "tolerance", *HOST_NUMBERS)}
    note = str(data.get("note") or "").strip()
    return WrittenGuard(kind, bool(data.get("required", True)), note, parameters_of(kind, given))


def _cell(where: str, data: Any, rows: list[WrittenRow], points: list[WrittenPoint]) -> WrittenCell:
    only(where, data, CELL)
    for word, known in (("row", [row.name for row in rows]), ("point", [point.name for point in points])):
        if data.get(word) not in known:
            raise PlanError(f"{where}.{word}", data.get(word), f"one of {', '.join(known)}")
    texts = {word: str(data.get(word) or "").strip() for word in ("reason", "note", "runs_of")}
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


def _optional(field_name: str, value: Any, low: int, high: int) -> int | None:
    return None if value is None else whole(field_name, value, low, high)


def _once(field_name: str, names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise PlanError(field_name, name, "each only once")


def _some(field_name: str, values: Sequence[object], most: int) -> None:
    if not 1 <= len(values) <= most:
        raise PlanError(field_name, len(values), f"1 to {most} of them")

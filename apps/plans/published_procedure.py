"""The procedure of a published report as points for fio: "repeat this study on my hosts", and theirs beside ours.

What a report did with Bonnie, IOzone or dd is asked of fio as nearly as fio can do it: the same operation, file size and
block size, through the page cache, with the sync that the report's runs used. Operations that fio does not have are left
out by name. Machines of then and now are unlike, so the two sides are shown as numbers and never as a verdict.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from apps.core.units import size as size_words
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from apps.plans.presets.preset import PlanPointData, make_point, slug, words_of
from apps.plans.value_lists import FileSize
from apps.runs.workload import SYNC, WorkloadError, checked
from apps.studies.models import Plan, PlanPoint
from apps.studies.plans.run_assignment import StudysRuns, runs_of

TOOLS = frozenset({"bonnie", "bonnie++", "dd", "iozone", "fio"})  # those that measure files of the host itself
OPERATIONS = ("write", "read", "randwrite", "randread")  # those that fio and the report mean alike
# Bytes per call where the report does not print them: the tools' own constants (Bonnie.c, bonnie++.h).
USUAL_BLOCK = {"bonnie": 16 << 10, "bonnie++": 8 << 10}
BLOCK = 1 << 20
SOME_SIZE = 1 << 30  # a multiple of the RAM is known only with a host
AT_END = {"fsync", "fdatasync"}  # a sync once, at the end of writing, as dd's conv= does


@dataclass(frozen=True)
class ReportPoint:
    """One point of a report for one operation and one sync, under the name that it has in the plan that repeats it."""

    name: str
    label: str
    point: PlanPoint
    operation: str
    sync: str


@dataclass(frozen=True)
class ReportProcedure:
    """Points for fio, and sentences about what is left out or taken differently."""

    points: list[PlanPointData]
    remarks: list[str]


def find_procedures() -> list[Plan]:
    """Return the plans of published reports that have something fio can repeat."""
    with _published_labs():
        plans = Plan.objects.whole().filter(is_from_report=True)
        return [plan for plan in plans if any(map(_can_be_repeated, plan.points.all()))]


def _published_labs() -> Any:
    """Open the scope of published reports: a request that changes something may see its own lab alone."""
    return lab_scope(*Lab.objects.published_ids())


def usual_rule(plan: Plan) -> dict[str, Any]:
    """Return the report's own stopping rule, or five rounds where it prints none."""
    return dict(plan.stopping) if plan.stopping["kind"] != "not_printed" else {"kind": "fixed", "rounds": 5}


def repeat(plan: Plan, *, is_scaled: bool) -> ReportProcedure:
    """Return the points of a report's plan for fio.

    Args:
        is_scaled: Take each file size as the same multiple of RAM that it was on the report's machine, not in bytes.
    """
    ram = max((row.host.ram_bytes for row in plan.rows.all() if row.host and row.host.ram_bytes), default=None)
    remarks = [f"Repeats {plan.study}: {plan.title}, with fio in place of {_tools(plan)}, through the page cache."]
    if is_scaled and ram:
        remarks.append(f"File sizes are the same multiples of RAM as on the report's machine with {size_words(ram)}.")
    elif is_scaled:
        remarks.append("File sizes are in bytes: the RAM of the report's machine is not known.")
    points = []
    with _published_labs():
        study_runs = runs_of(plan.study)
    for entry in report_points(plan, study_runs):
        block = entry.point.block_size or USUAL_BLOCK.get(entry.point.tool, BLOCK)
        file_size = _file_size(entry.point, ram if is_scaled else None)
        was_scaled = file_size.ram_multiple is not None and entry.point.ram_multiple is None
        label = f"{entry.label} at {words_of(file_size)}" if was_scaled else entry.label
        point = make_point(
            label, entry.operation, file_size, block, numjobs=entry.point.threads or 1, direct=False,
            sync="none" if entry.sync in AT_END else entry.sync, end_fsync=entry.sync in AT_END,
        )  # fmt: skip
        if problem := _find_problem(point):
            remarks.append(f"{entry.label} is left out: {problem}.")
        else:
            points.append({**point, "name": entry.name})
    left_out = sorted({name for point in plan.points.all() for name in point.operations} - set(OPERATIONS))
    if left_out:
        remarks.append(f"Left out, because fio has no such operation: {', '.join(left_out)}.")
    if any(not point.block_size for point in plan.points.all()):
        remarks.append("The report prints no block size; the tool's own is taken where it is known, else 1 MiB.")
    return ReportProcedure(points, remarks)


def _find_problem(point: PlanPointData) -> str:
    """Return why fio may not be asked for a point; empty where it may."""
    sizes = {"file_size": point.get("file_size", SOME_SIZE), "block_size": point["block_size"]}
    try:
        checked({"jobs": [{**point["job"], **sizes, "numjobs": point["threads"], "iodepth": point["iodepth"]}]})
    except WorkloadError as error:
        return str(error).removeprefix("jobs[0].")
    return ""


def report_points(plan: Plan, study_runs: StudysRuns) -> list[ReportPoint]:
    """Return the report's points that fio can repeat, one for each operation and each sync of the report's runs."""
    syncs = _syncs(plan, study_runs)
    entries = []
    for point in plan.points.all():
        for operation in _common(point) if _can_be_repeated(point) else ():
            for sync in syncs if operation.endswith("write") else ["none"]:
                words = [operation, str(point), *([f"with {sync}"] if sync != "none" else [])]
                label = " ".join(words)
                entries.append(ReportPoint(slug(label), label, point, operation, sync))
    return entries


@dataclass(frozen=True)
class ReportComparison:
    """One point: the bandwidths of the report's configurations and of ours, in bytes/s; None where there is none."""

    label: str
    theirs: list[float | None]
    ours: list[float | None]


def compare_with_report(plan: Plan, ours: Mapping[tuple[int, int], float]) -> tuple[list[str], list[ReportComparison]]:
    """Return the report's configurations, and a row for each point that both sides have.

    Args:
        plan: A plan that repeats a report's.
        ours: The mean of each cell that has one, by the ids of row and point.
    """
    with _published_labs():
        report = Plan.objects.whole().filter(pk=plan.repeats_id).first()
        if report is None:
            return [], []
        study_runs = runs_of(report.study)
    rows = [row for row in report.rows.all() if row.configuration]
    points = {point.name: point for point in plan.points.all()}
    table = []
    for entry in report_points(report, study_runs):
        point = points.get(entry.name)
        if point is None:
            continue
        theirs = [_measured(study_runs, row.configuration_id, entry) for row in rows]
        own = [ours.get((row.pk, point.pk)) for row in plan.rows.all()]
        table.append(ReportComparison(entry.label, theirs, own))
    return [row.label for row in rows], table


def _measured(study_runs: StudysRuns, configuration: int | None, entry: ReportPoint) -> float | None:
    values = [
        measured.bandwidth
        for run in study_runs.by_configuration.get(configuration or 0, [])
        for measured in study_runs.facts[run.pk].points
        if measured.operation == entry.operation
        and measured.bandwidth is not None
        and measured.file_size == entry.point.file_size
        and entry.point.block_size in (None, measured.block_size)
        and _sync_of(run) in (entry.sync, None)
    ]
    return fmean(values) if values else None


def _syncs(plan: Plan, study_runs: StudysRuns) -> Sequence[str]:
    configurations = [row.configuration_id for row in plan.rows.all() if row.configuration_id]
    runs = [run for pk in configurations for run in study_runs.by_configuration.get(pk, [])]
    known = {sync for run in runs if (sync := _sync_of(run)) in SYNC}
    return [name for name in SYNC if name in known] or ["none"]


def _sync_of(run: Any) -> str | None:
    sync = run.facts.get("sync")
    return str(sync) if sync else None


def _common(point: PlanPoint) -> list[str]:
    return [name for name in point.operations if name in OPERATIONS]


def _can_be_repeated(point: PlanPoint) -> bool:
    is_sized = point.file_size is not None or point.ram_multiple is not None
    return is_sized and point.tool.lower() in TOOLS and bool(_common(point))


def _file_size(point: PlanPoint, ram: int | None) -> FileSize:
    if point.ram_multiple is not None:
        return FileSize(ram_multiple=point.ram_multiple)
    if ram and point.file_size:
        return FileSize(ram_multiple=max(0.01, round(point.file_size / ram, 2)))
    return FileSize(bytes=point.file_size)


def _tools(plan: Plan) -> str:
    return " and ".join(dict.fromkeys(point.tool for point in plan.points.all()))

"""The procedure of a published report as points for fio: "repeat this study on my hosts", and theirs beside ours.

What a report did with Bonnie, IOzone or dd is asked of fio as nearly as fio can do it: the same operation, file size and
block size, through the page cache, with the sync that the report's runs used, in the report's order and under those of
its guards that can be checked. Operations that fio does not have are left out by name. Machines of then and now are
unlike, so the two sides are shown as numbers and never as a verdict.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from statistics import fmean
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _

from apps.core.units import parse
from apps.core.units import size as size_words
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from apps.plans.guards import can_be_checked
from apps.plans.iozone_sizes import IozoneSizes, read_sizes
from apps.plans.point_variation import check_point
from apps.plans.presets.preset import PlanPointData, make_point, slug, words_of
from apps.plans.value_lists import FileSize
from apps.runs.workload import SYNC, WorkloadError
from apps.studies.models import Plan, PlanPoint
from apps.studies.plans.problems import PlanError
from apps.studies.plans.run_assignment import StudysRuns, runs_of

REPORT = "report-"  # before the id of a report's plan in the list of procedures
TOOLS = frozenset({"bonnie", "bonnie++", "dd", "iozone", "fio"})  # those that measure files of the host itself
OPERATIONS = ("write", "read", "randwrite", "randread")  # those that fio and the report mean alike
# Bytes per call where the report does not print them: the tools' own constants (Bonnie.c, bonnie++.h).
USUAL_BLOCK = {"bonnie": 16 << 10, "bonnie++": 8 << 10}
BLOCK = 1 << 20
LEAST_MULTIPLE = 0.01  # of the RAM; what is smaller stays in bytes
PRINTED_SIZE = re.compile(r"\b[0-9]+(?:\.[0-9]+)? [kMGT]B\b")
MOST_BETWEEN_BASES = 0.1  # between 10^12 and 2^40 bytes
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
    """Points for fio, the order, the guards, and sentences about what is left out or taken differently."""

    points: list[PlanPointData]
    remarks: list[str]
    order: str = "interleaved"
    guards: Sequence[dict[str, Any]] = ()


@dataclass(frozen=True)
class RepeatOffer:
    """Whether fio can repeat the procedure of a report's plan. `problem`: why it cannot; empty where it can."""

    plan: Plan
    problem: str

    @property
    def preset(self) -> str:
        """Return the name that the procedure has in the form of a new plan."""
        return f"{REPORT}{self.plan.pk}"

    @property
    def address(self) -> str:
        """Return the address of the form of a new plan with this procedure chosen."""
        title = f"{str(self.plan.study)[:180]}, repeated"
        return f"{reverse('plan-make')}?{urlencode({'procedure': self.preset, 'title': title})}"


@dataclass(frozen=True)
class StudyRepetition:
    """How the procedures of a published study can be repeated on one's own hosts."""

    offers: Sequence[RepeatOffer]

    @property
    def possible(self) -> list[RepeatOffer]:
        return [offer for offer in self.offers if not offer.problem]


def find_procedures() -> list[Plan]:
    """Return the plans of published reports that have something fio can repeat."""
    with _published_labs():
        plans = Plan.objects.whole().filter(is_from_report=True)
        return [plan for plan in plans if not explain_no_repeat(plan)]


def offers_of(plans: Iterable[Plan]) -> list[RepeatOffer]:
    """Return for each plan of a published report whether fio can repeat it."""
    return [RepeatOffer(plan, explain_no_repeat(plan)) for plan in plans if plan.is_from_report]


def explain_no_repeat(plan: Plan) -> str:
    """Return in a sentence why fio can repeat nothing of a report's plan; empty where it can repeat something."""
    points = list(plan.points.all())
    if any(map(_can_be_repeated, points)):
        return ""
    of_files = [point for point in points if point.tool.lower() in TOOLS]
    if not of_files:
        tools = ", ".join(sorted({point.tool for point in points}))
        return _("It was measured with %(tools)s. fio measures files of one host, so it cannot stand in for that.") % {
            "tools": tools
        }
    if not any(map(_common, of_files)):
        names = ", ".join(sorted({name for point in of_files for name in point.operations}))
        return _("fio has none of its operations: %(operations)s.") % {"operations": names}
    return _("The report does not say how large the test files were.")


def _published_labs() -> Any:
    """Open the scope of published reports: a request that changes something may see its own lab alone."""
    return lab_scope(*Lab.objects.published_ids())


def usual_rule(plan: Plan) -> dict[str, Any]:
    """Return the report's own stopping rule, or five rounds where it prints none."""
    return dict(plan.stopping) if plan.stopping["kind"] != "not_printed" else {"kind": "fixed", "rounds": 5}


def usual_order(plan: Plan) -> str:
    """Return the report's own order, or interleaved where it prints none."""
    return plan.order if plan.order != "not_printed" else "interleaved"


def usual_guards(plan: Plan) -> list[dict[str, Any]]:
    """Return the report's guards that can be checked, as a plan's guards are written."""
    return [
        {"kind": guard.kind, "is_required": guard.is_required, "note": guard.note, **guard.parameters}
        for guard in plan.guards.all()
        if can_be_checked(guard.kind)
    ]


def _order_and_guard_remarks(plan: Plan) -> list[str]:
    """Return what the report says about its order, and its guards that nothing can check."""
    is_printed = plan.order != "not_printed"
    remarks = [f"The report's order is {plan.order}." if is_printed else "The report does not print its order."]
    unchecked = [guard for guard in plan.guards.all() if not can_be_checked(guard.kind)]
    if unchecked:
        sentences = " ".join(guard.sentence for guard in unchecked)
        remarks.append(
            f"The report's guards that no host can check are not taken over; see to them yourself: {sentences}"
        )
    return remarks


def _sync_remarks(syncs: Iterable[str]) -> list[str]:
    """Return how fio stands in for a sync at the end of writing."""
    words = {
        "fsync": "Points with fsync have fio's end_fsync: one fsync when all is written.",
        "fdatasync": "Points with fdatasync have fio's end_fsync in its place: fio calls fsync once when all is written,"
        " which waits for the file's metadata too.",
    }
    return [words[name] for name in sorted(AT_END & set(syncs))]


def repeat(plan: Plan, *, is_scaled: bool, operations: Collection[str] = ()) -> ReportProcedure:
    """Return the points of a report's plan for fio.

    Args:
        plan: Of a published report.
        is_scaled: Take each file size as the same multiple of RAM that it was on the report's machine, not in bytes.
        operations: Only these of the report's operations; without them all that fio has.

    Raises:
        PlanError: The report has none of the operations.
    """
    ram = max((row.host.ram_bytes for row in plan.rows.all() if row.host and row.host.ram_bytes), default=None)
    remarks = [f"Repeats {plan.study}: {plan.title}, with fio in place of {_tools(plan)}, through the page cache."]
    if is_scaled and ram:
        few = f"those below {LEAST_MULTIPLE:.0%} of it stay in bytes"
        words = f"File sizes are the same multiples of RAM as on the report's machine with {size_words(ram)}"
        remarks.append(f"{words}; {few}.")
    elif is_scaled:
        remarks.append("File sizes are in bytes: the RAM of the report's machine is not known.")
    remarks += _order_and_guard_remarks(plan)
    remarks += dict.fromkeys(sizes.rule for point in plan.points.all() if (sizes := _sizes_of_command(point)))
    points, syncs = [], set()
    with _published_labs():
        study_runs = runs_of(plan.study)
    entries = _choose(report_points(plan, study_runs), operations)
    if operations:
        remarks.append(f"Of its operations only these are taken over: {', '.join(operations)}.")
    for entry in entries:
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
            syncs.add(entry.sync)
    remarks += _sync_remarks(syncs)
    left_out = sorted({name for point in plan.points.all() for name in point.operations} - set(OPERATIONS))
    if left_out:
        remarks.append(f"Left out, because fio has no such operation: {', '.join(left_out)}.")
    if any(not point.block_size and not _sizes_of_command(point) for point in plan.points.all()):
        remarks.append("The report prints no block size; the tool's own is taken where it is known, else 1 MiB.")
    return ReportProcedure(points, remarks, usual_order(plan), usual_guards(plan))


def _find_problem(point: PlanPointData) -> str:
    """Return why fio may not be asked for a point; empty where it may."""
    try:
        check_point(point)
    except WorkloadError as error:
        return str(error).removeprefix("jobs[0].")
    return ""


def _choose(entries: Sequence[ReportPoint], operations: Collection[str]) -> list[ReportPoint]:
    """Return the entries of some operations, all without any. Raises `PlanError` for one that the report has not."""
    known = dict.fromkeys(entry.operation for entry in entries)
    for name in operations:
        if name not in known:
            raise PlanError("patterns", name, f"some of {', '.join(known)}, which the report has")
    return [entry for entry in entries if not operations or entry.operation in operations]


def report_points(plan: Plan, study_runs: StudysRuns) -> list[ReportPoint]:
    """Return the report's points that fio can repeat, one for each operation and each sync of the report's runs."""
    syncs = _syncs(plan, study_runs)
    entries = []
    for point in (sized for known in plan.points.all() for sized in _sized_points(known)):
        for operation in _common(point) if _can_be_repeated(point) else ():
            for sync in syncs if operation.endswith("write") else ["none"]:
                end = [f"with {sync}"] if sync != "none" else []
                printed = " ".join([operation, str(point), *end])
                label = " ".join([operation, _point_words(point), *end])
                entries.append(ReportPoint(slug(printed), label, point, operation, sync))
    return entries


def _point_words(point: PlanPoint) -> str:
    """Return a point's label with its file size as it is: a report that prints `100 MB` may mean 100 MiB."""
    label = str(point)
    if point.file_size is None:
        return label
    own = size_words(point.file_size)
    return PRINTED_SIZE.sub(lambda found: own if _is_other_base(found[0], point.file_size) else found[0], label)


def _is_other_base(printed: str, file_size: int | None) -> bool:
    """Return whether a printed size is the file's in the other base: `100 MB` of 104 857 600 bytes."""
    value = parse(printed, "B")
    return value != file_size and bool(file_size) and abs(value / (file_size or 1) - 1) < MOST_BETWEEN_BASES


@dataclass(frozen=True)
class ReportComparison:
    """One point: the bandwidths of the report's configurations and of ours, in bytes/s; None where there is none.

    `label`: that of our point, which says so where its file is as many times the RAM as the report's, and not as large.
    """

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
        if any(value is not None for value in (*theirs, *own)):
            table.append(ReportComparison(str(point), theirs, own))
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


def _is_sized(point: PlanPoint) -> bool:
    return point.file_size is not None or point.ram_multiple is not None


def _can_be_repeated(point: PlanPoint) -> bool:
    is_known = _is_sized(point) or _sizes_of_command(point) is not None
    return is_known and point.tool.lower() in TOOLS and bool(_common(point))


def _sizes_of_command(point: PlanPoint) -> IozoneSizes | None:
    """Return the sizes that follow from the report's command, where it prints no file size."""
    return None if _is_sized(point) or point.tool.lower() != "iozone" else read_sizes(point.command)


def _sized_points(point: PlanPoint) -> list[PlanPoint]:
    """Return a point as it is, or for each file and record size of its command; those are not stored."""
    sizes = _sizes_of_command(point)
    if sizes is None:
        return [point]
    points = []
    for file_size, record in sizes.pairs:
        sized = copy(point)
        sized.file_size, sized.block_size = file_size, record
        words = f"{size_words(file_size)} by {size_words(record)}"
        sized.label = words if len(sizes.pairs) > 1 else f"{point}, {words}"
        points.append(sized)
    return points


def _file_size(point: PlanPoint, ram: int | None) -> FileSize:
    if point.ram_multiple is not None:
        return FileSize(ram_multiple=point.ram_multiple)
    if ram and point.file_size and point.file_size >= LEAST_MULTIPLE * ram:
        return FileSize(ram_multiple=round(point.file_size / ram, 2))
    return FileSize(bytes=point.file_size)


def _tools(plan: Plan) -> str:
    return " and ".join(dict.fromkeys(point.tool for point in plan.points.all()))

"""What of a plan its hosts would refuse, by the limits of agent.conf (quota, runtime, I/O depth, jobs): cells, preparations."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import prefetch_related_objects

from apps.inventory.models import Target
from apps.plans.models import Preparation
from apps.plans.preparations import BY_KIND
from apps.runs.services import check_host_limits, check_quota
from apps.runs.workload import WorkloadError, check_time_limit, checked
from apps.studies.plans.plan_page import PlanPage, PlanPageCell

MOST_SENTENCES = 10
NOT_STARTED = "It could not be started"  # how the reason of a cell begins that its host would refuse


@dataclass(frozen=True)
class Refusal:
    """What a host allows less of than a cell or a preparation asks for.

    `row` and `point` as people read them; of a preparation `point` is what it is called.
    """

    target: Target
    row: str
    point: str
    problem: WorkloadError


def find_refusal(target: Target, spec: Mapping[str, Any], time_limit: int | None = None) -> WorkloadError | None:
    """Return why the host would refuse a checked workload, by the limits that its agent has reported; None where not."""
    try:
        check_quota(target, dict(spec))
        check_time_limit(time_limit, dict(spec))
        check_host_limits(target, dict(spec), time_limit)
    except WorkloadError as problem:
        return problem
    return None


def load_agents(targets: Iterable[Target]) -> None:
    """Read the agents of the hosts of many targets at once, where they are not read yet."""
    prefetch_related_objects([target.host for target in targets], "agent")


def find_refused_cells(page: PlanPage) -> list[tuple[PlanPageCell, Refusal]]:
    """Return the cells with rounds left that would be asked of their host and that it would refuse."""
    refused = []
    ahead = [
        (cell, cell.row.configuration.target, cell.workload)
        for cell in page.cells
        if cell.can_be_started and cell.remaining and cell.workload
        and cell.row.configuration and cell.row.configuration.target
    ]  # fmt: skip
    load_agents(target for _, target, _ in ahead)
    for cell, target, spec in ahead:
        if problem := find_refusal(target, spec, page.plan.time_limit):
            refused.append((cell, Refusal(target, cell.row.label, str(cell.point), problem)))
    return refused


def find_largest_files(page: PlanPage, refused: Iterable[PlanPageCell] = ()) -> dict[int, int]:
    """Return the bytes of each row's largest file, which a preparation may be as large as.

    Cells that are left out have no part in it, and neither have the `refused` ones that a start would leave out.
    """
    without = {(cell.row.pk, cell.point.pk) for cell in refused}
    largest: dict[int, int] = {}
    for cell in page.cells:
        if not cell.reason and (cell.row.pk, cell.point.pk) not in without:
            of_jobs = (job["file_size"] for job in cell.jobs or ())
            largest[cell.row.pk] = max(largest.get(cell.row.pk, 0), cell.file_size or 0, *of_jobs)
    return largest


def find_refused_preparations(
    preparations: Iterable[Preparation], rows: Iterable[tuple[Target, str, int]]
) -> list[Refusal]:
    """Return the preparations that hosts would refuse, so that the plan would pause there.

    Args:
        preparations: Those of the plan, written or not.
        rows: Of each row that has something to run: its target, its name, and the bytes of its largest file.
    """
    refused = []
    kinds = [(preparation, BY_KIND[preparation.kind]) for preparation in preparations]
    for target, row, largest in rows:
        for preparation, kind in kinds:
            if kind.workload is None:
                continue
            try:
                spec = checked(kind.workload(preparation.parameters, largest))
            except WorkloadError as problem:
                refused.append(Refusal(target, row, f"preparation {kind.label}", problem))
                continue
            if refusal := find_refusal(target, spec):
                refused.append(Refusal(target, row, f"preparation {kind.label}", refusal))
    return refused


def find_refused_preparations_of(page: PlanPage, refused: Collection[PlanPageCell]) -> list[Refusal]:
    """Return the preparations of a written plan that its hosts would refuse; `refused`: cells that a start leaves out."""
    without = {(cell.row.pk, cell.point.pk) for cell in refused}
    rows = {
        cell.row.pk: (cell.row.configuration.target, cell.row.label)
        for cell in page.cells
        if cell.can_be_started and cell.remaining and cell.workload and (cell.row.pk, cell.point.pk) not in without
        and cell.row.configuration and cell.row.configuration.target
    }  # fmt: skip
    preparations = list(page.plan.preparations.all())
    if not preparations:
        return []
    load_agents(target for target, _ in rows.values())
    largest = find_largest_files(page, refused)
    return find_refused_preparations(
        preparations, [(target, label, largest.get(row, 0)) for row, (target, label) in rows.items()]
    )


def refusal_sentences(refusals: Iterable[Refusal]) -> list[str]:
    """Return a sentence for each row and limit, with the points that it keeps from being run."""
    points: dict[tuple[str, str], list[str]] = {}
    for refusal in refusals:
        points.setdefault((refusal.row, str(refusal.problem)), []).append(refusal.point)
    sentences = [f"{row}: {', '.join(named)}: {problem}." for (row, problem), named in points.items()]
    more = len(sentences) - MOST_SENTENCES
    return [*sentences[:MOST_SENTENCES], *([f"And {more} more of this kind."] if more > 0 else [])]

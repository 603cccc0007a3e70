"""What a plan will take before it is started: time for each host, bytes written to each disk, space on each target.

The time of a cell is the median of earlier runs with just its workload, on its target or else on its host, from the
moment the host began (so the filling of test files is in it) until the result was read in, without the looks of guards,
which are added apart. Where there is none it is guessed from sizes, runtime and the target's ceiling, and says so.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import median
from typing import Any

from django.db.models import Sum

from apps.inventory.ceilings.ceiling import Ceiling
from apps.inventory.ceilings.current import ceilings_of
from apps.inventory.models import Disk, Host, Target
from apps.inventory.topology.stack import Stack, stacks_of
from apps.plans.estimates.disk_writes import endurance_of, shares_of
from apps.plans.host_limits import (
    Refusal,
    find_refusal,
    find_refused_preparations,
    load_agents,
    refusal_sentences,
)
from apps.plans.models import Preparation
from apps.plans.plan_request import PlanRequest
from apps.plans.preparations import read_preparations
from apps.plans.preparations.estimate import ExtraTime, estimate_extra
from apps.plans.services import check_request, check_targets
from apps.runs.host_guards import looking_seconds
from apps.runs.models import Attempt, Sample
from apps.runs.workload import (
    USUAL_SPEEDS,
    Speeds,
    WorkloadError,
    digest,
    files_bytes,
    fill_bytes,
    guess_seconds,
    guess_written,
)
from apps.studies.models import Guard
from apps.studies.plans.matrix import file_size_for
from apps.studies.plans.plan_page import PlanPage, column_of
from apps.studies.plans.schema import WrittenPoint
from apps.studies.plans.workload import workload_at

ON_TARGET, ON_HOST, GUESS = "target", "host", "guess"
MOST_RUNS = 2000  # earlier runs that are looked at, the newest first
# Bytes that an agent leaves free: it refuses a run that would take them (`worker/agent/conf.py`)
HOSTS_MARGIN = 64 << 20
SSD_ACCESSES = 20_000  # in a second: what a guess assumes of solid-state disks at random
WRITES = ("write", "randwrite", "rewrite")


@dataclass(frozen=True)
class CellAhead:
    """Rounds of one cell that are to be made. `most` as far as its rule may go."""

    target: Target
    row: str
    point: str
    spec: Mapping[str, Any]
    rounds: int
    most: int
    time_limit: int | None = None

    @cached_property
    def digest(self) -> str:
        return digest(dict(self.spec))


@dataclass(frozen=True)
class CellEstimate:
    """Of one round: `seconds`, and `written` bytes, test files included. `runs`: earlier ones that it is the median of."""

    cell: CellAhead
    seconds: float
    written: float
    source: str
    runs: int = 0

    @property
    def source_words(self) -> str:
        if self.source == GUESS:
            return "guess"
        return f"median of {self.runs} run{'' if self.runs == 1 else 's'} on this {self.source}"


@dataclass(frozen=True)
class HostEstimate:
    """All rounds of a host, one after another. `guessed` of them by a guess."""

    host: Host
    seconds: float
    most_seconds: float
    rounds: int
    guessed: int


@dataclass(frozen=True)
class DiskEstimate:
    """Bytes that a disk will take; `share` of what it is rated for in its life, None where nobody knows that."""

    disk: Disk
    written: float
    share: float | None


@dataclass(frozen=True)
class SpaceEstimate:
    """The largest test files of a target against its free space and its quota, as last reported; None: not known."""

    target: Target
    needed: int
    free: int | None
    cells: tuple[str, ...] = ()  # whose files are larger than what is free or allowed
    quota: int | None = None  # of agent.conf, for the files of one run there

    @property
    def is_enough(self) -> bool | None:
        if self.quota is not None and self.needed > self.quota:
            return False
        return None if self.free is None else self.needed <= self.free - HOSTS_MARGIN


@dataclass(frozen=True)
class PlanEstimate:
    """Hosts work side by side, so the plan takes as long as the slowest."""

    cells: tuple[CellEstimate, ...]
    hosts: tuple[HostEstimate, ...]
    disks: tuple[DiskEstimate, ...]
    spaces: tuple[SpaceEstimate, ...]
    is_at_most: bool = False  # of a search: it may end before its last points
    unknown_disks: tuple[Target, ...] = ()
    refused: tuple[Refusal, ...] = ()  # cells that their hosts would refuse; neither their time nor their writes count
    refused_preparations: tuple[Refusal, ...] = ()  # at which the plan would pause
    extra: ExtraTime = field(default_factory=ExtraTime)  # of guards and preparations, of a plan that is not written yet

    @property
    def seconds(self) -> float:
        return max((host.seconds for host in self.hosts), default=0.0)

    @property
    def most_seconds(self) -> float:
        return max((host.most_seconds for host in self.hosts), default=0.0)

    @property
    def rounds(self) -> int:
        return sum(host.rounds for host in self.hosts)

    @property
    def guessed(self) -> int:
        return sum(host.guessed for host in self.hosts)

    @property
    def refused_words(self) -> list[str]:
        """Return the cells that their hosts would refuse, in sentences."""
        return refusal_sentences(self.refused)

    @property
    def refused_preparations_words(self) -> list[str]:
        return refusal_sentences(self.refused_preparations)

    @property
    def written(self) -> float:
        return sum(entry.written * entry.cell.rounds for entry in self.cells)


def cells_of(page: PlanPage) -> list[CellAhead]:
    """Return what is left of a written plan."""
    rule = page.plan.rule
    ahead = []
    for cell in page.cells:
        target = cell.row.configuration.target if cell.row.configuration else None
        if cell.reason or not cell.workload or target is None or not cell.remaining:
            continue
        most = max(cell.remaining, rule.most - cell.progress.done)
        limit = page.plan.time_limit
        ahead.append(CellAhead(target, cell.row.label, str(cell.point), cell.workload, cell.remaining, most, limit))
    return ahead


def cells_of_request(wanted: PlanRequest) -> list[CellAhead]:
    """Return all cells of a plan that is not written yet. Nothing is stored.

    Raises:
        PlanError: A target is not the lab's own, there is none, or a point, the stopping rule or a guard does not fit.
    """
    check_targets(wanted)
    written = check_request(wanted, "estimate", [f"target-{target.pk}" for target in wanted.targets])
    rule = written.stopping
    ahead = []
    for target in wanted.targets:
        for point in written.points:
            spec = _workload(point, file_size_for(column_of(point), target.host.ram_bytes))
            if spec:
                label, limit = point.label or point.name, wanted.time_limit
                ahead.append(CellAhead(target, str(target), label, spec, rule.least, rule.most, limit))
    return ahead


def _workload(point: WrittenPoint, file_size: int | None) -> dict[str, Any] | None:
    try:
        return workload_at(point, file_size)
    except WorkloadError:  # a multiple of a small host's RAM may be less than one block
        return None


def estimate_page(page: PlanPage) -> PlanEstimate | None:
    """Estimate what is left of a written plan; None for a report's, and where nothing is left."""
    cells = [] if page.plan.is_from_report else cells_of(page)
    return estimate_plan(cells, is_at_most=page.plan.rule.kind == "saturation") if cells else None


def estimate_request(wanted: PlanRequest) -> PlanEstimate:
    """Estimate a plan that is not written yet, with its guards and preparations.

    Raises:
        PlanError: As `cells_of_request` does, or a preparation does not fit.
    """
    cells = cells_of_request(wanted)
    estimate = estimate_plan(cells, is_at_most=wanted.stopping.get("kind") == "saturation")
    started = [entry.cell for entry in estimate.cells]
    preparations = [Preparation(**given) for given in read_preparations(wanted.preparations)]
    rows = {cell.target.pk: (cell.target, cell.row) for cell in started}
    largest = _largest_files(started)
    refused = find_refused_preparations(
        preparations, [(target, row, largest[pk]) for pk, (target, row) in rows.items()]
    )
    extra = _extra_of_request(wanted, preparations, started)
    return replace(estimate, extra=extra, refused_preparations=tuple(refused))


def _largest_files(cells: Iterable[CellAhead]) -> dict[int, int]:
    """Return the bytes of each target's largest file."""
    largest: dict[int, int] = {}
    for cell in cells:
        of_jobs = (job["file_size"] for job in cell.spec["jobs"])
        largest[cell.target.pk] = max(largest.get(cell.target.pk, 0), *of_jobs)
    return largest


def _extra_of_request(
    wanted: PlanRequest, preparations: Sequence[Preparation], cells: Sequence[CellAhead]
) -> ExtraTime:
    """Return what guards and preparations add; nothing has an id yet, so a target stands for its row."""
    fields = ("kind", "is_required", "note")
    guards = [
        Guard(kind=given["kind"], parameters={name: value for name, value in given.items() if name not in fields})
        for given in wanted.guards
    ]
    waiting: dict[int, dict[tuple[int, int], Sequence[int]]] = defaultdict(dict)
    for number, cell in enumerate(cells):
        waiting[cell.target.host_id][cell.target.pk, number] = range(1, cell.rounds + 1)
    return estimate_extra(preparations, guards, waiting, {}, _largest_files(cells))


def estimate_plan(cells: Sequence[CellAhead], *, is_at_most: bool = False) -> PlanEstimate:
    """Estimate the time, writes and space of cells; the number of queries does not grow with the targets.

    Cells that their host would refuse are named, and only their space is looked at.
    """
    load_agents(cell.target for cell in cells)
    all_cells, refused = cells, _refusals(cells)
    spaces = _spaces({cell.target.pk: cell.target for cell in all_cells}, all_cells)
    cells = [cell for cell, problem in zip(all_cells, refused, strict=True) if problem is None]
    past = PastRuns(cells)
    targets = {cell.target.pk: cell.target for cell in cells}
    with_guess = {cell.target.pk for cell in cells if not past.times(cell)[1]}
    stacks = stacks_of(targets.values())
    ceilings = ceilings_of([stack for pk, stack in stacks.items() if pk in with_guess])
    speeds = {pk: _speeds(stacks.get(pk), ceilings.get(pk)) for pk in with_guess}
    estimates = tuple(_estimate(cell, past, speeds.get(cell.target.pk, USUAL_SPEEDS)) for cell in cells)
    disks, unknown = _disks(targets, stacks, estimates)
    named = tuple(problem for problem in refused if problem)
    return PlanEstimate(estimates, _hosts(estimates), disks, spaces, is_at_most, unknown, named)


def _refusals(cells: Iterable[CellAhead]) -> list[Refusal | None]:
    """Return for each cell what its host would refuse it for, or None."""
    found = ((cell, find_refusal(cell.target, cell.spec, cell.time_limit)) for cell in cells)
    return [Refusal(cell.target, cell.row, cell.point, problem) if problem else None for cell, problem in found]


@dataclass
class PastRuns:
    """Earlier runs with the workloads of some cells, on their hosts: how long each took and what it wrote."""

    cells: Sequence[CellAhead]
    _of_target: dict[tuple[int, str], list[int]] = field(init=False, default_factory=lambda: defaultdict(list))
    _of_host: dict[tuple[int, str], list[int]] = field(init=False, default_factory=lambda: defaultdict(list))
    _seconds: dict[int, float] = field(init=False, default_factory=dict)
    _written: dict[int, float] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        hashes = {cell.digest for cell in self.cells}
        hosts = {cell.target.host_id for cell in self.cells}
        attempts = Attempt.objects.filter(
            run__host__in=hosts, run__workload__sha256__in=hashes, run__state="finished", accepted_at__isnull=False,
            ingested_at__isnull=False,
        )  # fmt: skip
        names = (
            "run_id", "run__host_id", "run__target_id", "run__workload__sha256", "run__guards", "accepted_at",
            "ingested_at",
        )  # fmt: skip
        newest = attempts.order_by("-run_id").values_list(*names)[:MOST_RUNS]
        for run, host, target, sha256, guards, accepted, read_in in newest:
            self._seconds[run] = max(0.0, (read_in - accepted).total_seconds() - looking_seconds(guards))
            self._of_host[host, sha256].append(run)
            self._of_target[target, sha256].append(run)
        self._written = _bytes_written(self._seconds)

    def times(self, cell: CellAhead) -> tuple[str, list[float]]:
        """Return where a cell's workload ran before, and the seconds of each run."""
        source, runs = self._runs(cell)
        return source, [self._seconds[run] for run in runs]

    def written(self, cell: CellAhead) -> list[float]:
        """Return the bytes that earlier runs wrote, as far as they say so, their test files not included."""
        return [self._written[run] for run in self._runs(cell)[1] if run in self._written]

    def _runs(self, cell: CellAhead) -> tuple[str, list[int]]:
        if runs := self._of_target.get((cell.target.pk, cell.digest)):
            return ON_TARGET, runs
        runs = self._of_host.get((cell.target.host_id, cell.digest), [])
        return (ON_HOST, runs) if runs else (GUESS, [])


def _bytes_written(runs: Collection[int]) -> dict[int, float]:
    moved = Sample.objects.filter(run__in=list(runs), measure__metric="io_bytes", measure__operation__in=WRITES)
    return dict(moved.order_by().values_list("run_id").annotate(Sum("value")))


def _speeds(stack: Stack | None, ceiling: Ceiling | None) -> Speeds:
    """Return what a guess assumes of a target: its ceiling where that is known, else a usual disk's."""
    read = (ceiling.read.value if ceiling else None) or USUAL_SPEEDS.read
    write = (ceiling.write.value if ceiling else None) or USUAL_SPEEDS.write
    disks = stack.disks if stack else []
    is_solid_state = bool(disks) and all(disk.is_solid_state for disk in disks)
    return Speeds(read, write, SSD_ACCESSES if is_solid_state else USUAL_SPEEDS.accesses)


def _estimate(cell: CellAhead, past: PastRuns, speeds: Speeds) -> CellEstimate:
    source, times = past.times(cell)
    spec = dict(cell.spec)
    if not times:
        return CellEstimate(cell, guess_seconds(spec, speeds), guess_written(spec, speeds), source)
    reported = past.written(cell)
    written = fill_bytes(spec) + median(reported) if reported else guess_written(spec, speeds)
    return CellEstimate(cell, median(times), written, source, len(times))


def _hosts(estimates: Iterable[CellEstimate]) -> tuple[HostEstimate, ...]:
    of_host: dict[Host, list[CellEstimate]] = defaultdict(list)
    for entry in estimates:
        of_host[entry.cell.target.host].append(entry)
    return tuple(
        HostEstimate(
            host,
            sum(entry.seconds * entry.cell.rounds for entry in entries),
            sum(entry.seconds * entry.cell.most for entry in entries),
            sum(entry.cell.rounds for entry in entries),
            sum(entry.cell.rounds for entry in entries if entry.source == GUESS),
        )
        for host, entries in of_host.items()
    )


def _disks(
    targets: Mapping[int, Target], stacks: Mapping[int, Stack], estimates: Iterable[CellEstimate]
) -> tuple[tuple[DiskEstimate, ...], tuple[Target, ...]]:
    """Return what each disk will take, and the targets of which no disk is known."""
    of_target: dict[int, float] = defaultdict(float)
    for entry in estimates:
        of_target[entry.cell.target.pk] += entry.written * entry.cell.rounds
    written: dict[Disk, float] = defaultdict(float)
    unknown = []
    for pk, total in of_target.items():
        shares = shares_of(stacks[pk].storage) if pk in stacks else {}
        if not shares:
            unknown.append(targets[pk])
        for disk, share in shares.items():
            if disk.host_id == stacks[pk].host.pk:
                disk.host = stacks[pk].host  # so that its name on the page is no query
            written[disk] += share * total
    disks = []
    for disk, total in written.items():
        rated = endurance_of(disk)
        disks.append(DiskEstimate(disk, total, total / rated if rated else None))
    return tuple(disks), tuple(unknown)


def _spaces(targets: Mapping[int, Target], cells: Iterable[CellAhead]) -> tuple[SpaceEstimate, ...]:
    needs: dict[int, dict[str, int]] = defaultdict(dict)
    for cell in cells:
        needs[cell.target.pk][cell.point] = files_bytes(dict(cell.spec))
    spaces = []
    for pk, of_point in needs.items():
        filesystem = targets[pk].filesystem
        free = filesystem.free_bytes if filesystem else None
        agent = getattr(targets[pk].host, "agent", None)
        quota = agent.quota_of(targets[pk].path) if agent else None
        limits = [limit for limit in (free and free - HOSTS_MARGIN, quota) if limit is not None]
        too_large = tuple(point for point, needed in of_point.items() if limits and needed > min(limits))
        spaces.append(SpaceEstimate(targets[pk], max(of_point.values()), free, too_large, quota))
    return tuple(spaces)

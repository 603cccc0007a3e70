"""A run of fio's normal report while its lines are read, and what it is in the end."""

from dataclasses import dataclass, field

from apps.parsers.fio_definitions import Command, Definition
from apps.parsers.fio_disks import MOST_DISKS, Printed, printed_samples
from apps.parsers.fio_documents import MOST_JOBS, SUM
from apps.parsers.fio_quantities import Style
from apps.parsers.fio_readings import NAME_LONGEST, Job, all_samples
from apps.parsers.fio_samples import error_text
from apps.parsers.fio_twice import NOTHING
from apps.parsers.fio_workload import workload_of
from apps.parsers.shape import ParsedRun

Key = tuple[str, int, str, str]
Found = tuple[ParsedRun, frozenset[tuple[str, str, int]], int]  # with its figures, and how often it was said over again


@dataclass(slots=True)
class Draft:
    """A run while its lines are read."""

    style: Style = field(default_factory=Style)
    version: str = ""
    command: Command | None = None
    definitions: dict[tuple[str, int], Definition] = field(default_factory=dict)  # by name and group
    of_host: dict[tuple[str, int, str], Definition] = field(
        default_factory=dict
    )  # by name, group and host of `--client`
    kinds: dict[int, dict[tuple[tuple[str, str], ...], str]] = field(
        default_factory=dict
    )  # group → options → a job's name
    jobs: list[Job] = field(default_factory=list)
    keys: set[Key] = field(default_factory=set)
    groups: list[Job] = field(default_factory=list)
    sums: list[Job] = field(default_factory=list)  # of all clients
    disks: list[Printed] = field(default_factory=list)
    hosts: set[str] = field(default_factory=set)
    speaker: str = ""  # whose report comes next
    is_announced: bool = False  # that report, below the end of another one
    calls: int = 0  # how often a host was named whose report comes; several may be called before the first one
    reports: int = 1
    errors: set[int] = field(default_factory=set)
    rates: set[str] = field(default_factory=set)  # each direction's line and sum, without its blanks
    first: int | None = None
    last: int = 0
    is_ended: bool = False
    is_beside: bool = (
        False  # the rates of another report without its name stand directly above: spreads may be that one's
    )
    is_of_syncs: bool = False  # an excerpt that begins with the latencies of fsync
    is_named: bool = False  # its spreads may stand anywhere in the text, behind the same name
    repeats: int = 0
    caption: str = ""  # the words that stand before all its lines

    @property
    def has_results(self) -> bool:
        return bool(self.jobs or self.groups or self.sums)

    def claim(self, line: int) -> None:
        self.first = self.first or line
        self.last = max(self.last, line)

    def define(self, one: Definition) -> None:
        self.definitions[one.name, one.group] = self.of_host[one.name, one.group, one.host] = one
        self.kinds.setdefault(one.group, {})[tuple(one.options.items())] = one.name
        self.hosts |= {one.host} - {""}

    def options(self, name: str, group: int, host: str = "") -> dict[str, str]:
        """What is said of a job before it runs. A report that has lost its name is that of the only job."""
        mine = self.of_host.get((name, group, host)) or self.definitions.get((name, group))
        if not name and len(self.definitions) == 1:
            (mine,) = self.definitions.values()
        return {**(self.command.options if self.command else {}), **(mine.options if mine else {})}

    def options_of_group(self, group: int) -> dict[str, str]:
        """What all its jobs were asked to do alike."""
        kinds = self.kinds.get(group, {})
        name = next(iter(kinds.values()), "")
        return self.options(name, group) if len(kinds) == 1 else {}

    def add_disk(self, found: Printed) -> None:
        """Not one that somebody says over again."""
        if len(self.disks) < MOST_DISKS and all(found.words != one.words for one in self.disks):
            self.disks.append(found)

    def failed(self) -> list[Job]:
        """Jobs that ended with an error before they did anything: fio leaves them out of its report."""
        if len(self.errors) != 1:
            return []
        reported = {(job.name, job.group) for job in self.jobs}
        missing = [one for key, one in self.definitions.items() if key not in reported]
        (error,) = self.errors
        return [Job(one.name, one.group, error, line=one.line, options=one.options) for one in missing]

    def unreported(self) -> list[Definition]:
        """Jobs that were defined and have no report, where the sums that fio prints below all jobs are missing too. Of a group
        that is reported as one, the others are in it.
        """
        names = {job.name for job in self.jobs}
        grouped = {job.group for job in self.jobs if job.jobs != 1}
        if self.is_ended or self.hosts or self.errors or "" in names or not names:
            return []
        return [one for one in self.definitions.values() if one.name not in names and one.group not in grouped]

    def figures(self) -> frozenset[tuple[str, str, int]]:
        """(job, direction, ms): by these the same run is known in another report."""
        moved = {(job.name, name, ms) for job in self.jobs for name, ms in job.runtimes.items()}
        return frozenset(moved or {(job.name, *NOTHING) for job in (*self.jobs, *self.failed())})

    def goes_on(self, name: str, host: str) -> bool:
        """Whether a job below an end belongs here all the same: of the next client, or the sum of them all."""
        is_other = all(job.host and job.host != host for job in self.jobs)
        is_called = self.is_announced or self.reports < self.calls  # several clients may run on one host
        is_next = host in self.hosts and (is_other or is_called)
        return bool(self.jobs) and (is_next or name == SUM)

    def go_on(self, name: str) -> None:
        self.is_ended, self.groups = False, []
        self.reports += name != SUM

    def restart(self) -> None:
        """The report of a status interval was not the last one."""
        self.jobs, self.keys, self.groups, self.sums, self.disks, self.is_ended = [], set(), [], [], [], False
        self.repeats += 1


def found_of(draft: Draft) -> Found:
    return _run_of(draft), draft.figures(), draft.repeats


def _run_of(draft: Draft) -> ParsedRun:
    jobs = [*draft.jobs, *draft.failed()][:MOST_JOBS] or draft.sums or draft.groups
    for job in jobs:
        job.drop_uncounted()
    hosts = (draft.hosts | {job.host for job in jobs}) - {""}
    command = draft.command.text if draft.command else ""
    return ParsedRun(
        tool="fio",
        tool_version=draft.version,
        sections=tuple(job.section(number, with_host=len(hosts) > 1) for number, job in enumerate(jobs)),
        samples=(*all_samples(jobs, hosts=max(1, len(hosts))), *printed_samples(draft.disks)),
        problem="; ".join(f"fio's {job.name} ended with {error_text(job.error)}" for job in jobs if job.error),
        workload=workload_of([job.load() for job in jobs], command),
        host=hosts.pop() if len(hosts) == 1 else "",
        target=_target(jobs[0]) if len(jobs) == 1 else "",
        caption=draft.caption,
        line=draft.first,
        last_line=draft.last,
    )


def _target(job: Job) -> str:
    """Not a variable of somebody's shell."""
    name = job.options.get("filename", "")
    return "" if "$" in name else name[:NAME_LONGEST]

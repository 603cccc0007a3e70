"""A run of fio's normal report in the making, while its lines are read."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from apps.parsers.core.models import ParsedRun
from apps.parsers.fio.disks import MOST_DISKS, PrintedDisk, iterate_printed_samples
from apps.parsers.fio.duplicates import NOTHING
from apps.parsers.fio.json.documents import MOST_JOBS, SUM
from apps.parsers.fio.quantities import Style
from apps.parsers.fio.readings import NAME_LONGEST, ReportedJob, iterate_samples
from apps.parsers.fio.samples import describe_error
from apps.parsers.fio.text.definitions import FioCommand, JobDefinition
from apps.parsers.fio.workload import make_workload

JobKey = tuple[str, int, str, str]
FinishedRun = tuple[
    ParsedRun, frozenset[tuple[str, str, int]], int
]  # a run, its figures, number of earlier status reports


@dataclass(slots=True)
class ReportDraft:
    """A run while its lines are read."""

    style: Style = field(default_factory=Style)
    version: str = ""
    command: FioCommand | None = None
    definitions: dict[tuple[str, int], JobDefinition] = field(default_factory=dict)  # by name and group
    of_host: dict[tuple[str, int, str], JobDefinition] = field(
        default_factory=dict
    )  # by name, group and host of `--client`
    kinds: dict[int, dict[tuple[tuple[str, str], ...], str]] = field(
        default_factory=dict
    )  # group → options → a job's name
    jobs: list[ReportedJob] = field(default_factory=list)
    keys: set[JobKey] = field(default_factory=set)
    groups: list[ReportedJob] = field(default_factory=list)
    sums: list[ReportedJob] = field(default_factory=list)  # of all clients
    disks: list[PrintedDisk] = field(default_factory=list)
    hosts: set[str] = field(default_factory=set)
    speaker: str = ""  # the host whose report follows
    is_announced: bool = False  # whether that host was named below the end of another report
    calls: int = 0  # how often a host was named; several may be named before the first report
    reports: int = 1
    errors: set[int] = field(default_factory=set)
    reasons: list[tuple[int, str]] = field(default_factory=list)  # lines in which fio says what went wrong
    is_started: bool = False  # whether fio printed its version, or that it starts the jobs
    rates: set[str] = field(default_factory=set)  # lines of directions and sums, without blanks
    first: int | None = None
    last: int = 0
    is_ended: bool = False
    is_beside: bool = (
        False  # rates of another report without a name stand directly above, which may own the spreads below
    )
    is_of_syncs: bool = False  # an excerpt that begins with the latencies of fsync
    is_named: bool = False  # its lines begin with a name, and may stand anywhere in the text
    repeats: int = 0
    caption: str = ""  # the words before all its lines

    @property
    def has_results(self) -> bool:
        """Return whether a job or a sum was read."""
        return bool(self.jobs or self.groups or self.sums)

    @property
    def has_failed(self) -> bool:
        """Return whether fio was started, or says that something went wrong, and no figure of it was read."""
        return not self.has_results and bool(self.errors or self.reasons or (self.definitions and self.is_started))

    def describe_reasons(self) -> str:
        """Return fio's own words about what went wrong, each with its line."""
        return "; ".join(f"line {line}: {reason}" for line, reason in self.reasons)

    def claim(self, line: int) -> None:
        """Add a line to the range of the run."""
        self.first = self.first or line
        self.last = max(self.last, line)

    def define(self, definition: JobDefinition) -> None:
        """Add the definition of a job."""
        self.definitions[definition.name, definition.group] = self.of_host[
            definition.name, definition.group, definition.host
        ] = definition
        self.kinds.setdefault(definition.group, {})[tuple(definition.options.items())] = definition.name
        self.hosts |= {definition.host} - {""}

    def find_name(self, printed: str, group: int) -> str:
        """Return the name of the job that was defined with it, where a logger's words stand before it; else as printed."""
        if (printed, group) in self.definitions or not self.definitions:
            return printed
        names = (name for name, of in self.definitions if name and of == group)
        return next((name for name in names if printed.endswith((f" {name}", f":{name}", f"]{name}"))), printed)

    def options(self, name: str, group: int, host: str = "") -> dict[str, str]:
        """Return what the definition and the command line say of a job. A report that has lost its name is that of the only job."""
        mine = self.of_host.get((name, group, host)) or self.definitions.get((name, group))
        if not name and len(self.definitions) == 1:
            (mine,) = self.definitions.values()
        return {**(self.command.options if self.command else {}), **(mine.options if mine else {})}

    def options_of_group(self, group: int) -> dict[str, str]:
        """Return the options that all jobs of a group have in common."""
        kinds = self.kinds.get(group, {})
        name = next(iter(kinds.values()), "")
        return self.options(name, group) if len(kinds) == 1 else {}

    def add_disk(self, disk: PrintedDisk) -> None:
        """Add a disk that was not read before."""
        if len(self.disks) < MOST_DISKS and all(disk.words != known.words for known in self.disks):
            self.disks.append(disk)

    def make_failed_jobs(self) -> list[ReportedJob]:
        """Return jobs that ended with an error before they did anything, which fio leaves out of its report."""
        if len(self.errors) != 1:
            return []
        reported = {(job.name, job.group) for job in self.jobs}
        missing = [definition for key, definition in self.definitions.items() if key not in reported]
        (error,) = self.errors
        return [
            ReportedJob(definition.name, definition.group, error, line=definition.line, options=definition.options)
            for definition in missing
        ]

    def find_unreported(self) -> list[JobDefinition]:
        """Return jobs that were defined and have no report, where the sums below all jobs are missing, too.

        Jobs of a group that is reported as one are contained in it.
        """
        names = {job.name for job in self.jobs}
        grouped = {job.group for job in self.jobs if job.jobs != 1}
        if self.is_ended or self.hosts or self.errors or "" in names or not names:
            return []
        return [
            definition
            for definition in self.definitions.values()
            if definition.name not in names and definition.group not in grouped
        ]

    def figures(self) -> frozenset[tuple[str, str, int]]:
        """Return (job, direction, ms), by which the same run is recognised in another report."""
        moved = {(job.name, name, ms) for job in self.jobs for name, ms in job.runtimes.items()}
        return frozenset(moved or {(job.name, *NOTHING) for job in (*self.jobs, *self.make_failed_jobs())})

    def goes_on(self, name: str, host: str) -> bool:
        """Return whether a job below an end belongs to this run: it is of the next client, or the sum of them all."""
        is_other = all(job.host and job.host != host for job in self.jobs)
        is_called = self.is_announced or self.reports < self.calls  # several clients may run on one host
        is_next = host in self.hosts and (is_other or is_called)
        return bool(self.jobs) and (is_next or name == SUM)

    def go_on(self, name: str) -> None:
        """Continue the run behind an end."""
        self.is_ended, self.groups = False, []
        self.reports += name != SUM

    def restart(self) -> None:
        """Drop the results of a status interval, because another report follows."""
        self.jobs, self.keys, self.groups, self.sums, self.disks, self.is_ended = [], set(), [], [], [], False
        self.repeats += 1


def finish_draft(draft: ReportDraft) -> FinishedRun:
    """Return the run with its figures and the number of earlier status reports."""
    return _make_run(draft), draft.figures(), draft.repeats


def _make_run(draft: ReportDraft) -> ParsedRun:
    jobs = [*draft.jobs, *draft.make_failed_jobs()][:MOST_JOBS] or draft.sums or draft.groups
    for job in jobs:
        job.drop_uncounted()
    hosts = (draft.hosts | {job.host for job in jobs}) - {""}
    command = draft.command.text if draft.command else ""
    return ParsedRun(
        tool="fio",
        tool_version=draft.version,
        sections=tuple(job.section(number, with_host=len(hosts) > 1) for number, job in enumerate(jobs)),
        samples=(*iterate_samples(jobs, hosts=max(1, len(hosts))), *iterate_printed_samples(draft.disks)),
        problem=_describe_problem(draft, jobs),
        workload=make_workload([job.load() for job in jobs], command),
        host=hosts.pop() if len(hosts) == 1 else "",
        target=_get_target(jobs[0]) if len(jobs) == 1 else "",
        caption=draft.caption,
        line=draft.first,
        last_line=draft.last,
    )


def _describe_problem(draft: ReportDraft, jobs: Sequence[ReportedJob]) -> str:
    """Return which jobs ended with an error, and fio's own words where it printed no report."""
    problems = [f"fio's {job.name} ended with {describe_error(job.error)}" for job in jobs if job.error]
    if not draft.has_results and draft.reasons:
        problems.append(draft.describe_reasons())
    return "; ".join(problems)


def _get_target(job: ReportedJob) -> str:
    """Return the file name, "" where it contains a variable of a shell."""
    name = job.options.get("filename", "")
    return "" if "$" in name else name[:NAME_LONGEST]

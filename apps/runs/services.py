"""Services of runs: start and cancel them, offer them to agents, store workloads, announce new runs to other apps.

Pages, REST and commands call these functions; quota, audit event and dispatch are inside. Apps that follow new runs
connect to the signal `arrived`, so that runs need not import them.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Max
from django.dispatch import Signal
from django.utils import timezone

from apps.core.pubsub import ring
from apps.inventory.models import Host, Target
from apps.inventory.target_identity import explain_no_runs
from apps.labs.models import AuditEvent, Lab
from apps.parsers.fio.job_options import agreement
from apps.runs import workload
from apps.runs.facts import change_labels
from apps.runs.host_guards import complete_guards
from apps.runs.labels import check_labels
from apps.runs.models import Attempt, Run, Workload, request_dispatch, send_run_ended
from apps.runs.start.option_lists import vary_workload
from apps.runs.states import Priority, State

arrived = Signal()  # lab_id: int, runs: their ids


def announce(lab_id: int, runs: Sequence[int]) -> None:
    """Send the signal `arrived` for runs when the transaction commits; errors of receivers are logged."""
    if runs:
        transaction.on_commit(lambda: arrived.send_robust(None, lab_id=lab_id, runs=list(runs)))


MAX_REPETITIONS = 100
LONGEST_NOTE = 4000
MAX_TARGETS = 50
RAM_SHARE = 4  # hosts let the buffers of jobs side by side take a quarter of their memory (worker/agent/policy.py)
MAX_STARTS = 500  # workloads × targets of one start


class QuotaError(workload.WorkloadError):
    """The files of a workload are larger than the host's agent allows; `needed` and `quota` are bytes."""

    def __init__(self, needed: int, quota: int) -> None:
        super().__init__("file_size", needed, f"at most {quota} bytes for the files of all jobs (this host's quota)")
        self.needed, self.quota = needed, quota


def store_workload(lab: Lab, spec: dict[str, Any]) -> Workload:
    """Return the lab's row for this workload; the same request is stored once."""
    stored: Workload = Workload.objects.get_or_create(
        lab=lab, sha256=workload.digest(spec), defaults={"tool": spec["tool"], "spec": spec}
    )[0]
    return stored


def find_targets(lab: Lab, keys: Sequence[int]) -> dict[int, Target]:
    """Return the lab's own targets with their hosts and agents, by their ids; those that it has not are missing."""
    targets: dict[int, Target] = Target.objects.select_related("host__agent").filter(lab=lab).in_bulk(list(keys))
    return targets


def wrap_single_job(spec: dict[str, Any]) -> dict[str, Any]:
    """Return the workload with a list of jobs, where one job's options were given by themselves."""
    if "jobs" in spec:
        return spec
    return {"tool": spec.get("tool", "fio"), "jobs": [{key: value for key, value in spec.items() if key != "tool"}]}


def check_quota(target: Target, spec: dict[str, Any]) -> None:
    """Raise `QuotaError` where the host, which would refuse the run, has said that its files may not be so large there."""
    agent = getattr(target.host, "agent", None)
    needed, quota = workload.files_bytes(spec), agent.quota_of(target.path) if agent else None
    if quota is not None and needed > quota:
        raise QuotaError(needed, quota)


def check_limit_of_host(target: Target, time_limit: int | None) -> None:
    """Raise `WorkloadError` where the host stops every run sooner than after this time, by its agent.conf."""
    agent = getattr(target.host, "agent", None)
    longest = agent.policy.get("max_runtime_s") if agent else None
    if time_limit is not None and type(longest) is int and time_limit > longest:
        expected = f"at most {longest} s on {target.host}, whose agent.conf (max_runtime_s) stops every run then"
        raise workload.WorkloadError("time_limit", time_limit, expected)


def check_host_limits(target: Target, spec: dict[str, Any], time_limit: int | None = None) -> None:
    """Raise `WorkloadError` where the host, which would refuse the run or stop it, has said that it allows less."""
    agent = getattr(target.host, "agent", None)
    limits = agent.policy if agent else {}
    groups = agreement.groups_of(spec["jobs"])
    wanted = {
        "max_runtime_s": ("runtime", workload.seconds_of_jobs(spec)),
        "max_iodepth": ("iodepth", max(job["iodepth"] for job in spec["jobs"])),
        "max_numjobs": ("numjobs", max(sum(job["numjobs"] for job in group) for group in groups)),
    }
    for limit, (name, value) in wanted.items():
        most = limits.get(limit)
        if type(most) is int and value > most:
            raise workload.WorkloadError(name, value, f"at most {most} on {target.host}, as its agent.conf says")
    _check_memory(target.host, max(sum(map(agreement.memory_bytes, group)) for group in groups))
    check_limit_of_host(target, time_limit)


def _check_memory(host: Host, needed: int) -> None:
    """Raise `WorkloadError` where jobs that run side by side need more memory (bytes) than their host lets fio have."""
    most = host.ram_bytes // RAM_SHARE if host.ram_bytes else None
    if most is not None and needed > most:
        found = f"{needed} bytes of block_size × iodepth × numjobs, with fio's maps, notes and dedupe working set"
        raise workload.WorkloadError("iodepth", found, f"at most {most}, a quarter of the memory of {host}")


def check_start(lab: Lab, target: Target, spec: Any, repetitions: int, time_limit: int | None = None) -> dict[str, Any]:
    """Return the workload with every option filled in. Raises `WorkloadError` with field, found and expected."""
    complete = workload.checked(spec)
    workload.check_time_limit(time_limit, complete)
    if not 1 <= repetitions <= MAX_REPETITIONS:
        raise workload.WorkloadError("repetitions", repetitions, f"1 to {MAX_REPETITIONS}")
    if target.lab_id != lab.pk or not target.is_agents_own:
        expected = "a directory that the host's own agent offers"
        why = explain_no_runs(target, getattr(target.host, "agent", None))
        raise workload.WorkloadError("target", target.name, f"{expected}; {why}" if why else expected)
    if target.host.is_in_maintenance:
        raise workload.WorkloadError("target", target.name, f"a host that is not in maintenance; {target.host} is")
    check_quota(target, complete)
    check_host_limits(target, complete, time_limit)
    return complete


def check_note(note: Any) -> str:
    """Return a run's note without blanks around it. Raises `WorkloadError` where it is no text or too long."""
    if not isinstance(note, str) or len(note) > LONGEST_NOTE:
        found = f"{len(note)} characters" if isinstance(note, str) else note
        raise workload.WorkloadError("note", found, f"a text of at most {LONGEST_NOTE} characters")
    return note.replace("\0", "\ufffd").strip()


@transaction.atomic
def start_runs(
    *,
    lab: Lab,
    target: Target,
    spec: Any,
    repetitions: int = 1,
    who: str = "",
    priority: Priority = Priority.NORMAL,
    labels: Mapping[str, str] | None = None,
    note: str = "",
    guards: Sequence[Mapping[str, Any]] = (),
    time_limit: int | None = None,
    is_numbered_on: bool = False,
    repetition: int = 1,
) -> list[Run]:
    """Queue `repetitions` runs of a workload and send the host's dispatch task when they are committed.

    The target is read again, for the caller may have read it a while ago. Raises `WorkloadError` where the workload
    may not run there; nothing is queued then. With `is_numbered_on` the repetitions are numbered behind those that the
    lab has of this workload on this target, else from `repetition`.

    Args:
        guards: What the host checks right before fio starts, as `host_guards.check_guards` returns it.
        time_limit: Seconds after which the host stops fio; None: three times the expected time and a margin.
    """
    current: Target | None = Target.objects.select_related("host__agent", "filesystem").filter(pk=target.pk).first()
    if current is None:
        raise workload.WorkloadError("target", target.name, "a target that is still there")
    complete = check_start(lab, current, spec, repetitions, time_limit)
    about = {
        "priority": priority, "labels": check_labels(dict(labels or {})), "note": check_note(note),
        "time_limit": time_limit,
    }  # fmt: skip
    stored = store_workload(lab, complete)
    first = find_next_repetition(stored, current) if is_numbered_on else repetition
    runs: list[Run] = Run.objects.bulk_create(
        Run(
            lab=lab, tool=complete["tool"], origin=Run.Origin.DISPATCHED, workload=stored, host=current.host,
            target=current, repetition=number, created_by=who, guards=complete_guards(current, guards), **about,
        )
        for number in range(first, first + repetitions)
    )  # fmt: skip
    details = {"priority": priority.label} if priority != Priority.NORMAL else {}
    AuditEvent.objects.record(lab.pk, "runs started", str(current), actor=who, runs=[run.pk for run in runs], **details)
    request_dispatch(current.host_id)
    return runs


def find_next_repetition(stored: Workload, target: Target) -> int:
    """Return the number after the greatest of this workload's runs on this target.

    The workload stays locked until the caller's transaction ends, so that two who start it get different numbers.
    """
    Workload.objects.select_for_update(of=("self",), no_key=True).get(pk=stored.pk)
    runs = Run.objects.filter(workload=stored, target=target)
    return int(runs.aggregate(Max("repetition"))["repetition__max"] or 0) + 1


def run_again(run: Run, who: str, *, repetitions: int = 1, **about: Any) -> list[Run]:
    """Queue a run's workload on its target once more, numbered behind the runs that there are of it.

    Labels, priority and time limit are those of the run, unless `about` has others (as `start_runs` takes them).

    Raises:
        WorkloadError: The run has no complete workload or no target, or may not run there any more.
    """
    if run.target is None or run.workload is None or not run.can_run_again:
        raise workload.WorkloadError("run", run.pk, "a run that an agent of this lab was asked for")
    guards = [
        guard for guard in run.guards if not guard.get("purpose")
    ]  # what prepared a step of a plan is not repeated
    kept = {
        "labels": run.labels, "priority": Priority(run.priority), "guards": guards, "time_limit": run.time_limit,
    } | about  # fmt: skip
    return start_runs(
        lab=run.lab, target=run.target, spec=run.workload.spec, repetitions=repetitions, who=who, is_numbered_on=True,
        **kept,
    )  # fmt: skip


@transaction.atomic
def describe_run(run: Run, who: str, *, labels: Any = None, note: Any = None) -> bool:
    """Change what people wrote about a run: its labels, its note, or both; return whether anything changed.

    The labels are facts by which comparisons group, so those change too; what was measured and configured stays.

    Raises:
        WorkloadError: The labels or the note are not as they may be.
    """
    locked: Run = Run.objects.select_for_update(of=("self",)).select_related("workload", "snapshot").get(pk=run.pk)
    before = {"labels": locked.labels, "note": locked.note}
    wanted_labels = locked.labels if labels is None else check_labels(labels)
    after = {"labels": wanted_labels, "note": locked.note if note is None else check_note(note)}
    changed = {name: value for name, value in after.items() if value != before[name]}
    if not changed:
        return False
    if "labels" in changed and not locked.has_own_labels:
        raise workload.WorkloadError("labels", labels, "those of its file, which are changed with the upload")
    if "labels" in changed:
        changed["facts"] = change_labels(locked, wanted_labels)
    Run.objects.filter(pk=run.pk).update(**changed)
    told = {name: {"before": before[name], "after": after[name]} for name in after if name in changed}
    AuditEvent.objects.record(run.lab_id, "run described", str(run), actor=who, **told)
    if "facts" in changed and locked.has_ended:
        announce(run.lab_id, [run.pk])
    for name, value in changed.items():
        setattr(run, name, value)
    return True


@transaction.atomic
def start_on_targets(
    targets: Sequence[Target], *, lab: Lab, spec: Any, options: Mapping[str, Sequence[Any]] | None = None, **about: Any
) -> list[Run]:
    """Queue runs of a workload on several targets, of one host or of several, as `start_runs` does; all or none.

    Args:
        targets: Where they run; on each all combinations of the options, one after another.
        lab: Whose runs they are.
        spec: The workload.
        options: Values of options that all its jobs get, as `option_lists.read_options` returns them.
        about: As `start_runs` takes it.

    Raises:
        WorkloadError: There are too many, or one may not run on one of the targets; the error names that one.
    """
    if not 1 <= len(targets) <= MAX_TARGETS:
        raise workload.WorkloadError("targets", len(targets), f"1 to {MAX_TARGETS} targets")
    specs = vary_workload(spec, options) if options else [spec]
    if (count := len(targets) * len(specs)) > MAX_STARTS:
        found = f"{len(specs)} combinations on {len(targets)} targets"
        raise workload.WorkloadError("options", found, f"at most {MAX_STARTS} together, not {count}; or a plan")
    runs: list[Run] = []
    for target in targets:
        for varied in specs:
            runs += start_runs(lab=lab, target=target, spec=varied, **about)
    return runs


@transaction.atomic
def cancel_run(run: Run, who: str) -> bool:
    """Cancel a run from every state: a queued one at once, one on a host as soon as its agent hears of it.

    Returns False where the run has ended already.
    """
    if Run.objects.filter(pk=run.pk, state=State.QUEUED).update(
        state=State.CANCELLED, finished_at=timezone.now(), problem=f"Cancelled by {who} before it was offered."
    ):
        transaction.on_commit(partial(ring, f"run:{run.pk}", {"state": State.CANCELLED, "ended": True}))
        send_run_ended(run.pk)
    else:
        attempt = Attempt.objects.open().filter(run=run).first()
        if attempt is None or not attempt.want_cancel():
            return False
        transaction.on_commit(partial(ring, f"host:{run.host_id}"))
    AuditEvent.objects.record(run.lab_id, "run cancelled", str(run), actor=who, state=run.state)
    return True


def offer_next_run(host_id: int) -> Attempt | None:
    """Claim the host's first run by priority, place and age, and offer it.

    None where the host is in maintenance, has an open attempt, or has not said yet that an abandoned one has ended.

    Any number of workers may call it at once: a claimed run is locked and skipped, and of two that claim different
    runs the constraint `one_open_attempt_per_host` lets one through.
    """
    try:
        with transaction.atomic():
            return _claim(host_id)
    except IntegrityError:
        if not Attempt.objects.may_be_on_host().filter(host_id=host_id).exists():
            raise
        return None


def _claim(host_id: int) -> Attempt | None:
    if Attempt.objects.may_be_on_host().filter(host_id=host_id).exists():
        return None
    queued = Run.objects.filter(host_id=host_id, state=State.QUEUED, host__is_in_maintenance=False)
    run = queued.in_dispatch_order().select_for_update(skip_locked=True, of=("self",)).first()
    if run is None:
        return None
    attempt: Attempt = Attempt.objects.create(
        lab_id=run.lab_id, run=run, host_id=host_id, number=run.attempts.count() + 1, offered_at=timezone.now()
    )
    Run.objects.filter(pk=run.pk).update(state=State.OFFERED)
    transaction.on_commit(partial(ring, f"host:{host_id}"))
    return attempt


def get_workloads(lab_id: int, specs: Mapping[str, dict[str, Any]]) -> dict[str, Workload]:
    """Return the lab's workloads by the digests of these specs; those that are new are created."""
    workloads = _find(lab_id, specs)
    if missing := sorted(
        specs.keys() - workloads.keys()
    ):  # in one order, or two who add the same would wait for each other
        Workload.objects.bulk_create(
            (
                Workload(lab_id=lab_id, sha256=digest, tool=specs[digest]["tool"], spec=specs[digest])
                for digest in missing
            ),
            ignore_conflicts=True,
        )
        workloads |= _find(lab_id, missing)
    return workloads


def _find(lab_id: int, digests: Collection[str]) -> dict[str, Workload]:
    return {row.sha256: row for row in Workload.objects.filter(lab_id=lab_id, sha256__in=list(digests))}

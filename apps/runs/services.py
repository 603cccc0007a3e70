"""Services of runs: start and cancel them, offer them to agents, store workloads, announce new runs to other apps.

Pages, REST and commands call these functions; quota, audit event and dispatch are inside. Apps that follow new runs
connect to the signal `arrived`, so that runs need not import them.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

from django.db import IntegrityError, transaction
from django.dispatch import Signal
from django.utils import timezone

from apps.core.pubsub import ring
from apps.inventory.models import Target
from apps.inventory.target_identity import explain_no_runs
from apps.labs.models import AuditEvent, Lab
from apps.runs import workload
from apps.runs.models import Attempt, Run, Workload, request_dispatch
from apps.runs.states import State

arrived = Signal()  # lab_id: int, runs: their ids


def announce(lab_id: int, runs: Sequence[int]) -> None:
    """Send the signal `arrived` for runs when the transaction commits; errors of receivers are logged."""
    if runs:
        transaction.on_commit(lambda: arrived.send_robust(None, lab_id=lab_id, runs=list(runs)))


MAX_REPETITIONS = 100
MAX_TARGETS = 50


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


def check_start(lab: Lab, target: Target, spec: Any, repetitions: int) -> dict[str, Any]:
    """Return the workload with every option filled in. Raises `WorkloadError` with field, found and expected."""
    complete = workload.checked(spec)
    if not 1 <= repetitions <= MAX_REPETITIONS:
        raise workload.WorkloadError("repetitions", repetitions, f"1 to {MAX_REPETITIONS}")
    if target.lab_id != lab.pk or not target.is_agents_own:
        expected = "a directory that the host's own agent offers"
        why = explain_no_runs(target, getattr(target.host, "agent", None))
        raise workload.WorkloadError("target", target.name, f"{expected}; {why}" if why else expected)
    if target.host.is_in_maintenance:
        raise workload.WorkloadError("target", target.name, f"a host that is not in maintenance; {target.host} is")
    check_quota(target, complete)
    return complete


@transaction.atomic
def start_runs(*, lab: Lab, target: Target, spec: Any, repetitions: int = 1, who: str = "") -> list[Run]:
    """Queue `repetitions` runs of a workload and send the host's dispatch task when they are committed.

    The target is read again, for the caller may have read it a while ago. Raises `WorkloadError` where the workload
    may not run there; nothing is queued then.
    """
    current: Target | None = Target.objects.select_related("host__agent").filter(pk=target.pk).first()
    if current is None:
        raise workload.WorkloadError("target", target.name, "a target that is still there")
    complete = check_start(lab, current, spec, repetitions)
    stored = store_workload(lab, complete)
    runs: list[Run] = Run.objects.bulk_create(
        Run(
            lab=lab, tool=complete["tool"], origin=Run.Origin.DISPATCHED, workload=stored, host=current.host,
            target=current, repetition=repetition, created_by=who,
        )
        for repetition in range(1, repetitions + 1)
    )  # fmt: skip
    AuditEvent.objects.record(lab.pk, "runs started", str(current), who=who, runs=[run.pk for run in runs])
    request_dispatch(current.host_id)
    return runs


@transaction.atomic
def start_on_targets(targets: Sequence[Target], *, lab: Lab, spec: Any, **about: Any) -> list[Run]:
    """Queue runs of one workload on several targets, of one host or of several, as `start_runs` does; all or none.

    Raises:
        WorkloadError: It may not run on one of them; the error names that one.
    """
    if not 1 <= len(targets) <= MAX_TARGETS:
        raise workload.WorkloadError("targets", len(targets), f"1 to {MAX_TARGETS} targets")
    runs: list[Run] = []
    for target in targets:
        runs += start_runs(lab=lab, target=target, spec=spec, **about)
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
    else:
        attempt = Attempt.objects.open().filter(run=run).first()
        if attempt is None or not attempt.want_cancel():
            return False
        transaction.on_commit(partial(ring, f"host:{run.host_id}"))
    AuditEvent.objects.record(run.lab_id, "run cancelled", str(run), who=who, state=run.state)
    return True


def offer_next_run(host_id: int) -> Attempt | None:
    """Claim the host's oldest queued run and offer it, unless the host is in maintenance or has an open attempt.

    Any number of workers may call it at once: a claimed run is locked and skipped, and of two that claim different
    runs the constraint `one_open_attempt_per_host` lets one through.
    """
    try:
        with transaction.atomic():
            return _claim(host_id)
    except IntegrityError:
        if not Attempt.objects.open().filter(host_id=host_id).exists():
            raise
        return None


def _claim(host_id: int) -> Attempt | None:
    if Attempt.objects.open().filter(host_id=host_id).exists():
        return None
    queued = Run.objects.filter(host_id=host_id, state=State.QUEUED, host__is_in_maintenance=False)
    run = queued.select_for_update(skip_locked=True, of=("self",)).order_by("id").first()
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

"""Starting runs: a checked workload on a target becomes queued runs, and the host's agent is rung."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from apps.inventory.models import Target
from apps.labs.models import Lab
from apps.lib.bell import ring
from apps.lib.sql import durable_after
from apps.runs import workload
from apps.runs.attempts import Attempt
from apps.runs.models import Run, Workload
from apps.runs.states import State

MAX_REPETITIONS = 100


def workload_for(lab: Lab, spec: dict[str, Any]) -> Workload:
    """The lab's row for this workload; the same request is stored once."""
    row: Workload
    row, _ = Workload.objects.get_or_create(
        lab=lab, sha256=workload.digest(spec), defaults={"tool": spec["tool"], "spec": spec}
    )
    return row


def _check(lab: Lab, target: Target, repetitions: int) -> None:
    if not 1 <= repetitions <= MAX_REPETITIONS:
        raise workload.WorkloadError("repetitions", repetitions, f"1 to {MAX_REPETITIONS}")
    if target.lab_id != lab.pk or not target.is_agents_own:
        raise workload.WorkloadError("target", target.name, "the directory that the host's own agent offers")
    if target.host.is_in_maintenance:
        raise workload.WorkloadError("target", target.name, f"a host that is not in maintenance; {target.host} is")


def start_runs(*, lab: Lab, target: Target, spec: Any, repetitions: int = 1, who: str = "") -> list[Run]:
    """Queue `repetitions` runs. Raises `WorkloadError` with field, found and expected; then nothing is queued."""
    complete = workload.checked(spec)
    _check(lab, target, repetitions)
    with transaction.atomic():
        asked = workload_for(lab, complete)
        runs: list[Run] = Run.objects.bulk_create(
            Run(
                lab=lab, tool="fio", origin=Run.Origin.DISPATCHED, workload=asked, host=target.host,
                target=target, repetition=number, created_by=who,
            )
            for number in range(1, repetitions + 1)
        )  # fmt: skip
        durable_after(lambda: ring(f"host:{target.host_id}"))
    return runs


def cancel(run: Run, who: str) -> bool:
    """Cancel from every state: a queued run at once, one on a host as soon as its agent hears of it."""
    if Run.objects.filter(pk=run.pk, state=State.QUEUED).update(
        state=State.CANCELLED, finished_at=timezone.now(), problem=f"Cancelled by {who} before it was offered."
    ):
        ring(f"run:{run.pk}", {"state": State.CANCELLED, "ended": True})
        return True
    attempt = Attempt.objects.open().filter(run=run).first()
    if attempt is None or not attempt.want_cancel():
        return False
    ring(f"host:{run.host_id}")
    return True

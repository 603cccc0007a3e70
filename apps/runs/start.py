"""Starting runs: a checked workload on a target becomes queued runs, and the host's agent hears of it."""

from asyncio import Event, sleep
from typing import Any

from django.db import DEFAULT_DB_ALIAS
from django.utils import timezone

from apps.inventory.models import Host, Target
from apps.labs.models import Lab
from apps.lib.asgi import in_thread
from apps.lib.bell import ring
from apps.lib.loop_sql import lines
from apps.lib.sql import durable_after, one_row, rows
from apps.runs import workload
from apps.runs.attempts import Attempt, offered, offering
from apps.runs.models import Run, Workload
from apps.runs.queueing import KEEP, Wish, asked_for, stored_values
from apps.runs.states import State
from apps.runs.waiting import accepts

MAX_REPETITIONS = 100
TARGET = """
SELECT target.id, target.lab_id, target.name, target.is_agents_own, host.id, host.lab_id, host.name, host.is_in_maintenance
FROM inventory_target target JOIN inventory_host host ON host.id = target.host_id
WHERE target.id = %(target)s AND target.lab_id = %(lab)s
"""


def workload_for(lab: Lab, spec: dict[str, Any]) -> Workload:
    """The lab's row for this workload; the same request is stored once."""
    values = stored_values(lab, spec)
    [(pk,)] = rows(KEEP, values) or rows(KEEP, values)
    return asked_for(lab, spec, pk)


def find_target(lab: Lab, pk: int) -> Target | None:
    """The lab's own target with its host, as far as a start looks at them; what else they have is read when it is asked for."""
    row = one_row(TARGET, {"target": pk, "lab": lab.pk})
    if row is None:
        return None
    target: Target = Target.from_db(DEFAULT_DB_ALIAS, ["id", "lab_id", "name", "is_agents_own"], row[:4])
    target.host = Host.from_db(DEFAULT_DB_ALIAS, ["id", "lab_id", "name", "is_in_maintenance"], row[4:])
    return target


def of_jobs(spec: dict[str, Any]) -> dict[str, Any]:
    """One job's options may be given by themselves."""
    if "jobs" in spec:
        return spec
    return {"tool": spec.get("tool", "fio"), "jobs": [{key: value for key, value in spec.items() if key != "tool"}]}


def checked(lab: Lab, target: Target, spec: Any, repetitions: int) -> dict[str, Any]:
    """The workload with every option filled in. Raises `WorkloadError` with field, found and expected."""
    complete = workload.checked(spec)
    if not 1 <= repetitions <= MAX_REPETITIONS:
        raise workload.WorkloadError("repetitions", repetitions, f"1 to {MAX_REPETITIONS}")
    if target.lab_id != lab.pk or not target.is_agents_own:
        raise workload.WorkloadError("target", target.name, "the directory that the host's own agent offers")
    if target.host.is_in_maintenance:
        raise workload.WorkloadError("target", target.name, f"a host that is not in maintenance; {target.host} is")
    return complete


def start_runs(*, lab: Lab, target: Target, spec: Any, repetitions: int = 1, who: str = "") -> list[Run]:
    """Queue `repetitions` runs of a workload that is `checked`; where it may not run, or no longer, nothing is queued."""
    wish = Wish(lab, target, checked(lab, target, spec, repetitions), repetitions, who)
    wish.made(rows(*wish.statement) or rows(*wish.statement))
    if wish.may_be_behind_another:
        wish.offer = offered(rows(*offering(target.host_id, wish.waits)))
    durable_after(lambda: _tell(wish))
    return wish.runs()


def _tell(wish: Wish) -> None:
    """The host's agent, once all can see the run."""
    if wish.waiting is None or wish.offer is None:
        ring(f"host:{wish.target.host_id}")
    else:
        wish.waiting.hear(wish.offer)


async def start_here(wish: Wish) -> None:
    """`start_runs` in the event loop, of a wish that is checked: who calls this waits for every tenth of a millisecond. Nobody may be
    answered before the runs are on disk: by `accepts`, where the first one stands there, else by waiting for it.
    """
    wish.made(await lines.rows(*wish.statement) or await lines.rows(*wish.statement))
    if wish.may_be_behind_another:
        wish.offer = offered(await lines.rows(*offering(wish.target.host_id, wish.waits)))
    if wish.waiting is None or wish.offer is None:
        await in_thread(_tell, wish)  # Redis may keep it waiting
        return
    if wish.offer.run == wish.first:
        accepts[wish.first] = Event()
    wish.waiting.hear(wish.offer)
    for _ in range(2):  # turns of the loop in which the poll is answered, before its starter does anything else
        await sleep(0)


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

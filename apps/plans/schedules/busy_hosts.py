"""Which hosts still work on an earlier run of a plan when its schedule comes due: their nights are left out, not all."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from apps.agents.queue import waiting_reasons
from apps.core.units import moment
from apps.inventory.models import Host
from apps.plans.models import Execution, ExecutionState, ScheduleFiring, load_plan, open_runs
from apps.plans.scheduler import find_waiting
from apps.studies.models import Plan, PlanConfiguration
from apps.studies.plans.plan_page import PlanPage
from apps.studies.plans.run_assignment import runs_of

MOST_TOLD = 3  # hosts, and reasons of one


@dataclass(frozen=True)
class BusyHosts:
    """Why a due time is skipped as a whole, or why some hosts have no part in it, as sentences by the host's id."""

    whole: str = ""
    hosts: Mapping[int, str] = field(default_factory=dict)

    @property
    def words(self) -> str:
        """Return in sentences which hosts have no part; empty where all have."""
        told = list(self.hosts.values())
        more = [f"{len(told) - MOST_TOLD} more hosts are busy as well."] if len(told) > MOST_TOLD else []
        return " ".join([*told[:MOST_TOLD], *more])


def find_busy_hosts(plan: Plan) -> BusyHosts:
    """Return what of a plan, or of the copies that its schedule made, is not over; empty where all is.

    While a person has paused one of them, nothing is started. One that has paused itself holds nothing up once none of
    its runs is under way.
    """
    states = ExecutionState.RUNNING, ExecutionState.PAUSED
    plans = [plan.pk, *ScheduleFiring.objects.filter(plan=plan).values_list("started_plan_id", flat=True)]
    open_ones = Execution.objects.filter(plan__in=[pk for pk in plans if pk], state__in=states)
    busy: dict[int, str] = {}
    whole = ""
    for execution in open_ones.select_related("plan").order_by("-started_at"):
        if execution.has_paused_itself and not execution.is_running and not open_runs(execution.plan_id).exists():
            continue
        words = _words_of(execution)
        if not execution.is_running:
            return BusyHosts(f"{words} {execution.reason}".strip())
        waits = find_waits(execution)
        if not waits:  # it ends in a moment, or waits for something that is no host's
            return BusyHosts(words)
        names = Host.objects.in_bulk(waits)
        for host_id, reasons in waits.items():
            busy.setdefault(host_id, " ".join([f"Without {names[host_id]}: {words}", *reasons]))
        told = [reason for reasons in waits.values() for reason in reasons]
        whole = whole or " ".join([words, *list(dict.fromkeys(told))[:MOST_TOLD]])
    rows = PlanConfiguration.objects.filter(plan=plan, configuration__target__host__isnull=False)
    own = set(rows.values_list("configuration__target__host_id", flat=True))
    return BusyHosts(whole) if whole and own <= busy.keys() else BusyHosts(hosts=busy)


def find_stopped_copies(plan: Plan) -> list[Execution]:
    """Return the runs of a plan's schedule that have paused themselves and of which nothing is under way."""
    copies = ScheduleFiring.objects.filter(plan=plan, started_plan__isnull=False).values("started_plan")
    paused = Execution.objects.filter(plan__in=copies, state=ExecutionState.PAUSED, has_paused_itself=True)
    paused = paused.select_for_update(of=("self",))  # a person may resume one at this moment
    return [one for one in paused.select_related("plan__study") if not open_runs(one.plan_id).exists()]


def leave_out(copy: Plan, busy: BusyHosts) -> None:
    """Leave the rows of busy hosts out of a plan that was just copied, with the reason."""
    for host_id, reason in busy.hosts.items():
        PlanConfiguration.objects.filter(plan=copy, configuration__target__host=host_id).update(reason=reason)


def _words_of(execution: Execution) -> str:
    return f"{execution.plan}, started {moment(execution.started_at)}, is still {execution.state}."


def find_waits(execution: Execution) -> dict[int, list[str]]:
    """Return the hosts of a running plan that have something left to do, each with what it waits for, in sentences."""
    plan = load_plan(execution.plan_id)
    waiting = find_waiting(PlanPage(plan, runs_of(plan.study, plan_id=plan.pk)), execution.retries)
    waits: dict[int, list[str]] = defaultdict(list)
    for host_id, cells in waiting.items():
        if any(cells.values()):
            waits[host_id] = []
    runs = list(open_runs(plan.pk).select_related("host").order_by("pk"))
    reasons = waiting_reasons(runs)
    for run in runs:
        waits[run.host_id] += [reasons[run.pk]] if run.pk in reasons else []
    for wait in execution.waits.all():
        waits[wait.host_id].append(wait.reason)
    return {host_id: list(dict.fromkeys(sentences))[:MOST_TOLD] for host_id, sentences in waits.items()}

"""The queue of the lab: what runs and waits on each host and why; its order, priorities, cancelling and giving up."""

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from apps.agents.queue import queue_page
from apps.core.text import whole_number
from apps.inventory.models import Host
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import Role
from apps.plans.models import HostWait, PlanSchedule
from apps.runs.models import Run
from apps.runs.queue import MOST_AT_ONCE, MOVES, WAITING, abandon_host, cancel_runs, move_run, set_priority
from apps.runs.states import Priority, State
from apps.runs.workload import WorkloadError

MOST_OF_PLANS = 20  # hosts for which a plan waits, and schedules that come
MOVE_SIGNS = (
    ("front", "⤒", gettext_lazy("to the front")), ("up", "↑", gettext_lazy("up")), ("down", "↓", gettext_lazy("down")),
)  # fmt: skip


@member_required()
def queue(request: LabRequest) -> HttpResponse:
    return _page(request)


def _page(request: LabRequest, message: str = "") -> HttpResponse:
    """Return the whole page, or for htmx its table, with what was just done."""
    page = queue_page(request.lab, request.GET.get("page"))
    waits = HostWait.objects.filter(execution__plan__study__lab=request.lab).select_related("execution__plan", "host")
    schedules = PlanSchedule.objects.filter(plan__study__lab=request.lab, next_at__isnull=False).select_related("plan")
    context = {
        "page": page, "message": message, "moves": MOVE_SIGNS,
        "waits": waits.order_by("since")[:MOST_OF_PLANS], "schedules": schedules.order_by("next_at")[:MOST_OF_PLANS],
    }  # fmt: skip
    if request.htmx:  # type: ignore[attr-defined]
        return render(request, "dashboard/_queue.html", context)
    return render(request, "dashboard/queue.html", context | {"priorities": [choice.label for choice in Priority]})


@require_POST
@member_required(Role.ENGINEER)
def order(request: LabRequest) -> HttpResponseBase:
    """Do what the pressed button says: `priority` of the ticked runs, or `front-7`, `up-7`, `down-7` of one."""
    message = _reorder(request, request.POST.get("act", ""))
    if request.htmx:  # type: ignore[attr-defined]
        return _page(request, message)
    messages.info(request, message)
    return redirect("queue")


def _reorder(request: LabRequest, act: str) -> str:
    if act == "priority":
        return _set_priority(request)
    move, _, number = act.partition("-")
    run = Run.objects.filter(lab=request.lab, pk=whole_number(number) or 0).first()
    if move not in MOVES or run is None:
        return "Nothing was changed."
    if move_run(run, move, str(request.user)):
        return f"Run {run.pk} is moved {'to the front' if move == 'front' else move}."
    return f"Run {run.pk} stays where it is: it cannot go further, or waits no longer."


def _set_priority(request: LabRequest) -> str:
    priority, ticked = Priority.find(request.POST.get("priority")), ticked_runs(request)
    if priority is None or not ticked:
        return "Tick the waiting runs whose priority shall change."
    changed = set_priority(request.lab, ticked, priority, str(request.user))
    others = len(ticked) - len(changed)
    more = f" {others} had it already or wait no longer." if others else ""
    return f"{_count(changed)} now {'has' if len(changed) == 1 else 'have'} {priority.label} priority.{more}"


def ticked_runs(request: HttpRequest) -> list[int]:
    """Return the numbers of the runs that are ticked in the form, or named in the address."""
    given = (request.POST if request.method == "POST" else request.GET).getlist("run")[:MOST_AT_ONCE]
    return [number for text in given if (number := whole_number(text)) is not None]


def _count(runs: Sequence[Any]) -> str:
    return f"{len(runs)} run{'' if len(runs) == 1 else 's'}"


@member_required(Role.ENGINEER)
def cancel(request: LabRequest) -> HttpResponse:
    """Name the ticked runs and what will be lost; cancel them when that was answered with `sure`."""
    ticked = Run.objects.open().filter(lab=request.lab, pk__in=ticked_runs(request))
    runs = list(ticked.select_related("host", "target", "workload").order_by("pk"))
    if request.method != "POST" or not request.POST.get("sure"):
        begun = sum(run.state not in WAITING for run in runs)
        context = {"runs": runs, "begun": begun, "waiting": len(runs) - begun}
        return render(request, "dashboard/queue-cancel.html", context)
    cancelled = cancel_runs(runs, str(request.user))
    if cancelled:
        messages.success(
            request, f"{_count(cancelled)} cancelled. Hosts stop what has begun as soon as they hear of it."
        )
    else:
        messages.warning(request, "Nothing was cancelled: the runs have ended already.")
    return redirect("queue")


@member_required(Role.ENGINEER)
def abandon(request: LabRequest, pk: int) -> HttpResponse:
    """GET explains what giving up the runs of a host means; POST does it, with a reason."""
    host = get_object_or_404(Host, pk=pk, lab=request.lab)
    lost = list(Run.objects.filter(host=host, state=State.UNKNOWN).select_related("target", "workload"))
    error = ""
    if request.method == "POST":
        with_waiting = request.POST.get("with_waiting") == "on"
        try:
            done = abandon_host(host, request.POST.get("reason", ""), str(request.user), with_waiting=with_waiting)
        except WorkloadError as refusal:
            error = f"Expected {refusal.expected}."
        else:
            _tell(request, host, *done)
            return redirect("queue")
    waiting = Run.objects.filter(host=host, state__in=WAITING).count()
    context = {"host": host, "lost": lost, "waiting": waiting, "error": error, "posted": request.POST}
    return render(request, "dashboard/queue-abandon.html", context, status=422 if error else 200)


def _tell(request: LabRequest, host: Host, abandoned: Sequence[int], cancelled: Sequence[int]) -> None:
    if not abandoned and not cancelled:
        messages.warning(request, f"{host} has no run that could be given up; nothing was changed.")
        return
    given_up = f"Run {', '.join(map(str, abandoned))} is given up. " if abandoned else ""
    waiting = f"{_count(cancelled)} that waited for {host} cancelled. " if cancelled else ""
    messages.success(request, f"{given_up}{waiting}{host} gets new work when it is back.")

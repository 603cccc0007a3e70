"""What people do on a watch's page: mark, acknowledge, look again, test."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from apps.comparison.question import QuestionError
from apps.comparison.trends.destinations import Destination
from apps.comparison.trends.evaluation import evaluate
from apps.comparison.trends.forms import MarkForm
from apps.comparison.trends.marking import NoTargetError, mark, unmark
from apps.comparison.trends.models import ChangePoint, TrendMark, Watch
from apps.comparison.trends.notifying import send_test
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import AuditEvent, Role


@require_POST
@member_required(Role.ENGINEER)
def add_mark(request: LabRequest, pk: int) -> HttpResponse:
    watch = get_object_or_404(Watch, pk=pk, lab=request.lab)
    form = MarkForm(request.lab.pk, request.POST)
    if not form.is_valid():
        said = "; ".join(f"{name}: {' '.join(map(str, errors))}" for name, errors in form.errors.items())
        messages.error(request, f"Not marked: {said}")
        return redirect(watch)
    data = form.cleaned_data
    try:
        mark(watch, form.moment, data["text"], str(request.user), run=data["run"], everywhere=data["everywhere"])
    except NoTargetError as error:
        messages.error(request, f"Not marked: {error}")
    else:
        messages.success(request, "Marked: runs before and after are looked at apart.")
    return redirect(watch)


@require_POST
@member_required(Role.ENGINEER)
def remove_mark(request: LabRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(TrendMark.objects.select_related("watch"), pk=pk, lab=request.lab)
    unmark(found, str(request.user))
    messages.success(request, f"The mark “{found}” is removed.")
    return redirect(found.watch or "trends")


@require_POST
@member_required(Role.ENGINEER)
def acknowledge(request: LabRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(ChangePoint.objects.select_related("watch"), pk=pk, lab=request.lab)
    if found.acknowledge(str(request.user)):
        AuditEvent.objects.record(
            request.lab.pk, "change acknowledged", found.watch.name, who=str(request.user), change=pk
        )
        messages.success(request, f"Acknowledged. It stays in the list of “{found.watch}”.")
    else:
        messages.info(request, "Somebody has acknowledged it already.")
    return redirect(found.watch)


@require_POST
@member_required(Role.ENGINEER)
def look(request: LabRequest, pk: int) -> HttpResponse:
    watch = get_object_or_404(Watch, pk=pk, lab=request.lab)
    try:
        evaluate(watch)
    except QuestionError as error:
        messages.error(request, f"It cannot be asked: {error}")
    return redirect(watch)


@require_POST
@member_required(Role.ENGINEER)
def test(request: LabRequest, pk: int) -> HttpResponse:
    watch = get_object_or_404(Watch, pk=pk, lab=request.lab)
    told = [
        send_test(one, str(request.user), watch)
        for one in Destination.objects.filter(recipients__watch=watch, is_active=True)
    ]
    if told:
        names = ", ".join(str(one.destination) for one in told)
        messages.success(request, f"A test is on its way to {names}. How it went stands below.")
    else:
        messages.error(request, "Nobody is told yet: choose destinations under “Change”.")
    return redirect(watch)


test.__test__ = False  # type: ignore[attr-defined]  # it is no test of pytest's

"""Pages of trends: the list, a watch with its changes and marks, and the forms that create or edit one."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db import transaction
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from apps.comparison.queries.choices import choices
from apps.comparison.question import Question, QuestionError, parse
from apps.comparison.saved_comparisons.question import resolve_all
from apps.comparison.saved_comparisons.references import LostReferenceError
from apps.core.forms import describe_errors
from apps.core.unit_base import base
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import AuditEvent, Role
from apps.notifications.models import Delivery, Destination
from apps.notifications.services import TooManyMessagesError
from apps.trends.candidates import candidates, conditions, title_of
from apps.trends.chart import chart_data, chart_of_trend, mark_rows, run_rows
from apps.trends.evaluation import evaluate, trend_of
from apps.trends.forms import EditWatchForm, MarkForm, NewWatchForm
from apps.trends.models import ChangePoint, Recipient, TrendMark, Watch
from apps.trends.notifications import send_test_of
from apps.trends.queries import targets_of
from apps.trends.services import NoTargetError, mark, unmark
from apps.trends.types import Trend
from apps.trends.watch_list import row, state_of, with_open_changes
from apps.trends.words import signed

PAGE = 50
DELIVERIES = 10


def trends(request: LabRequest) -> HttpResponseBase:
    """List the watches (GET), or create one (POST)."""
    return _make(request) if request.method == "POST" else _list(request)


@member_required()
def _list(request: LabRequest) -> HttpResponse:
    watches = with_open_changes(Watch.objects.filter(lab=request.lab)).order_by("-open_changes", "name", "id")
    page = Paginator(watches, PAGE).get_page(request.GET.get("page"))
    rows = [row(watch) for watch in resolve_all(list(page))]
    return render(
        request, "trends/list.html", {"page": page, "rows": rows, "is_owner": request.member.covers(Role.OWNER)}
    )


@require_safe
@member_required(Role.ENGINEER)
def new(request: LabRequest) -> HttpResponse:
    """Show the form of a new watch for the question in the address."""
    try:
        question = parse({name: [str(value) for value in values] for name, values in request.GET.lists()})
        return _new_page(request, question, NewWatchForm(request.lab.pk))
    except QuestionError as error:
        return render(request, "trends/new.html", {"error": error}, status=400)


def _new_page(request: LabRequest, question: Question, form: NewWatchForm, status: int = 200) -> HttpResponse:
    choices_to_watch = candidates(question, request.lab.pk)
    form_choices = choices(question, [])
    if choices_to_watch and not form.is_bound:
        form.initial["name"] = f"{choices_to_watch[0].text.split(',')[0]}: {title_of(question).lower()}"[:200]
    context = {
        "question": question,
        "candidates": choices_to_watch,
        "form": form,
        "choices": form_choices,
        "title": title_of(question),
    }
    return render(request, "trends/new.html", context, status=status)


@member_required(Role.ENGINEER)
def _make(request: LabRequest) -> HttpResponse:
    form = NewWatchForm(request.lab.pk, request.POST)
    if not form.is_valid():
        return _again(request, form)
    watch = _create_watch(request, form.cleaned_data)
    messages.success(request, f"“{watch}” is being watched. Existing changes are shown as acknowledged.")
    return redirect(watch)


def _again(request: LabRequest, form: NewWatchForm) -> HttpResponse:
    question = parse({})
    if "query" in form.cleaned_data:
        watched = Watch(query=form.cleaned_data["query"]).asked
        question = Question(metric=watched.metric, operation=watched.operation)
    return _new_page(request, question, form, status=422)


@transaction.atomic
def _create_watch(request: LabRequest, data: dict[str, object]) -> Watch:
    watch: Watch = Watch.objects.create(
        lab=request.lab,
        name=data["name"],
        query=data["query"],
        threshold=data["threshold"],
        created_by=str(request.user),
    )
    _tell(watch, data["recipients"])
    AuditEvent.objects.record(request.lab.pk, "watch made", watch.name, actor=str(request.user), watch=watch.pk)
    evaluate(watch)
    return watch


def _tell(watch: Watch, chosen: Any) -> None:
    Recipient.objects.filter(watch=watch).delete()
    Recipient.objects.bulk_create(
        Recipient(lab_id=watch.lab_id, watch=watch, destination=destination) for destination in chosen
    )


@require_safe
@member_required()
def trend(request: LabRequest, pk: int) -> HttpResponse:
    watch = get_object_or_404(Watch, pk=pk)
    try:
        trend = trend_of(watch)
    except QuestionError as error:
        is_own = watch.lab_id == request.lab.pk
        context = {"watch": watch, "error": error, "is_lost": isinstance(error, LostReferenceError)}
        return render(
            request, "trends/trend.html", {**context, "may_edit": is_own and request.member.covers(Role.ENGINEER)}
        )
    return render(request, "trends/trend.html", _context(request, watch, trend))


def _context(request: LabRequest, watch: Watch, trend: Trend) -> dict[str, object]:
    changes = list(ChangePoint.objects.filter(watch=watch).standing())
    marks = list(TrendMark.objects.for_watch(watch, targets_of(trend.points)).select_related("target"))
    waiting = sum(change.is_waiting for change in changes)
    is_own = watch.lab_id == request.lab.pk
    return {
        "watch": watch,
        "trend": trend,
        "drift": signed(trend.drift.total) if trend.drift else "",
        "rows": run_rows(trend),
        "title": title_of(watch.question),
        "description": chart_of_trend(trend, watch.metric, str(watch), base()).description,
        "conditions": conditions(watch.question),
        "changes": changes,
        "marks": mark_rows(marks, trend),
        "chart": chart_data(trend, watch) if trend.points else None,
        "state": state_of(watch, waiting),
        "recipients": Destination.objects.filter(recipients__watch=watch) if is_own else [],
        "deliveries": Delivery.objects.filter(watch=watch).select_related("destination")[:DELIVERIES] if is_own else [],
        "mark_form": MarkForm(watch.lab_id),
        "may_change": is_own and request.member.covers(Role.ENGINEER),
    }


@member_required(Role.ENGINEER)
def edit(request: LabRequest, pk: int) -> HttpResponse:
    watch = get_object_or_404(Watch, pk=pk, lab=request.lab)
    posted = request.POST if request.method == "POST" else None
    form = EditWatchForm(request.lab.pk, posted, initial=EditWatchForm.initial_of(watch))
    if not form.is_valid():
        return render(request, "trends/edit.html", {"watch": watch, "form": form}, status=422 if form.is_bound else 200)
    data = form.cleaned_data
    with transaction.atomic():
        changed = {name: data[name] for name in ("name", "threshold", "is_active")}
        Watch.objects.filter(pk=watch.pk).update(**changed)
        _tell(watch, data["recipients"])
    messages.success(request, f"“{data['name']}” is changed.")
    return redirect(watch)


@member_required(Role.ENGINEER)
def delete(request: LabRequest, pk: int) -> HttpResponse:
    """Show what would be deleted (GET), or delete it (POST)."""
    watch = get_object_or_404(Watch, pk=pk, lab=request.lab)
    if request.method != "POST":
        return render(request, "trends/delete.html", {"watch": watch})
    AuditEvent.objects.record(request.lab.pk, "watch deleted", watch.name, actor=str(request.user), watch=pk)
    watch.delete()
    messages.success(request, f"“{watch}” is deleted; its runs stay.")
    return redirect("trends")


@require_POST
@member_required(Role.ENGINEER)
def add_mark(request: LabRequest, pk: int) -> HttpResponse:
    watch = get_object_or_404(Watch, pk=pk, lab=request.lab)
    form = MarkForm(request.lab.pk, request.POST)
    if not form.is_valid():
        messages.error(request, f"Not marked: {describe_errors(form)}")
        return redirect(watch)
    data = form.cleaned_data
    try:
        mark(watch, form.moment, data["text"], str(request.user), run=data["run"], everywhere=data["everywhere"])
    except NoTargetError as error:
        messages.error(request, f"Not marked: {error}")
    else:
        messages.success(request, "Marked: runs before and after are evaluated separately.")
    return redirect(watch)


@require_POST
@member_required(Role.ENGINEER)
def remove_mark(request: LabRequest, pk: int) -> HttpResponse:
    trend_mark = get_object_or_404(TrendMark.objects.select_related("watch"), pk=pk, lab=request.lab)
    unmark(trend_mark, str(request.user))
    messages.success(request, f"The mark “{trend_mark}” is removed.")
    return redirect(trend_mark.watch or "trends")


@require_POST
@member_required(Role.ENGINEER)
def acknowledge(request: LabRequest, pk: int) -> HttpResponse:
    change = get_object_or_404(ChangePoint.objects.select_related("watch"), pk=pk, lab=request.lab)
    if change.acknowledge(str(request.user)):
        AuditEvent.objects.record(
            request.lab.pk, "change acknowledged", change.watch.name, actor=str(request.user), change=pk
        )
        messages.success(request, f"Acknowledged. It stays in the list of “{change.watch}”.")
    else:
        messages.info(request, "Somebody has acknowledged it already.")
    return redirect(change.watch)


@require_POST
@member_required(Role.ENGINEER)
def look(request: LabRequest, pk: int) -> HttpResponse:
    watch = get_object_or_404(Watch, pk=pk, lab=request.lab)
    try:
        evaluate(watch)
    except QuestionError as error:
        messages.error(request, f"The watch cannot be evaluated: {error}")
    return redirect(watch)


@require_POST
@member_required(Role.ENGINEER)
def test(request: LabRequest, pk: int) -> HttpResponse:
    watch = get_object_or_404(Watch, pk=pk, lab=request.lab)
    deliveries = []
    active = Destination.objects.filter(recipients__watch=watch, is_active=True)
    for destination in active:
        try:
            deliveries.append(send_test_of(watch, destination, str(request.user)))
        except TooManyMessagesError as error:
            messages.error(request, f"Nothing was sent to {destination}. {error} Try again later.")
    if deliveries:
        names = ", ".join(str(delivery.destination) for delivery in deliveries)
        messages.success(request, f"A test is on its way to {names}. The result appears below.")
    elif not watch.recipients.exists():
        messages.error(request, "There are no recipients yet: choose notification channels under “Change”.")
    elif not active:
        messages.error(request, "Nothing was sent: all recipients of this watch are switched off.")
    return redirect(watch)


test.__test__ = False  # type: ignore[attr-defined]  # it is no test of pytest's

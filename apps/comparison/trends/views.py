"""The pages of trends: what is watched, one watch, making and changing one."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db import transaction
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe

from apps.comparison.choices import choices
from apps.comparison.drawing.of_trend import chart_of_trend
from apps.comparison.question import Question, QuestionError, parse
from apps.comparison.trends.candidates import candidates, conditions, title_of
from apps.comparison.trends.charts import chart_data, mark_rows, run_rows
from apps.comparison.trends.destinations import Delivery, Destination, Recipient
from apps.comparison.trends.evaluation import evaluate, trend_of
from apps.comparison.trends.forms import EditWatchForm, MarkForm, NewWatchForm
from apps.comparison.trends.listed import row, state_of, with_open_changes
from apps.comparison.trends.loading import targets_of
from apps.comparison.trends.models import ChangePoint, TrendMark, Watch
from apps.comparison.trends.shape import Trend
from apps.comparison.trends.words import signed
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import AuditEvent, Role
from apps.lib.reader_base import base

PAGE = 50
DELIVERIES = 10


def trends(request: LabRequest) -> HttpResponseBase:
    """GET lists the watches, POST makes one."""
    return _make(request) if request.method == "POST" else _list(request)


@member_required()
def _list(request: LabRequest) -> HttpResponse:
    found = with_open_changes(Watch.objects.filter(lab=request.lab)).order_by("-open_changes", "name", "id")
    page = Paginator(found, PAGE).get_page(request.GET.get("page"))
    rows = [row(watch) for watch in page]
    return render(
        request, "trends/list.html", {"page": page, "rows": rows, "is_owner": request.member.covers(Role.OWNER)}
    )


@require_safe
@member_required(Role.ENGINEER)
def new(request: LabRequest) -> HttpResponse:
    """“Watch this”, from the address of a comparison."""
    try:
        question = parse({name: [str(value) for value in values] for name, values in request.GET.lists()})
        return _new_page(request, question, NewWatchForm(request.lab.pk))
    except QuestionError as error:
        return render(request, "trends/new.html", {"error": error}, status=400)


def _new_page(request: LabRequest, question: Question, form: NewWatchForm, status: int = 200) -> HttpResponse:
    found = candidates(question, request.lab.pk)
    asked = choices(question, [])
    if found and not form.is_bound:
        form.initial["name"] = f"{found[0].text.split(',')[0]}: {title_of(question).lower()}"[:200]
    context = {"question": question, "candidates": found, "form": form, "choices": asked, "title": title_of(question)}
    return render(request, "trends/new.html", context, status=status)


@member_required(Role.ENGINEER)
def _make(request: LabRequest) -> HttpResponse:
    form = NewWatchForm(request.lab.pk, request.POST)
    if not form.is_valid():
        return _again(request, form)
    watch = _made(request, form.cleaned_data)
    messages.success(
        request, f"“{watch}” is watched from now on. Changes that are in the data already are shown as seen."
    )
    return redirect(watch)


def _again(request: LabRequest, form: NewWatchForm) -> HttpResponse:
    question = parse({})
    if "query" in form.cleaned_data:
        watched = Watch(query=form.cleaned_data["query"]).question
        question = Question(metric=watched.metric, operation=watched.operation)
    return _new_page(request, question, form, status=422)


@transaction.atomic
def _made(request: LabRequest, data: dict[str, Any]) -> Watch:
    watch: Watch = Watch.objects.create(
        lab=request.lab,
        name=data["name"],
        query=data["query"],
        threshold=data["threshold"],
        created_by=str(request.user),
    )
    _tell(watch, data["recipients"])
    AuditEvent.objects.record(request.lab.pk, "watch made", watch.name, who=str(request.user), watch=watch.pk)
    evaluate(watch)
    return watch


def _tell(watch: Watch, chosen: Any) -> None:
    Recipient.objects.filter(watch=watch).delete()
    Recipient.objects.bulk_create(Recipient(lab_id=watch.lab_id, watch=watch, destination=one) for one in chosen)


@require_safe
@member_required()
def trend(request: LabRequest, pk: int) -> HttpResponse:
    watch = get_object_or_404(Watch, pk=pk)
    try:
        found = trend_of(watch)
    except QuestionError as error:
        return render(request, "trends/trend.html", {"watch": watch, "error": error})
    return render(request, "trends/trend.html", _context(request, watch, found))


def _context(request: LabRequest, watch: Watch, found: Trend) -> dict[str, Any]:
    changes = list(ChangePoint.objects.filter(watch=watch).standing())
    marks = list(TrendMark.objects.for_watch(watch, targets_of(found.points)).select_related("target"))
    waiting = sum(one.is_waiting for one in changes)
    is_own = watch.lab_id == request.lab.pk
    return {
        "watch": watch,
        "trend": found,
        "drift": signed(found.drift.total) if found.drift else "",
        "rows": run_rows(found),
        "title": title_of(watch.question),
        "description": chart_of_trend(found, watch.metric, str(watch), base()).description,
        "conditions": conditions(watch.question),
        "changes": changes,
        "marks": mark_rows(marks, found),
        "chart": chart_data(found, watch) if found.points else None,
        "state": state_of(watch, waiting),
        "recipients": Destination.objects.filter(recipients__watch=watch) if is_own else [],
        "deliveries": Delivery.objects.filter(watch=watch).select_related("destination")[:DELIVERIES] if is_own else [],
        "mark_form": MarkForm(watch.lab_id),
        "may_change": is_own and request.member.covers(Role.ENGINEER),
    }


@member_required(Role.ENGINEER)
def edit(request: LabRequest, pk: int) -> HttpResponse:
    watch = get_object_or_404(Watch, pk=pk, lab=request.lab)
    asked = request.POST if request.method == "POST" else None
    form = EditWatchForm(request.lab.pk, asked, initial=EditWatchForm.initial_of(watch))
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
    """GET says what will be lost; POST does it."""
    watch = get_object_or_404(Watch, pk=pk, lab=request.lab)
    if request.method != "POST":
        return render(request, "trends/delete.html", {"watch": watch})
    AuditEvent.objects.record(request.lab.pk, "watch deleted", watch.name, who=str(request.user), watch=pk)
    watch.delete()
    messages.success(request, f"“{watch}” is deleted; its runs stay.")
    return redirect("trends")

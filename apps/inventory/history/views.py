"""The history of parts, of hosts with all below them and of the whole lab, and taking a change back."""

from datetime import datetime, time
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_date

from apps.inventory.editing.addresses import list_of, page_of
from apps.inventory.editing.registry import BY_NAME, KINDS
from apps.inventory.history.log import told
from apps.inventory.history.undo import UndoError, undo, undone_with
from apps.inventory.models import Change
from apps.inventory.vocabulary import Author
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import Role

PAGE = 50
NAMES_FIRST = ("kind", "by", "who", "q", "since", "until", "act")


@member_required()
def of_lab(request: LabRequest) -> HttpResponse:
    return _page(request, Change.objects.filter(lab=request.lab), {"title": "History of the inventory"})


@member_required()
def of_part(request: LabRequest, kind: str, pk: int) -> HttpResponse:
    """Show the history of a part, even of a deleted one, which can be restored from here."""
    part = BY_NAME[kind].model.objects.filter(pk=pk).first()
    changes = Change.objects.of_host(pk) if kind == "host" else Change.objects.of_part(kind, pk)
    last = Change.objects.of_part(kind, pk).first()
    if part is None and last is None:
        raise Http404
    name = str(part) if part else last.part_name
    more = {"part": part, "name": name, "back": page_of(part) if part else list_of(BY_NAME[kind])}
    title = f"History of {name}" + (" and all in it" if kind == "host" else "")
    return _page(request, changes, {"title": title, "of": BY_NAME[kind], **more})


def _page(request: LabRequest, changes: object, context: dict[str, object]) -> HttpResponse:
    query = {name: request.GET.get(name, "").strip() for name in NAMES_FIRST}
    page = Paginator(_narrowed(changes, query), PAGE).get_page(request.GET.get("page"))
    context |= {"page": page, "entries": told(page.object_list), "asked": query, "is_narrowed": any(query.values())}
    context |= {"kinds": KINDS, "authors": Author.choices, "acts": Change.Act.choices}
    is_fragment = request.htmx and not request.htmx.boosted  # type: ignore[attr-defined]
    return render(request, "inventory/_changes.html" if is_fragment else "inventory/history.html", context)


def _narrowed(changes: Any, requested: dict[str, str]) -> Any:
    """Filter by kind, author, words and days; values without a meaning are ignored."""
    if requested["kind"] in BY_NAME:
        changes = changes.filter(part_kind=requested["kind"])
    if requested["act"] in Change.Act:
        changes = changes.filter(act=requested["act"])
    if requested["by"] == Author.SYSTEM:
        changes = changes.filter(who=None)
    elif requested["by"] in Author:
        changes = changes.filter(who__by=requested["by"])
    if requested["who"]:
        changes = changes.filter(who__name__icontains=requested["who"])
    if requested["q"]:
        changes = changes.filter(part_name__icontains=requested["q"])
    since, until = _moment(requested["since"], time.min), _moment(requested["until"], time.max)
    changes = changes.filter(at__gte=since) if since else changes
    return changes.filter(at__lte=until) if until else changes


def _moment(text: str, of_day: time) -> datetime | None:
    try:
        day = parse_date(text)
    except ValueError:
        return None
    return timezone.make_aware(datetime.combine(day, of_day)) if day else None


@member_required(Role.ENGINEER)
def undo_change(request: LabRequest, pk: int) -> HttpResponse:
    """Show what undoing a change would restore; POST undoes it or says what stands in the way."""
    change = get_object_or_404(Change, pk=pk, lab=request.lab)
    context: dict[str, object] = {"change": change, "entries": told(undone_with(change)), "back": _history_of(change)}
    if request.method != "POST":
        return render(request, "inventory/undo.html", context)
    try:
        undo(change)
    except UndoError as error:
        context |= {"reasons": error.reasons, "later": told(error.later)}
        return render(request, "inventory/undo.html", context, status=409)
    messages.success(request, f"Taken back: {change.part_name} is as it was before.")
    return redirect(_history_of(change))


def _history_of(change: Change) -> str:
    return reverse(f"{change.part_kind}-history", args=[change.part_id])

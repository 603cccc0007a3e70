"""Saved comparisons: list, open by a short address, save, rename, delete."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from apps.comparison.forms import NameForm, SaveForm
from apps.comparison.models import SavedComparison
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import Role

PAGE = 50


def comparisons(request: LabRequest) -> HttpResponseBase:
    """GET lists them, POST saves one."""
    return _save(request) if request.method == "POST" else _list(request)


@member_required()
def _list(request: LabRequest) -> HttpResponse:
    page = Paginator(SavedComparison.objects.filter(lab=request.lab), PAGE).get_page(request.GET.get("page"))
    return render(request, "comparison/saved.html", {"page": page, "may_change": request.member.covers(Role.ENGINEER)})


@member_required(Role.ENGINEER)
def _save(request: LabRequest) -> HttpResponse:
    form = SaveForm(request.POST)
    if not form.is_valid():
        messages.error(request, form.problem)
        return redirect("comparisons")
    saved = SavedComparison.objects.create(lab=request.lab, created_by=str(request.user), **form.cleaned_data)
    messages.success(
        request, f"Saved as “{saved}”; its short address is {request.build_absolute_uri(saved.get_absolute_url())}"
    )
    return redirect(saved)


@require_safe
@member_required()
def saved(request: LabRequest, pk: int) -> HttpResponse:
    """The short permalink."""
    return redirect(get_object_or_404(SavedComparison, pk=pk).address)


@require_POST
@member_required(Role.ENGINEER)
def rename(request: LabRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(SavedComparison, pk=pk, lab=request.lab)
    form = NameForm(request.POST)
    if form.is_valid():
        messages.success(request, f"Now called “{found.renamed(form.cleaned_data['name'])}”.")
    else:
        messages.error(request, "Not renamed: a name has 1 to 200 characters.")
    return redirect("comparisons")


@member_required(Role.ENGINEER)
def delete(request: LabRequest, pk: int) -> HttpResponse:
    """GET says what will be lost; POST does it."""
    found = get_object_or_404(SavedComparison, pk=pk, lab=request.lab)
    if request.method != "POST":
        return render(request, "comparison/delete.html", {"saved": found})
    found.delete()
    messages.success(request, f"“{found}” is deleted; its runs stay.")
    return redirect("comparisons")

"""Saved comparisons: list, open by a short address, save, rename, delete."""

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from apps.comparison.models import SavedComparison
from apps.comparison.question import QuestionError, parse
from apps.core.forms import SiteForm, describe_errors
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import Role

PAGE = 50


def comparisons(request: LabRequest) -> HttpResponseBase:
    """List the saved comparisons (GET), or save one (POST)."""
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
    """Open a saved comparison by its short address; what is gone is reported above the comparison, or instead of it."""
    comparison = get_object_or_404(SavedComparison, pk=pk)
    try:
        resolved = comparison.resolved
    except QuestionError:  # the page of the comparison says what is wrong with the address
        return redirect(comparison.address)
    if resolved.lost:
        return render(request, "comparison/lost.html", {"saved": comparison, "lost": resolved.lost})
    for missing in resolved.problems:
        messages.warning(request, str(missing))
    return redirect(comparison.address)


@require_POST
@member_required(Role.ENGINEER)
def rename(request: LabRequest, pk: int) -> HttpResponse:
    comparison = get_object_or_404(SavedComparison, pk=pk, lab=request.lab)
    form = NameForm(request.POST)
    if form.is_valid():
        messages.success(request, f"Now called “{comparison.renamed(form.cleaned_data['name'])}”.")
    else:
        messages.error(request, "Not renamed: a name has 1 to 200 characters.")
    return redirect("comparisons")


@member_required(Role.ENGINEER)
def delete(request: LabRequest, pk: int) -> HttpResponse:
    """Show what would be deleted (GET), or delete it (POST)."""
    comparison = get_object_or_404(SavedComparison, pk=pk, lab=request.lab)
    if request.method != "POST":
        return render(request, "comparison/delete.html", {"saved": comparison})
    comparison.delete()
    messages.success(request, f"“{comparison}” is deleted; its runs stay.")
    return redirect("comparisons")


class NameForm(SiteForm):
    name = forms.CharField(max_length=SavedComparison._meta.get_field("name").max_length, label="Name")


class SaveForm(NameForm):
    query = forms.CharField(max_length=8000)

    def clean_query(self) -> str:
        """Return the canonical address of the question, with its units."""
        try:
            return parse(dict(QueryDict(self.cleaned_data["query"]).lists())).permalink
        except QuestionError as error:
            raise forms.ValidationError(str(error)) from None

    @property
    def problem(self) -> str:
        """Return the form's errors as one sentence."""
        return f"Not saved: {describe_errors(self)}"

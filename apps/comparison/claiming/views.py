"""Pages of claims: a study's list, one claim, and the form that writes one, with its preview."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Case, Value, When
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe

from apps.comparison.claiming.draft import ClaimDraft
from apps.comparison.claiming.models import Claim
from apps.comparison.claiming.preview import preview_of
from apps.comparison.claiming.shown import check_tables, doubt_rows
from apps.comparison.claims.outcomes import VERDICTS
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import AuditEvent, Role
from apps.studies.models import Study

PAGE = 100


def find_study(request: LabRequest, slug: str) -> Study:
    """Of the own lab, or a published one; the own comes first where both have this name."""
    own_first = Case(When(lab=request.lab, then=Value(0)), default=Value(1))
    found: Study | None = Study.objects.filter(slug=slug).order_by(own_first, "id").first()
    if found is None:
        raise Http404(f"No study {slug} in this lab.")
    return found


def may_edit(request: LabRequest, study: Study) -> bool:
    return study.lab_id == request.lab.pk and request.member.covers(Role.ENGINEER)


@require_safe
@member_required()
def claims(request: LabRequest, slug: str) -> HttpResponse:
    study = find_study(request, slug)
    every = Claim.objects.of_study(study)
    wanted = request.GET.get("verdict", "")
    chosen = every.filter(verdict=wanted) if wanted in VERDICTS else every
    page = Paginator(chosen.defer("computed", "definition"), PAGE).get_page(request.GET.get("page"))
    context = {"study": study, "page": page, "claims": page, "verdicts": every.verdicts(), "wanted": wanted}
    return render(request, "comparison/claims.html", {**context, "may_edit": may_edit(request, study)})


@require_safe
@member_required()
def claim(request: LabRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(Claim.objects.select_related("study"), pk=pk)
    history = Paginator(found.history.defer("computed"), 20).get_page(request.GET.get("page"))
    context = {
        "claim": found, "study": found.study, "checks": check_tables(found), "doubts": doubt_rows(found),
        "page": history, "may_edit": may_edit(request, found.study),
    }  # fmt: skip
    return render(request, "comparison/claim.html", context)


@member_required(Role.ENGINEER)
def new(request: LabRequest, slug: str) -> HttpResponseBase:
    return _write(request, get_object_or_404(Study, slug=slug, lab=request.lab), None)


@member_required(Role.ENGINEER)
def edit(request: LabRequest, pk: int) -> HttpResponseBase:
    found = get_object_or_404(Claim.objects.select_related("study"), pk=pk, study__lab=request.lab)
    return _write(request, found.study, found)


def _write(request: LabRequest, study: Study, kept: Claim | None) -> HttpResponseBase:
    """GET: the claim as it is. POST: `act` is save, preview, add, remove-<n>, more-<n>, less-<n> or form; htmx asks for the
    preview, or for the checks' fields after a kind was chosen.
    """
    draft = ClaimDraft(study, kept, request.POST if request.method == "POST" else None)
    if request.htmx and draft.act == "preview":  # type: ignore[attr-defined]
        return render(request, "comparison/_claim-preview.html", {"preview": preview_of(draft)})
    if draft.act == "save" and (saved := draft.save(str(request.user))):
        AuditEvent.objects.record(
            request.lab.pk, "claim written", _subject(saved), who=str(request.user), verdict=saved.verdict
        )
        messages.success(request, f"{saved.code} is written; its verdict from the data now: {saved.verdict}.")
        return redirect(saved)
    status = 422 if draft.act == "save" else 200
    context = {"draft": draft, "study": study, "claim": kept, "preview": preview_of(draft)}
    return render(request, "comparison/claim-form.html", context, status=status)


def _subject(claim: Claim) -> str:
    return f"{claim.code} of {claim.study.slug}"


@member_required(Role.ENGINEER)
def delete(request: LabRequest, pk: int) -> HttpResponse:
    """GET says what will be lost; POST does it."""
    found = get_object_or_404(Claim.objects.select_related("study"), pk=pk, study__lab=request.lab)
    if request.method != "POST":
        return render(request, "comparison/claim-delete.html", {"claim": found, "study": found.study})
    AuditEvent.objects.record(request.lab.pk, "claim deleted", _subject(found), who=str(request.user))
    found.delete()
    messages.success(request, f"{found.code} is deleted; all samples stay.")
    return redirect("claims", found.study.slug)

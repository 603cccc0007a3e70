"""Pages of claims: a study's list, one claim, and the form of a claim with its preview."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Case, Value, When
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe

from apps.comparison.claims.checks.outcomes import VERDICTS
from apps.comparison.claims.draft import ClaimDraft
from apps.comparison.claims.matched.views import edit_about
from apps.comparison.claims.models import Claim
from apps.comparison.claims.presentation import check_tables, doubt_rows, matched_of
from apps.comparison.claims.preview import preview_of
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import AuditEvent, Role
from apps.studies.models import Study

PAGE = 100


def find_study(request: LabRequest, slug: str) -> Study:
    """Return the study of the own lab, or else a published one, by its slug."""
    own_first = Case(When(lab=request.lab, then=Value(0)), default=Value(1))
    study: Study | None = Study.objects.filter(slug=slug).order_by(own_first, "id").first()
    if study is None:
        raise Http404(f"No study {slug} in this lab.")
    return study


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
    claim = get_object_or_404(Claim.objects.select_related("study"), pk=pk)
    history = Paginator(claim.history.defer("computed"), 20).get_page(request.GET.get("page"))
    context = {
        "claim": claim, "study": claim.study, "checks": check_tables(claim), "doubts": doubt_rows(claim),
        "page": history, "may_edit": may_edit(request, claim.study), "matched": matched_of(claim),
    }  # fmt: skip
    return render(request, "comparison/claim.html", context)


@member_required(Role.ENGINEER)
def new(request: LabRequest, slug: str) -> HttpResponseBase:
    return _write(request, get_object_or_404(Study, slug=slug, lab=request.lab), None)


@member_required(Role.ENGINEER)
def edit(request: LabRequest, pk: int) -> HttpResponseBase:
    claim = get_object_or_404(Claim.objects.select_related("study"), pk=pk, study__lab=request.lab)
    return edit_about(request, claim) if claim.is_about_question else _write(request, claim.study, claim)


def _write(request: LabRequest, study: Study, claim: Claim | None) -> HttpResponseBase:
    """Show the claim (GET), or change the draft (POST).

    `act` is save, preview, add, remove-<n>, more-<n>, less-<n> or form. htmx asks for the preview, or for the checks'
    fields after a kind was chosen.
    """
    draft = ClaimDraft(study, claim, request.POST if request.method == "POST" else None)
    if request.htmx and draft.act == "preview":  # type: ignore[attr-defined]
        return render(request, "comparison/_claim-preview.html", {"preview": preview_of(draft)})
    if draft.act == "save" and (saved := draft.save(str(request.user))):
        AuditEvent.objects.record(
            request.lab.pk, "claim written", _subject(saved), actor=str(request.user), verdict=saved.verdict
        )
        messages.success(request, f"{saved.code} is written; its verdict from the data now: {saved.verdict}.")
        return redirect(saved)
    status = 422 if draft.act == "save" else 200
    context = {"draft": draft, "study": study, "claim": claim, "preview": preview_of(draft)}
    return render(request, "comparison/claim-form.html", context, status=status)


def _subject(claim: Claim) -> str:
    return f"{claim.code} of {claim.study.slug}"


@member_required(Role.ENGINEER)
def delete(request: LabRequest, pk: int) -> HttpResponse:
    """Show what would be deleted (GET), or delete it (POST)."""
    claim = get_object_or_404(Claim.objects.select_related("study"), pk=pk, study__lab=request.lab)
    if request.method != "POST":
        return render(request, "comparison/claim-delete.html", {"claim": claim, "study": claim.study})
    AuditEvent.objects.record(request.lab.pk, "claim deleted", _subject(claim), actor=str(request.user))
    claim.delete()
    messages.success(request, f"{claim.code} is deleted; all samples stay.")
    return redirect("claims", claim.study.slug)

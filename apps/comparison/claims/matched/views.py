"""Pages on which a claim about a question is written: from the question's page, or from the claim."""

from collections.abc import Mapping

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from apps.comparison.claims.checks.definition import DefinitionError
from apps.comparison.claims.matched.claimed_question import (
    ClaimedQuestion,
    Direction,
    claimed_question_of,
    question_from,
)
from apps.comparison.claims.matched.draft import QuestionDraft
from apps.comparison.claims.models import Claim
from apps.comparison.like_for_like.answers import FactorAnswer, MatchedFinding
from apps.comparison.like_for_like.report import answer_one
from apps.comparison.like_for_like.scope import labs_of
from apps.comparison.like_for_like.selection import FactorSelection, parse_selection
from apps.comparison.question import QuestionError
from apps.comparison.questions import BY_NAME
from apps.labs.access import member_required
from apps.labs.isolation import lab_scope
from apps.labs.middleware import LabRequest
from apps.labs.models import AuditEvent, Lab, Role


@member_required(Role.ENGINEER)
def about(request: LabRequest, factor: str) -> HttpResponse:
    """Show the form of a claim about a question (GET), or write the claim (POST); the address is the question's."""
    if factor not in BY_NAME:
        raise Http404
    query = {name: [str(value) for value in values] for name, values in request.GET.lists()}
    level = "".join(query.pop("level", [])[:1])
    try:
        selection = parse_selection(query)
        answer = _answer(request.lab.pk, factor, selection)
    except QuestionError as error:
        return render(request, "comparison/factor.html", {"error": error, "factor": BY_NAME[factor]}, status=400)
    first = _first(answer, selection, level)
    if first is None:
        messages.error(request, _("A claim speaks of two levels, and these runs have one or none."))
        return redirect(f"{reverse('question', args=[factor])}?{selection.address}")
    return write_about(request, first, answer.candidates or {}, None)


def edit_about(request: LabRequest, claim: Claim) -> HttpResponse:
    """Show the form of a claim as it is (GET), or write it (POST)."""
    try:
        claimed = claim.claimed
    except (DefinitionError, QuestionError):  # what it names is gone: as it was written, so that its author can choose
        claimed = claimed_question_of(claim.question)
    try:
        levels = _answer(request.lab.pk, claimed.factor, claimed.selection.with_(against="")).candidates or {}
    except QuestionError:
        levels = {}
    return write_about(request, claimed, levels, claim)


def _answer(lab_id: int, factor: str, selection: FactorSelection) -> FactorAnswer:
    with lab_scope(lab_id, *Lab.objects.published_ids()):
        return answer_one(labs_of(lab_id, selection), factor, selection)


def _first(answer: FactorAnswer, selection: FactorSelection, level: str) -> ClaimedQuestion | None:
    """Return what the answer suggests to claim: of the level that is asked for, else of the first contrast."""
    factor = BY_NAME[answer.factor]
    contrasts = [*answer.answered, *answer.contrasts]
    contrast = next((one for one in contrasts if level in ("", one.level)), None)
    others = [other for other in answer.candidates or {} if other != level]
    if contrast:
        pair = contrast.level, contrast.against
    elif others and (level or len(others) > 1):
        pair = level or others[1], others[0]
    else:
        return None
    direction: Direction = "higher"
    if contrast and contrast.combination:
        is_same = contrast.finding is MatchedFinding.NO_EFFECT
        direction = "same" if is_same else "higher" if contrast.combination.value > 0 else "lower"
    asked = selection.with_(operation=answer.operation, metric=answer.metric, against=pair[1])
    return question_from(asked, factor, pair[0], direction)


def write_about(
    request: LabRequest, first: ClaimedQuestion, levels: Mapping[str, int], claim: Claim | None
) -> HttpResponse:
    """Show the draft (GET or a preview), or save it (POST with `act=save`)."""
    draft = QuestionDraft(request.lab, first, levels, claim, request.POST if request.method == "POST" else None)
    is_saved = request.POST.get("act") == "save"
    if is_saved and (saved := draft.save(str(request.user))):
        subject = f"{saved.code} of {saved.study.slug}"
        AuditEvent.objects.record(
            request.lab.pk, "claim written", subject, actor=str(request.user), verdict=saved.verdict
        )
        message = _("%(code)s is written; its verdict from the data now: %(verdict)s.")
        messages.success(request, message % {"code": saved.code, "verdict": _(saved.verdict)})
        return redirect(saved)
    context = {"draft": draft, "form": draft.form, "claim": claim, "matched": draft.preview, "factor": first.rules}
    return render(request, "comparison/question-claim-form.html", context, status=422 if is_saved else 200)

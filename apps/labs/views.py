"""The lab's own pages: members, tokens, the trail of what was done, and switching between labs."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST

from apps.labs import membership
from apps.labs.access import member_required
from apps.labs.forms import MemberForm, RoleForm, TokenForm
from apps.labs.middleware import SESSION_KEY, LabRequest
from apps.labs.models import AuditEvent, Member, Role, Token


def _members_page(request: LabRequest, form: MemberForm, status: int = 200) -> HttpResponse:
    members = Member.objects.filter(lab=request.lab).select_related("user").order_by("user__email")
    return render(
        request, "labs/members.html", {"members": members, "form": form, "roles": Role.choices}, status=status
    )


@member_required()
def lab(request: LabRequest) -> HttpResponse:
    return _members_page(request, MemberForm(request.lab))


@require_POST
@member_required(Role.OWNER)
def add_member(request: LabRequest) -> HttpResponse:
    """The first password of a new account is on the answer, and nowhere else afterwards."""
    form = MemberForm(request.lab, request.POST)
    if not form.is_valid():
        return _members_page(request, form, status=422)
    data = form.cleaned_data
    member, password = membership.add_member(request.lab, data["email"], data["role"], str(request.user))
    return _shown_once(request, "labs/member-added.html", {"added": member, "password": password})


@require_POST
@member_required(Role.OWNER)
def change_role(request: LabRequest, pk: int) -> HttpResponse:
    member = get_object_or_404(Member.objects.select_related("user", "lab"), pk=pk, lab=request.lab)
    form = RoleForm(request.POST)
    if form.is_valid():
        try:
            membership.change_role(member, form.cleaned_data["role"], str(request.user))
            messages.success(request, f"{member.user} is now {member.role}.")
        except membership.LastOwnerError as error:
            messages.error(request, str(error))
    return redirect("lab")


@require_POST
@member_required(Role.OWNER)
def remove_member(request: LabRequest, pk: int) -> HttpResponse:
    member = get_object_or_404(Member.objects.select_related("user", "lab"), pk=pk, lab=request.lab)
    try:
        membership.remove_member(member, str(request.user))
        messages.success(request, f"{member.user} is no longer a member.")
    except membership.LastOwnerError as error:
        messages.error(request, str(error))
    return redirect("lab")


def _tokens_page(request: LabRequest, form: TokenForm, status: int = 200) -> HttpResponse:
    found = Token.objects.filter(lab=request.lab).order_by("revoked_at", "-id")
    return render(request, "labs/tokens.html", {"tokens": found, "form": form, "now": timezone.now()}, status=status)


@member_required(Role.OWNER)
def tokens(request: LabRequest) -> HttpResponse:
    """GET lists them; POST makes one, whose secret is on the answer, and nowhere else afterwards."""
    if request.method != "POST":
        return _tokens_page(request, TokenForm())
    form = TokenForm(request.POST)
    if not form.is_valid():
        return _tokens_page(request, form, status=422)
    data = form.cleaned_data
    token, secret = Token.objects.issue(request.lab, data["scope"], data["name"], data["days"])
    AuditEvent.objects.record(request.lab.pk, "token created", token.name, who=str(request.user), scope=token.scope)
    return _shown_once(request, "labs/token-made.html", {"token": token, "secret": secret})


def _shown_once(request: LabRequest, template: str, context: dict[str, object]) -> HttpResponse:
    response = render(request, template, context)
    response["Cache-Control"] = "no-store"
    return response


@require_POST
@member_required(Role.OWNER)
def revoke_token(request: LabRequest, pk: int) -> HttpResponse:
    token = get_object_or_404(Token, pk=pk, lab=request.lab)
    if Token.objects.filter(pk=pk, revoked_at=None).update(revoked_at=timezone.now()):
        AuditEvent.objects.record(request.lab.pk, "token revoked", token.name, who=str(request.user))
        messages.success(request, f"The token “{token.name}” no longer opens anything.")
    return redirect("tokens")


@member_required(Role.OWNER)
def audit(request: LabRequest) -> HttpResponse:
    page = Paginator(AuditEvent.objects.filter(lab=request.lab), 50).get_page(request.GET.get("page"))
    return render(request, "labs/audit.html", {"page": page})


@require_POST
@member_required()
def switch(request: LabRequest) -> HttpResponse:
    """Only to a lab one is a member of; the middleware looks again at every request."""
    wanted = request.POST.get("lab", "")
    member = get_object_or_404(Member, user_id=request.user.pk, lab_id=int(wanted) if wanted.isdigit() else 0)
    request.session[SESSION_KEY] = member.lab_id
    return redirect("overview")

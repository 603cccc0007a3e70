"""Views of a lab: members, invitations, tokens, audit trail; and creating, leaving and switching labs."""

from typing import Any

from allauth.account.models import EmailAddress
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from apps.core.mail import has_mail
from apps.core.text import whole_number
from apps.labs import services
from apps.labs.access import member_required
from apps.labs.audit import failures_elsewhere
from apps.labs.forms import InvitationForm, LabForm, RoleForm, TokenForm
from apps.labs.links import invitations, one_use, renewals
from apps.labs.links.one_use import DAYS, LinkError, MailError, Maker
from apps.labs.middleware import SESSION_KEY, LabRequest
from apps.labs.models import AuditEvent, Invitation, LinkState, Member, Renewal, Role, Token

WHO_MAKES_LABS = {
    "owners": "Labs are made by people who own one. Ask an owner, or the server's administrator.",
    "everyone": "Labs are made by people who are signed in.",
    "command": "Labs are made by the server's administrator: ./manage.py create_lab.",
}


def _members_page(
    request: LabRequest, form: InvitationForm | None = None, lab_form: LabForm | None = None, status: int = 200
) -> HttpResponse:
    user: Any = request.user
    members = Member.objects.filter(lab=request.lab).select_related("user").order_by("user__email")
    proved = EmailAddress.objects.filter(user=OuterRef("user"), email__iexact=OuterRef("user__email"), verified=True)
    context: dict[str, object] = {
        "members": members.annotate(is_proved=Exists(proved)),
        "form": form or InvitationForm(),
        "lab_form": lab_form or LabForm(initial={"name": request.lab.name}),
        "roles": Role.choices,
        "may_make_labs": services.may_make_labs(user),
        "has_mail": has_mail(),
    }
    if request.member.covers(Role.OWNER):
        context["invitations"] = Invitation.objects.filter(lab=request.lab, state=LinkState.OPEN).order_by("-id")
        context["renewals"] = Renewal.objects.in_force().filter(lab=request.lab).select_related("user").order_by("-id")
    return render(request, "labs/members.html", context, status=status)


@member_required()
def lab(request: LabRequest) -> HttpResponse:
    return _members_page(request)


def maker(request: LabRequest) -> Maker:
    """Return the signed-in person as the maker of a link."""
    user: Any = request.user
    return Maker(str(user), user=user)


@require_POST
@member_required(Role.OWNER)
def add_member(request: LabRequest) -> HttpResponse:
    """Invite somebody. Where no mail can be sent, the link is on the answer and nowhere else afterwards."""
    form = InvitationForm(request.POST)
    if not form.is_valid():
        return _members_page(request, form, status=422)
    try:
        invitation, secret = invitations.invite(
            request.lab, form.cleaned_data["email"], form.cleaned_data["role"], maker(request)
        )
        handed_over = invitations.hand_over(invitation, secret)
    except LinkError as error:
        form.add_error("email", str(error))
        return _members_page(request, form, status=503 if isinstance(error, MailError) else 422)
    context = {"invitation": invitation, "handed_over": handed_over, "days": DAYS}
    return _shown_once(request, "labs/member-added.html", context)


@require_POST
@member_required(Role.OWNER)
def revoke_invitation(request: LabRequest, pk: int) -> HttpResponse:
    return _revoke(request, get_object_or_404(Invitation, pk=pk, lab=request.lab))


@require_POST
@member_required(Role.OWNER)
def revoke_renewal(request: LabRequest, pk: int) -> HttpResponse:
    return _revoke(request, get_object_or_404(Renewal, pk=pk, lab=request.lab))


def _revoke(request: LabRequest, link: Invitation | Renewal) -> HttpResponse:
    subject = one_use.subject_of(link)
    with transaction.atomic():
        done = one_use.revoke(link, str(request.user))
    if done:
        messages.success(request, f"The link for {subject} no longer works.")
    else:
        messages.error(request, f"The link for {subject} had ended already: it was used, declined, revoked or too old.")
    return redirect("lab")


@require_POST
@member_required(Role.OWNER)
def renew_member(request: LabRequest, pk: int) -> HttpResponse:
    """Make a link by which a member sets a new password. Where no mail can be sent, it is on the answer, once."""
    member = get_object_or_404(Member.objects.select_related("user", "lab"), pk=pk, lab=request.lab)
    try:
        renewal, secret = renewals.renew(member, maker(request))
        handed_over = renewals.hand_over(renewal, secret)
    except LinkError as error:
        messages.error(request, str(error))
        return redirect("lab")
    context = {"renewal": renewal, "handed_over": handed_over, "days": DAYS}
    return _shown_once(request, "labs/renewal-made.html", context)


@require_POST
@member_required(Role.OWNER)
def change_role(request: LabRequest, pk: int) -> HttpResponse:
    member = get_object_or_404(Member.objects.select_related("user", "lab"), pk=pk, lab=request.lab)
    form = RoleForm(request.POST)
    if form.is_valid():
        try:
            services.change_role(member, form.cleaned_data["role"], str(request.user))
            messages.success(request, f"{member.user} is now {member.role}.")
        except services.LastOwnerError as error:
            messages.error(request, str(error))
        except Member.DoesNotExist:  # removed by another owner at the same moment
            messages.error(request, f"{member.user} is no longer a member.")
    return redirect("lab")


@require_POST
@member_required(Role.OWNER)
def remove_member(request: LabRequest, pk: int) -> HttpResponse:
    member = get_object_or_404(Member.objects.select_related("user", "lab"), pk=pk, lab=request.lab)
    try:
        services.remove_member(member, str(request.user))
        messages.success(request, f"{member.user} is no longer a member.")
    except services.LastOwnerError as error:
        messages.error(request, str(error))
    except Member.DoesNotExist:
        messages.error(request, f"{member.user} was no member any more.")
    return redirect("lab")


@require_POST
@member_required(Role.OWNER)
def rename(request: LabRequest) -> HttpResponse:
    form = LabForm(request.POST)
    if form.is_valid():
        try:
            renamed = services.rename_lab(request.lab, form.cleaned_data["name"], str(request.user))
            messages.success(request, f"The lab is now called {renamed}. Its short name stays {renamed.slug}.")
            return redirect("lab")
        except services.LabNameError as error:
            form.add_error("name", str(error))
    return _members_page(request, lab_form=form, status=422)


@require_POST
@member_required()
def leave(request: LabRequest) -> HttpResponse:
    """Leave the lab that the form names, so that somebody who switched labs meanwhile leaves nothing by mistake."""
    if request.POST.get("lab") != str(request.lab.pk):
        messages.error(request, f"You are in {request.lab} now; look again which lab you want to leave.")
        return redirect("lab")
    try:
        services.leave_lab(request.member)
    except services.LastOwnerError as error:
        messages.error(request, str(error))
        return redirect("lab")
    except Member.DoesNotExist:
        pass
    request.session.pop(SESSION_KEY, None)
    messages.success(request, f"You have left {request.lab}.")
    return redirect("overview")


@login_required
def new_lab(request: HttpRequest) -> HttpResponse:
    """Make a lab and be its owner; who may is a setting (SPINDLE_LABS_BY)."""
    user: Any = request.user
    if not services.may_make_labs(user):
        raise PermissionDenied(WHO_MAKES_LABS[settings.LABS_BY])
    form = LabForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            made = services.create_lab(form.cleaned_data["name"], str(user), user)
        except services.LabNameError as error:
            form.add_error("name", str(error))
        else:
            request.session[SESSION_KEY] = made.pk
            messages.success(request, f"{made} is there, and you are its owner.")
            return redirect("lab")
    return render(request, "labs/new-lab.html", {"form": form}, status=422 if form.is_bound else 200)


def _tokens_page(request: LabRequest, form: TokenForm, status: int = 200) -> HttpResponse:
    lab_tokens = Token.objects.filter(lab=request.lab).order_by("revoked_at", "-id")
    return render(request, "labs/tokens.html", {"tokens": lab_tokens, "form": form}, status=status)


@member_required(Role.OWNER)
def tokens(request: LabRequest) -> HttpResponse:
    """GET lists them; POST makes one, whose secret is on the answer, and nowhere else afterwards."""
    if request.method != "POST":
        return _tokens_page(request, TokenForm())
    form = TokenForm(request.POST)
    if not form.is_valid():
        return _tokens_page(request, form, status=422)
    data = form.cleaned_data
    maker: Any = request.user
    token, secret = Token.objects.issue(request.lab, data["scope"], data["name"], data["days"], maker=maker)
    AuditEvent.objects.record(
        request.lab.pk, "token created", token.name, actor=str(maker), scope=token.scope, maker=token.made_by
    )
    return _shown_once(request, "labs/token-made.html", {"token": token, "secret": secret})


def _shown_once(request: LabRequest, template: str, context: dict[str, object]) -> HttpResponse:
    response = render(request, template, context)
    response["Cache-Control"] = "no-store"
    return response


@require_POST
@member_required(Role.OWNER)
def revoke_token(request: LabRequest, pk: int) -> HttpResponse:
    token = get_object_or_404(Token, pk=pk, lab=request.lab)
    if Token.objects.filter(pk=pk).end(f"revoked by {request.user}"):
        AuditEvent.objects.record(
            request.lab.pk, "token revoked", token.name, actor=str(request.user), maker=token.made_by or "unknown"
        )
        messages.success(request, f"The token “{token.name}” no longer opens anything.")
    return redirect("tokens")


@member_required(Role.OWNER)
def audit(request: LabRequest) -> HttpResponse:
    page = Paginator(AuditEvent.objects.filter(lab=request.lab), 50).get_page(request.GET.get("page"))
    return render(request, "labs/audit.html", {"page": page, "elsewhere": failures_elsewhere(request.lab)})


@require_POST
@member_required()
def switch(request: LabRequest) -> HttpResponse:
    """Switch to another lab of the account; the middleware checks the membership at every request."""
    wanted = request.POST.get("lab", "")
    member = get_object_or_404(Member, user_id=request.user.pk, lab_id=whole_number(wanted) or 0)
    request.session[SESSION_KEY] = member.lab_id
    return redirect("overview")

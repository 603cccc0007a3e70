"""Views behind one-use links, open to whoever holds the link. Opening one changes nothing; accepting is a POST.

The code comes in a POST once; the session then keeps its hash, so that the link survives the sign-in.
"""

from typing import Any

from django.contrib import messages
from django.contrib.auth import login, logout
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django.utils.http import urlencode
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe

from apps.core.mail import has_mail
from apps.labs.audit import client_network
from apps.labs.forms import CodeForm, NewAccountForm, PasswordForm
from apps.labs.isolation import all_labs
from apps.labs.links import invitations, one_use, renewals
from apps.labs.links.invitations import AddressTakenError, AlreadyMemberError, TooManyTriesError
from apps.labs.links.one_use import EndedError
from apps.labs.links.renewals import SeveralLabsError
from apps.labs.middleware import SESSION_KEY
from apps.labs.models import Invitation, Member, Renewal, User
from apps.labs.views.accounts import wait

INVITATION_KEY, RENEWAL_KEY = "invitation", "renewal"
BACKEND = "allauth.account.auth_backends.AuthenticationBackend"


def _page(request: HttpRequest, template: str, context: dict[str, object], status: int = 200) -> HttpResponse:
    response = render(request, template, context, status=status)
    add_never_cache_headers(response)
    return response


def _ended(request: HttpRequest, key: str, error: EndedError) -> HttpResponse:
    request.session.pop(key, None)
    return _page(
        request, "labs/link.html", {"form": CodeForm(), "problem": str(error), "is_renewal": key == RENEWAL_KEY}, 410
    )


def _opened(request: HttpRequest, key: str, model: type[Any], page: str) -> HttpResponse:
    """Take the code from the form, and remember the link's hash in the session if it works."""
    form = CodeForm(request.POST)
    if not form.is_valid():
        return _page(request, "labs/link.html", {"form": form, "is_renewal": key == RENEWAL_KEY}, 422)
    sha256 = one_use.hash_of(form.cleaned_data["code"])
    try:
        one_use.find(model, sha256)
    except EndedError as error:
        return _ended(request, key, error)
    request.session[key] = sha256
    return redirect(page)


@sensitive_post_parameters("code")
def invitation(request: HttpRequest) -> HttpResponse:
    """GET shows the opened invitation, or a field for the code; POST opens one."""
    if request.method == "POST":
        return _opened(request, INVITATION_KEY, Invitation, "invitation")
    if INVITATION_KEY not in request.session:
        return _page(request, "labs/link.html", {"form": CodeForm(), "is_renewal": False})
    try:
        result = _of_session(request)
    except EndedError as error:
        return _ended(request, INVITATION_KEY, error)
    return _invitation_page(request, result, NewAccountForm(result))


def _of_session(request: HttpRequest) -> Invitation:
    result: Invitation = one_use.find(Invitation, str(request.session.get(INVITATION_KEY, "")))
    return result


def _invitation_page(request: HttpRequest, result: Invitation, form: NewAccountForm, status: int = 200) -> HttpResponse:
    user = request.user
    is_member = user.is_authenticated and Member.objects.filter(lab=result.lab, user=user).exists()
    sign_in = f"{reverse('account_login')}?{urlencode({'next': reverse('invitation')})}"
    context = {
        "invitation": result, "form": form, "is_member": is_member, "sign_in": sign_in, "has_mail": has_mail(),
        "is_other": user.is_authenticated and user.email != result.email,
    }  # fmt: skip
    return _page(request, "labs/invitation.html", context, status)


@require_POST
def accept(request: HttpRequest) -> HttpResponse:
    """Let the signed-in account join, whatever its address; the page asked whether it is the right account."""
    if not isinstance(request.user, User):
        return redirect("invitation")
    try:
        member = invitations.accept(_of_session(request), request.user, by_link=True)
    except EndedError as error:
        return _ended(request, INVITATION_KEY, error)
    except AlreadyMemberError as error:
        messages.error(request, str(error))
        return redirect("invitation")
    return _welcome(request, member)


@sensitive_post_parameters("password", "again")
@require_POST
def accept_as_new(request: HttpRequest) -> HttpResponse:
    """Create an account with the password of the form, and with its address where the link was not mailed, and let it join."""
    if request.user.is_authenticated:
        return redirect("invitation")
    try:
        result = _of_session(request)
        form = NewAccountForm(result, request.POST)
        if not form.is_valid():
            return _invitation_page(request, result, form, 422)
        member = invitations.accept_as_new(result, form.address, form.cleaned_data["password"], client_network(request))
    except EndedError as error:
        return _ended(request, INVITATION_KEY, error)
    except AddressTakenError as error:
        form.add_error("password" if result.by_mail else "email", str(error))
        return _invitation_page(request, result, form, 409)
    except TooManyTriesError as error:
        form.add_error("email", str(error))
        return wait(_invitation_page(request, result, form, 429), error.seconds)
    login(request, member.user, backend=BACKEND)
    return _welcome(request, member)


def _welcome(request: HttpRequest, member: Member) -> HttpResponse:
    request.session.pop(INVITATION_KEY, None)
    request.session[SESSION_KEY] = member.lab_id
    messages.success(request, f"You are now {member.role} in {member.lab}.")
    return redirect("overview")


@require_POST
def decline(request: HttpRequest) -> HttpResponse:
    try:
        result = _of_session(request)
        invitations.decline(result, _name_of(request, "who holds the link"))
    except EndedError as error:
        return _ended(request, INVITATION_KEY, error)
    request.session.pop(INVITATION_KEY, None)
    return _page(request, "labs/link.html", {"form": None, "declined": result.lab, "is_renewal": False})


def _name_of(request: HttpRequest, otherwise: str) -> str:
    return request.user.email if isinstance(request.user, User) else otherwise


@require_POST
def use_another_account(request: HttpRequest) -> HttpResponse:
    """Sign out, and go on with the same invitation."""
    sha256 = request.session.get(INVITATION_KEY)
    logout(request)
    if sha256:
        request.session[INVITATION_KEY] = sha256
    return redirect("invitation")


@require_safe
@login_required
def my_invitations(request: HttpRequest) -> HttpResponse:
    """Show the invitations that the account may accept because it proved its address."""
    user: Any = request.user
    context = {"invitations": invitations.open_for(user), "is_proved": invitations.has_proved(user)}
    return _page(request, "labs/my-invitations.html", context | {"has_mail": has_mail()})


@require_POST
@login_required
def answer(request: HttpRequest, pk: int) -> HttpResponse:
    """Accept or decline without a link, where the account has proved the invited address."""
    user: Any = request.user
    with all_labs():
        result = get_object_or_404(Invitation.objects.select_related("lab"), pk=pk)
    if result.email not in invitations.proved_addresses(user):
        return _page(request, "404.html", {}, 404)
    try:
        if "decline" in request.POST:
            invitations.decline(result, user.email)
            messages.success(request, f"You have declined the invitation to {result.lab}.")
            return redirect("my-invitations")
        return _welcome(request, invitations.accept(result, user, by_link=False))
    except (EndedError, AlreadyMemberError) as error:
        messages.error(request, str(error))
        return redirect("my-invitations")


@sensitive_post_parameters("code")
def renewal(request: HttpRequest) -> HttpResponse:
    """GET shows the fields for a new password, or one for the code; POST opens a link."""
    if request.method == "POST":
        return _opened(request, RENEWAL_KEY, Renewal, "renewal")
    if RENEWAL_KEY not in request.session:
        return _page(request, "labs/link.html", {"form": CodeForm(), "is_renewal": True})
    try:
        result = _renewal_of_session(request)
    except EndedError as error:
        return _ended(request, RENEWAL_KEY, error)
    return _page(request, "labs/renewal.html", {"renewal": result, "form": PasswordForm(result.user.email)})


def _renewal_of_session(request: HttpRequest) -> Renewal:
    result: Renewal = one_use.find(Renewal, str(request.session.get(RENEWAL_KEY, "")))
    return result


@sensitive_post_parameters("password", "again")
@require_POST
def renew(request: HttpRequest) -> HttpResponse:
    """Set the password that the person has chosen; sign-in is the next step, by the usual door."""
    try:
        result = _renewal_of_session(request)
        form = PasswordForm(result.user.email, request.POST)
        if not form.is_valid():
            return _page(request, "labs/renewal.html", {"renewal": result, "form": form}, 422)
        renewals.set_password(result, form.cleaned_data["password"])
    except EndedError as error:
        return _ended(request, RENEWAL_KEY, error)
    except SeveralLabsError as error:
        form.add_error("password", str(error))
        return _page(request, "labs/renewal.html", {"renewal": result, "form": form}, 409)
    logout(request)
    messages.success(request, "Your new password is set. Sign in with it.")
    return redirect("account_login")

"""Views of one's own account: sign-in, password and address."""

from typing import Any

from allauth.account import views as allauth
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache

from apps.core.mail import has_mail
from apps.core.task_queue import publish
from apps.labs import addresses, passwords, tasks, throttle
from apps.labs.accounts import seconds_to_wait
from apps.labs.audit import client_network
from apps.labs.forms import AddressForm
from apps.labs.links.invitations import has_proved

BROKER_AWAY = "The mail could not be handed on just now. Try again in a minute."


def wait(response: HttpResponse, seconds: int) -> HttpResponse:
    """Answer 429 and when to come back, if there is something to wait for."""
    if seconds:
        response.status_code = 429
        response.headers["Retry-After"] = str(seconds)
    return response


class SignInView(allauth.LoginView):  # type: ignore[misc]
    def form_invalid(self, form: Any) -> HttpResponse:
        return wait(super().form_invalid(form), seconds_to_wait(form))


class PasswordChangeView(allauth.PasswordChangeView):  # type: ignore[misc]
    def form_invalid(self, form: Any) -> HttpResponse:
        return wait(super().form_invalid(form), seconds_to_wait(form))


class ForgottenPasswordView(allauth.PasswordResetView):  # type: ignore[misc]
    """Ask for a link. The answer is the same for every address; where no mail can be sent it says so and nothing is made."""

    def get_context_data(self, **kwargs: Any) -> dict[str, object]:
        return {**super().get_context_data(**kwargs), "has_mail": has_mail()}

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not has_mail():
            refused: HttpResponse = self.render_to_response(self.get_context_data(), status=409)
            return refused
        return super().post(request, *args, **kwargs)  # type: ignore[no-any-return]

    def form_valid(self, form: Any) -> HttpResponse:
        if seconds := passwords.may_ask_for_reset(client_network(self.request)):
            form.add_error(None, f"Too many requests from your network. Try again in {throttle.in_words(seconds)}.")
            return wait(self.form_invalid(form), seconds)
        if not publish(tasks.send_reset_mail, form.cleaned_data["email"]):
            form.add_error(None, BROKER_AWAY)
            away: HttpResponse = self.render_to_response(self.get_context_data(form=form), status=503)
            return away
        return redirect("account_reset_password_done")


@never_cache
@login_required
def address(request: HttpRequest) -> HttpResponse:
    """Show the account's address; on POST, ask for the password and send a link to the new address."""
    person: Any = request.user
    is_proved = has_proved(person)
    form = AddressForm(person, is_proved, request.POST or None)
    status = 200
    if request.method == "POST" and not has_mail():
        form, status = AddressForm(person, is_proved), 409
    elif request.method == "POST":
        status = 422
        if form.is_valid():
            new = form.cleaned_data["email"]
            if not publish(tasks.send_address_proof, person.pk, new):
                form.add_error(None, BROKER_AWAY)
                status = 503
            else:
                messages.success(request, f"A mail is on its way to {new}. Nothing changes until you open its link.")
                return redirect("account_email")
    context = {"form": form, "has_mail": has_mail(), "is_proved": is_proved}
    response = render(request, "account/email.html", context, status=status)
    return wait(response, seconds_to_wait(form) if form.is_bound else 0)


@never_cache
@login_required
def confirm_address(request: HttpRequest, key: str) -> HttpResponse:
    """Confirm an address by the link in a mail, after sign-in and a click, because mail servers open links too."""
    person: Any = request.user
    try:
        new = addresses.address_of(person, key)
        if request.method == "POST":
            old = addresses.change_address(person, new, is_proved=True, request=request)
            person.email = new
            request.proved_person = person  # type: ignore[attr-defined]
            if old == new:
                messages.success(request, f"{new} is proved.")
            else:
                publish(tasks.send_address_notice, old, new)
                messages.success(request, f"Your address is {new} now. Sign in with it from here on.")
            return redirect("account_email")
    except addresses.AddressError as error:
        return render(request, "account/email-confirm.html", {"error": str(error)}, status=410)
    return render(request, "account/email-confirm.html", {"new": new})

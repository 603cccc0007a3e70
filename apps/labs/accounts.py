"""The adapter of django-allauth for sign-in; there is no open sign-up."""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.auth_backends import AuthenticationBackend
from allauth.account.forms import ChangePasswordForm, ResetPasswordForm
from django import forms
from django.contrib.auth import authenticate
from django.http import HttpRequest

from apps.core.mail import check_mail_address
from apps.labs import passwords, sign_in
from apps.labs.models import User


class ClosedSignup(DefaultAccountAdapter):  # type: ignore[misc]
    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def clean_email(self, email: str) -> str:
        """Refuse addresses that no mail can be sent to, before anything is looked up or sent."""
        check_mail_address(email)
        return str(super().clean_email(email))

    def authenticate(self, request: HttpRequest, **credentials: Any) -> User | None:
        """Look at a password if it may be looked at now. A closed account is answered as a wrong password is."""
        try:
            attempt = sign_in.begin(request, str(credentials.get("email", "")))
        except sign_in.TooManyAttemptsError as error:
            raise passwords.WaitError(str(error), error.seconds) from None
        user = authenticate(request, **credentials)
        AuthenticationBackend.unstash_authenticated_user()
        if isinstance(user, User):
            attempt.succeeded()
            return user
        attempt.failed()
        return None


class OwnPasswordForm(ChangePasswordForm):  # type: ignore[misc]
    """The change of one's password; guesses of the present one cost time, for whoever finds a browser open."""

    def clean_oldpassword(self) -> str:
        password = str(self.cleaned_data.get("oldpassword", ""))
        passwords.check_password(self.user, password)
        return password


class ForgottenPasswordForm(ResetPasswordForm):  # type: ignore[misc]
    """The address to which a link is sent. Whether it has an account is looked up by the worker, so that the time tells nobody."""

    def clean_email(self) -> str:
        check_mail_address(str(self.cleaned_data["email"]))
        return str(self.cleaned_data["email"]).lower()


def seconds_to_wait(form: forms.BaseForm) -> int:
    """Return for how long a form was refused because of too many tries; 0 if it was not."""
    errors = [error for field in form.errors.as_data().values() for error in field]
    return max((error.seconds for error in errors if isinstance(error, passwords.WaitError)), default=0)

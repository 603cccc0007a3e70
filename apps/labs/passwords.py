"""Passwords of people who are signed in, and links for those who have forgotten theirs."""

from allauth.account.forms import default_token_generator
from allauth.account.utils import user_pk_to_url_str
from allauth.core import context
from django import forms
from django.conf import settings
from django.core.mail import EmailMessage
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse

from apps.core.mail import has_mail, is_exact
from apps.labs import audit, throttle
from apps.labs.models import User
from apps.labs.throttle import ThrottleRule

PRESENT = ThrottleRule(free=5, longest=900)
PRESENT_OF_SESSION = ThrottleRule(free=50, longest=300)
RESET_FROM_NETWORK = ThrottleRule(free=20, longest=300)
RESET_OF_ADDRESS = ThrottleRule(free=3, longest=3600)


class WaitError(forms.ValidationError):
    """It has to wait for some seconds."""

    def __init__(self, text: str, seconds: int) -> None:
        super().__init__(text)
        self.seconds = seconds


class PasswordTrail:
    """A validator that Django tells of every new password, whatever page, link or command has set it; it refuses none."""

    def validate(self, password: str, user: User | None = None) -> None:
        """Accept it."""

    def password_changed(self, password: str, user: User | None = None) -> None:
        if user is not None:
            audit.record_account_event(user, "password changed")

    def get_help_text(self) -> str:
        return "A new password ends every other session of the account, and the change stands in the audit trail."


def check_password(user: User, password: str) -> None:
    """Look at the present password of somebody who is signed in.

    Wrong ones are counted for the account, the session and the network together, and stand in the trail: whoever guesses with a stolen session
    holds up neither the person's other sessions nor the person at another place. Guesses of one session from many networks are counted for the
    session as well; that holds up only networks from which this password was never given in this session.

    Raises:
        django.forms.ValidationError: it is wrong, or too many were.
    """
    network, session = audit.client_network(context.request), _session_of(context.request)
    own = throttle.key("present password", str(user.pk), session, network)
    wide = [] if throttle.has_succeeded(own) else [throttle.key("present password of session", str(user.pk), session)]
    if seconds := throttle.take({own: PRESENT, **dict.fromkeys(wide, PRESENT_OF_SESSION)}):
        audit.record_wrong_password(user, network, refused=True)
        raise WaitError(f"Too many wrong passwords. Try again in {throttle.in_words(seconds)}.", seconds)
    if not user.check_password(password):
        audit.record_wrong_password(user, network, refused=False)
        raise forms.ValidationError("This is not your present password.")
    throttle.give_back(wide, [own])


def _session_of(request: HttpRequest | None) -> str:
    return str(request.session.session_key or "") if request is not None else ""


def may_ask_for_reset(network: str) -> int:
    """Count one wish for a reset link. Return 0, or the seconds to wait, which depend on the network alone and never on the address."""
    return throttle.take({throttle.key("reset from", network): RESET_FROM_NETWORK})


def send_reset_mail(address: str) -> bool:
    """Mail a link to the account of an address, if there is one and it did not get several just now. Nothing is sent to other addresses."""
    user = User.objects.filter(email=address.strip().lower(), is_active=True).first()
    if user is None or not has_mail() or not is_exact(user.email):
        return False
    if throttle.take({throttle.key("reset of", user.email): RESET_OF_ADDRESS}):
        return False
    path = reverse(
        "account_reset_password_from_key",
        kwargs={"uidb36": user_pk_to_url_str(user), "key": default_token_generator.make_token(user)},
    )
    words = {"link": settings.SITE_URL + path, "address": user.email, "site": settings.SITE_URL}
    EmailMessage("Spindle: a new password", render_to_string("account/mail/reset.txt", words), to=[user.email]).send()
    return True

"""The e-mail address of an account, changed only after the new mailbox is proved, or on the server's command line."""

from typing import Any

from allauth.account.models import EmailAddress
from django.conf import settings
from django.core import signing
from django.core.mail import EmailMessage
from django.db import transaction
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.crypto import salted_hmac

from apps.core.mail import has_mail, is_exact
from apps.labs import audit, throttle
from apps.labs.models import User
from apps.labs.throttle import ThrottleRule

SALT = "spindle.address"
DAY = 86_400  # seconds for which a link works
MAILS = ThrottleRule(free=5, longest=3600)


class AddressError(ValueError):
    """The address cannot become this account's; the sentence says why."""


def may_ask(user: User) -> int:
    """Count one wish for another address. Return 0, or the seconds to wait."""
    return throttle.take({throttle.key("new address", str(user.pk)): MAILS})


def send_proof(user_pk: int, address: str) -> bool:
    """Mail a link to the new address, with which its holder proves that mail arrives there.

    Where it is an account's already, its holder is told that nothing was changed: whoever asked sees no difference.
    """
    user = User.objects.filter(pk=user_pk, is_active=True).first()
    if user is None or not has_mail() or not is_exact(address):
        return False
    if throttle.take({throttle.key("proof to", address): MAILS}):
        return False
    words = {"old": user.email, "new": address, "site": settings.SITE_URL}
    if _is_taken(user, address):
        text = render_to_string("account/mail/address-taken.txt", words)
        EmailMessage("Spindle: your address was named", text, to=[address]).send()
        return True
    link = settings.SITE_URL + reverse("account_confirm_address", args=[_key(user, address)])
    text = render_to_string("account/mail/address-proof.txt", {**words, "link": link})
    EmailMessage("Spindle: confirm your new address", text, to=[address]).send()
    return True


def send_notice(old: str, new: str) -> bool:
    """Tell the former mailbox that the account has another address now."""
    if not has_mail():
        return False
    words = {"old": old, "new": new, "site": settings.SITE_URL}
    text = render_to_string("account/mail/address-changed.txt", words)
    EmailMessage("Spindle: your account has another address", text, to=[old]).send()
    return True


def address_of(user: User, key: str) -> str:
    """Return the address that a link proves.

    Raises:
        AddressError: the link is too old, used, altered, or another account's.
    """
    try:
        pk, old, new, state = signing.loads(key, salt=SALT, max_age=DAY)
    except (signing.BadSignature, ValueError, TypeError):
        raise AddressError("This link is incomplete, or older than a day. Ask for a new one.") from None
    if pk != user.pk:
        raise AddressError("This link belongs to another account. Sign in to that one and open it again.")
    if old != user.email or state != _state(user):
        raise AddressError("This link was used already, or the account has changed since. Ask for a new one.")
    return str(new)


@transaction.atomic
def change_address(user: User, address: str, *, is_proved: bool, request: HttpRequest | None = None) -> str:
    """Make an address the account's only one, write it down, and return the former one. Its own one is noted as proved, and stays.

    Raises:
        AddressError: another account has it.
    """
    user, old = User.objects.select_for_update().get(email=user.email), user.email
    if _is_taken(user, address):
        raise AddressError(f"{address} is the address of another account.")
    user.email = address
    user.save(update_fields=["email"])
    prove_address(user)
    if not is_proved:
        EmailAddress.objects.filter(user=user).update(verified=False)
    if address == old:
        audit.record_account_event(user, "address proved", request=request)
    else:
        audit.record_account_event(user, "address changed", request=request, before=old, after=address)
    return old


def prove_address(user: User) -> None:
    """Note that mail to the account's address reaches the person. What others have noted of this address, or of the account, is void.

    An address from former days that mail does not reach as it stands is not proved by anything: the mail went elsewhere.
    """
    EmailAddress.objects.filter(user=user).exclude(email=user.email).delete()
    EmailAddress.objects.filter(email=user.email).exclude(user=user).delete()
    EmailAddress.objects.update_or_create(
        user=user, email=user.email, defaults={"verified": is_exact(user.email), "primary": True}
    )


def proved_by_reset(request: HttpRequest, user: User, **_: Any) -> None:
    """Receive allauth's word that a password was set by a link, which was mailed to the account's address."""
    prove_address(user)
    request.proved_person = user  # type: ignore[attr-defined]


def _is_taken(user: User, address: str) -> bool:
    others = EmailAddress.objects.filter(email=address, verified=True).exclude(user=user)
    return User.objects.filter(email=address).exclude(pk=user.pk).exists() or others.exists()


def _key(user: User, address: str) -> str:
    return signing.dumps([user.pk, user.email, address, _state(user)], salt=SALT)


def _state(user: User) -> str:
    """Return what changes with the password, so that a link does not outlive it."""
    return salted_hmac(SALT, user.password, algorithm="sha256").hexdigest()[:16]

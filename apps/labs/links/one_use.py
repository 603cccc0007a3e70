"""The common part of invitations and renewals: who makes a link, how long it is valid, delivery, and early ends.

The secret stands behind the # of the address. Browsers send that part to no server, so it is in no log, no proxy and no Referer; a script
on the page posts it. To open a link changes nothing: programs that look into mails and chats may do it as often as they like.
"""

import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.template.loader import render_to_string
from django.utils import timezone

from apps.core.mail import has_mail, is_exact
from apps.labs.isolation import all_labs
from apps.labs.models import (
    AuditEvent,
    Invitation,
    Lab,
    LinkState,
    Member,
    OneUseLink,
    Renewal,
    Role,
    Token,
    User,
    digest,
)

DAYS = 7
MOST_AN_HOUR = 60  # of one lab, so that nobody uses it to flood mailboxes
MOST_A_DAY = 5  # of one lab, to the same person


class LinkError(ValueError):
    """The link cannot be made or used; the sentence says why."""


class EndedError(LinkError):
    """The link does not work: used, declined, revoked, too old, never made, or its maker may make none any more."""

    def __init__(self) -> None:
        super().__init__(
            "This link does not work. It may have been used already, have been revoked, or be older than "
            f"{DAYS} days. Ask an owner of the lab for a new one."
        )


class TooManyError(LinkError):
    """So many links were made in a short time that mailboxes could be flooded."""


class MailError(LinkError):
    """The mail with a link could not be sent. The link is withdrawn, and nobody has seen it."""

    def __init__(self, address: str, error: Exception, command: str) -> None:
        super().__init__(
            f"The mail to {address} could not be sent ({type(error).__name__}), so the link was withdrawn; it is shown to nobody. "
            f"Try again later, or ask the server's administrator: {command}"
        )


@dataclass(frozen=True)
class Maker:
    """Who makes a link: a person, a lab's token, or the command line (neither)."""

    name: str
    user: User | None = None
    token: Token | None = None

    def fields(self) -> dict[str, Any]:
        return {"created_by": self.name[:200], "created_by_user": self.user, "created_by_token": self.token}


@dataclass(frozen=True)
class HandedOver:
    """What became of a new link: `link` is to be shown once, or None where it went to the mailbox."""

    link: str | None


def new_secret() -> str:
    """Return a secret of 256 random bits."""
    return secrets.token_urlsafe(32)


def last_day() -> Any:
    return timezone.now() + timedelta(days=DAYS)


def lock(lab_id: int) -> Lab:
    """Wait until nobody else changes the lab's people, and keep it so until the transaction ends."""
    return Lab.objects.select_for_update().get(pk=lab_id)


def check_rate(model: type[OneUseLink], lab: Lab, **same_person: Any) -> None:
    """Check how many links were made lately; ended ones count too, or one could revoke and make for ever.

    Raises:
        TooManyError: There were too many.
    """
    now, links = timezone.now(), model.objects.filter(lab=lab)
    if links.filter(created_at__gt=now - timedelta(hours=1)).count() >= MOST_AN_HOUR:
        raise TooManyError(f"{lab} has made {MOST_AN_HOUR} links within an hour, which is the limit. Go on in an hour.")
    if links.filter(created_at__gt=now - timedelta(days=1), **same_person).count() >= MOST_A_DAY:
        raise TooManyError(f"{MOST_A_DAY} links were made for this person within a day, which is the limit.")


def find(model: type[OneUseLink], sha256: str) -> Any:
    """Return the link with this hash if it may be used now, else raise `EndedError`; the same for unknown, used and revoked ones."""
    with all_labs():
        link = model.objects.find(sha256)
    if link is None or not link.is_in_force or not maker_may_still(link):
        raise EndedError
    return link


def maker_may_still(link: OneUseLink) -> bool:
    """Return False when the person who made the link is no owner any more, or its token was revoked."""
    with all_labs():
        if link.created_by_token_id:
            return bool(Token.objects.filter(pk=link.created_by_token_id, revoked_at=None).exists())
    if link.created_by_user_id:
        return Member.objects.filter(lab_id=link.lab_id, user_id=link.created_by_user_id, role=Role.OWNER).exists()
    return True


def revoke(link: OneUseLink, who: str, reason: str = "") -> bool:
    """End the link and write it down. Return False when it had ended already."""
    if not type(link).objects.end(link.pk, LinkState.REVOKED):
        return False
    act = "invitation revoked" if isinstance(link, Invitation) else "renewal link revoked"
    AuditEvent.objects.record(link.lab_id, act, subject_of(link), actor=who, **({"reason": reason} if reason else {}))
    return True


def subject_of(link: Any) -> str:
    return str(link.email if isinstance(link, Invitation) else link.user.email)


def end_links_of(lab_id: int, user: User, who: str) -> None:
    """Revoke what a person made, and what was made for them, when they are no owner or no member any more."""
    for model in (Invitation, Renewal):
        for link in model.objects.in_force().filter(lab_id=lab_id, created_by_user=user):
            revoke(link, who, f"{user} is no owner any more")


def address_of(page: str, secret: str) -> str:
    """Return the whole link: the page's address, and behind # the secret."""
    return f"{settings.SITE_URL}{page}#{secret}"


def hand_over(link: Any, secret: str, page: str, template: str, command: str) -> HandedOver:
    """Send the link to the mailbox of its address, or return it to be shown once where this server sends no mail at all.

    `by_mail` is set only after the mail server took the mail: a link that was shown to anybody proves no address.

    Raises:
        MailError: the mail could not be sent. The link is revoked; `command` is what the administrator can run instead.
    """
    address = address_of(page, secret)
    if not has_mail():
        return HandedOver(address)
    context = {"link": link, "address": address, "site": settings.SITE_URL, "days": DAYS}
    subject = f"{settings.SITE_URL}: {link.lab}"
    person = subject_of(link)
    try:
        if not is_exact(person):
            raise ValueError
        EmailMessage(subject, render_to_string(template, context), to=[person]).send()
    except (
        OSError,
        ValueError,
    ) as error:  # SMTPException is an OSError; an address that cannot be written is a ValueError
        with transaction.atomic():
            revoke(link, link.created_by, "the mail could not be sent")
        raise MailError(person, error, command) from None
    type(link).objects.filter(pk=link.pk).update(by_mail=True)
    return HandedOver(None)


def hash_of(secret: str) -> str:
    return digest(secret.strip())

"""One try at one delivery, with tries that are counted in the row."""

import logging
import time
from smtplib import SMTPException

from django.conf import settings
from django.core.mail import EmailMessage

from apps.comparison.trends.destinations import MOST_TRIES, Delivery, Kind
from apps.comparison.trends.notifying import letter, subject
from apps.comparison.trends.safe_address import RefusedAddressError
from apps.comparison.trends.webhook import WebhookError, post

log = logging.getLogger(__name__)


def deliver(delivery: Delivery) -> str:
    """Claim, try, and write down how it went. A refused address is given up at once: trying again changes nothing."""
    if not delivery.claim():
        return "nothing to do"
    if delivery.tries > MOST_TRIES:
        delivery.failed("Every try was cut short.", for_good=True)
        return "given up"
    if not delivery.destination.is_active:
        delivery.failed("The destination is switched off.", for_good=True)
        return "switched off"
    try:
        delivery.arrived(_carry(delivery))
    except RefusedAddressError as error:
        delivery.failed(f"refused: {error}", for_good=True)
        return "refused"
    except (WebhookError, SMTPException, OSError) as error:
        log.warning("delivery %s, try %s: %s", delivery.pk, delivery.tries, error)
        delivery.failed(str(error) or type(error).__name__)
        return "failed"
    return "sent"


def has_mail() -> bool:
    """Whether e-mail leaves this machine."""
    return not settings.EMAIL_BACKEND.rpartition(".backends.")[2].startswith(("console", "dummy", "filebased"))


def _carry(delivery: Delivery) -> str:
    to = delivery.destination
    if to.kind == Kind.EMAIL:
        message = EmailMessage(subject(delivery.payload), letter(delivery.payload), to=[to.address])
        message.send()
        return "handed to the mail server" if has_mail() else "only written to the log: no mail server is set"
    return post(
        to.address,
        delivery.payload,
        secret=to.secret,
        delivery=delivery.pk,
        at=int(time.time()),
        private=settings.WEBHOOK_PRIVATE,
    )

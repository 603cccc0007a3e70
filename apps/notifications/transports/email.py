"""A notification as an e-mail."""

from typing import TYPE_CHECKING

from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage

from apps.core.mail import check_mail_address, has_mail
from apps.notifications import messages

if TYPE_CHECKING:
    from apps.notifications.models import Delivery

NAME, LABEL, HAS_SECRET = "email", "e-mail", False
ADDRESS = "an e-mail address"


def check_address(text: str) -> None:
    """Raise `ValidationError` where the text is no e-mail address."""
    try:
        check_mail_address(text)
    except ValidationError:
        raise ValidationError(f"found {text[:80]!r}, expected an e-mail address") from None


def send(delivery: "Delivery") -> str:
    """Hand the message to the mail server and return how that went, in words.

    Raises:
        SMTPException, OSError: The mail server refused the message or did not answer.
    """
    message = EmailMessage(
        messages.subject(delivery.payload), messages.text(delivery.payload), to=[delivery.destination.address]
    )
    message.send()
    return "handed to the mail server" if has_mail() else "only written to the log: no mail server is set"

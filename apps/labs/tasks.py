"""Celery tasks of accounts and labs: mails, and what is deleted when its time is over.

Those that send mails carry addresses and never links, which are made when the mail is sent.
"""

from smtplib import SMTPException

from celery import shared_task
from django.contrib.sessions.models import Session
from django.utils import timezone

from apps.labs import addresses, passwords
from apps.labs.isolation import all_labs
from apps.labs.services import delete_old_submissions

UNSENT = (OSError, SMTPException)  # tried again after 20, 40, 80 and 160 seconds


@shared_task(name="labs.send_reset_mail", autoretry_for=UNSENT, retry_backoff=20, max_retries=4)
def send_reset_mail(address: str) -> bool:
    """Mail a link for a new password, if the address has an account."""
    return passwords.send_reset_mail(address)


@shared_task(name="labs.send_address_proof", autoretry_for=UNSENT, retry_backoff=20, max_retries=4)
def send_address_proof(user: int, address: str) -> bool:
    """Mail a link to an address that is to become an account's."""
    return addresses.send_proof(user, address)


@shared_task(name="labs.send_address_notice", autoretry_for=UNSENT, retry_backoff=20, max_retries=4)
def send_address_notice(old: str, new: str) -> bool:
    """Tell a former address that it is one no more."""
    return addresses.send_notice(old, new)


@shared_task(name="labs.delete_old")
def delete_old() -> dict[str, int]:
    """Delete forms and answers to scripts that are not to be known any more, and sessions that have ended; every hour.

    Returns:
        How many rows of each were deleted.
    """
    now = timezone.now()
    with all_labs():
        submissions = delete_old_submissions(now)
    sessions = Session.objects.filter(expire_date__lt=now).delete()[0]
    return {"submissions": submissions, "sessions": sessions}

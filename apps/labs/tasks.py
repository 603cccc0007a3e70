"""Celery tasks that send mails of accounts. They carry addresses and never links, which are made when the mail is sent."""

from smtplib import SMTPException

from celery import shared_task

from apps.labs import addresses, passwords

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

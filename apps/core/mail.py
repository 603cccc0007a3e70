"""E-mail: whether this server can send it, and the check of an address that somebody typed."""

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email


def has_mail() -> bool:
    """Return True when e-mail leaves this machine; other backends would write it into a log or a file."""
    return not settings.EMAIL_BACKEND.rpartition(".backends.")[2].startswith(("console", "dummy", "filebased"))


LONGEST = 254  # of the column, and of SMTP


def check_mail_address(text: str) -> None:
    """Refuse what no mail can be sent to exactly as it stands. Call it before anything is put into lower case: `K` (Kelvin) becomes `k` by that.

    Refused are no address, one that is too long, a part before the @ that is not ASCII, and a domain that DNS has no spelling for, or that is
    mapped on the way to another one (IDNA 2003: `ß` to `ss`): a mail would reach somebody else, who would seem to have proved this address.

    Raises:
        ValidationError: with what was found and expected.
    """
    expected = "expected an e-mail address such as name@example.org"
    if len(text) > LONGEST:
        raise ValidationError(f"found {len(text)} characters, {expected}, of at most {LONGEST}")
    name, _, domain = text.rpartition("@")
    if not name.isascii():
        raise ValidationError(f"found {text[:80]!r}, {expected}: before the @ only ASCII characters")
    try:
        validate_email(text)
        sent_to = domain.strip("[]").encode("idna").decode("idna" if not domain.isascii() else "ascii")
    except (ValidationError, UnicodeError):
        raise ValidationError(f"found {text[:80]!r}, {expected}") from None
    if not domain.isascii() and sent_to != _ascii_lower(domain):
        raise ValidationError(
            f"found {text[:80]!r}, which mail servers take for {name}@{sent_to}; {expected}, with a domain as DNS has it"
        )


def is_exact(text: str) -> bool:
    """Return whether mail to this address reaches this address: rows from before `check_mail_address` may hold others."""
    try:
        check_mail_address(text)
    except ValidationError:
        return False
    return True


def _ascii_lower(text: str) -> str:
    return "".join(sign.lower() if sign.isascii() else sign for sign in text)

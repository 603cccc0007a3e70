"""The address of an account: one at a time, proved by its mailbox, and nobody else's."""

import re
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core.mail import EmailMessage
from django.core.management import call_command

from apps.labs.addresses import AddressError, address_of, change_address, prove_address, send_notice, send_proof
from apps.labs.isolation import all_labs
from apps.labs.models import AuditEvent, User
from tests.conftest import Cast

NEW = "new@example.org"


def addresses(user: User) -> list[tuple[str, bool, bool]]:
    rows = EmailAddress.objects.filter(user=user).order_by("email")
    return [(row.email, row.verified, row.primary) for row in rows]


def key_in(mail: EmailMessage) -> str:
    [key] = re.findall(r"email/confirm/(\S+?)/?\s", str(mail.body))
    return str(key)


@pytest.mark.parametrize("is_proved", [True, False])
def test_a_new_address_takes_the_place_of_all_former_ones(cast: Cast, is_proved: bool) -> None:
    for address in ("viewer@example.org", "older@example.org"):
        EmailAddress.objects.create(user=cast.viewer, email=address, verified=True, primary=False)
    EmailAddress.objects.create(user=cast.engineer, email="engineer@example.org", verified=True, primary=True)
    EmailAddress.objects.create(user=cast.engineer, email=NEW, verified=False, primary=False)
    assert change_address(cast.viewer, NEW, is_proved=is_proved) == "viewer@example.org"
    cast.viewer.refresh_from_db()
    assert cast.viewer.email == NEW
    assert addresses(cast.viewer) == [(NEW, is_proved, True)]
    assert addresses(cast.engineer) == [("engineer@example.org", True, True)], "a note without a proof is void"
    with all_labs():
        [event] = AuditEvent.objects.all()
    assert (event.lab, event.act, event.subject) == (cast.lab, "address changed", NEW)
    assert {name: event.detail[name] for name in ("before", "after")} == {"before": "viewer@example.org", "after": NEW}


def test_the_own_address_is_proved_and_stays(cast: Cast) -> None:
    assert change_address(cast.viewer, cast.viewer.email, is_proved=True) == "viewer@example.org"
    assert addresses(cast.viewer) == [("viewer@example.org", True, True)]
    with all_labs():
        assert [event.act for event in AuditEvent.objects.all()] == ["address proved"]


@pytest.mark.parametrize("is_the_accounts_own", [True, False])
def test_an_address_that_another_account_has_is_refused(cast: Cast, is_the_accounts_own: bool) -> None:
    taken = "engineer@example.org"
    if not is_the_accounts_own:
        taken = "second@example.org"
        EmailAddress.objects.create(user=cast.engineer, email=taken, verified=True, primary=False)
    with pytest.raises(AddressError, match="is the address of another account"):
        change_address(cast.viewer, taken, is_proved=True)
    cast.viewer.refresh_from_db()
    assert cast.viewer.email == "viewer@example.org"
    with all_labs():
        assert not AuditEvent.objects.exists()


def test_an_address_that_mail_does_not_reach_as_it_stands_is_not_proved(cast: Cast) -> None:
    User.objects.filter(pk=cast.viewer.pk).update(email="viewer@straße.example")
    cast.viewer.refresh_from_db()
    prove_address(cast.viewer)
    assert addresses(cast.viewer) == [("viewer@straße.example", False, True)]


def test_a_link_proves_the_address_that_it_was_mailed_to(cast: Cast, mailoutbox: list[EmailMessage]) -> None:
    assert send_proof(cast.viewer.pk, NEW)
    [mail] = mailoutbox
    assert mail.to == [NEW]
    key = key_in(mail)
    assert address_of(cast.viewer, key) == NEW
    with pytest.raises(AddressError, match="belongs to another account"):
        address_of(cast.engineer, key)
    with pytest.raises(AddressError, match="incomplete"):
        address_of(cast.viewer, key + "x")
    cast.viewer.set_password("another fine one")
    cast.viewer.save()
    with pytest.raises(AddressError, match="was used already, or the account has changed"):
        address_of(cast.viewer, key)


def test_a_link_is_good_once(cast: Cast, mailoutbox: list[EmailMessage]) -> None:
    send_proof(cast.viewer.pk, NEW)
    change_address(cast.viewer, NEW, is_proved=True)
    cast.viewer.refresh_from_db()
    with pytest.raises(AddressError, match="was used already"):
        address_of(cast.viewer, key_in(mailoutbox[0]))


def test_the_holder_of_a_taken_address_is_told_and_gets_no_link(cast: Cast, mailoutbox: list[EmailMessage]) -> None:
    assert send_proof(cast.viewer.pk, "engineer@example.org")
    [mail] = mailoutbox
    assert (mail.to, mail.subject) == (["engineer@example.org"], "Spindle: your address was named")
    assert "/confirm/" not in str(mail.body)


@pytest.mark.parametrize("who", ["nobody", "closed", "inexact"])
def test_no_proof_is_sent_for_what_cannot_become_an_accounts_address(
    cast: Cast, mailoutbox: list[EmailMessage], who: str
) -> None:
    if who == "closed":
        User.objects.filter(pk=cast.viewer.pk).update(is_active=False)
    pk = 0 if who == "nobody" else cast.viewer.pk
    assert not send_proof(pk, "new@straße.example" if who == "inexact" else NEW)
    assert mailoutbox == []


def test_one_mailbox_is_not_filled_with_proofs(cast: Cast, mailoutbox: list[EmailMessage]) -> None:
    sent = [send_proof(user.pk, NEW) for user in (cast.viewer, cast.engineer) * 5]
    assert sent == [True] * 5 + [False] * 5, "five, and then it waits"
    assert len(mailoutbox) == 5


def test_the_former_mailbox_is_told(mailoutbox: list[EmailMessage], settings: Any) -> None:
    assert send_notice("viewer@example.org", NEW)
    [mail] = mailoutbox
    assert mail.to == ["viewer@example.org"]
    assert NEW in str(mail.body)
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    assert not send_notice("viewer@example.org", NEW)


def test_the_command_line_changes_an_address_without_proving_it(cast: Cast) -> None:
    call_command("change_address", "viewer@example.org", NEW)
    cast.viewer.refresh_from_db()
    assert addresses(cast.viewer) == [(NEW, False, True)]
    with all_labs():
        [event] = AuditEvent.objects.all()
    assert (event.act, event.who) == ("address changed", "command line")

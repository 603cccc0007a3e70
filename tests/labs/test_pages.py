"""The lab's own pages: members and tokens, and that a lab never loses its last owner."""

import re
from smtplib import SMTPRecipientsRefused
from typing import Any
from unittest.mock import Mock

import pytest
from allauth.account.models import EmailAddress
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.labs.isolation import all_labs
from apps.labs.links.invitations import invite
from apps.labs.links.one_use import Maker
from apps.labs.models import AuditEvent, Invitation, Member, Renewal, Role, Token, User
from tests.conftest import PASSWORD

pytestmark = pytest.mark.django_db


@pytest.fixture
def no_mail(settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"


def _link(answer) -> str:
    [link] = re.findall(r'<code id="secret">([^<]+)</code>', answer.content.decode())
    assert answer["Cache-Control"] == "no-store"
    return link.partition("#")[2]


def test_a_new_member_chooses_the_password_by_a_link_that_is_shown_once(cast, sign_in, no_mail):
    code = _link(sign_in("owner").post(reverse("member-add"), {"email": "New@Example.org", "role": "engineer"}))
    assert code not in sign_in("owner").get(reverse("lab")).content.decode()
    browser = Client()
    browser.post(reverse("invitation"), {"code": code})
    form = {"email": "new@example.org", "password": "a fine new one", "again": "a fine new one"}
    browser.post(reverse("invitation-accept-as-new"), form)
    assert browser.get("/").status_code == 200
    member = Member.objects.get(user__email="new@example.org")
    assert member.role == Role.ENGINEER
    assert member.user.check_password("a fine new one")


def test_with_a_mail_server_the_link_goes_to_the_mailbox_alone_and_proves_it(cast, sign_in, mailoutbox):
    page = sign_in("owner").post(reverse("member-add"), {"email": "new@example.org", "role": "viewer"}).content.decode()
    assert 'id="secret"' not in page
    [mail] = mailoutbox
    assert mail.to == ["new@example.org"]
    [code] = re.findall(r"#(spi_\S+)", mail.body)
    assert code not in page
    browser = Client()
    browser.post(reverse("invitation"), {"code": code})
    browser.post(reverse("invitation-accept-as-new"), {"password": "a fine new one", "again": "a fine new one"})
    assert EmailAddress.objects.get(user__email="new@example.org").verified


def test_a_link_that_was_handed_over_proves_no_address(cast, sign_in, no_mail):
    code = _link(sign_in("owner").post(reverse("member-add"), {"email": "new@example.org", "role": "viewer"}))
    browser = Client()
    browser.post(reverse("invitation"), {"code": code})
    form = {"email": "new@example.org", "password": "a fine new one", "again": "a fine new one"}
    browser.post(reverse("invitation-accept-as-new"), form)
    assert not EmailAddress.objects.get(user__email="new@example.org").verified


def test_a_mail_server_that_refuses_is_told_and_nobody_sees_the_link(cast, sign_in, monkeypatch):
    monkeypatch.setattr("django.core.mail.EmailMessage.send", Mock(side_effect=SMTPRecipientsRefused({})))
    answer = sign_in("owner").post(reverse("member-add"), {"email": "new@example.org", "role": "viewer"})
    page = answer.content.decode()
    assert answer.status_code == 503
    assert "could not be sent" in page
    assert "./manage.py invite_member --lab" in page
    assert "spi_" not in page
    with all_labs():
        found = Invitation.objects.get()
    assert (found.by_mail, found.state) == (False, "revoked")


def test_a_renewal_whose_mail_is_refused_is_withdrawn(cast, sign_in, monkeypatch):
    monkeypatch.setattr("django.core.mail.EmailMessage.send", Mock(side_effect=SMTPRecipientsRefused({})))
    member = Member.objects.get(user=cast.viewer, lab=cast.lab)
    page = sign_in("owner").post(reverse("member-renew", args=[member.pk]), follow=True).content.decode()
    assert "could not be sent" in page
    assert "./manage.py changepassword viewer@example.org" in page
    assert "spr_" not in page
    with all_labs():
        assert Renewal.objects.get().state == "revoked"


def _proved(user) -> None:
    EmailAddress.objects.create(user=user, email=user.email, primary=True, verified=True)


def test_an_account_with_a_proved_address_accepts_without_a_link(cast, sign_in):
    _proved(cast.stranger)
    sign_in("owner").post(reverse("member-add"), {"email": "stranger@example.org", "role": "viewer"})
    with all_labs():
        pk = Invitation.objects.get().pk
    stranger = sign_in("stranger")
    assert "Storage lab" in stranger.get(reverse("my-invitations")).content.decode()
    stranger.post(reverse("invitation-answer", args=[pk]), {"accept": "1"})
    assert Member.objects.get(user=cast.stranger, lab=cast.lab).role == Role.VIEWER
    assert stranger.post(reverse("invitation-answer", args=[pk]), {"accept": "1"}).status_code == 302
    assert Member.objects.filter(user=cast.stranger, lab=cast.lab).count() == 1


def test_an_account_whose_address_is_not_proved_sees_and_accepts_nothing(cast, sign_in):
    sign_in("owner").post(reverse("member-add"), {"email": "stranger@example.org", "role": "viewer"})
    with all_labs():
        pk = Invitation.objects.get().pk
    stranger = sign_in("stranger")
    assert "Storage lab" not in stranger.get(reverse("my-invitations")).content.decode()
    assert stranger.post(reverse("invitation-answer", args=[pk]), {"accept": "1"}).status_code == 404
    assert not Member.objects.filter(user=cast.stranger, lab=cast.lab).exists()


@pytest.mark.parametrize("known", ["stranger@example.org", "nobody-here@example.org"])
def test_nothing_is_asked_about_accounts_when_somebody_is_invited(cast, known, no_mail):
    """The same statements for a known and an unknown address: nothing to tell them apart by, not even time."""
    with CaptureQueriesContext(connection) as asked:
        invite(cast.lab, known, Role.VIEWER, Maker("owner@example.org", user=cast.owner))
    statements = [
        query["sql"] for query in asked if "labs_user" in query["sql"] or "account_emailaddress" in query["sql"]
    ]
    assert len(statements) == 1  # is it a member of this lab, which the owner sees anyway
    assert "labs_member" in statements[0]


def _renewal(browser, member) -> str:
    return _link(browser.post(reverse("member-renew", args=[member.pk])))


def _set_password(code: str) -> Any:
    browser = Client()
    browser.post(reverse("renewal"), {"code": code})
    return browser.post(reverse("renewal-password"), {"password": "a fine new one", "again": "a fine new one"})


def test_a_renewal_link_sets_a_password_once_and_takes_the_proof_of_the_address(cast, sign_in, no_mail):
    _proved(cast.viewer)
    old = sign_in("viewer")
    code = _renewal(sign_in("owner"), Member.objects.get(user=cast.viewer))
    assert _set_password(code).status_code == 302
    cast.viewer.refresh_from_db()
    assert cast.viewer.check_password("a fine new one")
    assert not EmailAddress.objects.get(user=cast.viewer).verified
    assert old.get("/").status_code == 302
    assert _set_password(code).status_code == 410


def test_an_owner_of_one_lab_does_not_get_into_another_by_a_renewal(cast, sign_in, no_mail):
    code = _renewal(sign_in("owner"), Member.objects.get(user=cast.viewer))
    Member.objects.create(lab=cast.other_lab, user=cast.viewer, role=Role.OWNER)
    answer = _set_password(code)
    assert answer.status_code == 409
    cast.viewer.refresh_from_db()
    assert cast.viewer.check_password(PASSWORD)


def test_a_renewal_by_mail_works_whatever_labs_the_person_is_in(cast, sign_in, mailoutbox):
    Member.objects.create(lab=cast.other_lab, user=cast.viewer, role=Role.OWNER)
    page = sign_in("owner").post(reverse("member-renew", args=[Member.objects.get(user=cast.viewer, lab=cast.lab).pk]))
    [code] = re.findall(r"#(spr_\S+)", mailoutbox[0].body)
    assert code not in page.content.decode()
    assert _set_password(code).status_code == 302
    cast.viewer.refresh_from_db()
    assert cast.viewer.check_password("a fine new one")


@pytest.mark.parametrize(
    ("data", "sentence"),
    [({"email": "viewer@example.org", "role": "viewer"}, "is a member of"), ({"email": "x", "role": "viewer"},
    "valid email"),
     ({"email": "a@example.org", "role": "king"}, "not one of the available choices")],
)  # fmt: skip
def test_a_member_who_cannot_be_added_is_refused_in_words(cast, sign_in, data, sentence):
    answer = sign_in("owner").post(reverse("member-add"), data)
    assert answer.status_code == 422
    assert sentence in answer.content.decode()


def test_the_last_owner_is_never_removed_nor_made_less(cast, sign_in):
    owner, mine = sign_in("owner"), Member.objects.get(user=cast.owner, lab=cast.lab)
    for address, data in (
        (reverse("member-remove", args=[mine.pk]), {}),
        (reverse("member-role", args=[mine.pk]), {"role": "viewer"}),
    ):
        page = owner.post(address, data, follow=True).content.decode()
        assert "the only owner" in page
    mine.refresh_from_db()
    assert mine.role == Role.OWNER


def test_with_a_second_owner_the_first_may_go(cast, sign_in):
    owner = sign_in("owner")
    second = Member.objects.get(user=cast.engineer)
    owner.post(reverse("member-role", args=[second.pk]), {"role": "owner"})
    owner.post(reverse("member-remove", args=[Member.objects.get(user=cast.owner).pk]))
    assert not Member.objects.filter(user=cast.owner).exists()
    assert owner.get("/").status_code == 403
    assert User.objects.filter(pk=cast.owner.pk).exists()


@pytest.mark.parametrize("who", ["viewer", "engineer"])
def test_only_owners_change_members_and_tokens(cast, sign_in, who):
    browser, member = sign_in(who), Member.objects.get(user=cast.viewer)
    for address in [
        reverse("member-add"), reverse("member-role", args=[member.pk]), reverse("member-remove", args=[member.pk]),
        reverse("tokens"),
    ]:  # fmt: skip
        assert browser.post(address, {"role": "owner"}).status_code == 403, address
    assert "Remove" not in browser.get(reverse("lab")).content.decode()


def test_an_owner_of_another_lab_reaches_nobody_here(cast, sign_in, token):
    stranger, member = sign_in("stranger"), Member.objects.get(user=cast.viewer)
    token("read")
    with all_labs():
        pk = Token.objects.get().pk
    for address in [
        reverse("member-role", args=[member.pk]),
        reverse("member-remove", args=[member.pk]),
        reverse("token-revoke", args=[pk]),
    ]:
        assert stranger.post(address, {"role": "owner"}).status_code == 404, address


@pytest.mark.slow
def test_a_token_is_shown_once_works_and_is_revoked(cast, sign_in):
    owner = sign_in("owner")
    answer = owner.post(reverse("tokens"), {"name": "wiki <bot>", "scope": "read", "days": ""})
    [secret] = re.findall(r'<code id="secret">(spl_[^<]+)</code>', answer.content.decode())
    assert answer["Cache-Control"] == "no-store"
    assert secret not in owner.get(reverse("tokens")).content.decode()
    with all_labs():
        found = Token.objects.find(secret)
        assert found.name == "wiki <bot>"
        owner.post(reverse("token-revoke", args=[found.pk]))
        assert Token.objects.find(secret) is None
        assert set(AuditEvent.objects.values_list("act", flat=True)) == {"token created", "token revoked"}


def test_changes_need_the_forms_own_token(cast):
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(cast.owner, "allauth.account.auth_backends.AuthenticationBackend")
    assert browser.post(reverse("member-add"), {"email": "a@example.org", "role": "viewer"}).status_code == 403
    assert not User.objects.filter(email="a@example.org").exists()


@pytest.mark.parametrize("name", ["account_login", "account_logout", "account_change_password"])
def test_the_pages_of_sign_in_are_ours(cast, sign_in, name):
    browser = Client() if name == "account_login" else sign_in("viewer")
    page = browser.get(reverse(name)).content.decode()
    assert 'class="site-header"' in page
    assert "form-control" in page or name == "account_logout"


def test_nobody_signs_up_by_themselves(client, db):
    assert client.get("/accounts/signup/").status_code == 404

"""The lab's own pages: members and tokens, and that a lab never loses its last owner."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from apps.labs.isolation import all_labs
from apps.labs.models import AuditEvent, Member, Role, Token, User

pytestmark = pytest.mark.django_db


def test_a_new_members_first_password_is_shown_once_and_opens_the_door(cast, sign_in):
    answer = sign_in("owner").post(reverse("member-add"), {"email": "New@Example.org", "role": "engineer"})
    [password] = re.findall(r'<code id="secret">([^<]+)</code>', answer.content.decode())
    assert answer["Cache-Control"] == "no-store"
    assert password not in sign_in("owner").get(reverse("lab")).content.decode()
    browser = Client()
    browser.post(reverse("account_login"), {"login": "new@example.org", "password": password})
    assert browser.get("/").status_code == 200
    assert Member.objects.get(user__email="new@example.org").role == Role.ENGINEER


def test_a_person_with_an_account_keeps_the_password(cast, sign_in):
    page = (
        sign_in("owner")
        .post(reverse("member-add"), {"email": "stranger@example.org", "role": "viewer"})
        .content.decode()
    )
    assert "keeps its password" in page
    assert 'id="secret"' not in page


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
    page = client.get(reverse("account_signup")).content.decode()
    assert "<input" not in page.split("<main")[1].split("</main")[0]

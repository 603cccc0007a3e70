"""The audit trail of a lab: who did what to whom, as its owners read it, and what ends with a membership."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.labs import services
from apps.labs.audit import record_failed_sign_in, record_wrong_password
from apps.labs.isolation import all_labs, lab_scope
from apps.labs.links.invitations import invite
from apps.labs.links.one_use import Maker
from apps.labs.links.renewals import renew
from apps.labs.models import AuditEvent, Invitation, Lab, Member, Renewal, Role, Token, User
from tests.conftest import Cast

pytestmark = pytest.mark.django_db
SignIn = Callable[[str], Client]


@pytest.fixture
def owner(sign_in: SignIn, settings: Any) -> Client:
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"  # links are handed over
    return sign_in("owner")


@pytest.fixture(autouse=True)
def everywhere() -> Iterator[None]:
    with all_labs():
        yield


def member(cast: Cast, name: str) -> Member:
    found: Member = Member.objects.select_related("user", "lab").get(user=getattr(cast, name), lab=cast.lab)
    return found


def trail(lab: Lab) -> list[tuple[str, str, str, dict[str, Any]]]:
    """Return act, subject, actor and details, oldest first."""
    events = AuditEvent.objects.filter(lab=lab).order_by("pk")
    return [(event.act, event.subject, event.who, event.detail) for event in events]


def test_what_an_owner_does_to_members_and_tokens_is_written_down(cast: Cast, owner: Client) -> None:
    viewer = member(cast, "viewer")
    owner.post(reverse("member-role", args=[viewer.pk]), {"role": "engineer"})
    owner.post(reverse("member-remove", args=[viewer.pk]))
    owner.post(reverse("member-add"), {"email": "new@example.org", "role": "viewer"})
    owner.post(reverse("member-renew", args=[member(cast, "engineer").pk]))
    owner.post(reverse("lab-rename"), {"name": "Disk lab"})
    owner.post(reverse("tokens"), {"name": "wiki", "scope": "read", "days": ""})
    owner.post(reverse("token-revoke", args=[Token.objects.get().pk]))
    by = "owner@example.org"
    assert trail(cast.lab) == [
        ("role changed", "viewer@example.org", by, {"before": "viewer", "after": "engineer"}),
        ("member removed", "viewer@example.org", by, {"role": "engineer"}),
        ("member invited", "new@example.org", by, {"role": "viewer"}),
        ("renewal link made", "engineer@example.org", by, {}),
        ("lab renamed", "Disk lab", by, {"before": "Storage lab"}),
        ("token created", "wiki", by, {"scope": "read", "maker": by}),
        ("token revoked", "wiki", by, {"maker": by}),
    ]
    page = owner.get(reverse("audit")).content.decode()
    for text in ("role changed", "member removed", "lab renamed", "token revoked", "new@example.org"):
        assert text in page
    assert trail(cast.other_lab) == []
    assert page.index("token revoked") < page.index("role changed"), "the newest is first"


def test_what_changes_nothing_is_not_written_down(cast: Cast, owner: Client) -> None:
    owner.post(reverse("lab-rename"), {"name": " Storage  lab "})
    owner.post(reverse("member-remove", args=[member(cast, "owner").pk]))
    owner.post(reverse("member-role", args=[member(cast, "owner").pk]), {"role": "viewer"})
    owner.post(reverse("member-role", args=[member(cast, "viewer").pk]), {"role": "emperor"})
    assert trail(cast.lab) == []


def test_a_lab_that_is_made_and_given_up_says_by_whom(cast: Cast, owner: Client, settings: Any) -> None:
    settings.LABS_BY = "owners"
    owner.post(reverse("lab-new"), {"name": "Tape lab"})
    made = Lab.objects.get(name="Tape lab")
    assert Member.objects.get(lab=made).role == Role.OWNER
    owner.post(reverse("member-add"), {"email": "new@example.org", "role": "viewer"})
    owner.post(reverse("tokens"), {"name": "wiki", "scope": "read", "days": ""})
    owner.post(reverse("lab-leave"), {"lab": made.pk})
    by = "owner@example.org"
    events = trail(made)
    assert [event[:3] for event in events if event[0] in ("lab made", "member left", "lab given up")] == [
        ("lab made", "Tape lab", by), ("member left", by, by), ("lab given up", "Tape lab", by),
    ]  # fmt: skip
    made.refresh_from_db()
    assert made.name == f"Tape lab (given up, {made.pk})"
    assert not Member.objects.filter(lab=made).exists()
    assert not Invitation.objects.in_force().filter(lab=made).exists()
    assert not Token.objects.filter(lab=made, revoked_at=None).exists()


def test_a_lab_that_others_are_in_or_that_holds_something_is_left_and_stays(cast: Cast, sign_in: SignIn) -> None:
    sign_in("viewer").post(reverse("lab-leave"), {"lab": cast.lab.pk})
    assert trail(cast.lab) == [("member left", "viewer@example.org", "viewer@example.org", {"role": "viewer"})]
    cast.lab.refresh_from_db()
    assert cast.lab.name == "Storage lab"
    page = sign_in("owner").post(reverse("lab-leave"), {"lab": cast.lab.pk}, follow=True).content.decode()
    assert "the only owner" in page
    page = sign_in("engineer").post(reverse("lab-leave"), {"lab": cast.other_lab.pk}, follow=True).content.decode()
    assert "You are in Storage lab now" in page, "the form was of another lab"
    assert Member.objects.filter(lab=cast.lab).count() == 2


@pytest.mark.parametrize("is_removed", [True, False])
def test_with_a_membership_end_its_links_and_its_tokens(cast: Cast, is_removed: bool) -> None:
    leaver = member(cast, "engineer")
    leaver.role = Role.OWNER
    leaver.save()
    maker = Maker(cast.engineer.email, cast.engineer)
    with lab_scope(cast.lab.pk):
        invitation = invite(cast.lab, "new@example.org", Role.VIEWER, maker)[0]
        renewal = renew(leaver, Maker(cast.owner.email, cast.owner))[0]
        mine = Token.objects.issue(cast.lab, "run", "night", maker=cast.engineer)[0]
        others = Token.objects.issue(cast.lab, "read", "wiki", maker=cast.owner)[0]
    if is_removed:
        services.remove_member(leaver, "owner@example.org")
    else:
        services.leave_lab(leaver)
    assert not Member.objects.filter(lab=cast.lab, user=cast.engineer).exists()
    assert Invitation.objects.get(pk=invitation.pk).state == "revoked"
    assert Renewal.objects.get(pk=renewal.pk).state == "revoked"
    mine.refresh_from_db()
    others.refresh_from_db()
    assert mine.revoked_at
    assert mine.ended_because == "its maker, engineer@example.org, is no longer a member"
    assert (others.revoked_at, others.ended_because) == (None, "")
    acts = trail(cast.lab)
    assert ("token ended", "night", "system", {"scope": "run", "reason": mine.ended_because}) in acts
    assert ("member removed" if is_removed else "member left") in [act for act, *_ in acts]


def test_a_token_that_ended_before_keeps_its_reason(cast: Cast) -> None:
    with lab_scope(cast.lab.pk):
        token = Token.objects.issue(cast.lab, "read", "old", maker=cast.engineer)[0]
        other = Token.objects.issue(cast.lab, "read", "other", maker=cast.viewer)[0]
        assert Token.objects.filter(pk=token.pk).end("revoked by owner@example.org") == [token]
        assert Token.objects.filter(pk=token.pk).end("again") == []
    token.refresh_from_db()
    first = token.revoked_at
    services.remove_member(member(cast, "engineer"), "owner@example.org")
    token.refresh_from_db()
    other.refresh_from_db()
    assert (token.ended_because, token.revoked_at) == ("revoked by owner@example.org", first)
    assert other.revoked_at is None


def test_tokens_that_reach_further_than_a_new_role_end(cast: Cast) -> None:
    engineer = member(cast, "engineer")
    with lab_scope(cast.lab.pk):
        for scope in ("read", "upload", "run"):
            Token.objects.issue(cast.lab, scope, scope, maker=cast.engineer)
    services.change_role(engineer, Role.VIEWER, "owner@example.org")
    living = Token.objects.filter(revoked_at=None)
    assert list(living.values_list("name", flat=True)) == ["read"]
    assert [subject for act, subject, *_ in trail(cast.lab) if act == "token ended"] == ["upload", "run"]


def test_failed_sign_ins_of_a_day_are_one_row_that_counts(cast: Cast, owner: Client) -> None:
    for refused in (False, False, True):
        record_failed_sign_in("viewer@example.org", "192.0.2.7", refused=refused)
    record_failed_sign_in("nobody@example.org", "192.0.2.8", refused=False)
    record_wrong_password(cast.viewer, "192.0.2.7", refused=False)
    [failed, wrong] = trail(cast.lab)
    assert failed[:3] == ("sign-in failed", "viewer@example.org", "not signed in")
    assert {name: failed[3][name] for name in ("from", "failures", "refused")} == {
        "from": "192.0.2.7", "failures": 3, "refused": 1,
    }  # fmt: skip
    assert wrong[:3] == ("wrong password while signed in", "viewer@example.org", "viewer@example.org")
    assert wrong[3]["failures"] == 1
    assert "refused" not in wrong[3]
    page = re.sub(r"\s+", " ", owner.get(reverse("audit")).content.decode())
    assert "nobody@example.org" not in page
    assert re.search(r"Failed sign-ins with other addresses.*: <strong>1</strong></p>", page), (
        "how many, and no address"
    )


def test_a_repeated_act_is_one_row_for_each_author_and_day(cast: Cast) -> None:
    for actor in ("a", "a", "b", "a"):
        AuditEvent.objects.record_repeated(cast.lab.pk, "chunk conflict", "attempt 7", actor=actor, known="x")
    rows = [(who, detail["times"], detail["known"]) for _, _, who, detail in trail(cast.lab)]
    assert rows == [("a", 3, "x"), ("b", 1, "x")]


def test_a_lab_with_the_longest_name_can_be_given_up_and_its_name_is_free_again(cast: Cast) -> None:
    name = "x" * 120
    made = services.create_lab(name, "owner@example.org", cast.owner)
    services.leave_lab(Member.objects.get(lab=made))
    made.refresh_from_db()
    suffix = f" (given up, {made.pk})"
    assert made.name == "x" * (120 - len(suffix)) + suffix
    assert services.create_lab(name, "owner@example.org", cast.owner).name == name


def test_a_new_account_has_its_password_and_an_address_as_it_is_found(db: None) -> None:
    user = User.objects.create_user("Some.Body@Example.ORG", "a fine new one")
    user.refresh_from_db()
    assert user.check_password("a fine new one")
    assert not user.check_password("another one")
    assert User.objects.get(email="some.body@example.org") == user
    assert Client().login(email="some.body@example.org", password="a fine new one")


@pytest.mark.parametrize("how", ["closed", "another lab's"])
def test_a_token_opens_nothing_while_its_maker_is_no_living_member_of_its_lab(cast: Cast, how: str) -> None:
    with lab_scope(cast.lab.pk):
        secret = Token.objects.issue(cast.lab, "read", "wiki", maker=cast.engineer)[1]
        assert Token.objects.find(secret)
    if how == "closed":
        User.objects.filter(pk=cast.engineer.pk).update(is_active=False)
    else:
        Token.objects.update(maker=cast.stranger)
    assert Token.objects.find(secret) is None

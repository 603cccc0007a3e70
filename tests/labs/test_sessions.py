"""Who is signed in, and in which lab, is read anew by every request: what changes holds at once."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from apps.labs import models, sessions
from apps.labs.models import Lab, Member, Role, User
from apps.labs.sessions import SessionStore
from tests.conftest import PASSWORD, Cast

pytestmark = pytest.mark.django_db
SignIn = Callable[[str], Client]


def test_who_signs_out_is_out_at_once_with_every_copy_of_the_cookie(sign_in: SignIn) -> None:
    browser, thief = sign_in("viewer"), Client()
    thief.cookies["sessionid"] = browser.cookies["sessionid"].value
    assert thief.get("/runs/").status_code == 200
    browser.post("/accounts/logout/")
    assert thief.get("/runs/").status_code == 302


def test_a_membership_that_ends_ends_at_once(cast: Cast, sign_in: SignIn) -> None:
    browser = sign_in("viewer")
    assert browser.get("/runs/").status_code == 200
    Member.objects.get(user=cast.viewer).delete()
    assert browser.get("/runs/").status_code == 403
    Member.objects.create(user=cast.viewer, lab=cast.lab, role=Role.VIEWER)
    assert browser.get("/runs/").status_code == 200


def test_a_role_that_is_taken_away_is_gone_at_once(cast: Cast, sign_in: SignIn) -> None:
    browser = sign_in("owner")
    assert browser.get("/lab/tokens/").status_code == 200
    Member.objects.filter(user=cast.owner).update(role=Role.VIEWER)
    assert browser.get("/lab/tokens/").status_code == 403


def test_a_new_password_and_a_closed_account_end_every_session(cast: Cast, sign_in: SignIn) -> None:
    viewer, engineer = sign_in("viewer"), sign_in("engineer")
    cast.viewer.set_password(PASSWORD + "!")
    cast.viewer.save()
    User.objects.filter(pk=cast.engineer.pk).update(is_active=False)
    assert [one.get("/runs/").status_code for one in (viewer, engineer)] == [302, 302]


def test_a_session_ends_at_its_time(sign_in: SignIn) -> None:
    browser = sign_in("viewer")
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))
    assert browser.get("/runs/").status_code == 302


def test_whose_session_it_is_is_guessed_and_all_is_read_anew(
    cast: Cast, sign_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = sign_in("viewer")
    assert cast.viewer.email in browser.get("/runs/").content.decode()
    monkeypatch.setattr(models, "rows", None)  # what would ask for the person by itself
    User.objects.filter(pk=cast.viewer.pk).update(first_name="Ada", last_name="New")
    assert "Ada New" in browser.get("/runs/").content.decode()
    Member.objects.filter(user=cast.viewer).delete()
    assert browser.get("/runs/").status_code == 403
    User.objects.filter(pk=cast.viewer.pk).update(is_active=False)
    assert browser.get("/runs/").status_code == 302


@pytest.mark.parametrize("guess", ["owner", "stranger", "nobody"])
def test_a_wrong_guess_makes_nobody_somebody_else(
    cast: Cast, sign_in: SignIn, monkeypatch: pytest.MonkeyPatch, guess: str
) -> None:
    browser = sign_in("viewer")
    wrong = 2**31 - 1 if guess == "nobody" else getattr(cast, guess).pk
    monkeypatch.setitem(sessions._guesses, browser.cookies["sessionid"].value, wrong)
    assert cast.viewer.email in browser.get("/runs/").content.decode()
    assert browser.get("/lab/tokens/").status_code == 403
    assert sessions._guesses[browser.cookies["sessionid"].value] == cast.viewer.pk


def test_a_guess_for_a_session_of_nobody_signs_nobody_in(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    session = SessionStore()
    session["lab"] = cast.lab.pk
    session.save()
    assert session.session_key
    monkeypatch.setitem(sessions._guesses, session.session_key, cast.owner.pk)
    browser = Client()
    browser.cookies["sessionid"] = session.session_key
    assert browser.get("/runs/").status_code == 302


def test_guesses_do_not_grow_without_end(sign_in: SignIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "MOST_GUESSES", 1)
    for who in ("viewer", "engineer", "owner"):
        assert sign_in(who).get("/runs/").status_code == 200
        assert len(sessions._guesses) == 1


def test_an_unknown_key_is_not_taken_over_for_a_new_session() -> None:
    session = SessionStore("a" * 32)
    assert session.get("lab") is None
    session["lab"] = 1
    session.save()
    assert session.session_key != "a" * 32


def test_a_person_found_by_number_is_the_same_as_by_address(cast: Cast) -> None:
    by_number, by_address = User.objects.get(pk=cast.viewer.pk), User.objects.get(email=cast.viewer.email)
    assert by_number == by_address
    for field in User._meta.concrete_fields:
        assert getattr(by_number, field.attname) == getattr(by_address, field.attname)
    with pytest.raises(User.DoesNotExist):
        User.objects.get(pk=0)


def test_published_labs_are_read_and_are_no_ones_own(cast: Cast, sign_in: SignIn) -> None:
    published = Lab.objects.create(name="Published", slug="published", is_published=True)
    browser = sign_in("viewer")
    request = browser.get("/runs/").wsgi_request
    assert request.lab == cast.lab
    assert request.my_labs == [cast.lab]
    Member.objects.create(user=cast.viewer, lab=published, role=Role.VIEWER)
    request = browser.get("/runs/").wsgi_request
    assert (request.lab, request.my_labs) == (cast.lab, [published, cast.lab])  # by name; one's own lab comes before
    Member.objects.all().delete()
    assert browser.get("/runs/").status_code == 403

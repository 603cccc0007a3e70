"""Who is signed in, and in which lab, is read anew by every request: what changes holds at once."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from apps.labs.devices import read_session
from apps.labs.models import Lab, Member, Role, User
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


def test_what_is_known_of_a_person_is_read_anew_by_every_request(cast: Cast, sign_in: SignIn) -> None:
    browser = sign_in("viewer")
    assert cast.viewer.email in browser.get("/runs/").content.decode()
    User.objects.filter(pk=cast.viewer.pk).update(first_name="Ada", last_name="New")
    assert "Ada New" in browser.get("/runs/").content.decode()
    Member.objects.filter(user=cast.viewer).delete()
    assert browser.get("/runs/").status_code == 403
    User.objects.filter(pk=cast.viewer.pk).update(is_active=False)
    assert browser.get("/runs/").status_code == 302


def test_a_session_of_nobody_signs_nobody_in(cast: Cast) -> None:
    session = SessionStore()
    session["lab"] = cast.lab.pk
    session.save()
    browser = Client()
    browser.cookies["sessionid"] = session.session_key
    assert browser.get("/runs/").status_code == 302


def test_outside_of_the_middleware_a_cookie_says_the_same(cast: Cast, sign_in: SignIn) -> None:
    browser = sign_in("viewer")
    cookies = f'odd"=a b; sessionid={browser.cookies["sessionid"].value}; [x]=1'
    assert read_session(cookies)[1] == cast.viewer
    cast.viewer.set_password(PASSWORD + "!")
    cast.viewer.save()
    assert read_session(cookies)[1].is_anonymous
    browser = sign_in("engineer")
    cookies = f"sessionid={browser.cookies['sessionid'].value}"
    browser.post("/accounts/logout/")
    assert read_session(cookies)[1].is_anonymous
    assert read_session("")[1].is_anonymous


def test_an_unknown_key_is_not_taken_over_for_a_new_session() -> None:
    session = SessionStore("a" * 32)
    assert session.get("lab") is None
    session["lab"] = 1
    session.save()
    assert session.session_key != "a" * 32


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

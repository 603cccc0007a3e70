"""Forms that are sent twice count once, also when both sendings come at the same moment."""

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.db import connection
from django.http import QueryDict
from django.test import Client
from django.utils import timezone

from apps.labs.isolation import all_labs, lab_scope
from apps.labs.models import FormSubmission, Lab
from apps.labs.services import ANSWERS_LAST, SUBMISSIONS_LAST, holds_nothing, submit_once
from apps.labs.tasks import delete_old
from tests.conftest import Cast
from tests.waiting import until_one_waits_for_a_lock

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]
SENT = "form_key=k1&title=a&target=1&target=2"


def make_counted(made: list[str], address: str = "/plans/1/") -> Callable[[], str]:
    def make() -> str:
        made.append(address)
        return address

    return make


def test_the_second_sending_is_led_to_what_the_first_made(cast: Cast) -> None:
    made: list[str] = []
    with lab_scope(cast.lab.pk):
        for token in ("x", "y"):
            sent = QueryDict(f"{SENT}&csrfmiddlewaretoken={token}")
            assert submit_once(cast.lab, sent, make_counted(made)) == ("/plans/1/", token == "x")
        for other in ("form_key=k1&title=a&target=2", "form_key=k2&title=a&target=1&target=2", "title=a", "title=a"):
            submit_once(cast.lab, QueryDict(other), make_counted(made))
        assert len(made) == 5, "another choice, another form, and forms without a key"
    with lab_scope(cast.other_lab.pk):
        assert submit_once(cast.other_lab, QueryDict(SENT), make_counted(made))[1], "another lab"


def test_a_refused_form_may_be_sent_again(cast: Cast) -> None:
    made: list[str] = []

    def fail() -> str:
        raise ValueError("no such thing")

    with lab_scope(cast.lab.pk):
        assert submit_once(cast.lab, QueryDict(SENT), lambda: "") == ("", True)
        with pytest.raises(ValueError, match="no such thing"):
            submit_once(cast.lab, QueryDict(SENT), fail)
        assert not FormSubmission.objects.exists()
        assert submit_once(cast.lab, QueryDict(SENT), make_counted(made)) == ("/plans/1/", True)


def test_both_at_the_same_moment_do_it_once(cast: Cast) -> None:
    made: list[str] = []
    answers: list[Any] = []
    is_begun, may_end = threading.Event(), threading.Event()

    def make_slowly() -> str:
        is_begun.set()
        may_end.wait(10)
        return make_counted(made)()

    def send(make: Callable[[], str]) -> None:
        try:
            with lab_scope(cast.lab.pk):
                answers.append(submit_once(Lab.objects.get(pk=cast.lab.pk), QueryDict(SENT), make))
        finally:
            connection.close()

    first = threading.Thread(target=send, args=[make_slowly])
    second = threading.Thread(target=send, args=[make_counted(made, "/plans/2/")])
    first.start()
    assert is_begun.wait(10)
    second.start()
    until_one_waits_for_a_lock()
    may_end.set()
    first.join(10)
    second.join(10)
    assert made == ["/plans/1/"]
    assert sorted(answers) == [("/plans/1/", False), ("/plans/1/", True)]


def test_submissions_are_forgotten_and_are_nothing_that_a_lab_holds(cast: Cast) -> None:
    with lab_scope(cast.lab.pk):
        submit_once(cast.lab, QueryDict(SENT), lambda: "/plans/1/")
        assert holds_nothing(cast.lab)
        FormSubmission.objects.update(created_at=timezone.now() - SUBMISSIONS_LAST - timedelta(minutes=1))
        assert submit_once(cast.lab, QueryDict(SENT), lambda: "/plans/2/") == ("/plans/2/", True), "before any sweep"
        assert [row.address for row in FormSubmission.objects.all()] == ["/plans/2/"]


def test_what_is_not_to_be_known_any_more_is_deleted_by_the_clock_in_every_lab(cast: Cast, client: Client) -> None:
    now, second = timezone.now(), timedelta(seconds=5)
    for lab in (cast.lab, cast.other_lab):
        with lab_scope(lab.pk):
            for name, status, at in (
                ("old form", None, now - SUBMISSIONS_LAST - second),
                ("form", None, now - SUBMISSIONS_LAST + timedelta(minutes=1)),
                ("old answer", 201, now - ANSWERS_LAST - second),
                ("answer", 201, now - ANSWERS_LAST + timedelta(minutes=1)),
            ):
                FormSubmission.objects.create(lab=lab, key=name, address="", status=status, created_at=at)
    client.force_login(cast.viewer, backend="allauth.account.auth_backends.AuthenticationBackend")
    Session.objects.create(session_key="ended", session_data="x", expire_date=now - second)
    assert delete_old() == {"submissions": 4, "sessions": 1}
    with all_labs():
        assert sorted(FormSubmission.objects.values_list("key", flat=True)) == ["answer"] * 2 + ["form"] * 2
    assert client.get("/plans/").status_code == 200, "who is signed in stays so"
    assert delete_old() == {"submissions": 0, "sessions": 0}

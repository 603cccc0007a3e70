"""A sign-in that ended while a page was open: each kind of request gets an answer that it understands."""

import pytest
from django.test import Client

from tests.conftest import Cast

pytestmark = pytest.mark.django_db


def test_a_page_leads_to_the_form_and_back(cast: Cast) -> None:
    answer = Client().get("/runs/?state=finished")
    assert (answer.status_code, answer.headers["Location"]) == (302, "/accounts/login/?next=/runs/%3Fstate%3Dfinished")


def test_a_part_of_a_page_leads_the_whole_page_there(cast: Cast) -> None:
    headers = {"HX-Request": "true", "HX-Current-URL": "http://testserver/uploads/?page=2"}
    answer = Client().get("/uploads/", headers=headers)
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["HX-Redirect"] == "/accounts/login/?next=/uploads/%3Fpage%3D2"


def test_the_address_of_another_site_is_no_place_to_go_back_to(cast: Cast) -> None:
    headers = {"HX-Request": "true", "HX-Current-URL": "http://elsewhere.example/"}
    assert Client().get("/uploads/", headers=headers).headers["HX-Redirect"] == "/accounts/login/?next=/"


def test_a_script_is_told_in_its_own_form(cast: Cast) -> None:
    answer = Client().post("/uploads/", headers={"Accept": "application/json"})
    assert answer.status_code == 401
    assert "sign in again" in answer.json()["error"]

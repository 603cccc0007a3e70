"""MB or MiB: chosen once, kept in a cookie, told on every page and never to the REST interface."""

import pytest

from apps.core.unit_base import base
from apps.labs.isolation import lab_scope
from tests.comparison.factories import MIB, run, sample
from tests.sampling import for_each


@pytest.fixture
def address(cast):
    """The page of a run that wrote 104 857 600 B/s, which is 100 MiB/s."""
    with lab_scope(cast.lab.pk):
        one = run(cast.lab, origin="uploaded")
        sample(one, 100.0 * MIB, file_size=MIB, printed="100 MB/sec", source_line=3)
        return one.get_absolute_url()


def page_of(client, address):
    return client.get(address).content.decode().replace("\u00a0", " ").replace("\u202f", " ")


def test_the_choice_changes_all_pages_and_the_exact_value_has_both_bases(sign_in, address):
    client = sign_in("viewer")
    assert ">105 MB/s<" in page_of(client, address)
    answer = client.post("/units/", {"base": "1024", "next": address})
    assert (answer.status_code, answer["Location"]) == (302, address)
    page = page_of(client, address)
    assert ">100 MiB/s<" in page
    assert 'title="104 857 600 B/s = 104.9 MB/s = 100.0 MiB/s"' in page
    assert 'data-base="1024"' in page
    assert client.get("/compare/free/").context["question"].base == 1024
    assert client.get("/compare/free/?base=1000").context["question"].base == 1000  # the address goes before


def test_what_is_chosen_in_the_comparisons_form_holds_everywhere(sign_in, address):
    client = sign_in("viewer")
    client.get("/compare/free/?base=1024")  # somebody's link is not one's own choice
    assert ">105 MB/s<" in page_of(client, address)
    client.get("/compare/?base=1024", headers={"HX-Request": "true"})
    assert ">100 MiB/s<" in page_of(client, address)


def test_one_address_of_the_rest_interface_is_one_answer(sign_in, address):
    client = sign_in("viewer")
    before = client.get("/api/v1/compare/?format=markdown").headers["ETag"]
    client.post("/units/", {"base": "1024"})
    assert client.get("/api/v1/compare/?format=markdown").headers["ETag"] == before


def test_the_choice_goes_before_the_base_of_the_address_that_it_was_made_on(sign_in, cast):
    client = sign_in("viewer")
    for there, back in (
        ("/compare/?study=a&base=1024&x=threads", "/compare/?study=a&x=threads"), ("/compare/?base=1024", "/compare/"),
        ("/compare/?baseline=b", "/compare/?baseline=b"), ("/runs/", "/runs/"),
    ):  # fmt: skip
        assert client.post("/units/", {"base": "1000", "next": there})["Location"] == back


@pytest.mark.parametrize("there", ["https://evil.example/", "//evil.example", "javascript:alert(1)", ""])
def test_it_leads_nowhere_else(sign_in, cast, there):
    assert sign_in("viewer").post("/units/", {"base": "1000", "next": there})["Location"] == "/"


def test_another_base_is_told_what_there_is(sign_in, cast):
    answer = sign_in("viewer").post("/units/", {"base": "512"})
    assert answer.status_code == 400
    assert "found '512', expected one of: 1000, 1024" in answer.content.decode().replace("&#x27;", "'")
    assert sign_in("viewer").get("/units/").status_code == 405


def test_the_choice_ends_with_the_request(sign_in, cast):
    client = sign_in("viewer")
    client.post("/units/", {"base": "1024"})
    client.get("/compare/")
    assert base() == 1000


@for_each("after", ["x", "a=b", "//elsewhere.org/", "https://elsewhere.org/", "", "javascript:alert(1)"])
def test_what_is_no_address_of_this_site_leads_to_the_overview(lab, sign_in, after):
    answer = sign_in("viewer").post("/units/", {"base": "1000", "next": after})
    assert (answer.status_code, answer["Location"]) == (302, "/")

"""The audit trail: sign-ins, failures, and changes of passwords, addresses and tokens, in every lab of the person."""

import re
import uuid
from html import unescape

import pytest

from tests.outside.people import Person, main_text, make_people, new_lab
from tests.outside.product import Client, Product

pytestmark = [pytest.mark.outside, pytest.mark.long]

WRONG = "not the password at all"


@pytest.fixture(scope="module")
def groups(product: Product) -> list[list[Person]]:
    """For each test the owners of two labs and a member of both, made in one go."""
    labs = [(new_lab(), new_lab()) for _ in range(5)]
    wanted = [
        where for one, other in labs for where in ({one: "owner"}, {other: "owner"}, {one: "viewer", other: "engineer"})
    ]
    people = make_people(product, *wanted)
    return [people[start : start + 3] for start in range(0, len(people), 3)]


@pytest.fixture
def people(groups: list[list[Person]]) -> list[Person]:
    return groups.pop()


def rows(browser: Client) -> list[str]:
    """Return the events as the page has them, newest first, each as its text."""
    page = main_text(browser.get("/lab/audit/").text)
    return [unescape(re.sub(r"<[^>]+>|\s+", " ", row)) for row in page.split("<tr>")[2:]]


def of(browser: Client, act: str, person: Person) -> list[str]:
    return [row for row in rows(browser) if act in row and person.email in row]


def test_a_sign_in_and_a_new_password_are_in_every_lab_of_the_person(product: Product, people: list[Person]) -> None:
    *owners, member = people
    browser, new = member.browser(), "another four plain words"
    browser.post("/accounts/password/change/", {"oldpassword": member.password, "password1": new, "password2": new})
    for owner in owners:
        found = owner.browser()
        assert len(of(found, "signed in", member)) == 1
        assert "127.0.0.1" in of(found, "signed in", member)[0]
        assert of(found, "password changed", member)
        assert not of(found, "signed in", owners[0] if owner is owners[1] else owners[1])


def test_what_the_command_line_does_is_written_down_too(product: Product, people: list[Person]) -> None:
    owner, _, member = people
    new = f"{uuid.uuid4().hex[:8]}@people.example"
    product.manage("change_address", member.email, new)
    [changed] = [row for row in rows(owner.browser()) if "address changed" in row]
    assert member.email in changed
    assert new in changed
    assert "command line" in changed


def test_failures_of_one_day_are_one_row_that_counts(product: Product, people: list[Person]) -> None:
    *owners, member = people
    client = product.client()
    answers = [client.sign_in(member.email, f"{WRONG} {turn}").status for turn in range(20)]
    for owner in owners:
        [row] = of(owner.browser(), "sign-in failed", member)
        assert "failures: 20" in row
        assert f"refused: {answers.count(429)}" in row
        assert "not signed in" in row


def test_failures_with_other_addresses_are_a_number_that_tells_nothing(product: Product, people: list[Person]) -> None:
    """Whether the address has an account in another lab, or none anywhere, is the same here."""
    owner, other, _ = people
    browser, client = owner.browser(), product.client()

    def number() -> int:
        found = re.findall(r"<strong>([\d ,]+)</strong>", main_text(browser.get("/lab/audit/").text))
        return int(re.sub(r"\D", "", found[0])) if found else 0

    events, before = len(rows(browser)), number()
    unknown = f"{uuid.uuid4().hex}@people.example"
    for address in (unknown, other.email):
        for _ in range(3):
            client.sign_in(address, WRONG)
    assert number() == before + 6
    assert len(rows(browser)) == events
    page = browser.get("/lab/audit/").text
    assert unknown not in page
    assert other.email not in page


def test_strangers_cannot_fill_the_trail(product: Product, people: list[Person]) -> None:
    owner = people[0].browser()
    before = len(rows(owner))
    client = product.client()
    for turn in range(12):
        client.sign_in(f"{turn}-{uuid.uuid4().hex}@people.example", WRONG)
    assert len(rows(owner)) == before

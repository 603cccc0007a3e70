"""Tokens: who made them is shown, and they end with the maker's membership."""

import re

import pytest

from tests.outside.people import Person, main_text, make_people, new_lab
from tests.outside.product import Client, Product

pytestmark = pytest.mark.outside


@pytest.fixture(scope="module")
def labs(product: Product) -> list[tuple[str, list[Person]]]:
    """A lab with two owners for each test, made in one go."""
    names = [new_lab() for _ in range(6)]
    people = make_people(product, *({name: "owner"} for name in names for _ in range(2)))
    return [(name, [people.pop(), people.pop()]) for name in reversed(names)]


@pytest.fixture
def ours(labs: list[tuple[str, list[Person]]]) -> tuple[str, list[Person]]:
    return labs.pop()


@pytest.fixture
def lab(ours: tuple[str, list[Person]]) -> str:
    return ours[0]


@pytest.fixture
def owners(ours: tuple[str, list[Person]]) -> list[Person]:
    return ours[1]


def make_token(browser: Client, scope: str = "admin", name: str = "wiki bot") -> str:
    page = browser.post("/lab/tokens/", {"name": name, "scope": scope, "days": ""})
    [secret] = re.findall(r">(spl_[^<]+)<", page.text)
    return str(secret)


def members(browser: Client) -> dict[str, str]:
    """Return the number of each membership by the person's address, as the page has them."""
    rows = browser.get("/lab/").text.split("<tr>")
    found = {}
    for row in rows:
        if numbers := re.findall(r"/lab/members/(\d+)/remove/", row):
            found[re.findall(r"[\w.]+@[\w.]+", row)[0]] = numbers[0]
    return found


def test_the_maker_is_on_the_page_in_rest_and_in_the_trail(product: Product, owners: list[Person], lab: str) -> None:
    browser = owners[0].browser()
    admin = product.client(make_token(browser))
    product.make_token("read", lab, "--name", "nightly job")
    listed = {token["name"]: token for token in admin.get("/api/v1/tokens/").json()["results"]}
    assert listed["wiki bot"]["made_by"] == owners[0].email
    assert listed["nightly job"]["made_by"] == "command line"
    assert {token["state"] for token in listed.values()} == {"living"}
    assert "spl_" not in admin.get("/api/v1/tokens/").text
    for page in ("/lab/tokens/", "/lab/audit/"):
        text = main_text(browser.get(page).text)
        assert owners[0].email in text, page
        assert "command line" in text, page


def test_only_owners_and_admin_tokens_see_the_tokens(product: Product, owners: list[Person]) -> None:
    browser = owners[0].browser()
    for scope in ("read", "upload", "run"):
        assert product.client(make_token(browser, scope)).get("/api/v1/tokens/").status == 403, scope
    assert product.client().get("/api/v1/tokens/").status == 401


def test_a_token_stops_at_once_when_its_maker_is_removed(product: Product, owners: list[Person], lab: str) -> None:
    leaver, stayer = owners
    secret = make_token(leaver.browser(), "upload", "of the one who leaves")
    script, admin = product.client(secret), product.client(make_token(stayer.browser()))
    assert script.get("/api/v1/runs/").status == 200
    assert script.upload("/api/v1/uploads/", {"dd.txt": b"1 bytes (1 B) copied, 2 s, 1 MB/s\n"}).status == 202
    browser, gone = stayer.browser(), leaver.browser()
    browser.post(f"/lab/members/{members(browser)[leaver.email]}/remove/")
    assert script.get("/api/v1/runs/").status == 401
    assert script.upload("/api/v1/uploads/", {"dd.txt": b"1 bytes (1 B) copied, 2 s, 1 MB/s\n"}).status == 401
    assert script.send("POST", "/api/v1/runs/", {"target": 1, "workload": {}}).status == 401
    assert gone.get("/lab/").status == 403  # and so do the person's sessions
    [listed] = [one for one in admin.get("/api/v1/tokens/").json()["results"] if one["made_by"] == leaver.email]
    assert listed["state"] == "ended"
    assert "no longer a member" in listed["reason"]
    assert "no longer a member" in main_text(browser.get("/lab/tokens/").text)
    assert "token ended" in main_text(browser.get("/lab/audit/").text)
    # who comes back makes new ones
    product.manage("shell", "-c", BACK.format(email=leaver.email, lab=lab))
    assert script.get("/api/v1/runs/").status == 401


BACK = """
from apps.labs.models import Lab, Member, User
Member.objects.create(lab=Lab.objects.get(slug="{lab}"), user=User.objects.get(email="{email}"), role="owner")
"""


def test_a_token_that_reaches_further_than_its_makers_new_role_ends(product: Product, owners: list[Person]) -> None:
    maker, other = owners
    made = {scope: product.client(make_token(maker.browser(), scope, scope)) for scope in ("read", "run", "admin")}
    browser = other.browser()
    browser.post(f"/lab/members/{members(browser)[maker.email]}/role/", {"role": "engineer"})
    assert {scope: client.get("/api/v1/runs/").status for scope, client in made.items()} == {
        "read": 200,
        "run": 200,
        "admin": 401,
    }


def test_a_token_of_the_command_line_outlives_everybody(product: Product, owners: list[Person], lab: str) -> None:
    script = product.client(product.make_token("read", lab))
    browser = owners[0].browser()
    browser.post(f"/lab/members/{members(browser)[owners[1].email]}/remove/")
    assert script.get("/api/v1/runs/").status == 200


def test_a_revoked_token_says_who_ended_it(product: Product, owners: list[Person]) -> None:
    browser = owners[0].browser()
    script = product.client(make_token(browser, "read"))
    [number] = re.findall(r"/lab/tokens/(\d+)/revoke/", browser.get("/lab/tokens/").text)
    browser.post(f"/lab/tokens/{number}/revoke/")
    assert script.get("/api/v1/runs/").status == 401
    assert f"revoked by {owners[0].email}" in main_text(browser.get("/lab/tokens/").text)

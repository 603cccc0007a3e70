"""Addresses and forgotten passwords, with a real mail server and without one; and whose address a request comes from."""

import re
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.outside.people import Person, main_text, make_people, new_lab
from tests.outside.product import Client, Product
from tests.outside.smtp_sink import SmtpSink, link_in, smtp_sink

pytestmark = [pytest.mark.outside, pytest.mark.long]

LAB = new_lab()
WRONG = "not the password at all"
NEW = "another four plain words"


@pytest.fixture(scope="module")
def sink() -> Iterator[SmtpSink]:
    with smtp_sink() as found:
        yield found


@pytest.fixture(scope="module")
def mailing(prepared: Product, sink: SmtpSink) -> Iterator[Product]:
    """A product that sends mail, stands behind a proxy on this machine, and has a contact."""
    folder = Path(tempfile.mkdtemp(prefix="spindle-out-", dir="/tmp"))
    folder.chmod(0o755)
    env = {
        "SPINDLE_EMAIL_URL": sink.url,
        "SPINDLE_PROXIES": "127.0.0.1",
        "SPINDLE_SECURITY_CONTACT": "security@lab.example, https://lab.example/report",
    }
    try:
        with Product(folder, env=env, like=prepared) as running:
            yield running
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def pool(mailing: Product) -> list[Person]:
    return make_people(mailing, *({LAB: "engineer"},) * 16)


@pytest.fixture
def person(pool: list[Person]) -> Person:
    return pool.pop()


@pytest.fixture
def other(pool: list[Person]) -> Person:
    return pool.pop()


def somebody() -> str:
    return f"{uuid.uuid4().hex[:10]}@people.example"


def logs(product: Product) -> str:
    return "".join(path.read_text(errors="replace") for path in (product.data / "log").glob("*"))


def ask_for(browser: Client, address: str, password: str) -> str:
    answer = browser.post("/accounts/email/", {"email": address, "password": password})
    return main_text(answer.text) if answer.status != 200 else answer.text


def test_a_forgotten_password_is_set_anew_by_a_link_that_works_once(
    mailing: Product, sink: SmtpSink, person: Person
) -> None:
    signed_in, client = person.browser(), mailing.client()
    page = client.post("/accounts/password/reset/", {"email": person.email.upper()})
    assert "If an account has this address" in page.text
    link = link_in(sink.wait_for(person.email))
    page = client.get(link)
    client.post(page.url, {"password1": NEW, "password2": NEW})
    assert "/accounts/login/" in signed_in.get("/lab/").url
    assert client.sign_in(person.email, NEW).status == 302
    assert "is no longer valid" in mailing.client().get(link).text
    assert link not in logs(mailing)


def test_an_unknown_address_gets_no_mail_and_the_page_is_the_same(
    mailing: Product, sink: SmtpSink, person: Person
) -> None:
    unknown = somebody()
    pages = {}
    for address in (unknown, person.email):
        answer = mailing.client().post("/accounts/password/reset/", {"email": address}, follow=False)
        pages[address] = (answer.status, answer.headers["Location"], len(answer.body))
    assert pages[unknown] == pages[person.email]
    sink.wait_for(person.email)  # the later one of two tasks, so the first has been done
    assert sink.to(unknown) == []


def test_a_mailbox_is_not_flooded(mailing: Product, sink: SmtpSink, person: Person, other: Person) -> None:
    for turn in range(8):
        stranger = mailing.client(**{"X-Forwarded-For": f"203.0.113.{turn}"})
        stranger.post("/accounts/password/reset/", {"email": person.email})
    stranger.post("/accounts/password/reset/", {"email": other.email})
    sink.wait_for(other.email)
    assert len(sink.to(person.email)) <= 3


def test_an_address_is_changed_by_the_password_and_a_link_to_the_new_one(
    mailing: Product, sink: SmtpSink, person: Person, other: Person
) -> None:
    new, browser = somebody(), person.browser()
    assert "not your present password" in ask_for(browser, new, WRONG)
    assert "on its way" in ask_for(browser, new, person.password)
    link = link_in(sink.wait_for(new))
    assert sink.to(new)[1:] == []
    assert mailing.client().sign_in(new, person.password).status == 200  # not before it is proved
    assert "another account" in other.browser().get(link).text
    assert "/accounts/login/" in mailing.client().get(link).url
    assert f"Sign in with {new}?" in browser.get(link).text  # a mail server that looks at the link changes nothing
    assert mailing.client().sign_in(person.email, person.password).status == 302
    browser.post(link)
    assert mailing.client().sign_in(new, person.password).status == 302
    assert mailing.client().sign_in(person.email, person.password).status == 200
    assert new in sink.wait_for(person.email)
    assert "used already" in browser.get(link).text
    assert link not in logs(mailing)


def test_an_address_that_somebody_has_is_not_said_to_be_taken(
    mailing: Product, sink: SmtpSink, person: Person, other: Person
) -> None:
    browser, free = person.browser(), somebody()
    browser.get("/accounts/email/")  # which says once that the sign-in succeeded
    taken_page, free_page = (
        ask_for(browser, address, person.password).replace(address, "ADDRESS") for address in (other.email, free)
    )
    assert "on its way to ADDRESS" in taken_page
    assert len(taken_page) == len(free_page)
    assert "nothing was changed" in sink.wait_for(other.email)
    assert "/confirm/" not in sink.to(other.email)[-1]
    sink.wait_for(free)
    assert mailing.client().sign_in(other.email, other.password).status == 302


def guess(browser: Client, password: str = WRONG) -> int:
    return browser.post("/accounts/email/", {"email": somebody(), "password": password}, follow=False).status


def test_guesses_of_the_present_password_are_slowed_and_hold_nobody_up_elsewhere(mailing: Product) -> None:
    lab = new_lab()
    person, owner = make_people(mailing, {lab: "viewer"}, {lab: "owner"})
    stolen, own = (person.browser(**{"X-Forwarded-For": "192.0.2.7"}) for _ in range(2))
    answers = [guess(stolen) for _ in range(8)]
    assert answers[0] == 422
    assert 429 in answers
    change = {"oldpassword": WRONG, "password1": NEW, "password2": NEW}
    assert stolen.post("/accounts/password/change/", change, follow=False).status == 429  # one count for both pages
    assert guess(own, person.password) == 302  # another session of the same account
    elsewhere = mailing.client(**{"X-Forwarded-For": "192.0.2.8"})
    elsewhere.cookies = stolen.cookies
    assert guess(elsewhere, person.password) == 302  # the stolen session itself, in its owner's network
    page = main_text(owner.browser().get("/lab/audit/").text)
    [row] = [row for row in page.split("<tr>") if "wrong password while signed in" in row]
    assert person.email in row
    assert "192.0.2.7" in row
    assert "failures: 9" in row
    assert f"refused: {answers.count(429) + 1}" in row


def test_guesses_by_one_session_from_many_networks_are_slowed(mailing: Product) -> None:
    [person] = make_people(mailing, {LAB: "viewer"})
    browser, found = person.browser(), []
    for turn in range(60):
        browser.headers["X-Forwarded-For"] = f"203.0.113.{turn}"
        found.append(guess(browser))
        if found[-1] == 429:
            break
    assert 429 in found
    assert guess(person.browser(), person.password) == 302


@pytest.fixture(scope="module")
def lab(mailing: Product) -> tuple[Client, Client, str]:
    """A lab's owner, its `admin` token, and the address of its invitations in REST."""
    slug = new_lab()
    [owner] = make_people(mailing, {slug: "owner"})
    admin = mailing.client(mailing.make_token("admin", slug))
    return owner.browser(), admin, admin.get("/api/v1/labs/").json()["results"][0]["invitations_url"]


def test_a_mailed_link_makes_an_account_for_its_own_address_alone(
    mailing: Product, sink: SmtpSink, lab: tuple[Client, Client, str]
) -> None:
    owner, _, _ = lab
    address, other = somebody(), somebody()
    page = owner.post("/lab/members/", {"email": address, "role": "viewer"})
    assert "went by mail" in page.text
    assert "spi_" not in page.text
    person = mailing.client()
    assert 'name="email"' not in person.open_link(link_in(sink.wait_for(address))).text
    person.post("/invitation/accept-as-new/", {"email": other, "password": NEW, "again": NEW})
    assert mailing.client().sign_in(address, NEW).status == 302
    assert mailing.client().sign_in(other, NEW).status == 200


def test_a_link_whose_mail_is_refused_is_shown_to_nobody(mailing: Product, lab: tuple[Client, Client, str]) -> None:
    owner, admin, invitations = lab
    address = f"refused-{somebody()}"
    page = owner.post("/lab/members/", {"email": address, "role": "owner"})
    assert page.status == 503
    assert "could not be sent" in page.text
    assert "./manage.py invite_member --lab lab-" in page.text
    answer = admin.send("POST", invitations, {"email": address, "role": "owner"})
    assert answer.status == 503
    assert "./manage.py invite_member" in answer.json()["detail"]
    assert "spi_" not in page.text + answer.text
    states = [one["state"] for one in admin.get(invitations).json()["results"] if one["email"] == address]
    assert states == ["revoked", "revoked"]
    name = f"Made with {address}"
    assert admin.send("POST", "/api/v1/labs/", {"name": name, "owner": address}).status == 503
    assert admin.send("POST", "/api/v1/labs/", {"name": name, "owner": somebody()}).status == 201  # none was left


@pytest.mark.parametrize(
    "address",
    [
        "k\u0131ra@kobalt.example",
        "\u212aira@kobalt.example",
        "a@\xdf.example",
        "a@\u212aobalt.example",
        "a@bu\u0308cher.example",
        "a@\uff4bobalt.example",
    ],
)
def test_an_address_that_mail_would_not_reach_as_it_stands_is_refused(
    mailing: Product, sink: SmtpSink, lab: tuple[Client, Client, str], person: Person, address: str
) -> None:
    owner, admin, invitations = lab
    before = len(sink.mails)
    assert owner.post("/lab/members/", {"email": address, "role": "viewer"}).status == 422
    for path, body in (
        (invitations, {"email": address, "role": "viewer"}),
        ("/api/v1/labs/", {"name": somebody(), "owner": address}),
    ):
        answer = admin.send("POST", path, body)
        assert answer.status == 400, answer.text
        assert "expected" in answer.text or "valid email" in answer.text
    browser = person.browser()
    assert browser.post("/accounts/email/", {"email": address, "password": person.password}).status == 422
    # the field of the forgotten password makes K (Kelvin) a k by itself; a mail goes only to an account's own, exact address
    mailing.client().post("/accounts/password/reset/", {"email": address})
    assert len(sink.mails) == before


def test_commands_refuse_an_address_that_mail_would_not_reach_as_it_stands(mailing: Product, person: Person) -> None:
    for command in (
        ("create_lab", "--name", somebody(), "--owner", "a@\xdf.example"),
        ("change_address", person.email, "a@\xdf.example"),
    ):
        done = mailing.manage(*command, check=False)
        assert done.returncode != 0
        assert "a@ss.example" in done.stderr


def test_the_contact_for_weaknesses_is_the_one_that_was_set(mailing: Product, product: Product) -> None:
    answer = mailing.client().get("/.well-known/security.txt")
    assert answer.headers["Content-Type"].startswith("text/plain")
    lines = answer.text.splitlines()
    contacts = ["Contact: mailto:security@lab.example", "Contact: https://lab.example/report"]
    assert lines[:2] == contacts
    [expires] = re.findall(r"^Expires: (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)$", answer.text, re.MULTILINE)
    assert expires > "2026"
    unset = product.client().get("/.well-known/security.txt")
    assert unset.status == 200
    [page] = re.findall(r"^Contact: https?://[^/]+(/\S+)$", unset.text, re.MULTILINE)
    assert "named no contact" in product.client().get(page).text


def test_behind_a_proxy_each_client_is_counted_by_its_own_address(mailing: Product) -> None:
    person = make_people(mailing, {LAB: "viewer"})[0]

    def through_proxy(chain: str, password: str) -> int:
        return mailing.client(**{"X-Forwarded-For": chain}).sign_in(person.email, password).status

    assert 429 in [through_proxy("198.51.100.7", f"{WRONG} {turn}") for turn in range(8)]
    # what a client writes itself stands left of what the proxy adds, and is not believed
    assert through_proxy("203.0.113.9, 198.51.100.7", WRONG) == 429
    assert through_proxy("198.51.100.7", person.password) == 429
    assert through_proxy("198.51.100.8", person.password) == 302, "a stranger locks nobody out"
    # one IPv6 network of a household or office is one sender
    assert 429 in [through_proxy(f"2001:db8:1:2::{turn:x}", f"{WRONG} {turn}") for turn in range(1, 10)]
    assert through_proxy("2001:db8:1:3::1", person.password) == 302


def test_guesses_spread_over_many_senders_are_slowed_and_lock_nobody_out(mailing: Product) -> None:
    person = make_people(mailing, {LAB: "viewer"})[0]
    device = person.browser(**{"X-Forwarded-For": "192.0.2.1"})
    device.post("/accounts/logout/")
    found = []
    for turn in range(75):
        client = mailing.client(**{"X-Forwarded-For": f"203.0.113.{turn}"})
        found.append(client.sign_in(person.email, f"{WRONG} {turn}").status)
        if found.count(429) > 3:
            break
    assert 429 in found
    assert device.sign_in(person.email, person.password).status == 302
    home = mailing.client(**{"X-Forwarded-For": "192.0.2.1"})
    assert home.sign_in(person.email, person.password).status == 302, "a network that the person has signed in from"


def test_without_a_mail_server_nothing_is_made_and_the_pages_say_so(product: Product) -> None:
    [person] = make_people(product, {LAB: "engineer"})
    stranger, browser = product.client(), person.browser()
    before = logs(product)
    for client, path, form in (
        (stranger, "/accounts/password/reset/", {"email": person.email}),
        (browser, "/accounts/email/", {"email": somebody(), "password": person.password}),
    ):
        assert "sends no mail" in client.get(path).text
        answer = client.post(path, form)
        assert answer.status == 409
        assert "sends no mail" in answer.text
    after = logs(product)
    for beginning in ("/accounts/password/reset/key/", "/accounts/email/confirm/"):
        assert after.count(beginning) == before.count(beginning)
    assert product.client().sign_in(person.email, person.password).status == 302


def test_the_administrator_changes_an_address_by_a_command(product: Product) -> None:
    person, other = make_people(product, {LAB: "engineer"}, {LAB: "engineer"})
    new = somebody()
    taken = product.manage("change_address", person.email, other.email, check=False)
    assert taken.returncode != 0
    assert "another account" in taken.stderr
    assert "expected an e-mail address" in product.manage("change_address", person.email, "x", check=False).stderr
    assert "No account has" in product.manage("change_address", somebody(), new, check=False).stderr
    product.manage("change_address", person.email, new)
    assert product.client().sign_in(new, person.password).status == 302
    assert product.client().sign_in(person.email, person.password).status == 200

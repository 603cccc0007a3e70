"""Signing in, attacked from outside: guesses cost time, and nobody else pays for them or learns anything by them."""

import re
import statistics
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.outside.people import Person, main_text, make_people, new_lab
from tests.outside.product import Answer, Client, Product

pytestmark = [pytest.mark.outside, pytest.mark.long]

LAB = new_lab()
WRONG = "not the password at all"


@pytest.fixture(scope="module")
def people(product: Product) -> list[Person]:
    return make_people(product, *({LAB: "owner"},) * 12)


def guesses(product: Product, address: str, number: int, client: Client | None = None) -> list[Answer]:
    client = client or product.client()
    return [client.sign_in(address, f"{WRONG} {turn}") for turn in range(number)]


def test_the_wait_grows_and_is_told(product: Product, people: list[Person]) -> None:
    victim, client, waits = people[0], product.client(), []
    end = time.monotonic() + 40
    while time.monotonic() < end and (not waits or waits[-1] == waits[0]):
        answer = client.sign_in(victim.email, WRONG)
        if answer.status == 429:
            waits.append(int(answer.headers["Retry-After"]))
            assert "Too many wrong passwords" in answer.text
            time.sleep(waits[-1])
        else:
            assert answer.status == 200
    assert waits[-1] > waits[0] >= 1


def test_of_two_hundred_guesses_at_the_same_moment_hardly_any_is_looked_at(
    product: Product, people: list[Person]
) -> None:
    victim = people[1]
    clients = [product.client() for _ in range(20)]
    for client in clients:
        client.csrf_token()
    with ThreadPoolExecutor(20) as many:
        found = many.map(lambda client: guesses(product, victim.email, 10, client), clients)
    counted = Counter(answer.status for answers in found for answer in answers)
    assert set(counted) == {200, 429}
    assert counted[200] <= 12, "5 are free, and the waits between further ones grow"


def test_the_right_password_has_to_wait_too_where_the_guesses_come_from(product: Product, people: list[Person]) -> None:
    """Else a guess would be seen to be right by not being refused."""
    victim = people[2]
    guesses(product, victim.email, 8)
    assert product.client().sign_in(victim.email, victim.password).status == 429


def test_an_invented_sender_is_no_other_sender(product: Product, people: list[Person]) -> None:
    """Nobody has named a proxy to this product, so whoever writes X-Forwarded-For is not believed."""
    victim, answers = people[3], []
    for turn in range(12):
        client = product.client(**{"X-Forwarded-For": f"203.0.113.{turn}", "Forwarded": f"for=203.0.113.{turn}"})
        answers.append(client.sign_in(victim.email, WRONG).status)
    assert 429 in answers
    assert answers.count(200) <= 9, "5 are free; a slow machine lets a few of the short waits pass"


def test_a_colleague_behind_the_same_address_is_let_in(product: Product, people: list[Person]) -> None:
    guesses(product, people[4].email, 15)
    for colleague in people[5:9]:
        colleague.browser()


def test_a_device_that_signed_in_before_is_let_in_while_strangers_guess(product: Product, people: list[Person]) -> None:
    victim = people[9]
    device = victim.browser()
    device.post("/accounts/logout/")
    with ThreadPoolExecutor(8) as many:
        list(many.map(lambda turn: guesses(product, victim.email, 5), range(8)))
    assert product.client().sign_in(victim.email, victim.password).status == 429  # another device here has to wait
    assert device.sign_in(victim.email, victim.password).status == 302
    assert device.get("/").status == 200


def test_a_stolen_or_invented_device_opens_nothing(product: Product, people: list[Person]) -> None:
    victim, other = people[10], people[11]
    device = other.browser()
    [mark] = [cookie for cookie in device.cookies if cookie.name.startswith("device_")]
    assert mark.has_nonstandard_attr("HttpOnly")
    thief = product.client()
    thief.cookies.set_cookie(mark)
    answers = [thief.sign_in(victim.email, WRONG).status for _ in range(8)]
    assert 429 in answers
    answers = [thief.sign_in(other.email, WRONG).status for _ in range(8)]
    assert 429 in answers, "a device that is known has its own count, not none"


def test_nobody_learns_whether_an_address_has_an_account(product: Product) -> None:
    known, unknown = make_people(product, {LAB: "viewer"})[0].email, f"nobody-{time.time_ns()}@people.example"
    for path, name in (("/accounts/login/", "login"), ("/accounts/password/reset/", "email")):
        pages = []
        for address in (known, unknown):
            client = product.client()
            answer = client.post(path, {name: address, "password": WRONG}, follow=False)
            text = main_text(answer.text).replace(address, "ADDRESS")
            pages.append((answer.status, answer.headers.get("Location"), re.sub(r'value="[^"]{40,}"', "", text)))
        assert pages[0] == pages[1], path


def test_the_time_tells_no_more(product: Product) -> None:
    """A password is hashed for an unknown address as well, and both are written down alike."""
    known = [one.email for one in make_people(product, *({LAB: "viewer"},) * 3)]
    unknown = [f"nobody-{turn}-{time.time_ns()}@people.example" for turn in range(3)]
    client, times = product.client(), {True: list[float](), False: list[float]()}
    client.csrf_token()
    for _ in range(4):
        for address, is_known in [(one, True) for one in known] + [(one, False) for one in unknown]:
            begin = time.perf_counter()
            assert client.sign_in(address, WRONG).status == 200
            times[is_known].append(time.perf_counter() - begin)
    medians = [statistics.median(found) for found in times.values()]
    assert max(medians) < 2 * min(medians), times  # an unhashed one takes a tenth


def test_a_new_password_ends_every_other_session(product: Product) -> None:
    [person] = make_people(product, {LAB: "engineer"})
    here, elsewhere = person.browser(), person.browser()
    new = "another four plain words"
    form = {"oldpassword": person.password, "password1": new, "password2": new}
    here.post("/accounts/password/change/", form)
    assert here.get("/lab/").url.endswith("/lab/")
    assert "/accounts/login/" in elsewhere.get("/lab/").url
    assert product.client().sign_in(person.email, new).status == 302


def test_whoever_finds_a_browser_open_guesses_no_password(product: Product) -> None:
    [person] = make_people(product, {LAB: "engineer"})
    browser, new = person.browser(), "another four plain words"
    form = {"oldpassword": WRONG, "password1": new, "password2": new}
    answers = [browser.post("/accounts/password/change/", form).status for _ in range(8)]
    assert 429 in answers


def test_pages_that_are_not_used_are_not_there_and_the_others_are_the_products(product: Product) -> None:
    client = product.client()
    for path in ("signup/", "inactive/", "reauthenticate/", "confirm-email/", "login/code/confirm/", "password/set/"):
        assert client.get(f"/accounts/{path}").status == 404, path
    for path in ("login/", "password/reset/", "password/reset/done/", "password/reset/key/1-abc/"):
        page = client.get(f"/accounts/{path}")
        assert (page.status, 'class="site-header"' in page.text) == (200, True), path
    assert "/accounts/password/reset/" in main_text(client.get("/accounts/login/").text)
    assert client.get("/accounts/password/reset/key/zzzzzzzzzzzz-abc/").status == 200
    assert client.get("/accounts/password/reset/key/zzzzzzzzzzzzz-abc/").status == 404

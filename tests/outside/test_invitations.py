"""How people get into a lab, and how they do not: invitations and renewals by one-use links, tried by people who mean harm."""

import re
import threading
import uuid
from collections.abc import Callable
from typing import Any

import pytest

from tests.outside.product import PASSWORD, Answer, Client, Lab, Product

pytestmark = [pytest.mark.outside, pytest.mark.long]
OTHER = "quite another long one"
TAKEN = "This address cannot be used for a new account. If you have an account, sign in to it; otherwise choose another address."


@pytest.fixture(scope="module")
def lab(product: Product) -> Lab:
    return product.make_lab("Invitations")


@pytest.fixture(scope="module")
def elsewhere(product: Product) -> Lab:
    """Another lab, with an owner of its own."""
    return product.make_lab("Elsewhere")


def _at_once(*acts: Callable[[], Any]) -> list[Any]:
    results: list[Any] = [None] * len(acts)

    def run(place: int) -> None:
        results[place] = acts[place]()

    threads = [threading.Thread(target=run, args=(place,)) for place in range(len(acts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def _accept_as_new(person: Client, password: str = PASSWORD, email: str = "") -> Answer:
    form = {"email": email or _somebody(), "password": password, "again": password}
    return person.post("/invitation/accept-as-new/", form, follow=False)


def _somebody() -> str:
    return f"{uuid.uuid4().hex[:10]}@people.example"


def _trail(lab: Lab) -> str:
    return lab.owner.get("/lab/audit/").text


def _rows_of(page: str, word: str) -> list[str]:
    return [row for row in re.findall(r"<tr\b.*?</tr>", page, re.DOTALL) if word in row]


def _main(page: str) -> str:
    return page.split("<main", 1)[-1].split("</main", 1)[0]


def _number(lab: Lab, email: str, act: str) -> str:
    """The address of a form on the lab's page that does `act` to this person's row."""
    rows = re.findall(r"<tr\b.*?</tr>", lab.owner.get("/lab/").text, re.DOTALL)
    [row] = [row for row in rows if email in row and act in row]
    found = re.search(rf'action="([^"]*/{act}/)"', row)
    assert found, row
    return found[1]


def test_somebody_new_chooses_the_password_and_has_the_role_that_was_offered(product: Product, lab: Lab) -> None:
    link = lab.invite("new@example.org", "viewer")
    person = product.join(link, OTHER)
    assert "You are viewer here" in person.get("/lab/").text
    assert product.client().sign_in("new@example.org", OTHER).status == 302
    assert lab.owner.get("/lab/").text.count("new@example.org") > 0
    trail = _trail(lab)
    assert "member invited" in trail
    assert "invitation accepted" in trail


def test_a_link_works_once(product: Product, lab: Lab) -> None:
    link = lab.invite("once@example.org", "engineer")
    product.join(link)
    again = product.client()
    assert again.open_link(link).status == 410
    assert _accept_as_new(again, OTHER).status == 410
    assert product.client().sign_in("once@example.org", OTHER).status == 200  # the form again: not let in


def test_of_two_who_accept_at_the_same_moment_one_gets_in(product: Product, lab: Lab, elsewhere: Lab) -> None:
    link = lab.invite("race@example.org", "owner")
    people = [product.client(), product.client()]
    others = product.join(elsewhere.invite("racer@example.org", "viewer"))
    for person in (*people, others):
        assert person.open_link(link).status == 200
    acts = [lambda person=person: _accept_as_new(person) for person in people]
    answers = _at_once(*acts, lambda: others.post("/invitation/accept/", follow=False))
    assert sorted(answer.status for answer in answers) == [302, 410, 410]
    assert _trail(lab).count("race@example.org") == 2  # invited, and accepted once


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "PUT", "DELETE"])
def test_programs_that_look_into_links_use_nothing_up(product: Product, lab: Lab, method: str) -> None:
    link = lab.invite(f"scanned-{method.lower()}@example.org", "viewer")
    scanner, person = product.client(), product.client()
    scanner.request(method, link.partition("#")[0])
    assert person.open_link(link).status == 200  # opened, which a scanner with scripts does too
    for path in ("/invitation/", "/invitation/accept/", "/invitation/accept-as-new/", "/invitation/decline/"):
        person.request(method, path)
    product.join(link)


def test_a_form_of_another_site_accepts_and_makes_nothing(product: Product, lab: Lab) -> None:
    link = lab.invite("forged@example.org", "viewer")
    person = product.client()
    person.open_link(link)
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    for path in ("/invitation/accept/", "/invitation/decline/", "/invitation/accept-as-new/", "/invitation/"):
        assert person.request("POST", path, b"password=x&again=x", form).status == 403, path
    for path in ("/lab/members/", "/lab/leave/", "/lab/rename/", "/labs/new/"):
        assert lab.owner.request("POST", path, b"name=Stolen", form).status == 403, path
    product.join(link)


def test_what_is_posted_with_the_acceptance_changes_neither_role_nor_lab(product: Product, lab: Lab) -> None:
    person = product.client()
    person.open_link(lab.invite("climber@example.org", "viewer"))
    form = {"password": PASSWORD, "again": PASSWORD, "role": "owner", "lab": "1", "email": _somebody()}
    person.post("/invitation/accept-as-new/", form)
    assert "You are viewer here" in person.get("/lab/").text
    assert person.get("/lab/tokens/").status == 403


def test_a_revoked_link_lets_nobody_in_also_when_it_was_open_already(product: Product, lab: Lab) -> None:
    link = lab.invite("revoked@example.org", "owner")
    person = product.client()
    assert person.open_link(link).status == 200
    lab.owner.post(_number(lab, "revoked@example.org", "revoke"))
    assert _accept_as_new(person).status == 410
    assert product.client().open_link(link).status == 410
    assert "invitation revoked" in _trail(lab)


def test_a_newer_link_for_the_same_person_ends_the_older_one(product: Product, lab: Lab) -> None:
    older = lab.invite("twice@example.org", "owner")
    newer = lab.invite("TWICE@example.org", "viewer")
    assert product.client().open_link(older).status == 410
    assert "You are viewer here" in product.join(newer).get("/lab/").text


def test_links_of_an_owner_who_is_removed_or_made_less_end_with_it(product: Product, lab: Lab) -> None:
    for name, act, form in (("gone", "remove", {}), ("less", "role", {"role": "viewer"})):
        email = f"{name}-owner@example.org"
        owner = product.join(lab.invite(email, "owner"))
        back_door = Lab(lab.slug, lab.name, email, owner).invite(f"{name}-back-door@example.org", "owner")
        opened = product.client()
        assert opened.open_link(back_door).status == 200
        lab.owner.post(_number(lab, email, act), form)
        assert _accept_as_new(opened).status == 410, name
        assert product.client().open_link(back_door).status == 410, name


def test_an_owner_elsewhere_neither_sees_nor_revokes_links(product: Product, lab: Lab, elsewhere: Lab) -> None:
    link = lab.invite("theirs@example.org", "viewer")
    address = _number(lab, "theirs@example.org", "revoke")
    assert elsewhere.owner.post(address).status == 404
    assert "theirs@example.org" not in elsewhere.owner.get("/lab/").text
    product.join(link)


def test_only_owners_invite_and_renew(product: Product, lab: Lab) -> None:
    engineer = product.join(lab.invite("only-engineer@example.org", "engineer"))
    assert engineer.post("/lab/members/", {"email": "friend@example.org", "role": "owner"}).status == 403
    assert engineer.post(_number(lab, "only-engineer@example.org", "renew")).status == 403


def test_a_link_opened_in_another_account_asks_which_one(product: Product, lab: Lab, elsewhere: Lab) -> None:
    person = product.join(elsewhere.invite("b@example.org", "viewer"))
    page = person.open_link(lab.invite("a@example.org", "engineer"))
    assert "You are signed in as <strong>b@example.org</strong>" in page.text
    assert "With which account" in page.text
    switched = person.post("/invitation/other-account/")
    assert "I am new" in switched.text  # signed out, and the invitation is still open
    person.sign_in("b@example.org", PASSWORD)
    person.post("/invitation/accept/")
    assert "You are engineer here" in person.get("/lab/").text
    members = lab.owner.get("/lab/").text
    assert "b@example.org" in members
    assert "a@example.org" not in members
    assert "account: b@example.org" in _trail(lab)


def test_an_account_is_never_given_another_password_by_an_invitation(
    product: Product, lab: Lab, elsewhere: Lab
) -> None:
    """An owner elsewhere invites a colleague's address, and uses the link in the colleague's place."""
    product.join(lab.invite("colleague@example.org", "owner"))
    thief = product.client()
    thief.open_link(elsewhere.invite("colleague@example.org", "viewer"))
    assert _accept_as_new(thief, OTHER, "Colleague@example.org").status == 409
    assert product.client().sign_in("colleague@example.org", OTHER).status == 200
    assert product.client().sign_in("colleague@example.org", PASSWORD).status == 302


def test_somebody_whose_address_was_taken_by_another_still_gets_in(product: Product, lab: Lab, elsewhere: Lab) -> None:
    """An owner elsewhere has invited the person's address, opened the link himself and made the account."""
    address, mine = _somebody(), _somebody()
    product.join(elsewhere.invite(address, "viewer"))
    person = product.client()
    link = lab.invite(address, "engineer")
    assert f'value="{address}"' in person.open_link(link).text
    refused = _accept_as_new(person, OTHER, address)
    assert refused.status == 409
    assert TAKEN in refused.text
    assert "already" not in _main(refused.text)
    assert _accept_as_new(person, OTHER, mine).status == 302
    assert "You are engineer here" in person.get("/lab/").text
    assert product.client().sign_in(mine, OTHER).status == 302
    assert product.client().sign_in(address, PASSWORD).status == 302  # the other one's account is as it was
    trail = _rows_of(_trail(lab), address)
    assert sum("new account refused" in row for row in trail) == 1
    assert sum(f"account: {mine}" in row for row in trail) == 1
    assert product.client().open_link(link).status == 410


def test_a_link_answers_of_few_addresses_and_each_try_is_written_down(product: Product, elsewhere: Lab) -> None:
    lab, known = product.make_lab("Asking"), [_somebody() for _ in range(7)]
    for address in known:
        product.join(elsewhere.invite(address, "viewer"))
    link, other = (lab.invite(address, "viewer") for address in ("asks@example.org", "waits@example.org"))
    asker = product.client()
    asker.open_link(link)
    answers = [_accept_as_new(asker, email=address) for address in known]
    assert [answer.status for answer in answers] == [409] * 5 + [429] * 2
    assert int(answers[-1].headers["Retry-After"]) > 1800
    assert _accept_as_new(asker, email=_somebody()).status == 429  # it answers nothing of any address
    elsewhere_too = product.client()
    elsewhere_too.open_link(link)
    assert _accept_as_new(elsewhere_too, email=known[0]).status == 429  # the link waits, whoever holds it
    rows = [row for row in _rows_of(_trail(lab), "asks@example.org") if "new account refused" in row]
    assert len(rows) == 5
    assert not any(address in row for address in known for row in rows)  # owners learn of no account by it
    product.join(other)


def test_the_owner_of_an_address_by_name_alone_gets_into_no_lab(product: Product, lab: Lab, elsewhere: Lab) -> None:
    """Somebody has made an account under a colleague's address; the colleague's lab invites the address."""
    squatter = product.join(elsewhere.invite("squatted@example.org", "viewer"))
    lab.invite("squatted@example.org", "owner")
    page = squatter.get("/invitations/")
    assert lab.name not in page.text
    assert "is not proved" in page.text
    assert lab.name not in squatter.get("/lab/").text


def test_answers_and_trail_are_the_same_for_known_and_unknown_addresses(
    product: Product, lab: Lab, elsewhere: Lab
) -> None:
    known, unknown = "known-1@example.org", "known-2@example.org"
    product.join(elsewhere.invite(known, "viewer"))
    token = product.client(lab.make_token("admin"))
    number = token.get("/api/v1/labs/").json()["results"][0]["id"]

    def seen(email: str) -> list[str]:
        link = lab.invite(email, "viewer")
        opened = product.client().open_link(link)
        sent = token.send("POST", f"/api/v1/labs/{number}/invitations/", {"email": email, "role": "viewer"})
        page = lab.owner.post("/lab/members/", {"email": email, "role": "viewer"})
        trail = [row for row in re.findall(r"<tr\b.*?</tr>", _trail(lab), re.DOTALL) if email in row]
        return [_plain(text, email) for text in (opened.text, sent.text, page.text, *trail)]

    assert seen(known) == seen(unknown)


def _plain(text: str, email: str) -> str:
    """What an answer says, without what differs each time: codes, times, numbers, form tokens."""
    text = text.replace(email, "ADDRESS")
    text = re.sub(r"sp[ir]_[\w-]+", "CODE", text)
    text = re.sub(r"\d{4}-\d\d-\d\d[T ][\d:.]+(Z|\+00:00)?|\d{4}-\d\d-\d\d \d\d:\d\d", "TIME", text)
    text = re.sub(r'(csrfmiddlewaretoken" value|nonce|X-CSRFToken": )=?"?[\w+/=-]+"?', "TOKEN", text)
    text = re.sub(r"X-CSRFToken[^}]*", "TOKEN", text)
    return re.sub(r"\d+", "N", text)


def test_a_wrong_code_is_answered_like_a_used_one(product: Product, lab: Lab) -> None:
    used = lab.invite("used@example.org", "viewer")
    product.join(used)
    for link in (
        used,
        used[:-1] + ("A" if used[-1] != "A" else "B"),
        "http://x/invitation/#spi_",
        "http://x/invitation/#'",
    ):
        answer = product.client().open_link(link)
        assert answer.status in (410, 422), link
        assert "used@example.org" not in answer.text
    assert product.client().post("/invitation/accept/", follow=False).status == 302
    assert product.client().post("/invitation/decline/").status == 410


def test_a_declined_link_works_no_more(product: Product, lab: Lab) -> None:
    link = lab.invite("declined@example.org", "viewer")
    person = product.client()
    person.open_link(link)
    assert "Invitation declined" in person.post("/invitation/decline/").text
    assert product.client().open_link(link).status == 410
    assert "invitation declined" in _trail(lab)


def test_codes_are_in_no_log_and_in_no_address(product: Product, lab: Lab) -> None:
    link = lab.invite("logged@example.org", "viewer")
    code = link.partition("#")[2]
    assert len(code) > 43
    person = product.client()
    opened = person.open_link(link)
    assert code not in opened.url
    assert code not in opened.text
    product.join(link)
    product.client().open_link(link)
    for name in ("web", "worker", "dispatcher", "beat", "postgres", "valkey"):
        assert code not in product.log(name), name
    assert code not in lab.owner.get("/lab/").text + _trail(lab)


def test_the_way_to_the_sign_in_leads_to_no_other_site(product: Product, lab: Lab) -> None:
    person = product.client()
    person.open_link(lab.invite("redirected@example.org", "viewer"))
    page = person.get("/invitation/?next=https://evil.example/").text
    main = page.split("<main")[1].split("</main")[0]
    assert "evil.example" not in "".join(re.findall(r'(?:href|action)="([^"]*)"', main))
    form = {"password": PASSWORD, "again": PASSWORD, "email": _somebody(), "next": "//evil.example"}
    answer = person.post("/invitation/accept-as-new/?next=//evil.example/", form, follow=False)
    assert answer.status == 302
    assert answer.headers["Location"].startswith("/")
    assert not answer.headers["Location"].startswith("//")


@pytest.mark.parametrize(
    ("password", "again", "sentence"),
    [("short", "short", "at least 12"), (PASSWORD, OTHER, "differ"), ("1q2w3e4r5t6y", "1q2w3e4r5t6y", "common"), ("", "", "required")],
)  # fmt: skip
def test_an_unfit_password_is_refused_and_uses_nothing_up(
    product: Product, lab: Lab, password: str, again: str, sentence: str
) -> None:
    person = product.client()
    link = lab.invite(f"unfit-{abs(hash((password, again))) % 10**6}@example.org", "viewer")
    person.open_link(link)
    answer = person.post("/invitation/accept-as-new/", {"email": _somebody(), "password": password, "again": again})
    assert answer.status == 422
    assert sentence in answer.text
    product.join(link, client=person)


@pytest.mark.parametrize(
    "email", ["x", "a@b", f"{'a' * 250}@example.org", "a@example.org\r\nBcc: b@example.org", "\0@example.org"]
)
def test_an_address_that_is_none_is_refused_in_words(product: Product, lab: Lab, email: str) -> None:
    assert lab.owner.post("/lab/members/", {"email": email, "role": "viewer"}).status == 422


def test_a_member_is_not_invited_again(lab: Lab) -> None:
    answer = lab.owner.post("/lab/members/", {"email": lab.email, "role": "viewer"})
    assert answer.status == 422
    assert "is a member of Invitations already" in answer.text


def _renewal(lab: Lab, email: str) -> str:
    answer = lab.owner.post(_number(lab, email, "renew"))
    found = re.search(r'<code id="secret">([^<]+)</code>', answer.text)
    assert found, answer.text[:3000]
    return found[1]


def _new_password(person: Client, password: str) -> Answer:
    return person.post("/renewal/password/", {"password": password, "again": password}, follow=False)


def test_an_owner_renews_a_members_access_by_a_link_that_works_once(product: Product, lab: Lab) -> None:
    old = product.join(lab.invite("forgetful@example.org", "engineer"))
    link = _renewal(lab, "forgetful@example.org")
    person, late = product.client(), product.client()
    assert person.open_link(link).status == late.open_link(link).status == 200
    assert product.client().sign_in("forgetful@example.org", PASSWORD).status == 302  # until it is used
    answers = _at_once(lambda: _new_password(person, OTHER), lambda: _new_password(late, OTHER + " still"))
    assert sorted(answer.status for answer in answers) == [302, 410]
    assert "/accounts/login/" in old.get("/").url  # every older session has ended
    assert product.client().sign_in("forgetful@example.org", PASSWORD).status == 200
    assert product.client().open_link(link).status == 410
    assert "renewal link made" in _trail(lab)
    assert "access renewed" in _trail(lab)


def test_a_renewal_opens_no_account_that_is_in_another_lab_too(product: Product, lab: Lab, elsewhere: Lab) -> None:
    person = product.join(lab.invite("in-both@example.org", "owner"))
    link = _renewal(lab, "in-both@example.org")  # made while the account was in one lab
    person.open_link(elsewhere.invite("in-both@example.org", "viewer"))
    person.post("/invitation/accept/")
    for one in (link, _renewal(elsewhere, "in-both@example.org")):
        thief = product.client()
        assert thief.open_link(one).status == 200
        assert _new_password(thief, OTHER).status == 409
    assert product.client().sign_in("in-both@example.org", PASSWORD).status == 302


def test_a_renewal_ends_with_the_membership_and_with_its_maker(product: Product, lab: Lab) -> None:
    product.join(lab.invite("leaver@example.org", "viewer"))
    link = _renewal(lab, "leaver@example.org")
    lab.owner.post(_number(lab, "leaver@example.org", "remove"))
    assert product.client().open_link(link).status == 410


def test_an_invitation_is_no_renewal_and_a_renewal_no_invitation(product: Product, lab: Lab) -> None:
    product.join(lab.invite("mixed@example.org", "viewer"))
    code = _renewal(lab, "mixed@example.org").partition("#")[2]
    other = lab.invite("mixed-2@example.org", "viewer").partition("#")[2]
    assert product.client().open_link(f"http://x/invitation/#{code}").status == 410
    assert product.client().open_link(f"http://x/renewal/#{other}").status == 410


def test_the_rest_interface_invites_lists_and_revokes(product: Product) -> None:
    lab = product.make_lab("By script")
    admin, reader = (product.client(lab.make_token(scope)) for scope in ("admin", "read"))
    [own] = admin.get("/api/v1/labs/").json()["results"]
    made = admin.send("POST", own["invitations_url"], {"email": "rest@example.org", "role": "engineer"})
    assert made.status == 201
    assert made.headers["Cache-Control"] == "no-store"
    product.join(made.json()["link"])
    [row] = admin.get(own["invitations_url"]).json()["results"][-1:]
    assert (row["email"], row["state"]) == ("rest@example.org", "accepted")
    assert "link" not in row
    second = admin.send("POST", own["invitations_url"], {"email": "rest-2@example.org", "role": "viewer"}).json()
    revoke = f"{own['invitations_url']}{second['id']}/revoke/"
    assert admin.send("POST", revoke).json()["state"] == "revoked"
    assert admin.send("POST", revoke).status == 409
    assert product.client().open_link(second["link"]).status == 410
    for client in (reader, product.client()):
        assert client.send("POST", own["invitations_url"], {"email": "a@example.org", "role": "owner"}).status in (
            401,
            403,
        )
        assert client.get(own["invitations_url"]).status in (401, 403)
    for body in ({}, {"email": "x", "role": "viewer"}, {"email": "a@example.org", "role": "king"}, [], "x", 5, None):
        assert admin.send("POST", own["invitations_url"], body).status == 400, body
    member = next(one for one in admin.get(own["members_url"]).json()["results"] if one["email"] == "rest@example.org")
    renewed = admin.send("POST", member["url"] + "renew/")
    assert renewed.status == 201
    person = product.client()
    person.open_link(renewed.json()["link"])
    assert _new_password(person, OTHER).status == 302


def test_links_of_a_token_end_when_it_is_revoked(product: Product, lab: Lab) -> None:
    made = lab.owner.post("/lab/tokens/", {"name": "inviting", "scope": "admin", "days": ""})
    [secret] = re.findall(r"(spl_[\w-]+)</code>", made.text)
    admin = product.client(secret)
    [own] = admin.get("/api/v1/labs/").json()["results"]
    link = admin.send("POST", own["invitations_url"], {"email": "by-token@example.org", "role": "owner"}).json()["link"]
    [address] = re.findall(
        r'action="([^"]+/revoke/)" data-confirm="Revoke “inviting”', lab.owner.get("/lab/tokens/").text
    )
    lab.owner.post(address)
    assert product.client().open_link(link).status == 410

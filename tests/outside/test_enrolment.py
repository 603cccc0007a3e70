"""Hosts come in by an owner's decision, and nothing that comes in takes away what was there."""

import json
import re
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.outside.hosts import RealHost, SpokenHost, as_root, install_line
from tests.outside.product import Client, Product

pytestmark = [pytest.mark.outside, pytest.mark.long]
CARD, OTHER_CARD = "a" * 16, "b" * 16


def _approved(product: Product, owner: Client, **more: object) -> SpokenHost:
    host = SpokenHost(product, f"in-{secrets.token_hex(3)}", **more)  # type: ignore[arg-type]
    assert host.enrol(install_line(owner)[1]).json()["state"] == "pending"
    host.decide(owner, "approve")
    assert host.poll().status == 200
    return host


def _twin(host: SpokenHost, owner: Client, **more: object) -> SpokenHost:
    twin = SpokenHost(host.product, host.name, machine=host.machine, **more)  # type: ignore[arg-type]
    assert host.name in twin.enrol(install_line(owner)[1]).json()["question"]
    return twin


def _names(owner: Client) -> list[str]:
    return re.findall(r'<th scope="row"><a href="/hosts/\d+/">([^<]+)</a>', owner.get("/lab/agents/").text)


def test_a_second_enrolment_leaves_the_approved_agent_alone_until_an_owner_replaces_it(
    product: Product, owner: Client
) -> None:
    first = _approved(product, owner)
    second = _twin(first, owner)
    assert first.poll().status == 200
    refused = second.poll()
    assert (refused.status, refused.json()["state"]) == (403, "pending")
    assert refused.json()["poll_s"] <= 5
    assert f"{first.name} (2)" in _names(owner)
    page = owner.get("/lab/agents/").text
    assert f"The same machine: replace the agent of {first.name}" in page
    assert f"Another machine: approve it as {first.name} (2)" in page

    second.decide(owner, "replace", former=first.agent)
    assert second.poll().status == 200
    assert first.poll().status == 401
    assert first.name in _names(owner)
    assert f"{first.name} (2)" not in owner.get("/hosts/").text


def test_an_owner_may_say_that_they_are_two_machines(product: Product, owner: Client) -> None:
    first = _approved(product, owner, cards=(CARD,))
    second = _twin(first, owner, cards=(OTHER_CARD,))
    assert "Its network cards are others" in owner.get("/lab/agents/").text
    second.decide(owner, "approve")
    assert (first.poll().status, second.poll().status) == (200, 200)


def test_a_third_of_the_same_machine_replaces_only_the_one_that_is_named(product: Product, owner: Client) -> None:
    first = _approved(product, owner, cards=(CARD,))
    second, third = _twin(first, owner, cards=(CARD, OTHER_CARD)), _twin(first, owner)
    assert "the same network cards" in owner.get("/lab/agents/").text
    third.decide(owner, "replace", former=second.agent)
    assert (first.poll().status, second.poll().status, third.poll().status) == (200, 401, 200)


def test_only_a_waiting_agent_of_the_same_machine_replaces_one(product: Product, owner: Client) -> None:
    first, other = _approved(product, owner), _approved(product, owner)
    for former in (other.agent, first.agent, 0, "x", "9" * 30):
        first.decide(owner, "replace", former=former)
    assert (first.poll().status, other.poll().status) == (200, 200)


def test_a_token_that_was_used_makes_nothing_again(product: Product, owner: Client) -> None:
    first, token = SpokenHost(product, "used"), install_line(owner)[1]
    assert first.enrol(token).status == 201
    assert first.enrol(token).status == 201  # a lost answer
    second = _twin(first, owner)
    second.decide(owner, "replace", former=first.agent)
    for again in (first, SpokenHost(product, "used")):
        assert again.enrol(token).status == 401


def test_a_copy_with_the_same_secret_is_refused_and_the_host_goes_on(product: Product, owner: Client) -> None:
    host = _approved(product, owner, cards=(CARD,))
    copy = SpokenHost(product, host.name, host.machine, (OTHER_CARD,), host.secret, agent=host.agent)
    for _ in range(2):
        assert copy.poll().status == 403
        assert host.poll().status == 200
    assert f"A machine with other network cards calls as {host.name}" in owner.get("/lab/agents/").text
    host.decide(owner, "refuse-hardware")
    assert f"other network cards calls as {host.name}" not in owner.get("/lab/agents/").text
    assert copy.poll().status == 403

    more = SpokenHost(product, host.name, host.machine, ("c" * 16,), host.secret, agent=host.agent)
    assert more.poll().status == 403
    host.decide(owner, "accept-hardware")
    assert more.poll().status == 200
    host.instance = "restarted"
    assert host.poll().status == 403


def test_copies_that_call_in_turn_fill_no_trail_and_a_decision_holds_for_each(product: Product, owner: Client) -> None:
    host = _approved(product, owner, cards=(CARD,))
    copies = [
        SpokenHost(product, host.name, host.machine, (card * 16,), host.secret, agent=host.agent) for card in "cde"
    ]
    asked = f"other network cards calls as {host.name}"
    for _ in copies:
        for copy in copies * 3:
            assert copy.poll().status == 403
        if asked in owner.get("/lab/agents/").text:
            host.decide(owner, "refuse-hardware")
    for copy in copies * 3:
        assert copy.poll().status == 403
    assert asked not in owner.get("/lab/agents/").text
    assert host.poll().status == 200
    trail = owner.get("/lab/audit/").text
    rows = [row for row in trail.split("<tr>") if "came from other hardware" in row and host.name in row]
    assert len(rows) == 1, rows
    assert f"<td>host agent {host.agent} ({host.name})</td>" in rows[0]


def test_older_agents_that_tell_no_network_cards_go_on(product: Product, owner: Client) -> None:
    host = _approved(product, owner)
    host.cards, host.instance = (CARD,), "updated"
    assert host.poll().status == 200
    host.cards, host.instance = (), "an older one again"
    assert host.poll().status == 200


@pytest.mark.parametrize("hardware", [None, 5, {"a": 1}, [None, 1, ["x"], "z" * 16, "a" * 17], "a" * 5000, ["\0"]])
def test_odd_network_cards_harm_nothing(product: Product, owner: Client, hardware: object) -> None:
    assert SpokenHost(product, "odd").enrol(install_line(owner)[1], hardware=hardware).status == 201


def test_a_host_is_told_as_it_is_before_its_first_report(product: Product, owner: Client) -> None:
    host = SpokenHost(product, f"new-{secrets.token_hex(3)}")
    host.enrol(install_line(owner)[1])
    overview = owner.get("/").text
    assert re.search(rf"{host.name}</a>.*?<a href=\"/lab/agents/\">Approve</a>", overview, re.DOTALL)
    host.decide(owner, "approve")
    row = re.search(rf"{host.name}</a></th>(.*?)</tr>", owner.get("/lab/agents/").text, re.DOTALL)
    assert row
    assert ">approved<" in row[1]
    assert "not reported yet" in row[1]
    assert "offline" not in row[1]
    host.poll()
    row = re.search(rf"{host.name}</a></th>(.*?)</tr>", owner.get("/lab/agents/").text, re.DOTALL)
    assert row
    assert "fio-3.33" in row[1]


def test_the_page_says_where_its_line_works(product: Product, owner: Client) -> None:
    page = owner.get("/lab/agents/enrol/").text
    assert "The line works only on this machine" in page
    assert "bin/up --host 0.0.0.0" in page
    line, token = install_line(owner)
    assert line.index(token) > line.index("| SPINDLE_ENROL_TOKEN=")
    assert product.url.rstrip("/") in line


def test_what_the_unit_names_as_its_documentation_is_there(product: Product) -> None:
    unit = product.client().get("/agent/agent.service").text
    address = re.findall(r"^Documentation=(\S+)$", unit, re.MULTILINE)[0]
    assert "What the agent does on your host" in product.client().get(address).text


@pytest.fixture
def real_host(product: Product, tmp_path: Path) -> Iterator[RealHost]:
    host = RealHost(product, tmp_path)
    yield host
    host.stop()


@as_root
def test_a_real_agent_waits_quietly_and_works_seconds_after_its_approval(
    product: Product, owner: Client, real_host: RealHost
) -> None:
    done = real_host.enrol(install_line(owner)[1])
    assert done.returncode == 0, done.stderr
    again = real_host.enrol(install_line(owner)[1])
    assert again.returncode == 2
    assert "Nothing was changed" in again.stderr
    assert "--again" in again.stderr
    real_host.start()
    real_host.hears("has not approved it yet")
    waits = len(real_host.said())
    with pytest.raises(AssertionError):
        real_host.hears("No answer", 12)
    assert len(real_host.said()) == waits, real_host.said()
    identity = json.loads((real_host.state / "identity.json").read_text())
    owner.post(f"/lab/agents/{identity['agent']}/approve/")
    real_host.hears("Connected.", 8)


@as_root
def test_the_machine_that_the_product_runs_on_enrols_twice_and_keeps_its_own_agent(
    product: Product, owner: Client, real_host: RealHost
) -> None:
    real_host.inside = []
    done = real_host.enrol(install_line(owner)[1])
    assert "an owner says whether it is the same machine" in done.stderr
    page = owner.get("/lab/agents/").text
    assert "very likely the same machine" in page or "is not known" in page
    assert product.pid("agent")


def test_the_token_is_asked_for_where_others_cannot_read_it(product: Product, owner: Client, tmp_path: Path) -> None:
    host = RealHost(product, tmp_path)
    host.inside = []
    missing = host.call("enrol", "--server", product.url, input="")
    assert missing.returncode == 2
    assert "SPINDLE_ENROL_TOKEN" in missing.stderr
    (tmp_path / "token").write_text(install_line(owner)[1] + "\n")
    done = host.call("enrol", "--server", product.url, "--token-file", str(tmp_path / "token"))
    assert done.returncode == 0, done.stderr
    for path in ("/proc/self/nothing", str(tmp_path)):
        assert host.call("enrol", "--again", "--server", product.url, "--token-file", path).returncode == 2

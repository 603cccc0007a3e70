"""A hostile or broken agent: whatever it sends is refused in words, and the honest request behind it goes through."""

import base64
import hashlib
import json
import os
import random
import re
import uuid
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.outside.product import Answer, Client, Product, wait_until

pytestmark = [pytest.mark.outside, pytest.mark.long]
rough = random.Random(25)
DEEP = b"[" * 50_000 + b"]" * 50_000
HOSTILE: list[Any] = [
    None, True, -1, 0, 1.5, 2**31, 2**63, 10**40, 1e308, "", "²", "9" * 5000, "a\0b", "x" * 100_000, [], [1], [[]], [None],
    {}, {"a": {}}, {"": 1}, ["²"], {"\0": "\0"}, "١٢", "../..", "nan", [{"attempt": "1"}],
]  # fmt: skip
RAW = [
    b"", b"{", b"[]", b"null", b'"text"', b"1", DEEP, b'{"a":' + DEEP + b"}", b'{"wait": NaN}', b'{"wait": 1e999}',
    b'{"wait": -Infinity}', b'{"token": ' + b"9" * 5000 + b"}", b'{"token": "\\ud800"}', b'{"token": "\\u0000"}', b'{"token": "\xff"}',
    b"\xff\xfe{", b"\0", b"token=1",
]  # fmt: skip


@dataclass
class Host:
    """What an agent knows of itself, and how it speaks."""

    client: Client
    secret: str = field(default_factory=lambda: hashlib.sha256(uuid.uuid4().bytes).hexdigest())
    machine: str = field(default_factory=lambda: hashlib.sha256(uuid.uuid4().bytes).hexdigest())
    instance: str = field(default_factory=lambda: str(uuid.uuid4()))
    number: int = 0

    @property
    def headers(self) -> dict[str, str]:
        return {
            "Authorization": f"Bearer spa_{self.number}_{self.secret}",
            "X-Spindle-Protocol": "1",
            "X-Spindle-Instance": self.instance,
            "X-Spindle-Machine": self.machine,
            "Content-Type": "application/json",
        }

    def enrol(self, enrolment: str, **more: Any) -> Answer:
        about = {
            "token": enrolment,
            "secret_sha256": hashlib.sha256(self.secret.encode()).hexdigest(),
            "machine": self.machine,
        }
        body = {**about, "hostname": f"rough-{self.machine[:8]}", "agent_version": "1.0", **more}
        return self.client.send("POST", "/agent/v1/enrol/", body)

    def say(self, path: str, body: Any, method: str = "POST", **headers: str) -> Answer:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.client.request(method, f"/agent/v1/{path}", raw, {**self.headers, **headers})


@pytest.fixture(scope="module")
def host(product: Product, owner: Client) -> Host:
    """An approved host that offers a directory."""
    host = Host(product.client())
    host.number = host.enrol(token_of(owner)).json()["agent"]
    owner.post(f"/lab/agents/{host.number}/approve/")
    about = {"hostname": "rough", "directory": "/srv/rough"}
    output = {"tool": "machine", "argv": [], "exit_status": 0, "stdout": json.dumps(about), "stderr": ""}
    assert host.say("inventory/", {"outputs": [output]}).status == 202
    return host


@pytest.fixture(scope="module")
def attempt(host: Host, admin: Client) -> dict[str, Any]:
    """An offer that the host has accepted and runs."""
    name = f"rough-{host.machine[:8]}"
    targets = wait_until(
        "the host's directory is a target",
        20,
        lambda: [one for one in admin.get("/api/v1/targets/?limit=1000").json()["results"] if one["host_name"] == name],
    )
    workload = {"rw": "write", "block_size": 4096, "file_size": 1 << 20}
    started = admin.send("POST", "/api/v1/runs/", {"target": targets[0]["id"], "workload": workload})
    assert started.status == 201, started.text
    told = host.say("poll/", {"attempts": [], "wait": 1}).json()
    offer: dict[str, Any] = told["offers"][0]
    body = {"token": offer["token"]}
    assert host.say(f"attempts/{offer['attempt']}/accept/", body).status == 200
    assert host.say(f"attempts/{offer['attempt']}/running/", {**body, "argv": ["fio"]}).status == 200
    return offer


def token_of(owner: Client) -> str:
    found = re.search(r"spe_[\w-]{20,}", owner.post("/lab/agents/enrol/").text)
    assert found
    return found[0]


def is_refused(answer: Answer, sent: object) -> None:
    """Refused in words, or taken where the protocol is lenient; never an error of the server."""
    assert answer.status < 500, (answer.url, str(sent)[:200], answer.status, answer.text[:500])
    assert "Traceback" not in answer.text
    if answer.status >= 400:
        assert answer.headers["Content-Type"] == "application/problem+json", (answer.url, str(sent)[:200])
        assert answer.json()["detail"]


def chosen(values: list[Any]) -> list[Any]:
    """Some of them, the same each time; all of them in the long form."""
    return values if os.environ.get("SPINDLE_LONG") == "1" else rough.sample(values, 6)


def endpoints(attempt: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Each request of the protocol with an honest body."""
    here, token = f"attempts/{attempt['attempt']}", {"token": attempt["token"]}
    stream = {"chunks": 0, "bytes": 0, "sha256": hashlib.sha256(b"").hexdigest()}
    chunk = {
        "stream": "job",
        "seq": 0,
        "sha256": hashlib.sha256(b"a").hexdigest(),
        "data": base64.b64encode(b"a").decode(),
    }
    output = {"tool": "lsblk", "argv": ["lsblk"], "exit_status": 0, "stdout": "", "stderr": ""}
    named = {"attempt": attempt["attempt"], "token": attempt["token"], "state": "running"}
    return {
        "poll/": {"boot_id": "b", "agent_version": "1", "fio_version": "f", "policy": {"a": 1}, "attempts": [named], "wait": 0},
        f"{here}/accept/": token,
        f"{here}/refuse/": {"token": -1, "reason": "no"},
        f"{here}/running/": {**token, "boot_id": "b", "argv": ["fio"], "started_at": 1.0},
        f"{here}/finish/": {
            **token, "outcome": "cancelled", "exit_status": 0, "signal": 9, "reason": "r", "ended_at": 1.0,
            "streams": {"result": {**stream, "sha256": "0" * 64}}, "chunks": [chunk],
        },
        "inventory/": {"outputs": [output]},
    }  # fmt: skip


def variants(body: Any) -> Any:
    """The body with each of its values replaced by each hostile one; inner objects and lists too."""
    pairs = body.items() if isinstance(body, dict) else enumerate(body)
    for name, value in pairs:
        for hostile in chosen(HOSTILE):
            if (
                name != "wait" or not isinstance(hostile, int | float) or hostile <= 0
            ):  # a longer poll is held, as asked
                yield {**body, name: hostile} if isinstance(body, dict) else [hostile]
        if isinstance(value, dict | list):
            for inner in variants(value):
                yield {**body, name: inner} if isinstance(body, dict) else [inner]


def test_no_body_of_an_agent_is_an_error_of_the_server(host: Host, attempt: dict[str, Any]) -> None:
    count = 0
    for path, honest in endpoints(attempt).items():
        for body in [*RAW, *variants(honest)]:
            if (
                isinstance(body, dict)
                and body.get("outcome") == "cancelled"
                and body.get("streams") in (None, [], {}, "")
            ):
                continue  # nothing was sent: an honest end
            is_refused(host.say(path, body), body)
            count += 1
    assert count > 200


def test_counts_of_a_manifest_are_whole_numbers_from_0(host: Host, attempt: dict[str, Any]) -> None:
    honest = {"chunks": 1, "bytes": 1, "sha256": "0" * 64}
    for name in ("chunks", "bytes"):
        for wrong in (-1, -(2**63), 1.5, True, "1", None):
            body = {"token": attempt["token"], "outcome": "failed", "streams": {"result": {**honest, name: wrong}}}
            answer = host.say(f"attempts/{attempt['attempt']}/finish/", body)
            assert answer.status == 400, (name, wrong, answer.text)
            assert "whole number" in answer.json()["detail"]
    over = {"token": attempt["token"], "outcome": "failed", "exit_status": 2**31, "streams": {}}
    assert host.say(f"attempts/{attempt['attempt']}/finish/", over).status == 400


def test_no_header_of_an_agent_is_an_error_of_the_server(host: Host, attempt: dict[str, Any]) -> None:
    chunk = f"attempts/{attempt['attempt']}/streams/result/chunks/0/"
    values = ("", "²", "9" * 5000, "-1", "é" * 40, "spa_²_x", "Bearer spa_²_x", f"Bearer spa_{'9' * 5000}_x", "Bearer")
    for name in (
        "Authorization",
        "X-Spindle-Instance",
        "X-Spindle-Machine",
        "X-Spindle-Token",
        "X-Spindle-SHA256",
        "X-Spindle-Protocol",
    ):
        for value in values:
            if name == "X-Spindle-Machine":
                continue  # another machine quarantines the host: below
            for path, method, body in (("poll/", "POST", b'{"wait": 0}'), (chunk, "PUT", b"x")):
                sent = {"X-Spindle-Token": "1", "X-Spindle-SHA256": "0", name: value}
                is_refused(host.say(path, body, method, **sent), sent)


def test_a_machine_in_other_letters_is_another_machine(product: Product, owner: Client) -> None:
    host = Host(product.client())
    host.number = host.enrol(token_of(owner)).json()["agent"]
    owner.post(f"/lab/agents/{host.number}/approve/")
    for path, method in (("poll/", "POST"), ("attempts/1/streams/result/chunks/0/", "PUT")):
        answer = host.say(path, b"{}", method, **{"X-Spindle-Machine": "é" * 64})
        assert answer.status == 403, answer.text


def test_addresses_of_attempts_that_cannot_be_are_not_there(host: Host) -> None:
    for number in ("0", "9" * 19, "9" * 30, "9" * 5000, "-1", "%C2%B2", "a", "%00"):
        for rest in (
            "accept/",
            "refuse/",
            "running/",
            "finish/",
            "streams/result/chunks/0/",
            f"streams/job/chunks/{'9' * 30}/",
        ):
            method = "PUT" if "chunks" in rest else "POST"
            is_refused(host.say(f"attempts/{number}/{rest}", b'{"token": 1}', method), (number, rest))
    for path in ("", "nothing/", "enrol/", "poll/", "inventory/"):
        for method in ("GET", "PUT", "DELETE", "OPTIONS"):
            answer = host.say(path, b"", method)
            is_refused(answer, (method, path))
            assert answer.status in (404, 405)


def test_an_enrolment_that_cannot_be_is_refused_and_its_token_stays_good(product: Product, owner: Client) -> None:
    token = token_of(owner)
    for body in RAW:
        is_refused(
            product.client().request("POST", "/agent/v1/enrol/", body, {"Content-Type": "application/json"}), body
        )
    for name in ("token", "secret_sha256", "machine"):
        for hostile in HOSTILE:
            answer = Host(product.client()).enrol(token, **{name: hostile})
            is_refused(answer, (name, hostile))
            assert answer.status >= 400
    for name, hostile in (("hostname", "²" * 300), ("hostname", 5), ("agent_version", {"a": "\0"}), ("token", ["x"])):
        answer = Host(product.client()).enrol(token, **{name: hostile})
        assert answer.status == 400, (name, hostile)
        assert f"{name}: found " in answer.json()["detail"]
    odd = Host(product.client()).enrol(token, hostname="a\0b" + "²" * 200, python=[1], later={"a": [1]})
    assert odd.status == 201, odd.text


POLICY = {
    "directory": "/srv/rough", "quota_bytes": 1 << 30, "max_runtime_s": 3600, "max_iodepth": 64, "max_numjobs": 4,
    "spool_on_directory": False, "directory_refused": "",
}  # fmt: skip
NO_NUMBER = [[1], "abc", {}, "inf", "nan", "1e999", "9" * 4000, -1, 1.5, True, 2**63]
NO_TEXT = [[1], {}, 5, True, 1.5, "x" * 6000]


def test_a_policy_is_checked_entry_by_entry_and_the_hosts_page_stays(host: Host, owner: Client) -> None:
    page = f"/hosts/{number_of_host(host, owner)}/"
    wrong = dict.fromkeys(("quota_bytes", "max_runtime_s", "max_iodepth", "max_numjobs"), NO_NUMBER)
    wrong |= {"directory": NO_TEXT, "directory_refused": NO_TEXT, "spool_on_directory": [1, "yes", [], {}]}
    for name, values in wrong.items():
        for value in values:
            answer = host.say("poll/", {"policy": {**POLICY, name: value}, "wait": 0})
            assert answer.status == 400, (name, str(value)[:80])
            assert re.search(rf"policy\.{name}: found .{{1,80}}, expected ", answer.json()["detail"]), answer.text
    for value in ([], "", 0, False, [1], "x"):
        answer = host.say("poll/", {"policy": value, "wait": 0})
        assert answer.status == 400, value
        assert "expected an object" in answer.json()["detail"]
    more = {"later": [1], "x" * 500: 1, "more": {"a": 1}, "max_wishes_s": "nan", "items": 1e300, "max_things_bytes": 7}
    assert host.say("poll/", {"policy": {**POLICY, **more}, "later": {"a": [1]}, "wait": 0}).status == 200
    assert "1\u00a0h" in owner.get(page).text
    for address in (page, "/lab/agents/", "/hosts/", "/"):
        assert owner.get(address).status == 200, address


def test_fields_of_a_poll_are_checked_by_type_and_size(host: Host) -> None:
    texts = {"boot_id": 64, "agent_version": 40, "fio_version": None, "inventory_refused": None}
    for name, most in texts.items():
        for value in ([], {}, 5, 0, False, *(["x" * (most + 1)] if most else [])):
            answer = host.say("poll/", {name: value, "wait": 0})
            assert answer.status == 400, (name, value)
            assert f"{name}: found " in answer.json()["detail"]
    for directory in ([], "", 0, {"path": 5}, {"path": ["/x"]}, {"path": "/" + "x" * 5000}, {"type": {}}, {"uuid": 7}):
        answer = host.say("poll/", {"directory": directory, "wait": 0})
        assert answer.status == 400, directory
        assert "directory" in answer.json()["detail"]
    for attempts in ({}, "", 0, [1], [[]], [{"attempt": 1, "token": 1, "state": []}], [{}] * 5000):
        assert host.say("poll/", {"attempts": attempts, "wait": 0}).status == 400, str(attempts)[:80]
    assert host.say("poll/", {"wait": "1"}).status == 400


def test_conflicting_chunks_of_a_day_are_one_row_under_the_hosts_own_number(
    host: Host, attempt: dict[str, Any], owner: Client
) -> None:
    path = f"attempts/{attempt['attempt']}/streams/stderr/chunks"
    for turn in range(30):
        data = f"turn {turn}".encode()
        about = {"X-Spindle-Token": str(attempt["token"]), "X-Spindle-SHA256": hashlib.sha256(data).hexdigest()}
        for chunk in range(2):
            assert host.say(f"{path}/{chunk}/", data, "PUT", **about).status == (409 if turn else 200)
    who = f"host agent {host.number} (rough-{host.machine[:8]})"
    rows = [row for row in owner.get("/lab/audit/").text.split("<tr>") if "chunk conflict" in row and who in row]
    assert len(rows) == 1
    assert "times: 58" in rows[0]


def test_a_host_that_names_another_filesystem_at_each_poll_gets_few_targets(
    product: Product, owner: Client, admin: Client
) -> None:
    host = Host(product.client())
    host.number = host.enrol(token_of(owner)).json()["agent"]
    owner.post(f"/lab/agents/{host.number}/approve/")
    about = {"hostname": "rough", "directory": "/srv/rough"}
    output = {"tool": "machine", "argv": [], "exit_status": 0, "stdout": json.dumps(about), "stderr": ""}
    host.say("inventory/", {"outputs": [output]})

    def own() -> list[dict[str, Any]]:
        every: list[dict[str, Any]] = admin.get("/api/v1/targets/?limit=1000").json()["results"]
        return [one for one in every if one["host_name"] == f"rough-{host.machine[:8]}"]

    for turn in range(40):
        place = {"path": f"/srv/rough/{turn % 3}", "type": "ext4", "uuid": str(uuid.uuid4()), "mount_point": "/srv"}
        assert host.say("poll/", {"boot_id": "b", "directory": place, "wait": 0}).status == 200
        if turn == 4:
            assert len(own()) >= 5  # an honest remount is another target at once
    assert len(own()) <= 21


def test_an_end_without_a_manifest_ends_nothing(host: Host, attempt: dict[str, Any]) -> None:
    path, honest = f"attempts/{attempt['attempt']}/finish/", {"token": attempt["token"], "outcome": "failed"}
    stream = {"chunks": 1, "bytes": 1, "sha256": "0" * 64}
    for streams in ([], "", 0, False, None, [1], {"result": []}, {"result": 5}, {"result": {**stream, "sha256": "z"}}):
        answer = host.say(path, {**honest, "streams": streams})
        assert answer.status == 400, streams
        assert "streams" in answer.json()["detail"]
    assert host.say(path, honest).status == 400
    one = {"result": stream}
    for name, value in (
        ("exit_status", "0"), ("signal", [9]), ("reason", {}), ("ended_at", "now"), ("ended_at", 1e300), ("chunks", {"a": 1}),
    ):  # fmt: skip
        answer = host.say(path, {**honest, "streams": one, name: value})
        assert answer.status == 400, (name, value)
        assert name in answer.json()["detail"]
    assert (
        host.say(
            "poll/", {"attempts": [{**honest, "attempt": attempt["attempt"], "state": "running"}], "wait": 0}
        ).status
        == 200
    )


def test_an_address_without_its_slash_is_not_there_and_nothing_redirects(host: Host) -> None:
    for path in ("enrol", "poll", "inventory", "attempts/1/finish", "attempts/1/accept", "nothing", "enrol/x"):
        for method in ("GET", "POST", "PUT"):
            answer = host.say(path, b"{}", method)
            assert answer.status == 404, (path, method, answer.status)
            assert answer.headers["Content-Type"] == "application/problem+json"


def number_of_host(host: Host, owner: Client) -> str:
    found = re.search(rf'href="/hosts/(\d+)/">rough-{host.machine[:8]}<', owner.get("/lab/agents/").text)
    assert found
    return found[1]

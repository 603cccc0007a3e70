"""Inventories up to the size that docs/reference/agent-protocol.md promises are taken; one that is refused is told on the host's page."""

import hashlib
import json
import secrets

import pytest

from tests.outside.lab_host import approve_all, enrolment_token, everything
from tests.outside.product import Answer, Client, Product, wait_until

pytestmark = [pytest.mark.outside, pytest.mark.long]
MIB = 1024 * 1024


class Speaker:
    """Speaks the agent protocol as docs/reference/agent-protocol.md has it, so that it may send what a real host would."""

    def __init__(self, product: Product, owner: Client, admin: Client, name: str) -> None:
        self.secret, self.machine = secrets.token_hex(32), hashlib.sha256(secrets.token_bytes(8)).hexdigest()
        body = {
            "token": enrolment_token(owner),
            "secret_sha256": hashlib.sha256(self.secret.encode()).hexdigest(),
            "machine": self.machine,
            "hostname": name,
            "agent_version": "1.0",
            "python": "3.11.2",
        }
        answer = product.client().send("POST", "/agent/v1/enrol/", body)
        assert answer.status == 201, answer.text
        self.name = answer.json()["name"]
        self.client = product.client(
            **{
                "Authorization": f"Bearer spa_{answer.json()['agent']}_{self.secret}",
                "X-Spindle-Protocol": "1",
                "X-Spindle-Instance": "00000000-0000-4000-8000-000000000001",
                "X-Spindle-Machine": self.machine,
            }
        )
        approve_all(owner)
        hosts = admin.get("/api/v1/hosts/?limit=100").json()["results"]
        self.host = next(one["id"] for one in hosts if one["name"] == self.name)

    def send(self, *outputs: dict[str, object]) -> Answer:
        return self.client.send("POST", "/agent/v1/inventory/", {"outputs": list(outputs)})

    def poll(self, **more: object) -> Answer:
        body = {
            "boot_id": "b",
            "agent_version": "1.0",
            "fio_version": "fio-3.33",
            "policy": {},
            "attempts": [],
            "wait": 0,
        }
        return self.client.send("POST", "/agent/v1/poll/", {**body, **more})


def _output(tool: str, stdout: str) -> dict[str, object]:
    return {"tool": tool, "argv": [tool], "exit_status": 0, "stdout": stdout, "stderr": ""}


def _disks(count: int) -> str:
    """As many as a host with large enclosures has, with all columns of `lsblk -O`."""
    padding = {f"column{number}": "x" * 40 for number in range(60)}
    disks = [
        {"name": f"sd{number}", "kname": f"sd{number}", "type": "disk", "size": 4 << 40, "model": "HUH721212AL5200",
         "serial": f"SER{number:06}", "tran": "sas", "hctl": f"0:0:{number}:0", "rota": True, **padding}
        for number in range(count)
    ]  # fmt: skip
    return json.dumps({"blockdevices": disks}, indent=3)


def test_a_host_of_very_many_disks_is_discovered(product: Product, owner: Client, admin: Client) -> None:
    host = Speaker(product, owner, admin, "wide1")
    listing = _disks(700)
    assert 2.5 * MIB < len(listing) < 4 * MIB
    answer = host.send(_output("lsblk", listing))
    assert answer.status == 202, answer.text
    assert [one["host"] for one in everything(admin, "/api/v1/disks/?limit=200")].count(host.host) == 700


def test_twelve_mebibytes_of_outputs_are_taken_whatever_is_in_them(
    product: Product, owner: Client, admin: Client
) -> None:
    """Quotation marks and line ends are two bytes each in JSON, so the message is larger than the outputs."""
    host = Speaker(product, owner, admin, "wide2")
    text = '{"a":\n"b"},\n' * (3 * MIB // 12)
    answer = host.send(*(_output(tool, text) for tool in ("storcli", "smartctl", "ethtool", "dmidecode")))
    assert answer.status == 202, answer.text
    assert answer.json()["stored"] == 4


@pytest.mark.parametrize(
    ("outputs", "status", "words"),
    [
        ([_output("lsblk", "x" * (4 * MIB + 1))], 400, "at most 4194304 bytes"),
        ([_output("lsblk", "x" * (3 * MIB)) for _ in range(12)], 413, "expected at most"),
        ([_output(f"tool{number}", "") for number in range(41)], 400, "a list of at most 40"),
    ],
)
def test_what_is_too_large_is_refused_and_the_host_s_page_says_so(
    product: Product, owner: Client, admin: Client, outputs: list[dict[str, object]], status: int, words: str
) -> None:
    host = Speaker(product, owner, admin, f"wide{status}")
    answer = host.send(*outputs)
    assert (answer.status, answer.headers["Content-Type"]) == (status, "application/problem+json")
    assert words in answer.json()["detail"]
    page = owner.get(f"/hosts/{host.host}/").text
    assert "Its inventory was refused, or not read" in page
    assert words in page
    assert host.send(_output("uname", "Linux 6.1.0 #1 SMP x86_64")).status == 202
    assert "Its inventory was refused, or not read" not in owner.get(f"/hosts/{host.host}/").text


def test_a_refusal_that_only_the_host_heard_is_told_at_its_next_poll(
    product: Product, owner: Client, admin: Client
) -> None:
    """A proxy between them may have a limit of its own."""
    host = Speaker(product, owner, admin, "wideproxy")
    assert host.poll(inventory_refused="413 Request Entity Too Large").status == 200
    wait_until("the page says so", 5, lambda: "413 Request Entity Too Large" in owner.get(f"/hosts/{host.host}/").text)


def test_every_other_request_of_an_agent_takes_what_the_protocol_promises(
    product: Product, owner: Client, admin: Client
) -> None:
    """The end of a run may bring its last chunks along; beyond every limit there is a plain 413, never another error."""
    host = Speaker(product, owner, admin, "wide5")
    large = {"token": 1, "outcome": "finished", "reason": "x" * (3 * MIB)}
    assert host.client.send("POST", "/agent/v1/attempts/999999/finish/", large).status == 404
    huge = {"token": 1, "reason": "x" * (5 * MIB)}
    for act in ("finish", "refuse", "running"):
        assert host.client.send("POST", f"/agent/v1/attempts/999999/{act}/", huge).status == 413
    assert product.client().send("POST", "/agent/v1/enrol/", {"token": "x" * (MIB // 2)}).status == 400
    assert host.poll(padding="x" * MIB).status == 413

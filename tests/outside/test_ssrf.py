"""Webhooks go to public addresses only, however an inner one is written; and nobody sends messages by hand for ever."""

import http.server
import re
import threading

import pytest

from tests.outside.product import Client, Product, wait_until
from tests.sampling import for_each

pytestmark = pytest.mark.outside

INSIDE = [
    "127.0.0.1", "10.0.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "169.254.169.254", "0.0.0.0", "192.0.0.192", "192.0.2.1",
    "198.18.0.1", "198.51.100.7", "203.0.113.7", "224.0.0.1", "255.255.255.255", "168.63.129.16", "100.100.100.200", "2130706433", "0x7f.1",
    "017700000001", "[::1]", "[::]", "[fe80::1]", "[fec0::1]", "[feff:ffff::1]", "[fc00::1]", "[fd00:ec2::254]", "[ff02::1]",
    "[::ffff:127.0.0.1]", "[::ffff:a00:1]", "[::127.0.0.1]", "[::ffff:0:10.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]",
    "[2002:7f00:1::]", "[2001:0:7f00:1::1]", "[2001:db8::1]", "[3fff::1]", "[100::1]", "[5f00::1]", "[2001:10::1]", "[4000::1]",
]  # fmt: skip
NO_ADDRESS = [
    "http://" + "a" * 300 + ".org/",
    "http://" + "é" * 70 + ".org/",
    "http://a..b/",
    "gopher://a.org/",
    "http://a.org:99999/",
]


def add(owner: Client, kind: str, name: str, address: str) -> tuple[int, str]:
    answer = owner.post("/trends/destinations/", {"kind": kind, "name": name, "address": address}, follow=True)
    return answer.status, answer.text


def buttons(page: str) -> list[str]:
    return re.findall(r'action="([^"]*/test/)"', page)


def row_of(owner: Client, words: str) -> str:
    """Return the table row of the channel whose name or address is unlike all others by these words."""
    rows = owner.get("/trends/destinations/").text.split("<tr")
    [row] = [row for row in rows if words in row and "/test/" in row]
    return row


def button_of(owner: Client, words: str) -> str:
    [button] = buttons(row_of(owner, words))
    return button


@for_each("host", INSIDE)
def test_an_address_inside_is_refused_when_it_is_typed(owner: Client, host: str) -> None:
    status, text = add(owner, "webhook", f"inside {host}", f"http://{host}:8080/hook")
    assert status == 422, (host, text[:500])


@for_each("url", NO_ADDRESS)
def test_what_is_no_address_is_refused(owner: Client, url: str) -> None:
    assert add(owner, "webhook", "no address", url)[0] == 422


def test_a_name_that_leads_inside_gets_nothing(product: Product, owner: Client) -> None:
    """`localhost` is a name, which is looked up when something is sent."""
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        assert add(owner, "webhook", "by name", f"http://localhost:{server.server_port}/hook")[0] == 200
        owner.post(button_of(owner, "by name"), {}, follow=True)
        refused = f"localhost:{server.server_port}/hook"
        wait_until("it is refused", 60, lambda: "that is an address inside a network" in row_of(owner, refused))
        server.shutdown()
    assert not asked


@pytest.mark.long
def test_messages_by_hand_are_limited_for_a_lab_and_for_an_address(product: Product) -> None:
    owner = product.make_lab("Many messages").owner

    def send_all() -> str:
        said = ""
        for button in buttons(owner.get("/trends/destinations/").text):
            said += owner.post(button, {}, follow=True).text
        return said

    add(owner, "email", "a stranger", "stranger@example.org")
    said = ""
    for _ in range(6):
        said += send_all()
    assert "expected at most 5" in said
    for number in range(20):
        add(owner, "email", f"stranger {number}", f"stranger{number}@example.org")
    assert "expected at most 20 of one lab" in send_all()

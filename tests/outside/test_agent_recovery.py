"""A server that goes away, comes back, or says no: between agent and product stands a door that the test opens and shuts."""

import json
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.outside.hosts import RealHost, as_root, install_line
from tests.outside.product import Client, Product, wait_until

pytestmark = [pytest.mark.outside, pytest.mark.long, as_root]
IN_SECONDS = 13  # the longest pause between polls is 10 s


class Door(ThreadingHTTPServer):
    """Passes requests on. `says`: part of a path → status that it answers itself. `shut` refuses connections."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, behind: str, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Passing)
        self.behind, self.says = behind.rstrip("/"), dict[str, int]()
        self.passed: list[tuple[float, str, int]] = []
        self.open: list[socket.socket] = []
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass

    def polls_since(self, moment: float) -> list[int]:
        return [status for at, path, status in self.passed if at >= moment and "poll" in path]

    def shut(self) -> None:
        self.shutdown()
        self.server_close()
        for one in self.open:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


class _Passing(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Door

    def setup(self) -> None:
        super().setup()
        self.server.open.append(self.connection)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        status = next((code for part, code in self.server.says.items() if part in self.path), 0)
        content = json.dumps({"title": "No", "status": status, "detail": "The door says no"}).encode()
        if not status:
            request = urllib.request.Request(self.server.behind + self.path, body, dict(self.headers), method="POST")
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            try:
                with opener.open(request, timeout=60) as answer:
                    status, content = answer.status, answer.read()
            except urllib.error.HTTPError as error:
                status, content = error.code, error.read()
        self.server.passed.append((time.monotonic(), self.path, status))
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def door(product: Product) -> Iterator[Door]:
    one = Door(product.url)
    yield one
    one.shut()


@pytest.fixture
def host(product: Product, owner: Client, door: Door, tmp_path: Path) -> Iterator[RealHost]:
    one = RealHost(product, tmp_path, f"http://127.0.0.1:{door.server_port}")
    assert one.enrol(install_line(owner)[1]).returncode == 0
    agent = json.loads((one.state / "identity.json").read_text())["agent"]
    owner.post(f"/lab/agents/{agent}/approve/")
    yield one
    one.stop()


def _count(host: RealHost, words: str) -> int:
    return sum(words in line for line in host.said())


def test_a_server_that_was_away_for_long_is_found_again_within_seconds(host: RealHost, door: Door) -> None:
    host.start()
    host.hears("Connected.")
    door.shut()
    host.hears("No answer")
    time.sleep(20)
    back = Door(door.behind, door.server_port)
    at = time.monotonic()
    try:
        wait_until("a poll", IN_SECONDS, lambda: back.polls_since(at))
        host.hears("Connected.", 2)
        assert _count(host, "No answer") == 1
    finally:
        back.shut()


def test_a_server_without_its_database_is_asked_again_within_seconds(host: RealHost, door: Door) -> None:
    door.says["poll"] = 503
    host.start()
    time.sleep(20)
    assert set(door.polls_since(0)) == {503}
    assert len(door.polls_since(0)) < 40
    door.says.clear()
    at = time.monotonic()
    wait_until("a good poll", IN_SECONDS, lambda: 200 in door.polls_since(at))


@pytest.mark.parametrize(("path", "what", "status"), [("inventory", "inventory", 413), ("poll", "poll", 400)])
def test_a_refused_answer_is_said_once_and_shown_until_it_is_taken(
    host: RealHost, door: Door, path: str, what: str, status: int
) -> None:
    door.says[path] = status
    host.start()
    host.hears(f"The server refused the {what}: {status} The door says no", 60)
    if path == "poll":
        wait_until("a second refusal", 30, lambda: len(door.polls_since(0)) > 1)
    assert _count(host, "The server refused") == 1
    assert f"the server refuses the {what} since" in host.call("status").stdout
    door.says.clear()
    host.stop()
    host.start()
    host.hears(f"The server takes the {what} again", 60)
    assert "refuses" not in host.call("status").stdout

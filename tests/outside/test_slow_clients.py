"""Clients that are slow, silent or endless: nobody else waits for them, and each is cut off after its time."""

import http.client
import re
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

import pytest

from tests.outside.product import Client, Product

pytestmark = [pytest.mark.outside, pytest.mark.long]

FORM = "POST /accounts/login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\nCookie: csrftoken={token}\r\n"
TOKEN = "a" * 32
SOON = 1.0  # seconds in which a page answers whatever others do
CUT = 20.0  # seconds that a head or a silent body has
UNREAD = 30.0  # seconds that an answer waits for somebody who takes none of it
MANY = 500


def connect(product: Product, data: bytes = b"", window: int = 0) -> socket.socket:
    """Open a connection and send this; `window` is the receive buffer in bytes."""
    parts = urlsplit(product.url)
    sock = socket.socket()
    if window:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
    sock.settimeout(CUT + 20)
    sock.connect((parts.hostname or "", parts.port or 0))
    sock.sendall(data)
    return sock


def form(more: str, token: str = TOKEN) -> bytes:
    return (FORM.format(token=token) + more).encode()


@contextmanager
def held(product: Product, *requests: bytes, many: int = MANY, window: int = 0) -> Iterator[list[socket.socket]]:
    """So many connections, on which these requests have been begun in turn."""
    opened: list[socket.socket] = []
    try:
        for number in range(many):
            opened.append(connect(product, requests[number % len(requests)], window))
        time.sleep(0.5)
        yield opened
    finally:
        for sock in opened:
            sock.close()


def answer_seconds(product: Product, path: str = "/accounts/login/") -> float:
    """Seconds until a page is there, as a stranger sees it; the best of three, for the machine has other work too."""

    def once() -> float:
        begin = time.monotonic()
        assert product.client().get(path).status == 200
        return time.monotonic() - begin

    return min(once() for _ in range(3))


def received(sock: socket.socket, most: int = 1 << 16) -> bytes:
    """Everything until the other side closes."""
    data = b""
    with suppress(ConnectionResetError):
        while len(data) < most and (piece := sock.recv(65536)):
            data += piece
    return data


SLOW = {
    "nothing at all": b"",
    "half a request line": b"GET / HT",
    "half a head": b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: ",
    "a body that does not come": form("Content-Length: 1000\r\n\r\n"),
    "half a body": form("Content-Length: 1000\r\n\r\ncsrfmiddlewaretoken=" + TOKEN + "&login="),
    "half a multipart body": (
        b"POST /accounts/login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: multipart/form-data; boundary=b\r\n"
        b"Cookie: csrftoken=" + TOKEN.encode() + b"\r\nContent-Length: 1000\r\n\r\n--b\r\n"
    ),
    "chunks without an end": form("Transfer-Encoding: chunked\r\n\r\n5\r\nlogin\r\n"),
    "half a chunk": form("Transfer-Encoding: chunked\r\n\r\nfff\r\nlogin"),
    "half an upload to REST": b"POST /api/v1/uploads/ HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer spl_x\r\nContent-Length: 5000\r\n\r\n-",
    "half a start of a run": (
        b"POST /api/v1/runs/ HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer spl_x\r\n"
        b"Content-Type: application/json\r\nContent-Length: 500\r\n\r\n{"
    ),
    "half a poll": b"POST /agent/v1/poll/ HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer spa_1_x\r\nContent-Length: 500\r\n\r\n{",
    "half a chunk of a result": (
        b"PUT /agent/v1/attempts/1/streams/result/chunks/0/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 500\r\n\r\nx"
    ),
    "half an enrolment": b"POST /agent/v1/enrol/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 500\r\n\r\n{",
    "half a language": form("Content-Length: 100\r\n\r\nl").replace(b"/accounts/login/", b"/language/"),
    "half a body of /healthz": b"POST /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\nl",
    "a poll of 1.0 with half a body": b"POST /agent/v1/enrol/ HTTP/1.0\r\nContent-Length: 50\r\n\r\n{",
}  # fmt: skip


def largest_file(product: Product) -> bytes:
    """The address of a large file that anybody may have."""
    found = re.findall(r'"(/static/[^"]*bundle[^"]*\.js)"', product.client().get("/api/docs/").text)
    return str(found[0]).encode()


def test_pages_answer_while_hundreds_are_slow_and_each_of_those_is_cut_off(product: Product) -> None:
    quiet, kinds = answer_seconds(product), list(SLOW)
    wanted = b"GET " + largest_file(product) + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    logged = len(product.log("web"))
    with held(product, wanted * 5, many=24, window=2048) as readers, held(product, *SLOW.values()) as slow:
        begin = time.monotonic()
        busy = {path: answer_seconds(product, path) for path in ("/accounts/login/", "/healthz")}
        print(
            f"seconds, quiet {quiet:.3f}, with {len(slow)} slow connections and {len(readers)} that do not read {busy}"
        )
        assert busy["/accounts/login/"] < SOON + quiet
        assert busy["/healthz"] < SOON
        last = {kinds[number % len(kinds)]: slow[number] for number in range(MANY - len(kinds), MANY)}
        answers: dict[str, bytes] = {}
        for kind, sock in last.items():
            sock.settimeout(max(1.0, CUT + 10 - (time.monotonic() - begin)))
            with suppress(TimeoutError):
                answers[kind] = received(sock)
        assert set(answers) == set(kinds), f"still open after {CUT + 10:.0f} s: {set(kinds) - set(answers)}"
        for kind in ("half a head", "half a body", "half a poll", "chunks without an end"):
            assert b" 408 Request Timeout" in answers[kind], (kind, answers[kind])
        time.sleep(max(0.0, UNREAD + 5 - (time.monotonic() - begin)))
        for sock in readers[:3]:
            assert len(received(sock, 20 << 20)) < 4 << 20, "all of it was kept for somebody who did not read"
    assert "Traceback" not in product.log("web")[logged:]


def test_six_dripping_bodies_do_not_hold_a_thread(product: Product) -> None:
    stop = threading.Event()

    def drip() -> None:
        with suppress(OSError), connect(product, SLOW["half a body"]) as sock:
            while not stop.wait(0.5):
                sock.sendall(b"x")

    threads = [threading.Thread(target=drip, daemon=True) for _ in range(24)]
    for thread in threads:
        thread.start()
    try:
        time.sleep(1)
        assert answer_seconds(product) < SOON + 0.5
    finally:
        stop.set()
        for thread in threads:
            thread.join(5)


def test_a_head_has_a_size(product: Product) -> None:
    for head in (
        b"GET /" + b"a" * 70_000,
        b"GET / HTTP/1.1\r\n" + b"X-A: b\r\n" * 9_000 + b"\r\n",
        b"GET / HTTP/1.1\r\nX: " + b"a" * 99_000,
    ):
        with connect(product, head) as sock:
            assert received(sock).startswith(b"HTTP/1.1 431 ")
    with connect(product, form("Transfer-Encoding: chunked\r\n\r\n0\r\n") + b"X-Trailer: " + b"a" * 99_000) as sock:
        received(sock)  # closed, whatever was answered


def test_a_stranger_sends_little_and_a_member_sends_much(product: Product, admin: Client) -> None:
    much = b"login=" + b"x" * (2 << 20)
    parts = urlsplit(product.url)
    for path, more in (
        ("/accounts/login/", {}),
        ("/api/v1/uploads/", {"Authorization": "Bearer spl_nobody"}),
        ("/agent/v1/enrol/", {}),
    ):
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)
        connection.putrequest("POST", path)
        for name, value in {"Content-Length": str(len(much)), **more}.items():
            connection.putheader(name, value)
        connection.endheaders()  # the answer comes before the body
        assert connection.getresponse().status == 401, path
        connection.close()
    sent = admin.upload("/api/v1/uploads/", {"notes.txt": b"nothing that was measured\n" * 200_000})  # 5 MB
    assert sent.status == 202, sent.text[:500]
    assert admin.get(sent.json()["url"]).json()["files"][0]["size"] == 26 * 200_000


def test_a_slow_but_steady_upload_arrives(product: Product, admin: Client) -> None:
    head = b'--b\r\nContent-Disposition: form-data; name="file"; filename="slow.txt"\r\n\r\n'
    data, end = b"nothing that was measured\n" * 60_000, b"\r\n--b--\r\n"  # 1.5 MB
    whole = head + data + end
    request = f"POST /api/v1/uploads/ HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {admin.token}\r\n"
    request += (
        f"Content-Type: multipart/form-data; boundary=b\r\nContent-Length: {len(whole)}\r\nConnection: close\r\n\r\n"
    )
    with connect(product, request.encode()) as sock:
        for start in range(0, len(whole), len(whole) // 20):
            sock.sendall(whole[start:][: len(whole) // 20])
            time.sleep(0.1)
        answer = received(sock)
    assert b" 202 " in answer.partition(b"\r\n")[0], answer[:500]


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: eA==\r\n"
        b"Sec-WebSocket-Version: 13\r\n\r\n" + b"\x81\x05hello",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 3000,
        b"\r\n" * 5000,
        b"POST /accounts/login/ HTTP/1.0\r\n\r\nlogin=x",
        form("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"),
        form("Content-Length: -1\r\n\r\n"),
        form("Content-Length: 99999999999999999999999\r\n\r\n"),
        form("Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello"),
        form("Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n"),
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 100,
        b"CONNECT 127.0.0.1:22 HTTP/1.1\r\n\r\n",
        b"GET http://[ HTTP/1.1\r\n\r\n",
    ],
    ids=["websocket", "h2c", "http2", "pipelined", "blank lines", "http/1.0", "both lengths", "below zero", "too long", "two lengths",
         "too long a chunk", "tls", "connect", "no address"],
)  # fmt: skip
def test_what_is_no_plain_request_harms_nobody(product: Product, data: bytes) -> None:
    logged = len(product.log("web"))
    with connect(product, data) as sock, suppress(OSError):
        sock.settimeout(2)
        sock.recv(65536)
    assert answer_seconds(product, "/healthz") < SOON
    assert "Traceback" not in product.log("web")[logged:]


def test_a_connection_that_is_torn_leaves_nothing_behind(product: Product) -> None:
    for _ in range(50):
        sock = connect(product, SLOW["half a body"])
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        sock.close()
    assert answer_seconds(product) < SOON + 0.5

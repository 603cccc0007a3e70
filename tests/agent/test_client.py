"""What a server, or a proxy before it, may answer: read in the same way whatever its form, and the connection kept only where it may be."""

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest

from worker.agent import conf
from worker.agent.attempt import describe
from worker.agent.client import MOST_ANSWER, Answer, Client, Unreachable, decode
from worker.agent.loop import AgentLoop

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
PLAIN = HEAD + b'Content-Length: 7\r\n\r\n{"a":1}'


class Listener:
    """Answers each request with the next parts, one after the other."""

    def __init__(self) -> None:
        self.answers: list[list[bytes]] = []
        self.heard: list[bytes] = []
        self.connections = 0
        self.socket = socket.create_server(("127.0.0.1", 0))
        Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                line, _ = self.socket.accept()
            except OSError:
                return
            self.connections += 1
            with line:
                line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                while self.answers and (data := line.recv(65536)):
                    self.heard.append(data)
                    self._answer(line, self.answers.pop(0))

    def _answer(self, line: socket.socket, parts: list[bytes]) -> None:
        for part in parts:
            line.sendall(part)
            time.sleep(0.02)


@pytest.fixture
def listener() -> Iterator[Listener]:
    one = Listener()
    yield one
    one.socket.close()


@pytest.fixture
def client(listener: Listener) -> Client:
    port = listener.socket.getsockname()[1]
    return Client(f"http://127.0.0.1:{port}/base", {"Authorization": "Bearer x"})


@pytest.mark.parametrize(
    "parts",
    [
        [PLAIN],
        [PLAIN[:5], PLAIN[5:40], PLAIN[40:-2], PLAIN[-2:]],
        [HEAD + b'Transfer-Encoding: chunked\r\n\r\n3\r\n{"a\r\n4\r\n":1}\r\n0\r\n\r\n'],
        [b"HTTP/1.1 100 Continue\r\n\r\n", PLAIN],
        [PLAIN.replace(b"Content-Length", b"content-length")],
    ],
    ids=["whole", "in pieces", "chunked", "continue", "small letters"],
)
def test_every_form_of_an_answer_is_read_and_the_connection_kept(
    listener: Listener, client: Client, parts: list[bytes]
) -> None:
    listener.answers = [parts, [PLAIN]]
    for _ in range(2):
        answer = client.call("POST", "poll/", {"wait": 0})
        assert (answer.status, answer.body) == (200, {"a": 1})
    assert listener.connections == 1


@pytest.mark.parametrize(
    "answer",
    [
        HEAD + b'Connection: close\r\nContent-Length: 7\r\n\r\n{"a":1}',
        b'HTTP/1.0 200 OK\r\nContent-Length: 7\r\n\r\n{"a":1}',
    ],
)
def test_a_connection_that_the_server_ends_is_not_used_again(listener: Listener, client: Client, answer: bytes) -> None:
    listener.answers = [[answer]]
    assert client.call("POST", "poll/").body == {"a": 1}
    assert not client.connected


def test_an_error_is_read_with_its_retry_after(listener: Listener, client: Client) -> None:
    listener.answers = [[b"HTTP/1.1 503 Busy\r\nRetry-After: 7\r\nContent-Length: 2\r\n\r\n{}"]]
    answer = client.call("POST", "poll/")
    assert (answer.status, answer.temporary, answer.retry_after) == (503, True, 7)


@pytest.mark.parametrize("value", ["²", "-1", "1e9", "soon", "", "9" * 5000])
def test_an_odd_retry_after_is_none_or_at_most_an_hour(listener: Listener, client: Client, value: str) -> None:
    head = f"HTTP/1.1 503 Busy\r\nRetry-After: {value}\r\nContent-Length: 2\r\n\r\n"
    listener.answers = [[head.encode("latin-1") + b"{}"]]
    assert client.call("POST", "poll/").retry_after in (None, 3600.0)


def test_an_endless_answer_is_not_taken_into_memory(listener: Listener, client: Client) -> None:
    listener.answers = [[HEAD + b"Content-Length: 99999999999\r\n\r\n", b" " * (MOST_ANSWER + 1)]]
    with pytest.raises(Unreachable, match="longer than"):
        client.call("POST", "poll/")


def test_what_a_server_says_does_not_steer_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    said = Answer(400, {"detail": "no\x1b]0;title\x07\x1b[2J\nforged line"}, None)
    assert said.reason.isprintable()
    conf.log(f"first\x1b[2J {said.reason}\nTraceback")
    assert capsys.readouterr().err.splitlines() == [f"first?[2J {said.reason}", "Traceback"]


@pytest.mark.parametrize("answer", [b"", PLAIN[:-1], b"nonsense\r\n\r\n", b"HTTP/1.1 2xx ?\r\n\r\n"])
def test_half_an_answer_is_none(listener: Listener, client: Client, answer: bytes) -> None:
    listener.answers = [[answer]]
    with pytest.raises(Unreachable):
        client.call("POST", "poll/")
    assert not client.connected


def test_the_request_is_one_that_any_server_understands(listener: Listener, client: Client) -> None:
    listener.answers = [[PLAIN]]
    client.call("PUT", "x/", b"bytes", {"X-Spindle-Token": "3"})
    head, _, body = listener.heard[0].partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    assert first == "PUT /base/agent/v1/x/ HTTP/1.1"
    assert dict(line.split(": ") for line in lines) == {
        "Host": client.host, "Accept-Encoding": "identity", "Content-Type": "application/octet-stream", "Content-Length": "5",
        "Authorization": "Bearer x", "X-Spindle-Token": "3",
    }  # fmt: skip
    assert body == b"bytes"


@pytest.mark.parametrize(
    "body",
    [
        b'{"poll_s": "soon"}', b'{"poll_s": 1e999}', b'{"poll_s": NaN}', b'{"poll_s": -1e308}', b'{"poll_s": [[1]]}',
        b'{"cancel": 5}', b'{"cancel": [[1], {}, null, "1", 1.5, true]}', b'{"forget": {"1": 2}}', b'{"offers": 5}',
        b'{"offers": {"attempt": 1}}', b'{"offers": [[], null, 7, "x"]}', b'{"look_at": [1, {}, "\\u0000"]}',
        b'{"look_at": {"a": 1}}', b'{"release": [1]}', b'{"release": {"version": {}, "sha256": [], "size": "x"}}',
        b'{"release": {"version": "\xc2\xb2"}}', b'{"look_at": ["FILES/\\ud800"]}',
        b"[" * 100_000, b"[]", b"7", b'"x"', b"null", b"\xff", b"9" * 10_000, b'{"poll_s": ' + b"9" * 400 + b"}",
    ],
)  # fmt: skip
@pytest.mark.parametrize("status", [200, 403, 409, 500])
def test_no_answer_to_a_poll_ends_the_agent(tmp_path: Path, status: int, body: bytes) -> None:
    """A proxy, or somebody who has taken the server over, could otherwise end all agents of a lab, and for good."""
    conf.create(str(tmp_path), str(tmp_path / "files"))
    loop = AgentLoop(str(tmp_path), conf.load(str(tmp_path)), "http://127.0.0.1:9", {})
    loop._obey(Answer(status, decode(body.replace(b"FILES", str(tmp_path / "files").encode())), None))
    loop.question.ask(0)  # what it has heard is looked at before the next poll
    assert loop.poll_at - time.monotonic() <= 61


def test_an_offer_does_not_steer_the_terminal_of_status(tmp_path: Path) -> None:
    offer = {"run": "1\x1b[2J", "about": "a\nb"}
    (tmp_path / "offer.json").write_text(json.dumps({"offer": offer, "run_dir": "/data/\x1b[31m/attempt-1"}))
    assert describe(str(tmp_path)).isprintable()

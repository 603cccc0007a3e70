"""HTTP to the server: one kept-alive connection, JSON bodies, and the rules for trying again.

Two of these exist in an agent: one waits in the long poll, the other uploads meanwhile. `urllib` is not used: it does not
keep connections. `http.client` connects, and reads every answer that is not of the plainest form; a request, and the plain answer,
are a few lines here, because it takes them apart as if they were mail, in a time in which fio could have started. TLS is loaded
only for an https address.
"""

import http.client
import io
import json
import random
import socket
import time
from typing import Any, Dict, Optional, Tuple, Union

TIMEOUT_S = 30
LONGEST_PAUSE_S = 300.0
TRY_AGAIN = (408, 425, 429)


class Unreachable(Exception):
    """No answer: the network or the server is away. The request may or may not have arrived; all of ours can be repeated."""


class Answer:
    def __init__(self, status: int, body: Dict[str, Any], retry_after: Optional[float]) -> None:
        self.status = status
        self.body = body
        self.retry_after = retry_after

    @property
    def good(self) -> bool:
        return 200 <= self.status < 300

    @property
    def temporary(self) -> bool:
        return self.status in TRY_AGAIN or self.status >= 500

    @property
    def reason(self) -> str:
        """The server's own sentence (problem details), for the log."""
        return f"{self.status} {self.body.get('detail') or self.body.get('title') or ''}".strip()


class Backoff:
    """When to try again: 1 s doubling to 300 s with full jitter, so that a thousand agents do not come back in the same second."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.ceiling = 0.0
        self.at = 0.0

    def failed(self, retry_after: Optional[float] = None) -> float:
        self.ceiling = min(max(1.0, self.ceiling * 2), LONGEST_PAUSE_S)
        pause = random.uniform(0, self.ceiling) if retry_after is None else retry_after + random.uniform(0, 1)
        self.at = time.monotonic() + pause
        return pause


class Client:
    def __init__(self, server: str, headers: Dict[str, str]) -> None:
        self.secure, self.host, self.prefix = split_address(server)
        self.headers = headers
        self.connection: Optional[http.client.HTTPConnection] = None

    @property
    def connected(self) -> bool:
        return self.connection is not None and self.connection.sock is not None

    def call(
        self,
        method: str,
        path: str,
        body: Union[Dict[str, Any], bytes, None] = None,
        headers: Optional[Dict[str, str]] = None,
    ) -> Answer:
        """Send and wait for the answer. A kept connection may have died meanwhile; that alone is tried again at once."""
        kept = self.connected
        try:
            self.send(method, path, body, headers)
            return self.receive()
        except Unreachable:
            if not kept:
                raise
        self.send(method, path, body, headers)
        return self.receive()

    def send(
        self,
        method: str,
        path: str,
        body: Union[Dict[str, Any], bytes, None] = None,
        headers: Optional[Dict[str, str]] = None,
        timeout: float = TIMEOUT_S,
    ) -> None:
        data, kind = encode(body)
        if self.connection is None:
            self.connection = self._connection()
        self.connection.timeout = timeout
        lines = {
            "Host": self.host,
            "Accept-Encoding": "identity",
            "Content-Type": kind,
            "Content-Length": str(len(data)),
        }
        head = "".join(
            f"{name}: {value}\r\n" for part in (lines, self.headers, headers or {}) for name, value in part.items()
        )
        try:
            if self.connection.sock is None:
                self.connection.connect()
            self.connection.sock.settimeout(timeout)
            self.connection.sock.sendall(f"{method} {self.prefix}{path} HTTP/1.1\r\n{head}\r\n".encode("ascii") + data)
        except OSError as error:
            self.close()
            raise Unreachable(str(error) or type(error).__name__) from error

    def receive(self) -> Answer:
        assert self.connection is not None
        try:
            data = self.connection.sock.recv(65536)
            return plain_answer(data) or self._any_answer(data)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise Unreachable(str(error) or type(error).__name__) from error

    def _any_answer(self, begun: bytes) -> Answer:
        assert self.connection is not None
        response = http.client.HTTPResponse(Begun(begun, self.connection.sock))  # type: ignore[arg-type]
        response.begin()
        text = response.read()
        if response.will_close:
            self.close()
        return Answer(response.status, decode(text), retry_after(response.getheader("Retry-After")))

    def fileno(self) -> int:
        """For select(): readable when the answer to what was sent has arrived."""
        if self.connection is None or self.connection.sock is None:
            return -1
        return self.connection.sock.fileno()

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()
            self.connection = None

    def _connection(self) -> http.client.HTTPConnection:
        kind = http.client.HTTPSConnection if self.secure else http.client.HTTPConnection
        return kind(self.host, timeout=TIMEOUT_S)


class Begun(io.RawIOBase):
    """A connection from which the first bytes have been read already, as `http.client` wants to read it."""

    def __init__(self, begun: bytes, connection: socket.socket) -> None:
        self.begun, self.connection = begun, connection

    def makefile(self, _: str) -> io.BufferedReader:
        return io.BufferedReader(self)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self.begun:
            return self.connection.recv_into(buffer)
        first, self.begun = self.begun[: len(buffer)], self.begun[len(buffer) :]
        buffer[: len(first)] = first
        return len(first)


def plain_answer(data: bytes) -> Optional[Answer]:
    """An answer that came whole, with its length and nothing that changes how it is read; else None."""
    head, _, text = data.partition(b"\r\n\r\n")
    first, *lines = head.split(b"\r\n")
    pairs = [line.partition(b":") for line in lines]
    fields = {name.lower(): value.strip() for name, _, value in pairs}
    status, length = first[9:12], fields.get(b"content-length", b"")
    changing = {b"transfer-encoding", b"connection", b"content-encoding"} & set(fields) or len(fields) != len(pairs)
    if changing or not first.startswith(b"HTTP/1.1 2") or not status.isdigit() or length != b"%d" % len(text):
        return None
    return Answer(int(status), decode(text), None)


def split_address(server: str) -> Tuple[bool, str, str]:
    """`https://host:port/base` → (True, "host:port", "/base/agent/v1/")."""
    scheme, found, rest = server.partition("://")
    if not found or scheme not in ("http", "https") or not rest.strip("/"):
        raise ValueError(f"the server's address must look like https://spindle.example.org, not {server!r}")
    host, _, base = rest.partition("/")
    return scheme == "https", host, "/" + (base.rstrip("/") + "/" if base.strip("/") else "") + "agent/v1/"


def encode(body: Union[Dict[str, Any], bytes, None]) -> Tuple[bytes, str]:
    if isinstance(body, bytes):
        return body, "application/octet-stream"
    return json.dumps(body or {}, separators=(",", ":")).encode(), "application/json"


def decode(text: bytes) -> Dict[str, Any]:
    """The answer's object; an empty one for a proxy's HTML page and the like: the status alone counts then."""
    try:
        body = json.loads(text.decode())
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def retry_after(value: Optional[str]) -> Optional[float]:
    return min(float(value), 3600.0) if value is not None and value.isdigit() else None

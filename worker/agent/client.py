"""HTTP to the server: one kept-alive connection, JSON bodies, and the rules for trying again.

Two of these exist in an agent: one waits in the long poll, the other uploads meanwhile. `urllib` is not used: it does not
keep connections. TLS is loaded only for an https address.
"""

import http.client
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
        try:
            if self.connection.sock is None:
                self.connection.connect()
            self.connection.sock.settimeout(timeout)
            self.connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)  # head and body in one packet
            self.connection.request(
                method, self.prefix + path, data, dict(self.headers, **{"Content-Type": kind}, **(headers or {}))
            )
            self.connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 0)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise Unreachable(str(error) or type(error).__name__) from error

    def receive(self) -> Answer:
        assert self.connection is not None
        try:
            response = self.connection.getresponse()
            text = response.read()
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise Unreachable(str(error) or type(error).__name__) from error
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

"""HTTP to the server: one kept-alive connection, JSON bodies, the rules for retries, and who this agent is to the server.

Two clients exist in an agent: one waits in the long poll, the other uploads meanwhile. `urllib` is not used, because it does
not keep connections. `http.client` connects, and reads every answer that is not of the plainest form. Requests and plain
answers are written and read here, because `http.client` parses them as mail, in a time in which fio could have started. TLS is
loaded only for an https address.
"""

import fcntl
import hashlib
import http.client
import io
import json
import os
import random
import socket
import sys
import time
from typing import Any, Dict, List, Optional, Tuple, Union

from .conf import Mistake, printable
from .disk import text_of, write_durably

TIMEOUT_S = 30
LONGEST_PAUSE_S = 30.0  # for what a run has to send; the poll has its own
TRY_AGAIN = (408, 425, 429)
LONGEST_REASON = 1000  # characters
MOST_ANSWER = 4 * 1024 * 1024  # bytes


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
        """Return the server's sentence (problem details) for the log."""
        said = f"{self.status} {self.body.get('detail') or self.body.get('title') or ''}"
        return printable(said, LONGEST_REASON).strip()


class Backoff:
    """When to try again: 1 s doubling to the longest pause with full jitter, so that a thousand agents do not come back in one second."""

    def __init__(self, longest: float = LONGEST_PAUSE_S) -> None:
        self.longest = longest
        self.reset()

    def reset(self) -> None:
        self.ceiling = 0.0
        self.at = 0.0

    def failed(self, retry_after: Optional[float] = None) -> float:
        self.ceiling = min(max(1.0, self.ceiling * 2), self.longest)
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
        was_connected = self.connected
        try:
            self.send(method, path, body, headers)
            return self.receive()
        except Unreachable:
            if not was_connected:
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
                notice_a_dead_server(self.connection.sock)
            self.connection.sock.settimeout(timeout)
        except OSError as error:
            self.close()
            raise Unreachable(str(error) or type(error).__name__) from error
        try:
            self.connection.sock.sendall(f"{method} {self.prefix}{path} HTTP/1.1\r\n{head}\r\n".encode("ascii") + data)
        except (BrokenPipeError, ConnectionResetError):
            pass  # a server may say no before it has read everything: `receive` hears it
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
        text = response.read(MOST_ANSWER + 1)
        if len(text) > MOST_ANSWER or response.length:
            raise http.client.HTTPException("its answer is cut off, or longer than any that it has to give")
        if response.will_close:
            self.close()
        return Answer(response.status, decode(text), retry_after(response.getheader("Retry-After")))

    def fileno(self) -> int:
        """Return the socket's descriptor for select(): readable when the answer has arrived."""
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


def notice_a_dead_server(connection: Any) -> None:
    """Enable keep-alive probes every few seconds, so that a poll notices a server that lost its power."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in ((socket.TCP_KEEPIDLE, 5), (socket.TCP_KEEPINTVL, 5), (socket.TCP_KEEPCNT, 3)):
        connection.setsockopt(socket.IPPROTO_TCP, option, value)


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
    """Return an answer that came whole, with a length and no transfer coding, or None."""
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
    """Split `https://host:port/base` into (True, "host:port", "/base/agent/v1/")."""
    scheme, separator, rest = server.partition("://")
    if not separator or scheme not in ("http", "https") or not rest.strip("/"):
        raise ValueError(f"the server's address must look like https://spindle.example.org, not {server!r}")
    host, _, base = rest.partition("/")
    return scheme == "https", host, "/" + (base.rstrip("/") + "/" if base.strip("/") else "") + "agent/v1/"


def encode(body: Union[Dict[str, Any], bytes, None]) -> Tuple[bytes, str]:
    if isinstance(body, bytes):
        return body, "application/octet-stream"
    return json.dumps(body or {}, separators=(",", ":")).encode(), "application/json"


def decode(text: bytes) -> Dict[str, Any]:
    """Return the answer's object, or an empty one for a proxy's HTML page, whose status alone counts."""
    try:
        body = json.loads(text.decode())
    except (ValueError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}


def numbers_in(value: Any) -> List[int]:
    """Return the whole numbers of a list that a server has sent; none where it is no list."""
    return [item for item in value if type(item) is int] if type(value) is list else []


def seconds_in(value: Any, most: float, usual: float = 0.0) -> float:
    """Return a pause that a server asks for, from 0 to `most`; the usual one where it sent no finite number."""
    is_number = type(value) in (int, float) and abs(value) < float("inf")
    return float(min(max(value, 0), most)) if is_number else usual


def retry_after(value: Optional[str]) -> Optional[float]:
    return min(float(value), 3600.0) if value and not value.strip("0123456789") else None


TOKEN_VARIABLE = "SPINDLE_ENROL_TOKEN"  # noqa: S105  (its name, not its value)
NICS = "/sys/class/net"
RANDOM = "1"  # the kernel's addr_assign_type of an address that is another one at every boot
MOST_NICS = 16


def read_identity(state: str) -> Optional[Dict[str, Any]]:
    try:
        with open(os.path.join(state, "identity.json")) as source:
            return dict(json.load(source))
    except FileNotFoundError:
        return None


def headers(state: str, known: Dict[str, Any], instance: str) -> Dict[str, str]:
    """Return the headers of every request."""
    return {
        "Authorization": f"Bearer spa_{known['agent']}_{known['secret']}",
        "X-Spindle-Protocol": "1",
        "X-Spindle-Instance": instance,
        "X-Spindle-Machine": machine(state),
        "X-Spindle-Hardware": ",".join(hardware()),
    }


def machine(state: str) -> str:
    """Return the SHA-256 of the machine id, or of a random one that is kept in the state folder."""
    made = os.path.join(state, "machine-id")
    for path in ("/etc/machine-id", made):
        try:
            with open(path) as source:
                text = source.read().strip()
        except OSError:
            text = ""
        if text:
            return hashlib.sha256(text.encode()).hexdigest()
    write_durably(made, os.urandom(16).hex())
    return machine(state)


def hardware() -> List[str]:
    """Return a short hash per network card's address, which machines made from one image do not share."""
    try:
        names = os.listdir(NICS)
    except OSError:
        return []
    cards = [f"{NICS}/{name}" for name in names if os.path.exists(f"{NICS}/{name}/device")]
    addresses = {text_of(f"{card}/address") for card in cards if text_of(f"{card}/addr_assign_type") != RANDOM}
    hashes = (hashlib.sha256(b"spindle nic " + address.encode()).hexdigest() for address in addresses - {""})
    return sorted(item[:16] for item in hashes)[:MOST_NICS]


def be_the_only_one(state: str) -> int:
    """Return a handle that holds the lock on the agent's folder while it is open."""
    guard = os.open(os.path.join(state, "agent.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(guard, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise Mistake(f"Another agent is running with {state}.") from None
    return guard


def token(file: Optional[str], given: Optional[str]) -> str:
    """Return the enrolment token from a file (`-`: standard input), the environment, or a person at a terminal.

    It is not meant for the command line, which every account of the host can read in `ps`; older scripts that use
    that are
    accepted.
    """
    if file is None and given is None:
        given = os.environ.get(TOKEN_VARIABLE)
    if file == "-" or (file is None and given is None):
        if sys.stdin.isatty():
            sys.stderr.write("The one-use token that the server has shown: ")
            sys.stderr.flush()
        given = sys.stdin.readline()
    elif file is not None:
        try:
            with open(file) as source:
                given = source.readline()
        except OSError as error:
            raise Mistake(f"{file}: {error.strerror}.") from error
    if not (given or "").strip():
        raise Mistake(
            f"The enrolment token is missing: put it into {TOKEN_VARIABLE}, or name a file with --token-file (- is standard input)."
        )
    return str(given).strip()

"""A server that keeps the agent protocol in memory, strictly, with knobs for what goes wrong: lost answers, 503s, silence."""

import base64
import hashlib
import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ENDS = ("finished", "failed", "interrupted", "cancelled")


class Attempt:
    def __init__(self, number: int, token: int, workload: dict[str, Any], interval: int) -> None:
        self.offer = {
            "attempt": number,
            "token": token,
            "run": number,
            "workload": workload,
            "status_interval": interval,
        }
        self.token = token
        self.state = "offered"
        self.chunks: dict[str, dict[int, bytes]] = {}
        self.arrivals: list[tuple[float, str, int]] = []
        self.ending: dict[str, Any] = {}
        self.running: dict[str, Any] = {}
        self.evidence: list[list[dict[str, Any]]] = []  # as it was sent, each time
        self.reason = ""
        self.cancel = False
        self.at: dict[str, float] = {}

    def stream(self, name: str) -> bytes:
        return b"".join(data for _, data in sorted(self.chunks.get(name, {}).items()))


class Listener(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):  # an agent was killed meanwhile
            super().handle_error(request, client_address)


class FakeServer:
    """`lose_answers`: every n-th request is obeyed, then its connection is cut. `refuse_with`: path part → status."""

    def __init__(self) -> None:
        self.attempts: dict[int, Attempt] = {}
        self.inventories: list[dict[str, Any]] = []
        self.requests: list[tuple[float, str, str]] = []
        self.polls: list[dict[str, Any]] = []
        self.violations: list[str] = []
        self.enrolled: dict[str, dict[str, Any]] = {}
        self.lose_answers = 0
        self.look_at: list[str] = []  # directories below the host's own that are targets too
        self.is_old = False  # does not know that chunks may come with the end
        self.poll_status = 200
        self.refuse_with: dict[str, int] = {}
        self.program = b""  # what it hands out as agent.pyz
        self.release: dict[str, Any] = {}  # what it says of that, in polls and of itself
        self.own: dict[str, Any] = {}  # changes to what it says to `self/`
        self.clock_ahead = 0.0
        self.drop_chunks: set[tuple[str, int]] = set()
        self.news = self.told = 0  # how often there was something new to say, and how much of it was said
        self.bell = threading.Condition()
        self.start()

    def start(self, port: int = 0) -> None:
        handler = type("Handler", (Handler,), {"fake": self})
        self.http = Listener(("127.0.0.1", port), handler)
        self.port = self.http.server_port
        self.open = True
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        """Connections that are open are cut at their next request."""
        self.open = False
        self.http.shutdown()
        self.http.server_close()
        with self.bell:
            self.bell.notify_all()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def offer(
        self,
        workload: dict[str, Any],
        number: int = 0,
        token: int = 0,
        interval: int = 1,
        guards: Any = None,
        **target: str,
    ) -> Attempt:
        """`target`: the directory that the run is for, by path, type, uuid and source; servers of before name none."""
        with self.bell:
            number = number or len(self.attempts) + 1
            attempt = self.attempts[number] = Attempt(number, token or 100 + number, workload, interval)
            if target:
                attempt.offer["target"] = target
            if guards is not None:
                attempt.offer["guards"] = guards
            attempt.at["offered"] = time.time()
            self.bell.notify_all()
        return attempt

    def cancel(self, attempt: Attempt) -> None:
        with self.bell:
            attempt.cancel = True
            self.bell.notify_all()

    def answer_at_once(self) -> None:
        """Answer the poll that is held, or else the next one, as a server does that has something new to say."""
        with self.bell:
            self.news += 1
            self.bell.notify_all()

    def answer_to_poll(self) -> dict[str, Any]:
        open_attempts = [a for a in self.attempts.values() if a.state not in (*ENDS, "refused")]
        return {
            "offers": [a.offer for a in open_attempts if a.state == "offered" and not a.cancel],
            "cancel": [a.offer["attempt"] for a in open_attempts if a.cancel],
            "forget": [],
            "lease_s": 60,
            "poll_s": 0,
            "look_at": self.look_at,
            **({"release": self.release} if self.release else {}),
        }

    # One method for each call; each answers (status, body).

    def poll(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        self.polls.append(body)
        if self.poll_status != 200:
            return self.poll_status, {"title": "knob", "state": "pending"}
        until = time.monotonic() + body["wait"]
        with self.bell:
            known = self.told
            while self.open and time.monotonic() < until:
                answer = self.answer_to_poll()
                if answer["offers"] or answer["cancel"] or self.news != known:
                    break
                self.bell.wait(until - time.monotonic())
            self.told = self.news
            return 200, self.answer_to_poll()

    def enrol(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        known = self.enrolled.setdefault(body["token"], body)
        if known["secret_sha256"] != body["secret_sha256"]:
            return 401, {"title": "The token was used already"}
        return 201, {"agent": 7, "name": body["hostname"], "lab": "lab", "state": "approved"}

    def act(self, attempt: Attempt, what: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if body.get("token") != attempt.token:
            return 409, {"title": "fencing token"}
        attempt.at.setdefault(what, time.time())
        if what == "accept":
            attempt.state = "accepted" if attempt.state == "offered" else attempt.state
            return 200, {"state": "accepted"}
        if what == "refuse":
            attempt.state, attempt.reason = "refused", body["reason"]
            return 200, {}
        if what == "guards":
            if attempt.state == "offered":
                self.violations.append("guards before accept")
            attempt.evidence.append(body["evidence"])
            return 200, {"stored": True}
        if what == "running":
            if attempt.state == "offered":
                self.violations.append("running before accept")
            if attempt.running and attempt.running["started_at"] != body["started_at"]:
                self.violations.append("started twice")
            attempt.running = body
            attempt.state = "running" if attempt.state not in ENDS else attempt.state
            return 200, {"state": "running"}
        return self.finish(attempt, body)

    def finish(self, attempt: Attempt, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if attempt.state == "offered":
            self.violations.append("finish before accept")
        for one in [] if self.is_old else body.get("chunks", ()):
            headers = {"X-Spindle-Token": str(attempt.token), "X-Spindle-SHA256": one["sha256"]}
            self.chunk(attempt, one["stream"], one["seq"], base64.b64decode(one["data"]), headers)
        missing = {}
        for name, facts in body["streams"].items():
            had = attempt.chunks.get(name, {})
            lacking = [seq for seq in range(facts["chunks"]) if seq not in had]
            if lacking:
                missing[name] = lacking
                continue
            sent = b"".join(had[seq] for seq in range(facts["chunks"]))
            sizes = {seq: len(data) for seq, data in had.items()}
            if (len(sent), hashlib.sha256(sent).hexdigest()) != (facts["bytes"], facts["sha256"]):
                self.violations.append(f"manifest of {name} does not agree: {facts}, stored {sizes}")
            if len(had) > facts["chunks"] and body["outcome"] != "interrupted":  # a host without power forgets
                self.violations.append(f"manifest of {name} lacks chunks: {facts}, stored {sizes}")
        if missing:
            return 200, {"complete": False, "missing": missing}
        attempt.ending, attempt.state = body, body["outcome"]
        return 200, {"complete": True}

    def chunk(self, attempt: Attempt, name: str, seq: int, data: bytes, headers: Any) -> tuple[int, dict[str, Any]]:
        if headers["X-Spindle-Token"] != str(attempt.token):
            return 409, {"title": "fencing token"}
        if hashlib.sha256(data).hexdigest() != headers["X-Spindle-SHA256"] or len(data) > 1 << 20:
            self.violations.append(f"chunk {name}/{seq} is not what it says")
        if (name, seq) in self.drop_chunks:
            self.drop_chunks.discard((name, seq))
            return 200, {"stored": True}
        had = attempt.chunks.setdefault(name, {}).setdefault(seq, data)
        attempt.arrivals.append((time.time(), name, seq))
        if had != data:
            self.violations.append(f"chunk {name}/{seq} changed")
            return 409, {"title": "another hash"}
        return 200, {"stored": True}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    fake: FakeServer

    def answer(self) -> None:
        fake = self.fake
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path == "/agent/agent.pyz":
            self.send_program()
            return
        parts = self.path.split("/agent/v1/")[1].strip("/").split("/")
        fake.requests.append((time.time(), self.command, self.path))
        if not fake.open or len(data) < int(self.headers.get("Content-Length") or 0):
            self.close_connection = True  # closed, or the agent was killed while it spoke
            return
        status, body = self.dispatch(parts, data)
        if not fake.open or (fake.lose_answers and len(fake.requests) % fake.lose_answers == 0):
            self.close_connection = True
            return
        text = json.dumps(body).encode()
        self.send_response(status)
        if status == 503:
            self.send_header("Retry-After", "1")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        try:
            self.wfile.write(text)
        except OSError:
            self.close_connection = True  # the agent was killed meanwhile

    do_GET = do_POST = do_PUT = answer  # noqa: N815

    def send_program(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.fake.program)))
        self.end_headers()
        self.wfile.write(self.fake.program)

    def dispatch(self, parts: list[str], data: bytes) -> tuple[int, dict[str, Any]]:
        fake = self.fake
        for piece, status in fake.refuse_with.items():
            if piece in self.path:
                return status, {"title": "knob"}
        if parts[0] == "enrol":
            return fake.enrol(json.loads(data))
        for name in ("Authorization", "X-Spindle-Protocol", "X-Spindle-Instance", "X-Spindle-Machine"):
            if name not in self.headers:
                fake.violations.append(f"{self.path} without {name}")
        if parts[0] == "self":
            told = {"agent": 7, "name": "host1", "lab": "lab", "state": "approved", "doubt": ""}
            clock = time.time() + fake.clock_ahead
            return 200, {**told, "clock": clock, "release": fake.release, **fake.own}
        if parts[0] == "poll":
            return fake.poll(json.loads(data))
        if parts[0] == "inventory":
            fake.inventories.append(json.loads(data))
            return 202, {"stored": len(fake.inventories[-1]["outputs"])}
        attempt = fake.attempts[int(parts[1])]
        if parts[2] == "streams":
            return fake.chunk(attempt, parts[3], int(parts[5]), data, self.headers)
        return fake.act(attempt, parts[2], json.loads(data))

    def log_message(self, *_: Any) -> None:
        pass

"""Two web processes behind one address: whichever of them answers, it answers the same.

A kept connection stays with the process that took it, and each process has a word of its own in the head of `/healthz`.
"""

import http.client
import json
import re
import shutil
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any

import psutil
import pytest

from tests.outside.conftest import _folder
from tests.outside.people import Person, make_people, new_lab
from tests.outside.product import Answer, Product, wait_until

pytestmark = [pytest.mark.outside, pytest.mark.long]
SHORT = {"rw": "write", "block_size": 65536, "file_size": 1 << 20}
LONG = {**SHORT, "runtime": 4, "time_based": True}
SOON = 5.0  # seconds; a poll that no bell reaches looks again after ten
KEPT = 3.0  # seconds that a connection may be idle; the server closes it after five
RATE = 40  # requests a minute


@pytest.fixture(scope="module")
def two(prepared: Product) -> Iterator[Product]:
    folder, options = _folder(), {"like": prepared, "env": {"SPINDLE_API_RATE": f"{RATE}/min"}}
    try:
        with Product(folder, "--web-workers", "2", **options) as running:  # type: ignore[arg-type]
            yield running
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Line:
    """A connection to one process, with the cookies or the token of whoever speaks on it."""

    def __init__(self, product: Product, token: str = "", cookies: dict[str, str] | None = None) -> None:
        self.address = urllib.parse.urlsplit(product.url).netloc
        self.token, self.cookies = token, dict(cookies or {})
        self.process = self.connect()

    def connect(self) -> str:
        """Open a connection, and return the word of the process that took it."""
        self.connection = http.client.HTTPConnection(self.address, timeout=60)
        self.connection.request("GET", "/healthz")
        answer = self.connection.getresponse()
        answer.read()
        self.used_at = time.monotonic()
        return answer.headers["X-Spindle-Process"]

    def ask(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Answer:
        answer = self.begin(method, path, body, **headers)
        return Answer(answer.status, answer.msg, answer.read(), path)

    def begin(self, method: str, path: str, body: bytes | None = None, **headers: str) -> http.client.HTTPResponse:
        """Ask, and return the answer unread. A connection that was idle for long may be closed; another is opened to the same process."""
        while time.monotonic() > self.used_at + KEPT:
            self.connection.close()
            if self.connect() != self.process:
                self.used_at = 0.0
        sent = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())} if self.cookies else {}
        sent |= {"Authorization": f"Bearer {self.token}"} if self.token else {}
        self.connection.request(method, path, body, {**sent, **headers})
        answer = self.connection.getresponse()
        self.used_at = time.monotonic()
        for pair in answer.msg.get_all("Set-Cookie", []):
            name, _, value = pair.partition(";")[0].partition("=")
            self.cookies[name] = value
        return answer

    def get(self, path: str) -> Answer:
        return self.ask("GET", path)

    def send(self, path: str, data: Any) -> Answer:
        return self.ask("POST", path, json.dumps(data).encode(), **{"Content-Type": "application/json"})

    def post(self, path: str, **form: str) -> Answer:
        if "csrftoken" not in self.cookies:
            self.get("/accounts/login/")
        body = urllib.parse.urlencode({**form, "csrfmiddlewaretoken": self.cookies["csrftoken"]}).encode()
        return self.ask("POST", path, body, **{"Content-Type": "application/x-www-form-urlencoded"})

    def sign_in(self, person: Person) -> int:
        return self.post("/accounts/login/", login=person.email, password=person.password).status


@contextmanager
def both(product: Product, token: str = "", cookies: dict[str, str] | None = None) -> Iterator[list[Line]]:
    """A line to each process, for the same token or the same cookies."""
    found: dict[str, Line] = {}
    with ExitStack() as stack:

        def opened() -> bool:
            line = Line(product, token, cookies)
            stack.callback(lambda: line.connection.close())
            found.setdefault(line.process, line)
            return len(found) == 2

        wait_until("both processes answer", 60, opened, 0.01)
        yield list(found.values())


@pytest.fixture(scope="module")
def people(two: Product) -> Callable[..., Person]:
    def made(role: str = "owner", lab: str = "") -> Person:
        [person] = make_people(two, {lab or new_lab(): role})
        return person

    return made


def test_who_signs_out_in_one_process_is_out_in_the_other(two: Product, people: Callable[..., Person]) -> None:
    person = people()
    with both(two) as (one, other):
        assert one.sign_in(person) == 302
        other.cookies = dict(one.cookies)
        assert [line.get("/runs/").status for line in (one, other)] == [200, 200]
        left = dict(other.cookies)
        assert other.post("/accounts/logout/").status == 302
        one.cookies = left
        assert one.get("/runs/").status == 302


def test_a_token_that_is_revoked_in_one_process_ends_in_the_other(two: Product, people: Callable[..., Person]) -> None:
    person = people()
    with both(two) as (one, other):
        assert one.sign_in(person) == 302
        made = one.post("/lab/tokens/", name="to be revoked", scope="read", days="")
        secret = re.findall(r">(spl_[^<]+)<", made.text)[0]
        number = re.findall(r"/lab/tokens/(\d+)/revoke/", one.get("/lab/tokens/").text)[0]
        other.token = secret
        assert other.get("/api/v1/runs/").status == 200
        assert one.post(f"/lab/tokens/{number}/revoke/").status == 302
        assert other.get("/api/v1/runs/").status == 401


def test_wrong_passwords_are_counted_across_both(two: Product, people: Callable[..., Person]) -> None:
    """Five are free: four in each process would be, if each counted for itself."""
    person = people()
    wrong = Person(two, person.email, "not these four words")

    def guess(line: Line) -> list[int]:
        return [line.sign_in(wrong) for _ in range(4)]

    with both(two) as lines, ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(guess, lines))
    assert {status for line in answers for status in line} == {200, 429}, answers


def test_requests_of_a_token_are_counted_across_both(two: Product) -> None:
    with both(two, two.make_token("read")) as lines:
        answers = [lines[turn % 2].get("/api/v1/hosts/?limit=1") for turn in range(RATE + 6)]
        assert [answer.status for answer in answers] == [200] * RATE + [429] * 6
        assert 0 < int(answers[-1].headers["Retry-After"]) <= 60
        assert answers[-1].headers["Content-Type"] == "application/problem+json"


@pytest.mark.fio
def test_a_run_started_in_either_process_reaches_the_agent_and_the_pages_of_both(two: Product) -> None:
    """The agent's poll hangs on one of the two, so one of these runs comes from the other."""
    admin, owner = two.client(two.make_token("admin")), two.owner()
    cookies = {cookie.name: str(cookie.value) for cookie in owner.cookies}

    def offered() -> Any:
        targets = admin.get("/api/v1/targets/?limit=200").json()["results"]
        return next((target["id"] for target in targets if target["takes_runs"]), None)

    target = wait_until("the agent offers its directory", 60, offered, 2)
    for turn in range(2):
        time.sleep(1)  # the agent polls again
        with both(two, two.make_token("run")) as starting, both(two, cookies=cookies) as reading:
            begin = time.monotonic()
            answer = starting[turn].send("/api/v1/runs/", {"target": target, "workload": LONG})
            assert answer.status == 201, answer.text
            heard = heard_on(reading, answer.json()["id"], begin)
        for moments in heard:
            assert moments["running"] < SOON, (turn, moments)
            assert moments["progress"] > 1, (turn, moments)
            assert "finished" in moments, (turn, moments)


def heard_on(lines: list[Line], run: int, begin: float) -> list[dict[str, float]]:
    with ThreadPoolExecutor(len(lines)) as pool:
        return list(pool.map(lambda line: events(line, run, begin), lines))


def events(line: Line, run: int, begin: float) -> dict[str, float]:
    """Seconds until each state of the run is heard of, and how many reports of its progress are."""
    stream, heard = line.begin("GET", f"/events/runs/{run}/"), {"progress": 0.0}
    assert stream.status == 200
    while text := stream.readline():
        if text.startswith(b"event: progress"):
            heard["progress"] += 1
        elif found := re.search(rb'"state":"(\w+)"', text):
            heard.setdefault(found[1].decode(), time.monotonic() - begin)
    return heard


def test_a_process_that_dies_is_started_again_and_the_other_goes_on(two: Product) -> None:
    parent = psutil.Process(two.pid("web"))
    workers = [child for child in parent.children() if "spawn_main" in " ".join(child.cmdline())]
    assert len(workers) == 2
    stop = threading.Event()

    def browse() -> set[int]:
        answers = set()
        while not stop.wait(0.05):
            answers.add(two.client().get("/accounts/login/").status)
        return answers

    workers[0].kill()
    with ThreadPoolExecutor(1) as pool:
        browsing = pool.submit(browse)
        try:
            with both(two) as lines:
                assert [line.get("/accounts/login/").status for line in lines] == [200, 200]
        finally:
            stop.set()
    assert browsing.result() == {200}
    assert parent.is_running()
    assert workers[1].is_running()

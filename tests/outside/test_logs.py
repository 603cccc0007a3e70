"""What strangers ask for neither fills the log nor looks like its lines, and every log is turned over while its program writes it."""

import http.client
import re
import time
from urllib.parse import urlsplit

import pytest

from tests.outside.product import Client, Product, wait_until

pytestmark = [pytest.mark.outside, pytest.mark.long]

SECONDS = 4.0
MOST_A_SECOND = 50_000  # bytes
LONGEST = 2000  # characters of a line
LIMIT = 10 << 20  # bytes of one log
STRANGE: list[tuple[str, str, bytes | None, dict[str, str]]] = [
    ("GET", "/nowhere/" + "x" * 4000, None, {}),
    ("GET", "/%0a2026-01-01 CRITICAL forged/%1b[31m".replace(" ", "%20"), None, {}),
    ("GET", "/", None, {"Host": "evil." + "y" * 4000}),
    ("POST", "/accounts/login/", b"login=a", {"Content-Type": "application/x-www-form-urlencoded"}),
    ("POST", "/accounts/login/", b"login=a", {"Content-Type": "multipart/form-data; boundary=" + "z" * 300}),
    ("POST", "/api/v1/runs/", b"{" * 5000, {"Content-Type": "application/json", "Authorization": "Bearer spl_no"}),
    ("POST", "/agent/v1/enrol/", b'{"token": "x"}', {"Content-Type": "application/json"}),
    ("GET", "/agent/v1/poll/", None, {}),
    ("DELETE", "/api/v1/nothing/", None, {}),
    ("POST", "/language/", b"language=xx", {"Content-Type": "application/x-www-form-urlencoded"}),
    ("GET", "/?page=" + "9" * 4000, None, {}),
    ("GET", "/static/../../../etc/passwd", None, {}),
    ("GET", "/api/v1/runs/?format=" + "q" * 2000, None, {}),
]


def folder_size(product: Product) -> int:
    return sum(file.stat().st_size for file in (product.data / "log").iterdir())


def test_strangers_fill_no_log(product: Product) -> None:
    before, logged = folder_size(product), len(product.log("web"))
    parts = urlsplit(product.url)
    begin, sent = time.monotonic(), 0
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)
    while time.monotonic() - begin < SECONDS:
        method, path, body, headers = STRANGE[sent % len(STRANGE)]
        connection.request(method, path, body, {"Host": "127.0.0.1", **headers})
        connection.getresponse().read()
        sent += 1
    rate = (folder_size(product) - before) / (time.monotonic() - begin)
    print(f"{sent / SECONDS:.0f} requests a second, {rate:.0f} bytes a second into the logs")
    said = product.log("web")[logged:]
    assert rate < MOST_A_SECOND
    assert "Traceback" not in said
    assert not [line for line in said.splitlines() if len(line) > LONGEST]
    assert not re.search(r"^2026-01-01 CRITICAL", said, re.MULTILINE)
    assert "\x1b" not in said


@pytest.mark.parametrize("name", ["web", "worker", "dispatcher", "beat", "agent", "postgres", "valkey", "manage"])
def test_a_log_is_turned_over_while_it_is_written(product: Product, name: str) -> None:
    log = product.data / "log" / f"{name}.log"
    with log.open("ab") as file:
        file.write((b"a line that somebody wrote " * 10 + b"\n") * (LIMIT // 270))
        file.write(b"the last line\n" * 100_000)
    wait_until(f"{name}.log is small again", 15, lambda: log.stat().st_size < LIMIT // 2)
    aside = log.with_suffix(".log.1")
    assert aside.stat().st_size <= LIMIT
    assert b"the last line" in aside.read_bytes()[-2_000_000:]
    assert aside.stat().st_mode & 0o077 == 0


def test_the_program_goes_on_writing_behind_the_turn(product: Product, admin: Client) -> None:
    def says() -> bool:
        product.client().get(f"/nowhere/{time.time()}/")
        return "/nowhere/" in product.log("web")

    log = product.data / "log" / "web.log"
    with log.open("ab") as file:
        file.write(b"x\n" * LIMIT)
    wait_until("web.log is small again", 15, lambda: log.stat().st_size < LIMIT)
    wait_until("the web process writes into it", 30, says, pause=1)
    assert not log.read_bytes().startswith(b"\0")
    assert admin.get("/api/v1/runs/").status == 200


def test_the_folder_has_a_limit(product: Product) -> None:
    old = product.data / "log" / "former.log.7"
    with old.open("wb") as file:
        file.truncate(300 << 20)
    wait_until("the oldest goes", 15, lambda: not old.exists())
    assert folder_size(product) < 200 << 20

"""A broker that hangs, a database that is away or hangs, a disk that is full: a sentence and 503 in place of silence, and all is well after it."""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from tests.outside.product import Answer, Client, Product, wait_until

pytestmark = [pytest.mark.outside, pytest.mark.long]

DD = b"1073741824 bytes (1.1 GB, 1.0 GiB) copied, 2.%d s, 537 MB/s\n"
PAGES = ("/", "/runs/", "/hosts/", "/uploads/", "/compare/", "/accounts/login/")
REST = ("/api/v1/runs/", "/api/v1/hosts/", "/api/v1/uploads/")
SOON = 2.0  # seconds for a page on a busy machine


def timed(client: Client, path: str) -> tuple[float, Answer]:
    begin = time.monotonic()
    answer = client.get(path)
    return time.monotonic() - begin, answer


@contextmanager
def stopped(*pids: int) -> Iterator[None]:
    """These processes stand still; whoever speaks to them gets no answer and no refusal."""
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


def with_children(pid: int) -> list[int]:
    return [pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))]


def is_healthy(product: Product) -> bool:
    return product.client().get("/healthz").status == 200


def check_refusal(answer: Answer, path: str) -> None:
    """503, when to come again, and a sentence: as a problem document for programs, as a page for people."""
    assert answer.status == 503, (path, answer.status, answer.text[:300])
    assert int(answer.headers["Retry-After"]) > 0
    if path.startswith(("/api/", "/agent/")):
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert answer.json()["status"] == 503
        assert "database" in answer.json()["detail"]
    else:
        assert "<h1>" in answer.text
        assert "database" in answer.text
    assert "Traceback" not in answer.text


def test_a_broker_that_hangs_holds_nobody_up(own_product: Callable[..., Product]) -> None:
    product = own_product()
    owner, script = product.owner(), product.client(product.make_token("admin"))
    quiet = max(timed(client, path)[0] for client, path in [(owner, "/compare/"), (script, "/api/v1/runs/")])
    with stopped(product.pid("valkey")):
        for client, path in [
            *((owner, path) for path in PAGES),
            *((script, path) for path in REST),
            (owner, "/healthz"),
        ]:
            seconds, answer = timed(client, path)
            assert answer.status == 200, path
            assert seconds < quiet + SOON, path
        begin = time.monotonic()
        sent = script.upload("/api/v1/uploads/", {"dd.txt": DD % 1})
        assert sent.status == 202
        assert product.client().sign_in(product.email, product.password).status == 302
        assert time.monotonic() - begin < 2 * SOON
    found = product.read_in(sent.json()["url"], script, 90)
    assert found["files"][0]["format"] == "dd"
    away(product, owner, script)
    hung(product, owner)


def away(product: Product, owner: Client, script: Client) -> None:
    """The database is killed again and again; the supervisor starts it anew."""
    refused = 0
    logged = len(product.log("web"))
    for _ in range(3):
        os.kill(product.pid("postgres"), signal.SIGKILL)
        end = time.monotonic() + 3
        while time.monotonic() < end:
            for client, path in (
                (owner, "/runs/"),
                (script, "/api/v1/runs/"),
                (script, "/agent/v1/poll/"),
                (owner, "/healthz"),
            ):
                answer = client.get(path) if "/agent/" not in path else client.request("POST", path, b"{}")
                if path == "/healthz":
                    assert answer.status in (200, 503)
                elif answer.status >= 500:
                    check_refusal(answer, path)
                    refused += 1
        wait_until("the database is back", 60, lambda: is_healthy(product))
    assert refused
    assert owner.get("/runs/").status == 200
    assert script.get("/api/v1/runs/").status == 200
    assert product.log("web")[logged:].count("Traceback") == 0


def hung(product: Product, owner: Client) -> None:
    """/healthz says so while nothing else can."""
    with stopped(*with_children(product.pid("postgres"))):
        # an answer may be a second old, and the database has three
        wait_until("/healthz is red", 8, lambda: not is_healthy(product))
    wait_until("the database is back", 30, lambda: is_healthy(product))
    assert owner.get("/runs/").status == 200


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """A disk of its own, which can be filled."""
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size},mode=0711", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if done.returncode:
        pytest.skip("only root may mount a small disk here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)
        folder.rmdir()


def resize(disk: Path, size: str) -> None:
    subprocess.run(["mount", "-o", f"remount,size={size}", str(disk)], check=True)


def fill(disk: Path) -> None:
    """Make it as small as what is on it, and write until nothing more is taken."""
    room = os.statvfs(disk)
    resize(disk, f"{((room.f_blocks - room.f_bfree) * room.f_frsize >> 20) + 2}m")
    with suppress(OSError), (disk / "filler").open("wb", buffering=0) as file:
        while file.write(b"\0" * (1 << 16)):
            pass


def test_a_full_disk_is_said_and_is_no_end(prepared: Product) -> None:
    folder = Path(tempfile.mkdtemp(prefix="spindle-out-", dir="/tmp"))
    with (
        small_disk(folder, "3g") as disk,
        Product(disk, like=prepared) as product,
    ):  # tmpfs takes memory for what is on it only
        owner, script = product.owner(), product.client(product.make_token("admin"))
        assert is_healthy(product)
        fill(disk)
        wait_until("/healthz is red", 15, lambda: not is_healthy(product))
        assert "disk" in product.client().get("/healthz").text
        for number in range(30):
            sent = script.upload("/api/v1/uploads/", {f"dd{number}.txt": DD % number * 500})
            assert sent.status in (202, 503, 507), (sent.status, sent.text[:500])
            read = script.get("/api/v1/runs/")
            assert read.status in (200, 503), (read.status, read.text[:500])
            page = owner.get("/runs/")
            assert page.status in (200, 503), (page.status, page.text[:500])
        resize(disk, "3g")
        wait_until("/healthz is green again", 90, lambda: is_healthy(product))
        sent = script.upload("/api/v1/uploads/", {"after.txt": DD % 99})
        assert sent.status == 202
        assert product.read_in(sent.json()["url"], script, 90)["files"][0]["format"] == "dd"

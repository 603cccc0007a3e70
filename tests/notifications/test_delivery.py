"""Notifications on their way: signed, against a real server; tried again, given up, sent again; letters by e-mail."""

import hashlib
import hmac
import json
import socket
import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from django.core import mail
from django.utils import timezone

from apps.core.env import Mail, mail_from_url
from apps.labs.models import Lab
from apps.notifications.delivery import deliver
from apps.notifications.messages import subject, text
from apps.notifications.models import FIRST_WAIT, LONGER, MOST_TRIES, Delivery, Destination
from apps.notifications.tasks import send_delivery, sweep_deliveries
from apps.notifications.transports import webhook
from tests.trends.nights import destination, watch

SECRET = "sph_known"
PAYLOAD: dict[str, Any] = {
    "event": "change-point",
    "text": "nightly: bandwidth of write became worse: −12 %",
    "watch": {"id": 1, "name": "nightly\nrun", "url": "https://spindle.example.org/trends/1/"},
    "change_point": {
        "direction": "worse", "ratio": 0.88, "run_url": "https://spindle.example.org/runs/7/", "at": "2026-11-21T02:00:00+00:00",
        "runs_before": 60, "runs_after": 5, "caveats": ["Only 3 runs since the change."],
        "facts": [{"fact": "kernel", "label": "kernel", "before": "6.1", "after": "6.12"}],
    },
}  # fmt: skip


class Receiver(ThreadingHTTPServer):
    """Answers as it is told, and keeps what came."""

    status = 200
    drips = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.got: list[tuple[str, dict[str, str], bytes]] = []
        self.url = f"http://127.0.0.1:{self.server_port}/hook?team=storage"


class Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.append((self.path, dict(self.headers), body))
        if self.server.drips:
            return self._drip()
        self.send_response(self.server.status)
        if self.server.status == 302:
            self.send_header("Location", f"http://127.0.0.1:{self.server.server_port}/elsewhere")
        self.end_headers()
        return None

    def _drip(self) -> None:
        for byte in b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100:
            self.wfile.write(bytes([byte]))
            self.wfile.flush()
            time.sleep(0.05)

    def log_message(self, *_: Any) -> None:
        """Quiet."""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    server = Receiver()
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def private(settings: Any) -> None:
    settings.WEBHOOK_PRIVATE = True


def to(lab: Lab, place: Destination) -> Delivery:
    made: Delivery = Delivery.objects.create(lab=lab, destination=place, watch=watch(lab), payload=PAYLOAD)
    return made


def hook(lab: Lab, url: str) -> Delivery:
    return to(lab, destination(lab, "webhook", url, secret=SECRET))


def again(delivery: Delivery) -> Delivery:
    """As a worker reads it when its next try is due."""
    Delivery.objects.filter(pk=delivery.pk).update(next_try=timezone.now())
    return Delivery.objects.select_related("destination").get(pk=delivery.pk)  # type: ignore[no-any-return]


@pytest.mark.usefixtures("private")
def test_a_webhook_gets_signed_json_once(lab: Lab, receiver: Receiver) -> None:
    delivery = hook(lab, receiver.url)
    assert send_delivery(delivery.pk) == "sent"
    assert send_delivery(delivery.pk) == "nothing to do"
    ((path, headers, body),) = receiver.got
    assert path == "/hook?team=storage"
    assert json.loads(body) == {"delivery": delivery.pk, **PAYLOAD}
    stamp, _, found = headers["X-Spindle-Signature"].partition(",v1=")
    at = stamp.removeprefix("t=")
    assert abs(int(at) - time.time()) < 30
    assert found == hmac.new(SECRET.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    assert (headers["X-Spindle-Event"], headers["X-Spindle-Delivery"]) == ("change-point", str(delivery.pk))
    assert headers["Host"] == f"127.0.0.1:{receiver.server_port}"
    row = again(delivery)
    assert (row.state, row.tries, row.problem) == ("sent", 1, "")
    assert (row.destination.last_ok, row.destination.last_result) == (True, "answered 200")


def test_without_the_administrators_word_nothing_is_sent_inside(lab: Lab, receiver: Receiver) -> None:
    delivery = hook(lab, receiver.url)
    assert send_delivery(delivery.pk) == "refused"
    row = again(delivery)
    assert row.state == "dead"
    assert "SPINDLE_WEBHOOK_PRIVATE" in row.problem
    assert receiver.got == []


@pytest.mark.usefixtures("private")
def test_a_redirect_is_not_followed(lab: Lab, receiver: Receiver) -> None:
    receiver.status = 302
    assert send_delivery(hook(lab, receiver.url).pk) == "failed"
    assert [path for path, _, _ in receiver.got] == ["/hook?team=storage"]
    assert "redirect, which is not followed" in Delivery.objects.get().problem


@pytest.mark.usefixtures("private")
def test_a_failure_is_tried_again_later_and_later_and_then_given_up(lab: Lab, receiver: Receiver) -> None:
    receiver.status = 503
    delivery = hook(lab, receiver.url)
    waits = []
    for _ in range(MOST_TRIES):
        started = timezone.now()
        assert deliver(again(delivery)) == "failed"
        waits.append(Delivery.objects.get().next_try - started)
    assert send_delivery(delivery.pk) == "nothing to do"
    row = Delivery.objects.get()
    assert (row.state, row.tries, row.problem) == ("dead", 3, "answered 503, expected 2xx")
    assert len(receiver.got) == MOST_TRIES
    assert len({headers["X-Spindle-Delivery"] for _, headers, _ in receiver.got}) == 1
    for number, wait in enumerate(waits[:-1]):
        assert 0.75 <= wait / (FIRST_WAIT * LONGER**number) <= 1.3
    receiver.status = 200
    assert row.again()
    assert not row.again()
    assert send_delivery(delivery.pk) == "sent"


@pytest.mark.usefixtures("private")
def test_before_its_time_a_delivery_waits(lab: Lab, receiver: Receiver) -> None:
    delivery = hook(lab, receiver.url)
    Delivery.objects.update(next_try=timezone.now() + timedelta(minutes=1))
    assert send_delivery(delivery.pk) == "nothing to do"
    assert receiver.got == []


@pytest.mark.usefixtures("private")
def test_a_server_that_drips_its_answer_is_cut_off(
    lab: Lab, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook, "SECONDS", 0.4)
    receiver.drips = True
    started = time.monotonic()
    assert send_delivery(hook(lab, receiver.url).pk) == "failed"
    assert time.monotonic() - started < 2


@pytest.mark.usefixtures("private")
def test_nobody_at_the_address_is_a_failure_that_says_so(lab: Lab) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert send_delivery(hook(lab, f"http://127.0.0.1:{port}/").pk) == "failed"
    assert "refused" in Delivery.objects.get().problem


def test_a_worker_that_died_in_every_try_does_not_go_on_for_ever(lab: Lab) -> None:
    delivery = to(lab, destination(lab))
    Delivery.objects.update(tries=MOST_TRIES)
    assert send_delivery(delivery.pk) == "given up"
    assert Delivery.objects.get().state == "dead"
    assert mail.outbox == []


def test_a_destination_that_is_switched_off_gets_nothing(lab: Lab) -> None:
    delivery = to(lab, destination(lab, is_active=False))
    assert send_delivery(delivery.pk) == "switched off"
    assert mail.outbox == []


def test_a_letter_names_size_facts_and_what_speaks_against_it(lab: Lab) -> None:
    assert send_delivery(to(lab, destination(lab)).pk) == "sent"
    (sent,) = mail.outbox
    assert sent.to == ["team@example.org"]
    assert sent.subject == "Spindle: nightly run became worse (−12.0 %)"
    assert "  kernel: 6.1 → 6.12\n" in sent.body
    assert "  Only 3 runs since the change.\n" in sent.body
    assert "First run after: https://spindle.example.org/runs/7/ (2026-11-21 02:00 UTC)" in sent.body
    assert sent.body.rstrip().endswith("https://spindle.example.org/trends/1/")


def test_a_test_says_that_it_is_one() -> None:
    payload = {"event": "test", "text": "A test: nothing has changed.", "watch": None}
    assert subject(payload) == "Spindle: test"
    assert text(payload) == "A test: nothing has changed.\n"


def test_the_mail_server_comes_from_one_address() -> None:
    assert mail_from_url("") == Mail()
    assert mail_from_url("").backend.endswith("console.EmailBackend")
    found = mail_from_url("smtp://who%40example.org:p%2Fw@mail.example.org:587?tls=1")
    assert (found.host, found.port, found.user, found.password) == ("mail.example.org", 587, "who@example.org", "p/w")
    assert (found.use_tls, found.use_ssl) == (True, False)
    assert (mail_from_url("smtps://mail.example.org").port, mail_from_url("smtps://mail.example.org").use_ssl) == (
        465,
        True,
    )
    with pytest.raises(ValueError, match="begins with http://, expected smtp"):
        mail_from_url("http://mail.example.org")


def test_the_sweeper_publishes_deliveries_that_are_due(lab: Lab, published: list[Any]) -> None:
    to = destination(lab)
    due = Delivery.objects.create(lab=lab, destination=to, payload=PAYLOAD)
    Delivery.objects.create(lab=lab, destination=to, payload=PAYLOAD, next_try=timezone.now() + timedelta(hours=1))
    assert sweep_deliveries() == 1
    assert published == [("notifications.send_delivery", due.pk)]

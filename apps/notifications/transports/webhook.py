"""The webhook transport: one POST of signed JSON to a checked address, within ten seconds, without redirects.

    X-Spindle-Event: change-point | test
    X-Spindle-Delivery: the delivery's number; the same in every try, so a receiver can know it again
    X-Spindle-Signature: t=1763750000,v1=<hex>

`v1` is the HMAC-SHA256, with the destination's secret, of the timestamp, a full stop and the body's bytes. A receiver
computes it and refuses what is older than a few minutes.
"""

import hashlib
import hmac
import json
import socket
import ssl
import threading
import time
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from typing import TYPE_CHECKING

from django.conf import settings
from django.core.exceptions import ValidationError

from apps.notifications.safe_address import CheckedAddress, RefusedAddressError, check_literal, place_of
from apps.notifications.transports import DeliveryError

if TYPE_CHECKING:
    from apps.notifications.models import Delivery

NAME, LABEL, HAS_SECRET = "webhook", "webhook", True
ADDRESS = "https://…"

SECONDS = 10.0
MOST_READ = 4096  # bytes of an answer that nobody reads


class _Checked(HTTPConnection):
    """To the address that was checked, under the name that was asked."""

    def __init__(self, place: CheckedAddress) -> None:
        super().__init__(place.host, place.port, timeout=SECONDS)
        self.place = place

    def connect(self) -> None:
        self.sock = socket.create_connection((self.place.ip, self.place.port), self.timeout)
        if self.place.scheme == "https":
            self.sock = ssl.create_default_context().wrap_socket(self.sock, server_hostname=self.place.host)

    def cut(self) -> None:
        """Shut the connection down, so that a server that drips its answer has no more time than a silent one."""
        if self.sock is not None:
            with suppress(OSError):
                self.sock.shutdown(socket.SHUT_RDWR)


def check_address(text: str) -> None:
    """Raise `ValidationError` where the text is no address that may be written to."""
    try:
        check_literal(text, private=settings.WEBHOOK_PRIVATE)
    except RefusedAddressError as error:
        raise ValidationError(str(error)) from None


def send(delivery: "Delivery") -> str:
    """Post the payload to the destination's address, signed with its secret, and return what the server answered.

    Raises:
        RefusedAddressError: The address leads into the network, which is not allowed here.
        DeliveryError: There was no answer, or one that is not 2xx.
    """
    return post(
        delivery.destination.address,
        delivery.payload,
        secret=delivery.destination.secret,
        delivery=delivery.pk,
        at=int(time.time()),
        private=settings.WEBHOOK_PRIVATE,
    )


def signature(secret: str, body: bytes, at: int) -> str:
    mac = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256)
    return f"t={at},v1={mac.hexdigest()}"


def post(url: str, payload: dict[str, object], *, secret: str, delivery: int, at: int, private: bool) -> str:
    """Post signed JSON and return the server's answer in words; `at` is in seconds since 1970.

    Raises:
        RefusedAddressError: A webhook may not go to this address.
        DeliveryError: There was no answer, or one that is not 2xx.
    """
    body = json.dumps({"delivery": delivery, **payload}, ensure_ascii=False).encode()
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Spindle",
        "X-Spindle-Event": str(payload["event"]),
        "X-Spindle-Delivery": str(delivery),
        "X-Spindle-Signature": signature(secret, body, at),
    }
    try:
        status = _sent(_Checked(place_of(url, private=private)), body, headers)
    except (OSError, HTTPException) as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise DeliveryError(f"no answer: {reason}") from None
    if 300 <= status < 400:
        raise DeliveryError(f"answered {status}, a redirect, which is not followed; type the final address")
    if not 200 <= status < 300:
        raise DeliveryError(f"answered {status}, expected 2xx")
    return f"answered {status}"


def _sent(connection: _Checked, body: bytes, headers: dict[str, str]) -> int:
    deadline = threading.Timer(SECONDS, connection.cut)
    deadline.daemon = True
    deadline.start()
    try:
        connection.request("POST", connection.place.path, body, headers)
        answer = connection.getresponse()
        answer.read(MOST_READ)
        return answer.status
    finally:
        deadline.cancel()
        connection.close()

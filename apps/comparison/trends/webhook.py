"""One POST of signed JSON: to a checked address, in ten seconds, following nothing.

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
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from typing import Any

from apps.comparison.trends.safe_address import Place, place_of

SECONDS = 10.0
MOST_READ = 4096  # bytes of an answer that nobody reads


class WebhookError(Exception):
    """It was not taken: why, in one sentence."""


class _Checked(HTTPConnection):
    """To the address that was checked, under the name that was asked."""

    def __init__(self, place: Place) -> None:
        super().__init__(place.host, place.port, timeout=SECONDS)
        self.place = place

    def connect(self) -> None:
        self.sock = socket.create_connection((self.place.ip, self.place.port), self.timeout)
        if self.place.scheme == "https":
            self.sock = ssl.create_default_context().wrap_socket(self.sock, server_hostname=self.place.host)

    def cut(self) -> None:
        """A server that drips its answer has as little time as one that is silent."""
        if self.sock is not None:
            with suppress(OSError):
                self.sock.shutdown(socket.SHUT_RDWR)


def signature(secret: str, body: bytes, at: int) -> str:
    mac = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256)
    return f"t={at},v1={mac.hexdigest()}"


def post(url: str, payload: dict[str, Any], *, secret: str, delivery: int, at: int, private: bool) -> str:
    """What the server answered, in words. Raises `RefusedAddressError` and `WebhookError`. `at`: seconds since 1970."""
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
        said = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise WebhookError(f"no answer: {said}") from None
    if 300 <= status < 400:
        raise WebhookError(f"answered {status}, a redirect, which is not followed; type the final address")
    if not 200 <= status < 300:
        raise WebhookError(f"answered {status}, expected 2xx")
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

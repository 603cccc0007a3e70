"""Registry of e-mail texts: one entry for each event, registered by the app that sends it.

register("change-point", subject=..., text=...)   # in the app's `ready()`
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Payload = Mapping[str, Any]
TEST = "test"


@dataclass(frozen=True)
class NotificationWording:
    """How one event is written: its subject (one line) and its text, each from the payload that a webhook gets."""

    subject: Callable[[Payload], str]
    text: Callable[[Payload], str]


_WORDINGS: dict[str, NotificationWording] = {
    TEST: NotificationWording(lambda payload: "Spindle: test", lambda payload: f"{payload['text']}\n"),
}


def register(event: str, *, subject: Callable[[Payload], str], text: Callable[[Payload], str]) -> None:
    """Register how notifications of `event` are written."""
    _WORDINGS[event] = NotificationWording(subject, text)


def subject(payload: Payload) -> str:
    """Return the subject of an e-mail as one line, whatever the names in it contain."""
    return " ".join(_WORDINGS[payload["event"]].subject(payload).split())


def text(payload: Payload) -> str:
    """Return the text of an e-mail."""
    return _WORDINGS[payload["event"]].text(payload)

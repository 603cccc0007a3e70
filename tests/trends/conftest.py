"""No broker: what would be sent to it is kept in a list."""

from typing import Any

import pytest


@pytest.fixture(autouse=True)
def published(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """The tasks that would go to the broker: (name, id)."""
    sent: list[tuple[str, int]] = []

    def send(self: Any, args: tuple[int, ...] = (), kwargs: Any = None, **_: Any) -> None:
        sent.append((self.name, *args))

    monkeypatch.setattr("celery.app.task.Task.apply_async", send)
    return sent

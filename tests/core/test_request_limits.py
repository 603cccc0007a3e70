"""Bodies are whole before anything else sees the request, or are refused: by time, size, number and sender."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from apps.core.asgi import HungUpError, Scope
from apps.core.server import request_limits
from apps.core.server.request_limits import RequestLimits, Sender

MIB = 1 << 20


def asked(
    parts: list[bytes | None],
    folder: Path,
    *,
    sender: Sender | None = None,
    length: int | None = None,
    path: str = "/api/x/",
) -> tuple[bytes | None, list[dict[str, Any]]]:
    """What the application behind the limits reads, and what is answered. A part of None is the end of the connection."""
    waiting: list[bytes | None] = list(parts)
    read: list[bytes] = []
    sent: list[dict[str, Any]] = []

    async def receive() -> Any:
        if not waiting:
            await asyncio.sleep(60)
        part = waiting.pop(0)
        return (
            {"type": "http.disconnect"}
            if part is None
            else {"type": "http.request", "body": part, "more_body": part != b""}
        )

    async def application(scope: Scope, receive: Any, send: Any) -> None:
        body, more = b"", True
        while more:
            event = await receive()
            body += event["body"]
            more = event["more_body"]
        read.append(body)

    async def send(message: Any) -> None:
        sent.append(message)

    async def find(scope: Scope) -> Sender | None:
        return sender

    head = [(b"transfer-encoding", b"chunked")] if length is None else [(b"content-length", str(length).encode())]
    scope = {"type": "http", "path": path, "headers": head, "client": ("192.0.2.1", 1)}
    asyncio.run(RequestLimits(application, find, folder)(scope, receive, send))
    return (read[0] if read else None), sent


@pytest.mark.parametrize(
    "parts", [[b""], [b"a", b""], [b"a" * 70_000, b"b" * 70_000, b""], [b"x" * 65_536] * 15 + [b""]]
)
def test_a_body_comes_out_as_it_went_in(tmp_path: Path, parts: list[bytes]) -> None:
    body, sent = asked([*parts], tmp_path)
    assert body == b"".join(parts)
    assert not sent
    assert not list(tmp_path.iterdir())


def test_a_large_one_is_taken_from_whom_we_know(tmp_path: Path) -> None:
    parts = [bytes([number % 256]) * 65_536 for number in range(80)]
    assert asked([*parts, b""], tmp_path)[1][0]["status"] == 401
    assert asked([*parts, b""], tmp_path, sender=Sender("me", 10 * MIB))[0] == b"".join(parts)
    assert asked([*parts, b""], tmp_path, sender=Sender("me", 2 * MIB))[1][0]["status"] == 413
    assert asked([], tmp_path, length=5 * MIB)[1][0]["status"] == 401
    assert asked([], tmp_path, length=5 * MIB, sender=Sender("me", 2 * MIB))[1][0]["status"] == 413
    assert not request_limits.under_way.large


def test_a_slow_one_is_refused_and_counted_no_longer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_limits, "GRACE_SECONDS", 0.1)
    body, sent = asked([b"a"], tmp_path)
    assert body is None
    assert sent[0]["status"] == 408
    assert b"500 bytes a second" in sent[1]["body"]
    assert not request_limits.under_way.bodies
    assert not request_limits.under_way.of


def test_one_too_many_cuts_off_the_oldest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_limits, "UNDER_WAY_OF_ONE", 2)

    async def try_three() -> list[int]:
        statuses: list[int] = []

        async def silent() -> Any:
            await asyncio.sleep(60)

        async def nobody(scope: Scope) -> None:
            return None

        async def one(number: int) -> None:
            async def send(message: Any) -> None:
                statuses.extend([number, message["status"]] if "status" in message else [])

            scope = {"type": "http", "path": "/", "headers": [(b"content-length", b"5")], "client": ("192.0.2.1", 1)}
            await RequestLimits(None, nobody, tmp_path)(scope, silent, send)

        tasks = [asyncio.create_task(one(number)) for number in range(3)]
        await asyncio.sleep(0.1)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return statuses

    assert asyncio.run(try_three()) == [0, 503]
    assert not request_limits.under_way.bodies


def test_large_ones_of_one_sender_have_a_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_limits, "LARGE_OF_ONE", 0)
    head, _ = asked([], tmp_path, length=2 * MIB, sender=Sender("me", 9 * MIB))[1]
    assert head["status"] == 503
    assert dict(head["headers"])[b"retry-after"]


def test_a_torn_one_reaches_nobody(tmp_path: Path) -> None:
    with pytest.raises(HungUpError):
        asked([b"a", None], tmp_path)

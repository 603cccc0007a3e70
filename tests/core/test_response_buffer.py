"""Django's answers behind ASGI: a page goes out whole, a stream piece by piece, and neither loses anything."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from a2wsgi import WSGIMiddleware
from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse

from apps.core import http
from apps.core.server import response_buffer
from apps.core.server.response_buffer import ResponseBuffer, StopWhenHungUp

SCOPE = {
    "type": "http", "http_version": "1.1", "method": "GET", "path": "/", "query_string": b"", "headers": [],
    "server": ("127.0.0.1", 80),
}  # fmt: skip


class Client:
    """Whoever reads an answer: slowly, or not to its end."""

    def __init__(self, *, waits: float = 0.0, hangs_up_after: int | None = None) -> None:
        self.waits, self.hangs_up_after = waits, hangs_up_after
        self.sent: list[dict[str, Any]] = []
        self.gone = asyncio.Event()

    async def send(self, message: Any) -> None:
        await asyncio.sleep(self.waits)
        self.sent.append(message)
        if len(self.sent) == self.hangs_up_after:
            self.gone.set()

    async def receive(self) -> Any:
        await self.gone.wait()
        return {"type": "http.disconnect"}


def application(answer: Any) -> ResponseBuffer:
    def django(environ: Any, start_response: Any) -> HttpResponseBase:
        response: HttpResponseBase = answer()
        start_response(f"{response.status_code} X", list(response.items()))
        return response

    return ResponseBuffer(WSGIMiddleware(StopWhenHungUp(django), workers=1), limit=1)


def sent_for(answer: Any) -> list[dict[str, Any]]:
    async def ask() -> list[dict[str, Any]]:
        client = Client()
        await application(answer)(SCOPE, client.receive, client.send)
        return client.sent

    return asyncio.run(ask())


def test_a_page_is_its_head_and_its_body() -> None:
    closed: list[bool] = []

    def page() -> HttpResponse:
        response = HttpResponse(b"whole" * 20_000, status=201, headers={"X-Kind": "page"})
        response._resource_closers.append(lambda: closed.append(True))
        return response

    head, *pieces, end = sent_for(page)
    assert (head["type"], head["status"]) == ("http.response.start", 201)
    assert (b"x-kind", b"page") in head["headers"]
    assert b"".join(piece["body"] for piece in pieces) == b"whole" * 20_000
    assert not end.get("more_body")
    assert closed == [True]


def test_the_next_page_does_not_wait_for_a_slow_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(response_buffer, "IN_MEMORY", 1000)
    monkeypatch.setattr(http, "LUMP", 100)
    pieces = [str(number).encode() * 100 for number in range(40)]

    async def ask() -> None:
        answers = iter([StreamingHttpResponse(pieces), HttpResponse(b"page")])
        pages, slow, quick = application(lambda: next(answers)), Client(waits=0.05), Client()
        first = asyncio.create_task(pages(SCOPE, slow.receive, slow.send))
        await asyncio.sleep(0.1)
        await pages(SCOPE, quick.receive, quick.send)
        assert not first.done()
        assert quick.sent[1]["body"] == b"page"
        await first
        assert b"".join(message.get("body", b"") for message in slow.sent) == b"".join(pieces)

    asyncio.run(ask())


def test_a_stream_whose_client_hangs_up_is_made_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(response_buffer, "IN_MEMORY", 1000)
    monkeypatch.setattr(http, "LUMP", 100)
    made: list[int] = []

    def endless() -> Iterator[bytes]:
        try:
            while True:
                made.append(1)
                yield b"x" * 100
        finally:
            made.append(-1)

    async def ask() -> None:
        client = Client(hangs_up_after=30)
        await asyncio.wait_for(
            application(lambda: StreamingHttpResponse(endless()))(SCOPE, client.receive, client.send), 20
        )

    asyncio.run(ask())
    assert made[-1] == -1


def test_a_stream_comes_in_pieces_behind_its_head() -> None:
    head, *pieces, end = sent_for(lambda: StreamingHttpResponse(str(n).encode() for n in range(30)))
    assert head["type"] == "http.response.start"
    assert b"".join(piece["body"] for piece in pieces) == "".join(map(str, range(30))).encode()
    assert all(piece["more_body"] for piece in pieces)
    assert not end.get("more_body")


def test_a_stream_of_nothing_has_a_head() -> None:
    assert [one["type"] for one in sent_for(lambda: StreamingHttpResponse([]))] == [
        "http.response.start", "http.response.body",
    ]  # fmt: skip


def test_an_error_in_the_middle_of_a_stream_is_not_taken_for_its_end() -> None:
    def broken() -> Iterator[bytes]:
        yield b"first"
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        sent_for(lambda: StreamingHttpResponse(broken()))

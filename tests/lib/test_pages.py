"""Django's answers behind ASGI: a page goes out whole, a stream piece by piece, and neither loses anything."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse

from apps.lib.pages import Pages

SCOPE = {
    "type": "http", "http_version": "1.1", "method": "GET", "path": "/", "query_string": b"", "headers": [],
    "server": ("127.0.0.1", 80),
}  # fmt: skip


def sent_for(answer: Any) -> list[dict[str, Any]]:
    def django(environ: Any, start_response: Any) -> HttpResponseBase:
        response: HttpResponseBase = answer()
        start_response(f"{response.status_code} X", list(response.items()))
        return response

    sent: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    asyncio.run(Pages(django, workers=1)(SCOPE, receive, send))
    return sent


def test_a_page_is_its_head_and_one_body() -> None:
    closed: list[bool] = []

    def page() -> HttpResponse:
        response = HttpResponse(b"whole" * 20_000, status=201, headers={"X-Kind": "page"})
        response._resource_closers.append(lambda: closed.append(True))
        return response

    head, body = sent_for(page)
    assert (head["type"], head["status"]) == ("http.response.start", 201)
    assert (b"x-kind", b"page") in head["headers"]
    assert body == {"type": "http.response.body", "body": b"whole" * 20_000}
    assert closed == [True]


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

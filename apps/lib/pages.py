"""Django's pages behind ASGI, in a fixed pool of threads."""

from typing import Any

from a2wsgi import WSGIMiddleware
from a2wsgi.wsgi import WSGIResponder


class Pages(WSGIMiddleware):
    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await _Responder(self.app, self.executor, self.send_queue_size)(scope, receive, send)


class _Responder(WSGIResponder):
    """For each piece of an answer (its head, its body, its end) a2wsgi's thread waits until the loop has taken it: right for a stream that
    must not outrun its reader. A page is whole when its thread has done with it, and is handed over at once.
    """

    head: Any = None

    def send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.head = message
            return
        if self.head:
            head, self.head = self.head, None
            super().send(head)
        super().send(message)

    def wsgi(self, environ: Any, start_response: Any) -> None:
        answer: Any = self.app(environ, start_response)
        try:
            if getattr(answer, "streaming", True):
                for piece in answer:
                    self.send({"type": "http.response.body", "body": piece, "more_body": True})
                self.send({"type": "http.response.body", "body": b""})
            else:
                self.loop.call_soon_threadsafe(self._whole, self.head, answer.content)
        finally:
            answer.close()

    def _whole(self, head: Any, body: bytes) -> None:
        self.send_queue.put_nowait(head)
        self.send_queue.put_nowait({"type": "http.response.body", "body": body})

"""uvicorn's HTTP protocol with limits on what a connection may keep waiting: heads, idle time, and answers that nobody takes.

uvicorn itself waits for ever for the end of a head, takes heads of any size, and keeps what a client does not read. Started with
`--http apps.core.server.connections:Connection`. Bodies are limited by `apps.core.server.request_limits`.
"""

import fcntl
import resource
import struct
import termios
from collections import OrderedDict, deque
from contextlib import suppress
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_SECONDS = 20.0  # until a head is whole, from the connection or from the end of the answer before
HEAD_BYTES = 64 * 1024
HEADS = 2000  # connections that may be without a whole head at the same time; one more cuts off the one that has waited longest
UNWANTED_BYTES = (
    64 << 20
)  # of a body that has been refused; so far it is read, for most clients send all before they look for an answer
READER_SECONDS = 30.0  # in which whoever is sent an answer takes the next part of it
READER_BYTES = 15_000  # that part
READERS = 1000  # answers that may wait for their readers at the same time; one more cuts off the slowest
SPARE_FILES = 200  # open files that connections leave to the rest of the process
TOO_LARGE = b"The head of a request may have 64 KiB."
TOO_SLOW = b"The head of the request did not arrive in 20 seconds."


class WaitingConnections:
    """Connections that wait for their client, the longest first, and how long they may."""

    def __init__(self, seconds: float, most: int) -> None:
        self.seconds, self.most = seconds, most
        self.since: OrderedDict[Connection, float] = OrderedDict()
        self._timer: Any = None

    def add(self, connection: "Connection") -> None:
        """Begin to count, unless it waits already."""
        if connection in self.since:
            return
        self.since[connection] = connection.loop.time()
        if len(self.since) > self.most:
            self.cut_longest()
        if self._timer is None:
            self._timer = connection.loop.call_later(self.seconds, self._look, connection.loop)

    def discard(self, connection: "Connection") -> None:
        self.since.pop(connection, None)

    def cut_longest(self) -> bool:
        """End the one that has waited longest; False where none waits."""
        if not self.since:
            return False
        self.since.popitem(last=False)[0].end_waiting(self, is_forced=True)
        return True

    def _look(self, loop: Any) -> None:
        self._timer = None
        while self.since:
            connection, since = next(iter(self.since.items()))
            if (left := since + self.seconds - loop.time()) > 0:
                self._timer = loop.call_later(left, self._look, loop)
                return
            self.since.popitem(last=False)
            connection.end_waiting(self, is_forced=False)


heads = WaitingConnections(HEAD_SECONDS, HEADS)
readers = WaitingConnections(READER_SECONDS, READERS)


def raise_file_limit() -> None:
    """Let this process open as many files as its system allows: each connection is one."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


class Connection(HttpToolsProtocol):
    _around = 0  # bytes of the request that are not its body: its head, what stands around chunks, trailers
    _head = 0  # bytes of its header fields so far
    _body = 0
    _is_whole = False  # the request has arrived to its end
    _is_too_large = False
    _unread = 0  # bytes of answers that the client had not taken when it was looked at last

    def connection_made(self, transport: Any) -> None:
        self._unanswered: deque[Any] = deque()  # requests, the oldest first: uvicorn forgets all but the last
        super().connection_made(transport)
        heads.add(self)
        if (
            len(self.connections) > resource.getrlimit(resource.RLIMIT_NOFILE)[0] - SPARE_FILES
            and not heads.cut_longest()
        ):
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        heads.discard(self)
        readers.discard(self)
        for request in self._unanswered:
            if not request.response_complete:
                request.disconnected = True
                request.message_event.set()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        if self._is_between_requests:
            heads.add(self)
        self._around += len(data)
        super().data_received(data)
        if self._around > HEAD_BYTES + 8 * self._body and not self.transport.is_closing():
            self._refuse(431, TOO_LARGE)

    @property
    def _is_between_requests(self) -> bool:
        """Return whether no answer is under way, so that incoming bytes are the next head or an unwanted body."""
        return not self.pipeline and (self.cycle is None or self.cycle.response_complete)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._head = self._body = 0
        self._is_whole = False

    def on_url(self, url: bytes) -> None:
        super().on_url(url)
        self._count(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        super().on_header(name, value)
        self._count(len(name) + len(value) + 4)

    def _count(self, more: int) -> None:
        self._head += more
        if self._head > HEAD_BYTES:
            self._is_too_large = True
            raise ValueError("the head is too large")  # the parser stops, and `send_400_response` is called

    def on_headers_complete(self) -> None:
        heads.discard(self)
        super().on_headers_complete()
        while self._unanswered and self._unanswered[0].response_complete:
            self._unanswered.popleft()
        self._unanswered.append(self.cycle)

    def on_body(self, body: bytes) -> None:
        self._body += len(body)
        self._around -= len(body)
        super().on_body(body)
        if self._is_between_requests and self._body > UNWANTED_BYTES:
            self.transport.abort()

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._around, self._is_whole = 0, True
        if self._is_between_requests:  # the answer came before the end of the body: the next head has its own time
            heads.discard(self)
            heads.add(self)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.transport.get_write_buffer_size():
            self._await_reader()
        if not self._is_whole:  # a body that was refused has as long to end as a head
            heads.add(self)

    def send_400_response(self, msg: str) -> None:
        if self._is_too_large:
            self._refuse(431, TOO_LARGE)
        else:
            super().send_400_response(msg)

    def _refuse(self, status: int, text: bytes) -> None:
        """Answer with a sentence where nothing has been answered yet, and close."""
        if self._is_between_requests:
            line = b"HTTP/1.1 %d %s\r\n" % (
                status,
                {408: b"Request Timeout", 431: b"Request Header Fields Too Large"}[status],
            )
            head = b"content-type: text/plain; charset=utf-8\r\ncontent-length: %d\r\nconnection: close\r\n\r\n" % len(
                text
            )
            self.transport.write(line + head + text)
            self.transport.close()
        else:
            self.transport.abort()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._await_reader()

    def resume_writing(self) -> None:
        super().resume_writing()
        if not self.transport.is_closing():
            readers.discard(self)

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        if self.transport.get_write_buffer_size():
            self._await_reader()

    def _await_reader(self) -> None:
        if self not in readers.since:
            self._unread = self._measure_unread()
        readers.add(self)

    def _measure_unread(self) -> int:
        """Return the bytes that this process and its kernel hold for the client."""
        in_kernel = b"\0\0\0\0"
        sock = self.transport.get_extra_info("socket")
        if sock is not None and sock.fileno() >= 0:
            with suppress(OSError):
                in_kernel = fcntl.ioctl(sock.fileno(), termios.TIOCOUTQ, in_kernel)
        return self.transport.get_write_buffer_size() + int(struct.unpack("i", in_kernel)[0])

    def end_waiting(self, kind: WaitingConnections, *, is_forced: bool) -> None:
        """Close a connection that waited too long, or that is the oldest of too many."""
        if kind is heads:
            is_begun = self._is_between_requests and self._around > 0
            self._refuse(408, TOO_SLOW) if is_begun and not is_forced else self.transport.abort()
            return
        left = self._measure_unread()
        if self.transport.get_write_buffer_size() and self._unread - left < READER_BYTES:
            self.transport.abort()
        elif self.transport.get_write_buffer_size():
            self._await_reader()

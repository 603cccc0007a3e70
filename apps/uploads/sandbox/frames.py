"""Messages between a worker and its sandboxed child: msgpack with a length prefix, over a socket."""

import socket
import struct

import msgspec

_LENGTH = struct.Struct(">Q")
MOST = 2 << 30  # bytes of one frame
_PIECE = 1 << 20


class ClosedError(EOFError):
    """The other side is gone."""


def send(link: socket.socket, message: object) -> None:
    body = msgspec.msgpack.encode(message)
    if len(body) < _PIECE:
        link.sendall(_LENGTH.pack(len(body)) + body)
    else:
        link.sendall(_LENGTH.pack(len(body)))
        link.sendall(body)


def receive(link: socket.socket) -> bytes:
    """Return the body of the next frame.

    Raises:
        ClosedError: The other side ended.
        TimeoutError: The socket's timeout passed.
    """
    return bytes(_exactly(link, _length(_exactly(link, _LENGTH.size))))


class FrameReader:
    """The frames of one socket for who is sent many small ones: those that have come already take no call of the kernel each."""

    def __init__(self, link: socket.socket) -> None:
        self._link = link
        self._came, self._at = b"", 0  # what was received, and how much of it was given away

    def receive(self) -> bytes:
        """Return the body of the next frame; frames that arrived together take one system call."""
        while len(self._came) - self._at < _LENGTH.size:
            self._more()
        length = _length(self._came, self._at)
        start = self._at + _LENGTH.size
        self._at = start + length
        body = self._came[start : self._at]
        if (missing := length - len(body)) > 0:
            self._came, self._at = b"", 0
            body += _exactly(self._link, missing)
        return body

    def _more(self) -> None:
        if not (some := self._link.recv(_PIECE >> 2)):
            raise ClosedError("the other side ended")
        self._came, self._at = self._came[self._at :] + some, 0


def _length(head: bytes | bytearray, at: int = 0) -> int:
    """Return the length of the frame that begins at `at`."""
    (length,) = _LENGTH.unpack_from(head, at)
    if length > MOST:
        raise ClosedError(f"a frame of {length} bytes, expected at most {MOST}")
    return int(length)


def _exactly(link: socket.socket, count: int) -> bytearray:
    body = bytearray(count)
    view, got = memoryview(body), 0
    while got < count:
        some = link.recv_into(view[got:], min(_PIECE, count - got))
        if not some:
            raise ClosedError("the other side ended")
        got += some
    return body

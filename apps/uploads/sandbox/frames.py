"""What travels between a worker and the child that reads strangers' bytes: msgpack behind its length, over a socket."""

import socket
import struct
from typing import Any

import msgspec

_LENGTH = struct.Struct(">Q")
MOST = 2 << 30  # bytes of one frame
_PIECE = 1 << 20


class ClosedError(EOFError):
    """The other side is gone."""


def send(link: socket.socket, message: Any) -> None:
    body = msgspec.msgpack.encode(message)
    if len(body) < _PIECE:
        link.sendall(_LENGTH.pack(len(body)) + body)
    else:
        link.sendall(_LENGTH.pack(len(body)))
        link.sendall(body)


def receive(link: socket.socket) -> bytes:
    """One whole frame's body. `ClosedError` where the other side ended, `TimeoutError` by the socket's own timeout."""
    (length,) = _LENGTH.unpack(_exactly(link, _LENGTH.size))
    if length > MOST:
        raise ClosedError(f"a frame of {length} bytes, expected at most {MOST}")
    return bytes(_exactly(link, length))


def _exactly(link: socket.socket, count: int) -> bytearray:
    body = bytearray(count)
    view, got = memoryview(body), 0
    while got < count:
        some = link.recv_into(view[got:], min(_PIECE, count - got))
        if not some:
            raise ClosedError("the other side ended")
        got += some
    return body

"""A multipart body on its way to Django's parser, which passes over without a word what it does not understand: a part whose header is not
UTF-8 (curl sends a file's name as the disk has it), and a last file behind which the body ends too early.

    body = SentBody(stream, b"the-boundary")      # read(size) as of the stream
    …
    body.has_end                                  # whether the last boundary came
"""

from typing import Protocol

_LONGEST_HEADER = 1 << 16  # Django takes far shorter ones


class Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class SentBody:
    """Headers of parts come out in UTF-8, the bytes of files as they are; nothing comes out behind the last boundary."""

    def __init__(self, stream: Readable, boundary: bytes) -> None:
        self._stream, self._mark = stream, b"--" + boundary
        self._held = b""  # came, and is not understood yet
        self.has_end = False

    def read(self, size: int) -> bytes:
        """Up to `size` bytes and a header more; none at the end."""
        while came := self._stream.read(size):
            if out := self._passed(self._held + came):
                return out
        rest, self._held = self._held, b""
        return self._at_end(rest) if rest else b""

    def _passed(self, data: bytes) -> bytes:
        """What of it is understood; the rest is held."""
        if self.has_end:
            self._held = b""
            return b""
        passed: list[bytes] = []
        at = 0
        while (mark := data.find(self._mark, at)) >= 0:
            behind = mark + len(self._mark)
            if data.startswith(b"--", behind):
                self.has_end, self._held = True, b""
                return b"".join((*passed, data[at : behind + 2], b"\r\n"))
            header_end = data.find(b"\r\n\r\n", behind)
            if header_end < 0 and len(data) - mark <= _LONGEST_HEADER:
                break
            header_end = header_end if header_end >= 0 else len(data)
            passed += data[at:mark], _in_utf_8(data[mark:header_end])
            at = header_end
        keep = mark if mark >= 0 else max(at, len(data) - len(self._mark) + 1)
        self._held = data[keep:]
        return b"".join((*passed, data[at:keep]))

    def _at_end(self, rest: bytes) -> bytes:
        self.has_end = self.has_end or rest.startswith(self._mark + b"--")
        return rest


def _in_utf_8(header: bytes) -> bytes:
    return header.decode("utf-8", "replace").encode()

"""Mail whose body, or whose attachment, travels in base64 (RFC 2045, 6.8).

    Content-Transfer-Encoding: base64

    am9iOiAoZ3JvdXBpZD0wLCBqb2JzPTEpOiBlcnI9IDA6IHBpZD05OiBTYXQgSnVuIDI1IDAyOjA4OjQy

Decoded is what stands behind such a header where it is text; pictures and archives stay as they are. The letters of one
encoded line are several lines or a part of one, so that lines are numbered as they were written, and the header says so.
"""

import re
from base64 import b64decode
from binascii import Error

from apps.parsers.mail_bodies import bodies, header

STATEMENT = b" (decoded here; lines are numbered as decoded from here on)"

_HEADER = header(b"base64")
_ROW = re.compile(rb"[A-Za-z0-9+/]*={0,2}\Z")
_CONTROLS = bytes(code for code in range(32) if code not in b"\b\t\n\r\f\x1b")


def decoded(data: bytes) -> bytes:
    """The text with its bodies as they were written."""
    parts: list[bytes] = []
    done = 0
    for start, end in bodies(data, _HEADER):
        if (written := _body(data[start:end])) is None:
            continue
        parts += [_told(data[done:start]), written]
        done = end
    return b"".join([*parts, data[done:]])


def _body(data: bytes) -> bytes | None:
    """None where it is no base64 or no text. Lists put words of their own below a body, which stay as they are."""
    rows = data.split(b"\n")
    count = next((place for place, row in enumerate(rows) if not _ROW.match(row.strip())), len(rows))
    try:
        text = b64decode(b"".join(map(bytes.strip, rows[:count])), validate=True)
    except Error:
        return None
    if not text or text.translate(None, _CONTROLS) != text:
        return None
    written = text.replace(b"\r\n", b"\n")
    return b"\n".join([written.removesuffix(b"\n"), *rows[count:], *([b""] if count == len(rows) else [])])


def _told(above: bytes) -> bytes:
    """What stands above a body, with the statement behind the last header that names base64."""
    last = [match.end() for match in _HEADER.finditer(above)][-1]
    end = above.find(b"\n", last)
    return above[:end].rstrip(b"\r") + STATEMENT + above[end:]

"""Decoding of mail bodies and attachments in base64 (RFC 2045, 6.8).

    Content-Transfer-Encoding: base64

    am9iOiAoZ3JvdXBpZD0wLCBqb2JzPTEpOiBlcnI9IDA6IHBpZD05OiBTYXQgSnVuIDI1IDAyOjA4OjQy

Only text behind such a header is decoded; pictures and archives stay as they are. An encoded line may hold several
lines or a part of one, so lines are numbered as decoded, and the header gets a remark that says so.
"""

import re
from base64 import b64decode
from binascii import Error

from apps.parsers.cleanup.mail_bodies import find_bodies, make_header_pattern

STATEMENT = b" (decoded here; lines are numbered as decoded from here on)"

_HEADER = make_header_pattern(b"base64")
_ROW = re.compile(rb"[A-Za-z0-9+/]*={0,2}\Z")
_CONTROLS = bytes(code for code in range(32) if code not in b"\b\t\n\r\f\x1b")


def decode_bodies(data: bytes) -> bytes:
    """Return the bytes with their base64 bodies decoded."""
    parts: list[bytes] = []
    done = 0
    for start, end in find_bodies(data, _HEADER):
        if (written := _decode_body(data[start:end])) is None:
            continue
        parts += [_add_statement(data[done:start]), written]
        done = end
    return b"".join([*parts, data[done:]])


def _decode_body(data: bytes) -> bytes | None:
    """Return the decoded body; None where it is no base64 or no text.

    Mailing lists append words of their own to a body, which stay as they are.
    """
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


def _add_statement(above: bytes) -> bytes:
    """Add the statement to the last header that names base64 in the text above a body."""
    last = [match.end() for match in _HEADER.finditer(above)][-1]
    end = above.find(b"\n", last)
    return above[:end].rstrip(b"\r") + STATEMENT + above[end:]

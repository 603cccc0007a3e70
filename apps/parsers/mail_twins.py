"""Mail that says everything twice: as text, and as HTML for who prefers that (RFC 2046, 5.1.4, multipart/alternative).

A result in both is one result. Where the text has the figures, the HTML is left out, line by line; where it has not ("this mail
is in HTML"), both stay.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

_MULTIPART = re.compile(
    rb"^content-type:[ \t]*multipart/alternative;(?:[^\n]{0,200}\n[ \t]){0,3}[^\n]{0,200}?boundary=\"?([^\"\s;]{1,70})",
    re.IGNORECASE | re.MULTILINE,
)
_KIND = re.compile(rb"^content-type:[ \t]*text/(plain|html)\b", re.IGNORECASE | re.MULTILINE)
_BLANK = re.compile(rb"\r?\n\r?\n")
_TAG = re.compile(rb"<[^<>]{0,1000}>")
_NOT_DIGITS = bytes(code for code in range(256) if not chr(code).isdigit() or code > 127)
_MOST_PARTS, _MOST_MISSED = 20, 50
_ENOUGH = 0.5  # of the HTML's digits: numbers of colours and sizes are in its tags


def may_be_in(data: bytes) -> bool:
    return b"ultipart/alternative" in data


def told_once(data: bytes) -> bytes:
    """The bytes with blank lines for what a mail says a second time; as many lines as before."""
    parts: list[bytes] = []
    done = 0
    for begin, end in _repeated(data):
        if begin >= done:
            parts += [data[done:begin], b"\n" * data.count(b"\n", begin, end)]
            done = end
    return b"".join([*parts, data[done:]])


def _repeated(data: bytes) -> Iterator[tuple[int, int]]:
    """Begin and end of each HTML body whose figures stand in the text beside it."""
    done = missed = 0
    for match in _MULTIPART.finditer(data):
        if match.start() < done or missed > _MOST_MISSED:
            continue  # a mailbox has each boundary near its header; who has not shall not cost a search of all for each
        places = _marks(data, match.end(), b"\n--" + match[1])
        missed += not places
        done = places[-1] if places else done
        plain = b""
        for kind, begin, end in _bodies(data, places):
            if kind == b"plain":
                plain = data[begin:end]
            elif plain and _digits(plain) >= _ENOUGH * _digits(_TAG.sub(b"", data[begin:end])):
                yield begin, end


def _marks(data: bytes, start: int, mark: bytes) -> list[int]:
    """Where the boundary's lines begin."""
    found: list[int] = []
    while len(found) < _MOST_PARTS and (start := data.find(mark, start)) >= 0:
        found.append(start)
        start += 1
    return found


def _bodies(data: bytes, places: list[int]) -> Iterator[tuple[bytes, int, int]]:
    """Kind, begin and end of the bodies of text between them."""
    for begin, end in pairwise(places):
        head = _BLANK.search(data, begin + 1, end)
        if head and (kind := _KIND.search(data, begin, head.start())):
            yield kind[1].lower(), head.end(), end + 1


def _digits(data: bytes) -> int:
    return len(data.translate(None, _NOT_DIGITS))

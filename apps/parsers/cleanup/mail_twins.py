"""Removal of the HTML from mails that say everything twice, as text and as HTML (RFC 2046, 5.1.4, multipart/alternative).

A result in both is one result. Where the text has the figures, the lines of the HTML become blank; where it has not
("this mail is in HTML"), both stay.
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
_ENOUGH = 0.5  # share of the HTML's digits that the text must have; colours and sizes add others


def may_be_in(data: bytes) -> bool:
    """Return whether the bytes may hold such a mail."""
    return b"ultipart/alternative" in data


def without_html_twins(data: bytes) -> bytes:
    """Return the bytes with blank lines in place of HTML that repeats a text; the number of lines stays."""
    parts: list[bytes] = []
    done = 0
    for begin, end in _find_twins(data):
        if begin >= done:
            parts += [data[done:begin], b"\n" * data.count(b"\n", begin, end)]
            done = end
    return b"".join([*parts, data[done:]])


def _find_twins(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield (begin, end) of each HTML body whose figures also stand in the text beside it."""
    done = missed = 0
    for match in _MULTIPART.finditer(data):
        if match.start() < done or missed > _MOST_MISSED:
            continue  # headers without their boundary would each cost a search of the whole file
        places = _find_boundaries(data, match.end(), b"\n--" + match[1])
        missed += not places
        done = places[-1] if places else done
        plain = b""
        for kind, begin, end in _find_text_bodies(data, places):
            if kind == b"plain":
                plain = data[begin:end]
            elif plain and _count_digits(plain) >= _ENOUGH * _count_digits(_TAG.sub(b"", data[begin:end])):
                yield begin, end


def _find_boundaries(data: bytes, start: int, mark: bytes) -> list[int]:
    """Return the offsets of the boundary's lines."""
    offsets: list[int] = []
    while len(offsets) < _MOST_PARTS and (start := data.find(mark, start)) >= 0:
        offsets.append(start)
        start += 1
    return offsets


def _find_text_bodies(data: bytes, places: list[int]) -> Iterator[tuple[bytes, int, int]]:
    """Yield (kind, begin, end) of the text bodies between the boundaries; kind is b"plain" or b"html"."""
    for begin, end in pairwise(places):
        head = _BLANK.search(data, begin + 1, end)
        if head and (kind := _KIND.search(data, begin, head.start())):
            yield kind[1].lower(), head.end(), end + 1


def _count_digits(data: bytes) -> int:
    return len(data.translate(None, _NOT_DIGITS))

"""Mail as it travels, and as archives give it out: quoted-printable (RFC 2045, 6.7).

    clat (usec): min=3D32, max=3D945, avg=3D453.85, stdev=3D=
    36.12

`=3D` stands for `=`, and a line that ends with `=` goes on in the next one. Some programs write `=0A` for the end of every
line, with several of them on one line of the mail or `=0A=` at its end. Decoded is what stands behind such a header,
and a whole text in which every `=` is one of these, as it is in a body that was saved without its header.
"""

import re

from apps.parsers.mail_bodies import bodies, header

_HEADER = header(b"quoted-printable")
_BARE = re.compile(rb"=(?![0-9A-F]{2}|[ \t]*(?:\r?\n|\Z))")
_ENCODED = re.compile(rb"=([0-9A-F]{2})")
_END = re.compile(rb"(?:=0D)?+=0A")
_FEWEST = 3
_CHARACTERS = {b"%02X" % code: bytes([code]) for code in range(256)} | {b"0A": b" ", b"0D": b" ", b"00": b" "}


def decoded(data: bytes) -> tuple[bytes, frozenset[int]]:
    """The text with as many lines as before, and the numbers, from 1, of those that are now empty because the line
    before them took them in.
    """
    parts: list[bytes] = []
    emptied: set[int] = set()
    done = line = 0
    for start, end in _bodies(data):
        parts.append(data[done:start])
        line += parts[-1].count(b"\n")
        parts.append(_body(data[start:end], line, emptied))
        line += parts[-1].count(b"\n")
        done = end
    return b"".join([*parts, data[done:]]), frozenset(emptied)


def _bodies(data: bytes) -> list[tuple[int, int]]:
    found = list(bodies(data, _HEADER))
    if not found and data.count(b"=3D") >= _FEWEST and _BARE.search(data) is None:
        return [(0, len(data))]
    return found


def _body(data: bytes, line: int, emptied: set[int]) -> bytes:
    """`line`: how many lines stand before it. What was written on one line stands on the one in which it begins; several
    that begin on one, as where a program encodes the ends of lines, have carriage returns between them.
    """
    rows = data.split(b"\n")
    written: list[list[bytes]] = [[] for _ in rows]
    begun: list[bytes] = []
    start = 0
    for place, row in enumerate(rows):
        bare = row.rstrip(b" \t\r")
        goes_on = bare.endswith(b"=")
        *whole, last = _END.split(bare[:-1] if goes_on else row)
        start = start if begun else place
        for one in whole:
            written[start].append(b"".join([*begun, one]))
            begun, start = [], place
        begun += [last] if last or begun else []
        if not goes_on:
            written[start].append(b"".join(begun))
            begun = []
    if begun:
        written[start].append(b"".join(begun))
    emptied.update(line + place for place, lines in enumerate(written, 1) if not lines)
    return _ENCODED.sub(lambda match: _CHARACTERS[match[1]], b"\n".join(map(_in_one, written)))


def _in_one(lines: list[bytes]) -> bytes:
    """As overwritten lines are, of which blank ones are none: here they are."""
    return b"\r".join(one or b" " for one in lines) if len(lines) > 1 else b"".join(lines)

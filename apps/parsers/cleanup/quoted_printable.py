"""Decoding of quoted-printable text, as mails travel and archives of them store it (RFC 2045, 6.7).

    clat (usec): min=3D32, max=3D945, avg=3D453.85, stdev=3D=
    36.12

`=3D` stands for `=`, and a line that ends with `=` goes on in the next one. Some programs write `=0A` for the end of
every line, several of them on one line of the mail or `=0A=` at its end. Decoded are bodies below such a header, and a
whole text in which every `=` is part of the encoding, as in a body that was saved without its header.
"""

import re

from apps.parsers.cleanup.mail_bodies import find_bodies, make_header_pattern

_HEADER = make_header_pattern(b"quoted-printable")
_BARE = re.compile(rb"=(?![0-9A-F]{2}|[ \t]*(?:\r?\n|\Z))")
_ENCODED = re.compile(rb"=([0-9A-F]{2})")
_END = re.compile(rb"(?:=0D)?+=0A")
_FEWEST = 3
_CHARACTERS = {b"%02X" % code: bytes([code]) for code in range(256)} | {b"0A": b" ", b"0D": b" ", b"00": b" "}


def decode_bodies(data: bytes) -> tuple[bytes, frozenset[int]]:
    """Return the decoded text, and the numbers, from 1, of lines that are now empty because the line before took them in.

    The number of lines stays.
    """
    parts: list[bytes] = []
    emptied: set[int] = set()
    done = line = 0
    for start, end in _find_encoded(data):
        parts.append(data[done:start])
        line += parts[-1].count(b"\n")
        parts.append(_decode_body(data[start:end], line, emptied))
        line += parts[-1].count(b"\n")
        done = end
    return b"".join([*parts, data[done:]]), frozenset(emptied)


def _find_encoded(data: bytes) -> list[tuple[int, int]]:
    spans = list(find_bodies(data, _HEADER))
    if not spans and data.count(b"=3D") >= _FEWEST and _BARE.search(data) is None:
        return [(0, len(data))]
    return spans


def _decode_body(data: bytes, line: int, emptied: set[int]) -> bytes:
    """Decode one body; `line` is the number of lines above it, and the numbers of emptied lines are added to `emptied`.

    Decoded text stands on the line on which it begins. Several lines that begin on one, as where the ends of lines are
    encoded, are separated by carriage returns.
    """
    rows = data.split(b"\n")
    written: list[list[bytes]] = [[] for _ in rows]
    begun: list[bytes] = []
    start = 0
    for index, row in enumerate(rows):
        bare = row.rstrip(b" \t\r")
        goes_on = bare.endswith(b"=")
        *whole, last = _END.split(bare[:-1] if goes_on else row)
        start = start if begun else index
        for piece in whole:
            written[start].append(b"".join([*begun, piece]))
            begun, start = [], index
        begun += [last] if last or begun else []
        if not goes_on:
            written[start].append(b"".join(begun))
            begun = []
    if begun:
        written[start].append(b"".join(begun))
    emptied.update(line + index for index, lines in enumerate(written, 1) if not lines)
    return _ENCODED.sub(lambda match: _CHARACTERS[match[1]], b"\n".join(map(_join_pieces, written)))


def _join_pieces(lines: list[bytes]) -> bytes:
    """Join the lines of one row with carriage returns; a blank one gets a blank, so that it is not taken for overwritten."""
    return b"\r".join(line or b" " for line in lines) if len(lines) > 1 else b"".join(lines)

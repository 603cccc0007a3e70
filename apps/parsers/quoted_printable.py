"""Mail as it travels, and as archives give it out: quoted-printable (RFC 2045, 6.7).

    clat (usec): min=3D32, max=3D945, avg=3D453.85, stdev=3D=
    36.12

`=3D` stands for `=`, and a line that ends with `=` goes on in the next one, but for `=0A=`: some programs write the end
of every line so, and nothing goes on. Decoded is what stands behind such a header,
and a whole text in which every `=` is one of these, as it is in a body that was saved without its header.
"""

import re

from apps.parsers.mail_bodies import bodies, header

_HEADER = header(b"quoted-printable")
_BARE = re.compile(rb"=(?![0-9A-F]{2}|[ \t]*(?:\r?\n|\Z))")
_ENCODED = re.compile(rb"=([0-9A-F]{2})")
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
    """`line`: how many lines stand before it."""
    lines: list[bytes] = []
    begun: list[bytes] = []
    for one in data.split(b"\n"):
        bare = one.rstrip(b" \t\r")
        if bare.endswith(b"=0A="):
            one = bare.removesuffix(b"=0A=").removesuffix(b"=0D")
        elif bare.endswith(b"="):
            begun.append(bare[:-1])
            continue
        lines.append(b"".join([*begun, one]))
        emptied.update(range(line + len(lines) + 1, line + len(lines) + len(begun) + 1))
        lines += [b""] * len(begun)
        begun = []
    if begun:
        lines += [b"".join(begun), *[b""] * (len(begun) - 1)]
    return _ENCODED.sub(lambda match: _CHARACTERS[match[1]], b"\n".join(lines))

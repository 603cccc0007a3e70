"""A short multipart body as scripts send it: one file in the part `file`, and plain words beside it.

parts(content_type, body)            # → (name, data, {"labels": "cable=old"}), or None

Not a second parser: it takes only what leaves no two ways of reading it, and what Django's own then reads the same. Anything else (names
with a path or an accent, other encodings, a part twice, a boundary that stands in the data) is None, and Django's to read.
"""

import re

MOST_PARTS = 10
_TYPE = re.compile(r"multipart/form-data; ?boundary=([\w.-]{1,70})", re.ASCII | re.IGNORECASE)
_NAME = r'Content-Disposition: form-data; name="(?P<name>[a-z_]{1,40})"'
_FILE = r'; filename="(?P<file>[\w+=@,~()-][\w .+=@,~()-]{0,150}[\w+=@,~()-])"(?:\r\nContent-Type: [\w.+-]{1,60}/[\w.+-]{1,60})?'
_HEAD = re.compile(f"{_NAME}(?:{_FILE})?".encode(), re.ASCII | re.IGNORECASE)


def parts(content_type: str, body: bytes) -> tuple[str, bytes, dict[str, str]] | None:
    """The file's name, its bytes, and the other parts by name."""
    found = _TYPE.fullmatch(content_type)
    if found is None:
        return None
    mark = b"--" + found[1].encode()
    pieces = (b"\r\n" + body).split(b"\r\n" + mark)
    if len(pieces) - 1 != body.count(mark) or pieces[0] or pieces[-1] not in (b"--", b"--\r\n"):
        return None
    return _read(pieces[1:-1]) if len(pieces) - 2 <= MOST_PARTS else None


def _read(pieces: list[bytes]) -> tuple[str, bytes, dict[str, str]] | None:
    file, words = None, {}
    for piece in pieces:
        head, blank, data = piece.partition(b"\r\n\r\n")
        said = _HEAD.fullmatch(head.removeprefix(b"\r\n"))
        if said is None or not blank or not head.startswith(b"\r\n"):
            return None
        name = said["name"].decode()
        if (said["file"] is not None) != (name == "file") or name in words or (name == "file" and file):
            return None
        if name == "file":
            file = said["file"].decode(), data
        elif (word := _word(data)) is None:
            return None
        else:
            words[name] = word
    return (*file, words) if file else None


def _word(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None

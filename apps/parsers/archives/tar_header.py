"""One header block of a tar, and the records of pax in front of it. Layout: POSIX.1-2001 pax, and GNU tar's manual
("Basic Tar Format").
"""

import re
from dataclasses import dataclass

from apps.parsers.archives.kinds import has_checksum
from apps.parsers.archives.shape import RefusedError

BLOCK = 512
ZEROS = bytes(BLOCK)
_LARGEST = (1 << 63) - 1
_KEPT = (b"path", b"size")  # of pax, beside those of sparse files
LEFT_OUT = {
    "1": "it is a hard link, which is not followed", "2": "it is a symbolic link, which is not followed",
    "3": "it is a character device, no file", "4": "it is a block device, no file", "6": "it is a named pipe, no file",
    "S": "it is a sparse file, which is not put together here; pack it without --sparse",
    "M": "it is the continuation of another volume; join the volumes first",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Header:
    name: str
    size: int  # of the data that follow
    kind: str
    has_more: bool  # old GNU sparse: blocks of the map follow


def parse(block: bytes, at: int) -> Header:
    """`RefusedError` where the block is no header or its numbers are none."""
    if not has_checksum(block):
        raise RefusedError(f"its header at byte {at:,} is damaged (wrong checksum); copy or pack it again")
    kind = chr(block[156])
    name = _text(block[:100])
    is_posix = block[257:263] == b"ustar\0"
    if is_posix and block[345]:
        name = f"{_text(block[345:500])}/{name}"
    if kind in ("\0", "7"):
        kind = "5" if name.endswith("/") and kind == "\0" else "0"
    size = _number(block[124:136], at)
    return Header(name, 0 if kind in "123456" else size, kind, kind == "S" and block[482] == 1)


def decoded(name: bytes) -> str:
    try:
        return name.decode("utf-8")
    except UnicodeDecodeError:
        return name.decode("latin-1")


def _text(field: bytes) -> str:
    return decoded(field.split(b"\0", 1)[0])


def _number(field: bytes, at: int) -> int:
    if field[0] in (0x80, 0xFF):  # GNU: binary where octal is too short
        value = int.from_bytes(field[1:], "big") if field[0] == 0x80 else -1
    else:
        digits = field.replace(b"\0", b" ").strip()
        value = int(digits or b"0", 8) if re.fullmatch(rb"[0-7]*", digits) else -1
    if not 0 <= value <= _LARGEST:
        raise RefusedError(f"its header at byte {at:,} gives no possible size; copy or pack it again")
    return value


def pax(data: bytes, at: int) -> dict[str, str]:
    """The records that matter here: `27 path=some/where.log\\n` each."""
    kept: dict[str, str] = {}
    place = 0
    while place < len(data):
        blank = data.find(b" ", place, place + 12)
        digits = data[place:blank] if blank > 0 else b""
        if not digits.isdigit():
            break
        end = place + int(digits)
        equals = data.find(b"=", blank + 1, end - 1)
        if equals < 0 or data[end - 1 : end] != b"\n":
            break
        key = data[blank + 1 : equals]
        if (is_sparse := key.startswith(b"GNU.sparse")) or key in _KEPT:
            value = decoded(data[equals + 1 : end - 1])
            kept["GNU.sparse" if is_sparse else key.decode()] = value
            if key == b"GNU.sparse.name":
                kept["path"] = value
        place = end
    if data[place:].strip(b"\0"):
        raise RefusedError(f"its extended header at byte {at:,} is damaged; copy or pack it again")
    return kept


def overridden(header: Header, extended: dict[str, str], long_name: str, at: int) -> Header:
    """The header with what stood before it: a long name of GNU's, the records of pax."""
    name = extended.get("path", long_name or header.name)
    size, kind = header.size, header.kind
    if "size" in extended and kind not in "123456":
        digits = extended["size"]
        if not (digits.isascii() and digits.isdigit() and len(digits) < 20 and int(digits) <= _LARGEST):
            raise RefusedError(f"its extended header at byte {at:,} gives no possible size; copy or pack it again")
        size = int(digits)
    if "GNU.sparse" in extended:
        kind = "S"
    return Header(name, size, kind, header.has_more)

"""Header blocks of a tar, and the records of pax in front of them.

Layout: POSIX.1-2001 pax, and the manual of GNU tar ("Basic Tar Format").
"""

import re
from dataclasses import dataclass

from apps.parsers.archives.kinds import has_checksum
from apps.parsers.archives.models import ArchiveRefusedError

BLOCK = 512
ZEROS = bytes(BLOCK)
_LARGEST = (1 << 63) - 1
_PAX_KEYS = (b"path", b"size")  # keys of pax that are read, beside those of sparse files
LEFT_OUT = {
    "1": "it is a hard link, which is not followed", "2": "it is a symbolic link, which is not followed",
    "3": "it is a character device, no file", "4": "it is a block device, no file", "6": "it is a named pipe, no file",
    "S": "it is a sparse file, which is not put together here; pack it without --sparse",
    "M": "it is the continuation of another volume; join the volumes first",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class TarHeader:
    """One header block: the name, the size of the data behind it and the type flag."""

    name: str
    size: int  # bytes of data that follow
    kind: str
    has_more: bool  # a sparse file of old GNU tar: blocks of its map follow


def parse_header(block: bytes, at: int) -> TarHeader:
    """Parse a block of 512 bytes at offset `at`.

    Raises:
        ArchiveRefusedError: if the block is no header or its numbers are invalid.
    """
    if not has_checksum(block):
        raise ArchiveRefusedError(f"its header at byte {at:,} is damaged (wrong checksum); copy or pack it again")
    kind = chr(block[156])
    name = _read_text(block[:100])
    is_posix = block[257:263] == b"ustar\0"
    if is_posix and block[345]:
        name = f"{_read_text(block[345:500])}/{name}"
    if kind in ("\0", "7"):
        kind = "5" if name.endswith("/") and kind == "\0" else "0"
    size = _parse_size(block[124:136], at)
    return TarHeader(name, 0 if kind in "123456" else size, kind, kind == "S" and block[482] == 1)


def decode_name(name: bytes) -> str:
    """Decode a name as UTF-8, or as latin-1 where it is none."""
    try:
        return name.decode("utf-8")
    except UnicodeDecodeError:
        return name.decode("latin-1")


def _read_text(field: bytes) -> str:
    return decode_name(field.split(b"\0", 1)[0])


def _parse_size(field: bytes, at: int) -> int:
    if field[0] in (0x80, 0xFF):  # GNU tar writes binary numbers where octal digits do not suffice
        value = int.from_bytes(field[1:], "big") if field[0] == 0x80 else -1
    else:
        digits = field.replace(b"\0", b" ").strip()
        value = int(digits or b"0", 8) if re.fullmatch(rb"[0-7]*", digits) else -1
    if not 0 <= value <= _LARGEST:
        raise ArchiveRefusedError(f"its header at byte {at:,} gives no possible size; copy or pack it again")
    return value


def parse_pax(data: bytes, at: int) -> dict[str, str]:
    r"""Parse the records of a pax header that are needed here, each written as `27 path=some/where.log\n`.

    Raises:
        ArchiveRefusedError: if a record is damaged.
    """
    records: dict[str, str] = {}
    offset = 0
    while offset < len(data):
        blank = data.find(b" ", offset, offset + 12)
        digits = data[offset:blank] if blank > 0 else b""
        if not digits.isdigit():
            break
        end = offset + int(digits)
        equals = data.find(b"=", blank + 1, end - 1)
        if equals < 0 or data[end - 1 : end] != b"\n":
            break
        key = data[blank + 1 : equals]
        if (is_sparse := key.startswith(b"GNU.sparse")) or key in _PAX_KEYS:
            value = decode_name(data[equals + 1 : end - 1])
            records["GNU.sparse" if is_sparse else key.decode()] = value
            if key == b"GNU.sparse.name":
                records["path"] = value
        offset = end
    if data[offset:].strip(b"\0"):
        raise ArchiveRefusedError(f"its extended header at byte {at:,} is damaged; copy or pack it again")
    return records


def override_header(header: TarHeader, extended: dict[str, str], long_name: str, at: int) -> TarHeader:
    """Return the header with what stood before it: a long name of GNU tar, the records of pax.

    Raises:
        ArchiveRefusedError: if the size in the records is invalid.
    """
    name = extended.get("path", long_name or header.name)
    size, kind = header.size, header.kind
    if "size" in extended and kind not in "123456":
        digits = extended["size"]
        if not (digits.isascii() and digits.isdigit() and len(digits) < 20 and int(digits) <= _LARGEST):
            raise ArchiveRefusedError(
                f"its extended header at byte {at:,} gives no possible size; copy or pack it again"
            )
        size = int(digits)
    if "GNU.sparse" in extended:
        kind = "S"
    return TarHeader(name, size, kind, header.has_more)

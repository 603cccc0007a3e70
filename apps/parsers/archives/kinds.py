"""Recognition of archives by their first bytes, whatever their name is."""

import re

HEAD = 1024  # bytes that `detect_archive` needs
_BLOCK = 512
EMPTY_TAR = 20 * _BLOCK
_READ = "zip, tar, gz, bz2, xz and zst are"
UNREAD = {
    "7z": "a 7-Zip archive", "rar": "a RAR archive", "cab": "a cabinet file", "lz4": "an LZ4 file",
    "lzip": "an lzip file", "lzma": "an LZMA file (the format before xz)", "compress": "a file of Unix compress (.Z)",
    "lzop": "an lzop file", "cpio": "a cpio archive", "arj": "an ARJ archive",
}  # fmt: skip
_MAGIC = (
    (b"\x1f\x8b\x08", "gz"), (b"\xfd7zXZ\x00", "xz"), (b"\x28\xb5\x2f\xfd", "zst"), (b"PK\x05\x06", "zip"),
    (b"PK\x07\x08PK\x03\x04", "zip"), (b"PK00PK\x03\x04", "zip"), (b"7z\xbc\xaf\x27\x1c", "7z"), (b"Rar!\x1a\x07", "rar"), (b"MSCF\0\0\0\0", "cab"),
    (b"\x04\x22\x4d\x18", "lz4"), (b"\x02\x21\x4c\x18", "lz4"), (b"LZIP\x01", "lzip"), (b"\x1f\x9d", "compress"),
    (b"\x89LZO\x00", "lzop"),
)  # fmt: skip
_OTHER = (
    (re.compile(rb"BZh[1-9](?:1AY&SY|\x17\x72\x45\x38\x50\x90)"), "bz2"),
    (re.compile(rb"[\x50-\x5f]\x2a\x4d\x18"), "zst"),  # begins with a skippable frame
    (re.compile(rb"\x5d\0\0[\0-\xff]{2}(?:\xff{8}|[\0-\xff]{5}\0\0\0)"), "lzma"),
    (re.compile(rb"07070(?:[12][0-9A-Fa-f]{20}|7[0-7]{20})"), "cpio"),
    (re.compile(rb"\x60\xea[\0-\xff]{2}[\x1e-\x40]"), "arj"),
    (re.compile(rb"MZ[\0-\xff]{0,40}\0\0"), "sfx"),
)
# documents in a zip container, which are treated as one file
_DOCUMENT = re.compile(rb"PK\x03\x04[\0-\xff]{26}(?:\[Content_Types\]\.xml|_rels/|mimetype|META-INF/)")


def detect_archive(head: bytes) -> str:
    """Return the kind of archive that begins with these `HEAD` bytes: `zip`, `tar`, `gz` …; "" for other files.

    Kinds that are known and not opened are named, too. A compressed tar is what it is outside. `sfx` is a Windows
    program, which may carry a zip behind itself.
    """
    if head.startswith(b"PK\x03\x04"):
        return "" if _DOCUMENT.match(head) else "zip"
    for magic, kind in _MAGIC:
        if head.startswith(magic):
            return kind
    for pattern, kind in _OTHER:
        if pattern.match(head):
            return kind
    return "tar" if _is_tar(head) else ""


def describe_unread(kind: str) -> str:
    """Return the sentence that says why an archive of this kind is not opened."""
    return f"it is {UNREAD[kind]}, which is not opened here; {_READ}: pack the files again as one of those"


def _is_tar(head: bytes) -> bool:
    if head[257:262] == b"ustar":
        return True
    return len(head) >= _BLOCK and has_checksum(head[:_BLOCK])


def is_empty_tar(head: bytes) -> bool:
    """Return whether a file is two to twenty blocks of zeros and nothing else: the end mark of a tar.

    `head` must be long enough to show that nothing follows (`EMPTY_TAR` + 1 bytes).
    """
    return 2 * _BLOCK <= len(head) <= EMPTY_TAR and not head.strip(b"\0")


def has_checksum(block: bytes) -> bool:
    """Return whether a block of 512 bytes is a tar header, by its checksum."""
    stored = block[148:156].replace(b"\0", b" ").strip()
    if not re.fullmatch(rb"[0-7]{1,8}", stored):
        return False
    wanted, rest = int(stored, 8), block[:148] + block[156:]
    if sum(rest) + 256 == wanted:
        return True
    return (
        sum(byte - 256 if byte > 127 else byte for byte in rest) + 256 == wanted
    )  # old tars of Sun and HP sum signed bytes

"""Archives made byte by byte, right ones and hostile ones, and what reading them gives."""

import bz2
import gzip
import lzma
import struct
import tarfile
import time
import zipfile
import zlib
from collections.abc import Callable
from io import BytesIO
from typing import Any

import zstandard

from apps.parsers.archives import ArchiveLimits, ArchiveMember, ArchiveRefusal, iterate_members
from tests.pace import within

MIB = 1 << 20
LOG = b"".join(b"%d, %d, 0, 4096\n" % (at, at * 7919 % 100003) for at in range(3000))
SLOWEST_S = 2.0


def zst(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(level=3).compress(data)


COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "gz": lambda data: gzip.compress(data, mtime=0), "bz2": bz2.compress, "xz": lzma.compress, "zst": zst,
}  # fmt: skip


def found(
    data: bytes, limits: ArchiveLimits | None = None, name: str = ""
) -> tuple[dict[str, bytes], list[ArchiveRefusal]]:
    """The members by path and the refusals; fails where it takes more than two seconds."""
    before = time.process_time()
    everything = list(iterate_members(BytesIO(data), limits or ArchiveLimits(), name))
    assert within(time.process_time() - before, SLOWEST_S)
    given = [one for one in everything if isinstance(one, ArchiveMember)]
    assert all(one.size == len(one.data) for one in given)
    refused = [one for one in everything if isinstance(one, ArchiveRefusal)]
    assert [one for one in everything if isinstance(one, ArchiveRefusal) and one.is_whole] in ([], everything[-1:])
    assert all(one.reason and "\n" not in one.reason for one in refused)
    files = {one.path: one.data for one in given}
    assert len(files) == len(given)
    return files, refused


def refusal(data: bytes, limits: ArchiveLimits | None = None, name: str = "") -> ArchiveRefusal:
    """The only refusal."""
    _, refused = found(data, limits, name)
    (one,) = refused
    return one


def zipped(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED, comment: bytes = b"") -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data, method)
        archive.comment = comment
    return buffer.getvalue()


def streamed_zip(files: dict[str, bytes]) -> bytes:
    """As `zip -` writes into a pipe: sizes behind the data."""

    class Pipe(BytesIO):
        def seekable(self) -> bool:
            return False

        def tell(self) -> int:
            raise OSError

        def seek(self, *_: object) -> int:
            raise OSError

    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return pipe.getvalue()


def tarred(files: dict[str, bytes], form: int = tarfile.PAX_FORMAT) -> bytes:
    return tar_of([(tarfile.TarInfo(name), data) for name, data in files.items()], form)


def tar_of(entries: list[tuple[tarfile.TarInfo, bytes]], form: int = tarfile.PAX_FORMAT) -> bytes:
    buffer = BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=form) as archive:
        for info, data in entries:
            info.size = len(data) or info.size
            archive.addfile(info, BytesIO(data) if data else None)
    return buffer.getvalue()


def special(name: str, kind: bytes, link: str = "") -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info, b""


def tar_header(name: bytes, size: bytes, kind: bytes = b"0", *, sum_off: int = 0) -> bytes:
    """One header of 512 bytes with any size field."""
    block = bytearray(512)
    block[: len(name)] = name
    block[100:108] = b"0000644\0"
    block[124 : 124 + len(size)] = size
    block[148:156] = b" " * 8
    block[156:157] = kind
    block[257:265] = b"ustar\x0000"
    block[148:156] = b"%06o\0 " % (sum(block) + sum_off)
    return bytes(block)


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 512)


class RawZip:
    """A zip of which every field can be a lie. `add` takes what the local header and the directory should say."""

    def __init__(self) -> None:
        self.body = b""
        self.directory = b""
        self.count = 0

    def add(self, name: bytes, data: bytes, *, method: int = 0, packed: bytes | None = None, **lies: Any) -> "RawZip":
        packed = data if packed is None else packed
        fields = {
            "flags": 0, "crc": zlib.crc32(data), "packed": len(packed), "size": len(data), "local_name": name,
            "local_method": method, "local_flags": lies.get("flags", 0), "attributes": 0, "extra": b"",
            "at": len(self.body), "local_size": lies.get("size", len(data)), "made_by": 3 << 8,
        } | lies  # fmt: skip
        at = fields["at"]
        self.body += struct.pack(
            "<4s5H3I2H", b"PK\x03\x04", 20, fields["local_flags"], fields["local_method"], 0, 0, fields["crc"],
            fields["packed"], fields["local_size"], len(fields["local_name"]), 0,
        ) + fields["local_name"] + packed  # fmt: skip
        self.directory += struct.pack(
            "<4s6H3I5H2I", b"PK\x01\x02", fields["made_by"], 20, fields["flags"], method, 0, 0, fields["crc"],
            fields["packed"], fields["size"], len(name), len(fields["extra"]), 0, 0, 0, fields["attributes"], at,
        ) + name + fields["extra"]  # fmt: skip
        self.count += 1
        return self

    def bytes(self, *, count: int | None = None, prefix: bytes = b"", comment: bytes = b"", offset: int = 0) -> bytes:
        count = (self.count if count is None else count) & 0xFFFF
        end = struct.pack(
            "<4s4H2IH", b"PK\x05\x06", 0, 0, count, count, len(self.directory), len(self.body) + offset, len(comment)
        )
        return prefix + self.body + self.directory + end + comment


def deflated(data: bytes, level: int = 9) -> bytes:
    packer = zlib.compressobj(level, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()

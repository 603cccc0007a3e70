"""Names in archives: what leads out is refused, what can not be shown is made printable, nothing is lost by it."""

import tarfile

from apps.parsers.archives import ArchiveLimits
from tests.parsers.archives.build import RawZip, found, refusal, tarred, zipped
from tests.sampling import for_each

REFUSED = {
    "../a.log": "leads out of the archive", "a/../../etc/passwd": "leads out", "a/..": "leads out",
    "..\\..\\a.log": "leads out", "/etc/passwd": "absolute path", "\\\\server\\share\\a": "absolute path",
    "C:\\temp\\a.log": "absolute path", "c:a.log": "absolute path", ".": "no name", "./././": "no name",
    "n" * 1025: "has 1,025 characters, at most 1,024",
}  # fmt: skip


@for_each("name", sorted(REFUSED))
def test_a_name_that_leads_elsewhere_is_refused_and_the_others_are_read(name: str) -> None:
    readers = [tarred({name: b"x", "good": b"y"}, tarfile.PAX_FORMAT)]
    if not name.endswith("/"):
        readers.append(RawZip().add(name.encode(), b"x").add(b"good", b"y").bytes())
    for data in readers:
        files, (refused,) = found(data)
        assert files == {"good": b"y"}
        assert REFUSED[name] in refused.reason
        assert not refused.is_whole
        assert len(refused.path) <= 200


def test_a_name_with_nul_is_refused() -> None:
    files, (refused,) = found(RawZip().add(b"a.log\0.exe", b"x").add(b"good", b"y").bytes())
    assert files == {"good": b"y"}
    assert "NUL" in refused.reason
    assert refused.path == "a.log\ufffd.exe"


@for_each("stored, shown", [
        ("./a/./b.log", "a/b.log"), ("a//b.log", "a/b.log"), ("logs\\host3\\dd.txt", "logs/host3/dd.txt"),
        ("a\nb.log", "a\ufffdb.log"), ("a\x1b[31m.log", "a\ufffd[31m.log"), ("a\u202egol.exe", "a\ufffdgol.exe"),
        ("a\u2028b", "a\ufffdb"), ("...", "..."), ("a..b", "a..b"), (" a ", " a "), ("gemessen/größe.log", "gemessen/größe.log"),
    ])  # fmt: skip
def test_a_strange_name_is_made_safe_and_its_file_is_read(stored: str, shown: str) -> None:
    assert found(tarred({stored: b"x"})) == ({shown: b"x"}, [])
    assert found(RawZip().add(stored.encode(), b"x", flags=0x800).bytes()) == ({shown: b"x"}, [])


def test_names_that_are_not_utf_8_are_read_as_their_archives_write_them() -> None:
    assert found(RawZip().add(b"gr\x94\xe1e.log", b"x").bytes()) == ({"größe.log": b"x"}, [])
    header = tarred({"grXXe.log": b"x"}, tarfile.USTAR_FORMAT)
    latin = bytearray(header.replace(b"grXXe", b"gr\xf6\xdfe"))
    latin[148:156] = b" " * 8
    latin[148:156] = b"%06o\0 " % sum(latin[:512])
    assert found(bytes(latin)) == ({"größe.log": b"x"}, [])


def test_the_unicode_name_of_info_zip_is_preferred_when_its_checksum_fits() -> None:
    import struct
    import zlib

    for crc, shown in ((zlib.crc32(b"gr__e"), "größe"), (1, "gr__e")):
        name = "größe".encode()
        extra = struct.pack("<2HBI", 0x7075, 5 + len(name), 1, crc) + name
        assert found(RawZip().add(b"gr__e", b"x", extra=extra).bytes()) == ({shown: b"x"}, [])


def test_equal_names_are_numbered_also_where_the_number_is_taken() -> None:
    raw = RawZip()
    for number, name in enumerate([b"a", b"a (2)", b"a", b"a", b"./a"]):
        raw.add(name, b"%d" % number)
    assert found(raw.bytes()) == ({"a": b"0", "a (2)": b"1", "a (3)": b"2", "a (4)": b"3", "a (5)": b"4"}, [])


def test_fifty_thousand_equal_names_are_numbered_in_linear_time() -> None:
    raw = RawZip()
    for _ in range(5_000):
        raw.add(b"a", b"1")
    files, _ = found(raw.bytes())
    assert len(files) == 5_000
    assert "a (5000)" in files


def test_the_longest_name_is_a_limit_of_its_own() -> None:
    assert "at most 10" in refusal(zipped({"eleven.text": b""}), ArchiveLimits(path_length=10)).reason

"""Zips that are not what they say, and that two programs would read differently."""

import stat
import zlib
from typing import Any

import pytest

from apps.parsers.archives import ArchiveLimits
from tests.parsers.archives.build import LOG, MIB, RawZip, deflated, found, refusal, streamed_zip, zipped


def good_and(name: bytes, data: bytes = b"x", **lies: Any) -> bytes:
    return RawZip().add(b"good", LOG).add(name, data, **lies).bytes()


@pytest.mark.parametrize("flags", [0x1, 0x41, 0x2041], ids=["old", "strong", "masked"])
@pytest.mark.parametrize("method", [0, 8, 99])
def test_an_encrypted_member_is_refused_and_the_others_are_read(flags: int, method: int) -> None:
    files, (refused,) = found(good_and(b"secret", flags=flags, method=method, local_method=method))
    assert files == {"good": LOG}
    assert (refused.path, refused.is_whole) == ("secret", False)
    assert "encrypted" in refused.reason


def encrypted(count: int) -> RawZip:
    raw = RawZip()
    for number in range(count):
        raw.add(b"r%d.txt" % number, b"x", flags=0x1)
    return raw


def test_an_archive_that_is_encrypted_throughout_is_refused_in_one_line() -> None:
    refused = refusal(encrypted(1200).bytes())
    assert refused.is_whole
    assert refused.reason.startswith("1,200 members are encrypted, and no passwords are asked for; pack them again")
    assert refused.reason.endswith(": r0.txt, r1.txt, r2.txt, r3.txt, r4.txt and 1,195 more")


def test_several_encrypted_members_beside_others_are_one_line_and_the_others_are_read() -> None:
    raw = encrypted(3).add(b"good", LOG).add(b"link", b"/etc", attributes=(stat.S_IFLNK | 0o777) << 16)
    files, refused = found(raw.bytes())
    assert files == {"good": LOG}
    assert [(one.path, one.is_whole) for one in refused] == [("r0.txt and 2 more", False), ("link", False)]
    assert refused[0].reason.startswith("3 members are encrypted")
    assert refused[0].reason.endswith(": r0.txt, r1.txt, r2.txt")
    assert refused[1].reason == "it is a symbolic link, which is not followed"


def test_names_of_a_desktop_or_leading_outside_hide_no_reason() -> None:
    raw = RawZip().add(b"__MACOSX/._r0.txt", b"x", flags=0x1).add(b"../out.txt", b"x", flags=0x1)
    for number in range(3):
        raw.add(b"{0}%d.txt" % number, b"x", flags=0x1)
    files, refused = found(raw.bytes())
    assert files == {}
    told = {one.path: one.reason for one in refused if not one.is_note}
    assert set(told) == {"../out.txt", "{0}0.txt and 2 more"}
    assert told["{0}0.txt and 2 more"].startswith("3 members are encrypted")


def test_an_encrypted_archive_of_a_mac_is_one_line() -> None:
    (refused,) = (
        one for one in found(encrypted(9).add(b"__MACOSX/._r0.txt", b"x", flags=0x1).bytes())[1] if not one.is_note
    )
    assert (refused.path, refused.is_whole) == ("", True)
    assert refused.reason.startswith("9 members are encrypted")


def test_reasons_with_braces_in_them_are_told_as_they_are() -> None:
    raw = RawZip().add(b"good", LOG)
    for number in range(2):
        raw.add(b"a%d" % number, b"x", local_name=b"{count}{x}")
    (refused,) = found(raw.bytes())[1]
    assert (
        "2 members are not read, each because the directory calls it so and its own header '{count}{x}'"
        in refused.reason
    )


@pytest.mark.parametrize(
    ("mode", "words"),
    [(stat.S_IFLNK, "symbolic link"), (stat.S_IFCHR, "character"), (stat.S_IFBLK, "block"),
     (stat.S_IFSOCK, "socket")],
)  # fmt: skip
def test_what_is_no_file_is_refused(mode: int, words: str) -> None:
    files, (refused,) = found(good_and(b"x", b"/etc/passwd", attributes=(mode | 0o777) << 16))
    assert files == {"good": LOG}
    assert words in refused.reason


def test_what_came_through_a_pipe_is_a_file_and_a_pipe_is_none() -> None:
    """`cat a.log | zip out.zip -` calls its member a named pipe."""
    pipe = (stat.S_IFIFO | 0o600) << 16
    files, refused = found(good_and(b"-", b"results", attributes=pipe))
    assert (files, refused) == ({"good": LOG, "-": b"results"}, [])
    files, (only,) = found(good_and(b"x", b"", attributes=pipe))
    assert files == {"good": LOG}
    assert "named pipe" in only.reason


@pytest.mark.parametrize(("method", "name"), [(9, "Deflate64"), (98, "PPMd"), (6, "implode"), (77, "unknown")])
def test_a_method_that_is_not_read_is_named(method: int, name: str) -> None:
    _, (refused,) = found(good_and(b"x", method=method, local_method=method))
    assert f"method {method} ({name})" in refused.reason


DIFFERENCES: dict[str, tuple[dict[str, Any], str]] = {
    "name": ({"local_name": b"other.exe"}, "its own header 'other.exe'"),
    "method": ({"local_method": 8}, "differ in how it is packed"),
    "encryption": ({"local_flags": 1}, "differ in how it is packed"),
    "size": ({"local_size": 7}, "differ in size"),
}


@pytest.mark.parametrize("what", sorted(DIFFERENCES))
def test_a_member_that_differs_from_the_directory_is_refused(what: str) -> None:
    lies, words = DIFFERENCES[what]
    files, (refused,) = found(RawZip().add(b"x", b"12345", **lies).add(b"good", LOG).bytes())
    assert files == {"good": LOG}
    assert words in refused.reason


def test_a_directory_that_leads_to_no_member_is_refused() -> None:
    raw = RawZip().add(b"x", b"12345")
    raw.body = b"PK\x03\x05" + raw.body[4:]
    refused = found(b"MZ" + bytes(60) + raw.bytes())[1]
    assert "leads to no member" in refused[1].reason


@pytest.mark.parametrize("declared", [0, 1, len(LOG) - 1], ids=["nothing", "one byte", "one less"])
def test_more_than_declared_is_not_read(declared: int) -> None:
    data = good_and(b"liar", LOG, method=8, packed=deflated(LOG), size=declared, local_method=8)
    files, (refused,) = found(data)
    assert files == {"good": LOG}
    assert "and holds more" in refused.reason


def test_less_than_declared_and_a_wrong_checksum_are_refused() -> None:
    files, refused = found(
        RawZip()
        .add(b"short", LOG, method=8, packed=deflated(LOG), size=len(LOG) + 5)
        .add(b"damaged", LOG, method=8, packed=deflated(LOG), crc=1)
        .add(b"noise", LOG, method=8, packed=b"\xff" * 50)
        .add(b"good", LOG)
        .bytes()
    )
    assert files == {"good": LOG}
    assert ["holds only" in refused[0].reason, "checksum" in refused[1].reason, "damaged" in refused[2].reason] == [
        True
    ] * 3


def overlapping(count: int) -> RawZip:
    """All entries of the directory lead to one kernel of zeros (D. Fifield, "A better zip bomb", the simplest form)."""
    kernel = bytes(MIB)
    raw = RawZip().add(b"0", kernel, method=8, packed=deflated(kernel))
    body = raw.body
    for _ in range(1, count):
        raw.add(b"0", kernel, method=8, packed=deflated(kernel), at=0)
    raw.body = body
    return raw


def quoted(count: int) -> bytes:
    """Each member's data begin with the headers of all the following, quoted as stored blocks (the better form)."""
    import struct

    kernel = deflated(bytes(MIB))
    bodies = [kernel]
    sizes, crcs = [MIB], [zlib.crc32(bytes(MIB))]
    content = bytes(MIB)
    for _ in range(count - 1):
        header = local_header(crcs[0], len(bodies[0]), sizes[0])
        content = header + content
        bodies.insert(0, struct.pack("<BHH", 0, len(header), len(header) ^ 0xFFFF) + header + bodies[0])
        sizes.insert(0, len(content))
        crcs.insert(0, zlib.crc32(content))
    raw = RawZip()
    at = 0
    for body, size, crc in zip(bodies, sizes, crcs, strict=True):
        raw.add(b"a", b"", method=8, packed=body, size=size, crc=crc, at=at)
        at += 31 + 5
    raw.body = local_header(crcs[0], len(bodies[0]), sizes[0]) + bodies[0]
    return raw.bytes()


def local_header(crc: int, packed: int, size: int) -> bytes:
    return RawZip().add(b"a", b"", method=8, packed=b"", crc=crc, size=size).body[:18] + b"".join(
        number.to_bytes(length, "little") for number, length in ((packed, 4), (size, 4), (1, 2), (0, 2))
    ) + b"a"  # fmt: skip


@pytest.mark.parametrize("data", [overlapping(200).bytes(), quoted(20)], ids=["one kernel", "quoted headers"])
def test_entries_that_lie_over_each_other_are_refused_before_any_is_read(data: bytes) -> None:
    refused = refusal(data)
    assert refused.is_whole
    assert "lie over each other" in refused.reason


def test_an_entry_that_lies_over_the_directory_is_refused() -> None:
    raw = RawZip().add(b"a", LOG)
    directory = bytearray(raw.directory)
    directory[20:24] = (len(LOG) + 40).to_bytes(4, "little")
    raw.directory = bytes(directory)
    assert "over its directory" in refusal(raw.bytes()).reason


def test_a_million_entries_are_refused_by_their_number() -> None:
    one = RawZip().add(b"a", b"")
    one.directory *= 110_000
    one.count = 110_000
    refused = refusal(one.bytes())  # the field holds 110,000 modulo 65,536
    assert "more than 100,000 entries" in refused.reason
    one.directory *= 9
    assert "its directory has 44" in refusal(one.bytes()).reason


def test_a_count_that_is_not_the_directorys_is_refused() -> None:
    assert "it says 3 entries and its directory has 1" in refusal(RawZip().add(b"a", LOG).bytes(count=3)).reason


@pytest.mark.parametrize(
    "inner", [RawZip().add(b"evil", b"x").bytes(), RawZip().bytes()], ids=["a zip", "an empty zip"]
)
def test_a_comment_that_holds_another_zips_end_is_refused(inner: bytes) -> None:
    assert "two directories" in refusal(RawZip().add(b"a", LOG).bytes(comment=inner)).reason


@pytest.mark.parametrize("comment", [b"made by hand", b"PK\x05\x06" * 10_000, b"x" * 65535])
def test_a_comment_is_only_a_comment(comment: bytes) -> None:
    assert found(zipped({"a": LOG}, comment=comment)) == ({"a": LOG}, [])


def test_what_stands_behind_a_zip_is_left_out_and_told() -> None:
    files, (refused,) = found(zipped({"a": LOG}) + b"\r\n-- \r\nmail footer")
    assert files == {"a": LOG}
    assert "18 bytes after the zip itself were left out" in refused.reason


def test_two_zips_joined_by_cat_give_the_last_and_tell_of_the_first() -> None:
    first = zipped({"a": b"1"})
    files, (refused,) = found(first + zipped({"b": b"2"}))
    assert files == {"b": b"2"}
    assert f"{len(first)} bytes before the zip itself" in refused.reason


def test_a_volume_of_several_is_refused() -> None:
    data = bytearray(zipped({"a": LOG}))
    data[-18:-16] = b"\x02\0"
    assert "several volumes" in refusal(bytes(data)).reason


@pytest.mark.parametrize("make", [zipped, streamed_zip], ids=["sizes in front", "sizes behind"])
def test_a_zip_that_is_cut_off_gives_what_came_whole(make: object) -> None:
    whole = make({"a.log": LOG, "d/b.log": LOG + b"b", "c.log": LOG})  # type: ignore[operator]
    for cut in (10, 60, whole.rindex(b"PK\x01\x02") - len(whole), 5000):
        data = whole[: -abs(cut)]
        files, refused = found(data)
        assert set(files) >= {"a.log"}
        assert all(content.startswith(LOG) for content in files.values())
        assert "cut off" in refused[-1].reason
        assert refused[-1].is_whole


def test_a_cut_zip_with_a_whole_zip_inside_is_not_taken_for_that() -> None:
    data = zipped({"a": b"1", "inner.zip": zipped({"evil": b"x"}), "c": LOG}, 0)
    cut = data[: data.rindex(b"PK\x03\x04") + 200]
    files, refused = found(cut)
    assert files == {"a": b"1", "inner.zip/evil": b"x"}
    assert "cut off" in refused[-1].reason


@pytest.mark.parametrize("where", [46, 30, 20, 44])
def test_a_damaged_directory_is_refused(where: int) -> None:
    raw = RawZip().add(b"a", b"1").add(b"b", b"2")
    raw.directory = raw.directory[:47] + b"XXXX" + raw.directory[51:]
    raw.directory = raw.directory[: len(raw.directory) - where] if where != 46 else raw.directory
    assert "directory is" in refusal(raw.bytes()).reason


def test_a_file_over_the_limit_is_refused_and_the_next_is_read() -> None:
    files, (refused,) = found(zipped({"big": bytes(MIB + 1), "a": b"1"}), ArchiveLimits(member_bytes=MIB))
    assert files == {"a": b"1"}
    assert "may have at most 1" in refused.reason


def test_a_member_may_end_before_its_packed_bytes_do() -> None:
    assert found(RawZip().add(b"a", LOG, method=8, packed=deflated(LOG) + b"rest").bytes()) == ({"a": LOG}, [])


@pytest.mark.parametrize("pattern", [b"a", b"ab", b"1000, 12, 0, 4096, 0\n"], ids=["1 byte", "2 bytes", "a line"])
@pytest.mark.parametrize("level", [1, 6, 9])
def test_a_member_that_ends_behind_a_whole_piece_is_not_cut_off(pattern: bytes, level: int) -> None:
    """zlib may have taken in the last byte, and still have more to give than the piece holds that was asked for."""
    for size in range(131_070, 131_400, 7):
        data = (pattern * (1 + size // len(pattern)))[:size]
        raw = RawZip().add(b"a", data, method=8, packed=deflated(data, level))
        assert found(raw.bytes()) == ({"a": data}, [])


def test_what_looks_like_a_folder_and_holds_bytes_is_a_file() -> None:
    """In names of Shift JIS the second byte of a letter may be a backslash."""
    raw = RawZip().add(b"folder/", b"").add(b"\x95\x5c", LOG).add(b"logs/", b"bytes")
    files, refused = found(raw.bytes())
    assert sorted(files.values()) == sorted([LOG, b"bytes"])
    assert refused == []


@pytest.mark.parametrize("mark", [b"PK\x07\x08", b"PK00"])
def test_a_zip_that_might_have_had_volumes_is_read_whole_or_cut(mark: bytes) -> None:
    whole = RawZip()
    whole.body = mark
    whole.add(b"a", LOG).add(b"b", LOG)
    assert found(whole.bytes()) == ({"a": LOG, "b": LOG}, [])
    files, refused = found(whole.body[:-10])
    assert files == {"a": LOG}
    assert "cut off" in refused[-1].reason


def test_reasons_without_end_are_told_in_a_hundred_lines() -> None:
    raw = RawZip().add(b"good", LOG)
    for number in range(1000):
        raw.add(b"a%d" % number, b"x", local_name=b"b%d" % number)
    files, refused = found(raw.bytes())
    assert files == {"good": LOG}
    assert len(refused) == 101
    assert refused[-1].path == "a100 and 899 more"
    assert "each for a reason of its own: a100, a101" in refused[-1].reason

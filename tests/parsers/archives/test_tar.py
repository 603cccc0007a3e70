"""Tars that are not what they say."""

import tarfile

import pytest

from apps.parsers.archives import ArchiveLimits
from tests.parsers.archives.build import (
    COMPRESS,
    LOG,
    MIB,
    found,
    padded,
    refusal,
    special,
    tar_header,
    tar_of,
    tarred,
)

END = bytes(1024)
GOOD = tar_header(b"good", b"%011o\0" % len(LOG)) + padded(LOG)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (tarfile.SYMTYPE, "symbolic link"), (tarfile.LNKTYPE, "hard link"), (tarfile.CHRTYPE, "character device"),
        (tarfile.BLKTYPE, "block device"), (tarfile.FIFOTYPE, "named pipe"), (b"Q", "unknown kind"),
    ],
)  # fmt: skip
def test_what_is_no_file_is_refused_and_the_files_are_read(kind: bytes, words: str) -> None:
    info, _ = special("x", kind, "/etc/passwd")
    data = tar_of([(info, b""), (tarfile.TarInfo("a"), b"1")])
    files, (refused,) = found(data)
    assert files == {"a": b"1"}
    assert words in refused.reason
    assert (refused.path, refused.is_whole) == ("x", False)


def test_a_link_that_claims_a_size_swallows_no_file() -> None:
    data = tar_header(b"link", b"%011o\0" % 5000, b"2") + GOOD + END
    files, (refused,) = found(data)
    assert files == {"good": LOG}
    assert refused.path == "link"


@pytest.mark.parametrize("key", ["GNU.sparse.major", "GNU.sparse.map", "GNU.sparse.size"])
def test_a_sparse_file_of_pax_is_refused_and_the_others_are_read(key: str) -> None:
    info = tarfile.TarInfo("sparse")
    info.pax_headers = {key: "1", "GNU.sparse.name": "holes.img"}
    files, (refused,) = found(tar_of([(info, b"map"), (tarfile.TarInfo("a"), b"1")]))
    assert files == {"a": b"1"}
    assert refused.path == "holes.img"
    assert "--sparse" in refused.reason


def test_the_map_of_an_old_sparse_file_is_passed_over() -> None:
    header = bytearray(tar_header(b"holes", b"%011o\0" % 512, b"S"))
    header[482] = 1
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    more, last = bytearray(512), bytes(512)
    more[504] = 1
    files, (refused,) = found(bytes(header) + bytes(more) + last + bytes(b"x" * 512) + GOOD + END)
    assert files == {"good": LOG}
    assert "sparse" in refused.reason


@pytest.mark.parametrize(
    "size",
    [
        b"\xff" * 12, b"\xff" + b"\0" * 11, b"\x80" + b"\xff" * 11, b"-0000000001\0", b"+0000000001\0", b"0x10\0", b"1_0\0",
        b"99999999999\0", b"\xff" + b"\xff" * 9 + b"\xfe\0",
    ],
    ids=["-1", "lowest", "2**88", "minus", "plus", "hex", "underscore", "digits", "below"],
)  # fmt: skip
def test_a_size_that_can_not_be_is_refused_after_what_came_whole(size: bytes) -> None:
    files, (refused,) = found(GOOD + tar_header(b"bad", size) + GOOD + END)
    assert files == {"good": LOG}
    assert refused.is_whole
    assert "no possible size" in refused.reason


@pytest.mark.parametrize("size", ["-512", "9" * 25, "9" * 6000, "1e3", "²", " 5"])
def test_a_size_of_pax_that_can_not_be_is_refused(size: str) -> None:
    record = f" size={size}\n".encode()
    length = len(record) + len(str(len(record) + 3))
    while len(str(length)) + len(record) != length:
        length += 1
    data = b"%d" % length + record
    archive = tar_header(b"x", b"%011o\0" % len(data), b"x") + padded(data) + GOOD + END
    refused = refusal(archive)
    assert refused.is_whole
    assert "no possible size" in refused.reason


@pytest.mark.parametrize(
    "records", [b"no length", b"99999 path=a\n", b"0 path=a\n", b"12 path", b"-3 a=b\n", b"9" * 600]
)
def test_records_of_pax_that_make_no_sense_are_refused(records: bytes) -> None:
    archive = tar_header(b"x", b"%011o\0" % len(records), b"x") + padded(records) + GOOD + END
    assert "extended header at byte 0 is damaged" in refusal(archive).reason


@pytest.mark.parametrize("kind", [b"x", b"g", b"L", b"K"])
def test_an_extended_header_of_gigabytes_is_refused_unread(kind: bytes) -> None:
    archive = tar_header(b"x", b"%011o\0" % (7 << 30), kind) + bytes(4096)
    refused = refusal(COMPRESS["gz"](archive))
    assert refused.is_whole
    assert "at most 1" in refused.reason


def test_a_million_extended_headers_without_a_file_count_as_entries() -> None:
    header = tar_header(b"x", b"%011o\0" % 0, b"g")
    assert "more than 100 entries" in refusal(header * 200 + END, ArchiveLimits(members=100)).reason


def test_a_wrong_checksum_is_refused_after_what_came_whole() -> None:
    files, (refused,) = found(GOOD + tar_header(b"bad", b"00000000000\0", sum_off=1) + GOOD + END)
    assert files == {"good": LOG}
    assert f"header at byte {len(GOOD):,} is damaged (wrong checksum)" in refused.reason
    assert refused.is_whole


@pytest.mark.parametrize("cut", [1, 100, 511, 513, 1000, 40_000])
def test_a_tar_that_is_cut_off_gives_what_came_whole_and_says_so(cut: int) -> None:
    whole = tarred({"a": b"1" * 600, "b": LOG})
    data = whole.rstrip(b"\0")[:-cut]
    files, refused = found(data)
    assert files == ({"a": b"1" * 600} if b"1" * 600 in data else {})
    assert refused[-1].is_whole
    assert "cut off" in refused[-1].reason


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(COMPRESS))
def test_a_compressed_tar_that_is_cut_off_gives_what_came_whole(kind: str) -> None:
    first = {f"{number}.log": LOG for number in range(40)}
    data = COMPRESS[kind](tarred(first))
    files, refused = found(data[: len(data) // 2] if kind == "gz" else data[:-9])
    assert set(files) <= set(first)
    assert all(content == LOG for content in files.values())
    assert kind not in ("gz", "zst") or files
    assert "cut off" in refused[-1].reason
    assert refused[-1].is_whole


def test_a_tar_without_its_end_mark_gives_all_and_says_that_the_end_is_missing() -> None:
    files, (refused,) = found(GOOD)
    assert files == {"good": LOG}
    assert "cut off" in refused.reason


def test_garbage_behind_the_end_is_left_out_and_told() -> None:
    files, (refused,) = found(GOOD + END + b"something else" * 100)
    assert files == {"good": LOG}
    assert "was left out; the rest is whole" in refused.reason
    assert not refused.is_whole


def test_a_gigantic_size_in_a_small_tar_is_refused_without_reading_on() -> None:
    files, refused = found(COMPRESS["xz"](GOOD + tar_header(b"huge", b"\x80" + bytes(4) + b"\x01" + bytes(6)) + END))
    assert files == {"good": LOG}
    assert "has 256" in refused[0].reason
    assert refused[-1].is_whole
    assert "unpacks to more than" in refused[-1].reason


def test_a_file_over_the_limit_is_refused_and_the_next_is_read() -> None:
    limits = ArchiveLimits(member_bytes=MIB)
    big = b"x" * (MIB + 1)
    for data in (tarred({"big": big, "a": b"1"}), COMPRESS["gz"](tarred({"big": big, "a": b"1"}))):
        files, (refused,) = found(data, limits)
        assert files == {"a": b"1"}
        assert "may have at most 1" in refused.reason


def test_links_without_end_are_one_line_and_the_files_are_read() -> None:
    """As in archives of /sys, or of support tools, that link every output from a second folder."""
    links = b"".join(tar_header(b"sys/%d" % number, b"00000000000\0", b"2") for number in range(20_000))
    fifo = tar_header(b"pipe", b"00000000000\0", b"6")
    files, refused = found(COMPRESS["gz"](links + fifo + GOOD + END))
    assert files == {"good": LOG}
    assert [(one.path, one.is_whole) for one in refused] == [("sys/0 and 19,999 more", False), ("pipe", False)]
    assert refused[0].reason.startswith("20,000 members are not read, each because it is a symbolic link")
    assert refused[0].reason.endswith(": sys/0, sys/1, sys/2, sys/3, sys/4 and 19,995 more")
    assert "named pipe" in refused[1].reason


def test_names_that_lead_outside_are_one_line() -> None:
    outside = b"".join(tar_header(b"../%d" % number, b"%011o\0" % 1) + padded(b"1") for number in range(3))
    files, (refused,) = found(outside + GOOD + END)
    assert files == {"good": LOG}
    assert refused.path == "../0 and 2 more"
    assert refused.reason.startswith("3 members are not read, each because its name leads out of the archive")


def test_what_was_refused_is_told_also_where_the_rest_can_not_be_read() -> None:
    links = tar_header(b"a", b"00000000000\0", b"2") + tar_header(b"b", b"00000000000\0", b"2")
    _, refused = found(links + tar_header(b"bad", b"00000000000\0", sum_off=1) + END)
    assert [one.path for one in refused] == ["a and 1 more", ""]
    assert "wrong checksum" in refused[1].reason


def test_an_archive_of_nothing_but_links_is_refused_in_one_line() -> None:
    refused = refusal(b"".join(tar_header(b"%d" % number, b"00000000000\0", b"2") for number in range(7)) + END)
    assert refused.is_whole
    assert refused.reason.startswith("7 members are not read, each because it is a symbolic link")

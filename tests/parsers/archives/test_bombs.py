"""Archives that are small and become large, or never end: refused in two seconds, all levels counted together."""

import bz2
import gzip
import io
import lzma
import random
import zlib
from collections.abc import Callable

import pytest
import zstandard

from apps.parsers.archives import ArchiveLimits, ArchiveMember, ArchiveRefusal, iterate_members
from tests.parsers.archives.build import (
    COMPRESS,
    LOG,
    MIB,
    RawZip,
    deflated,
    found,
    padded,
    refusal,
    tar_header,
    tarred,
    zipped,
)

ZEROS = bytes(32 * MIB)
DENSE = deflated(bytes(9 * MIB))
BOMBS: dict[str, Callable[[], bytes]] = {
    "gz": lambda: gzip.compress(ZEROS) * 8,
    "bz2": lambda: bz2.compress(ZEROS) * 8,
    "xz": lambda: lzma.compress(ZEROS, preset=1) * 8,
    "zst": lambda: zstandard.ZstdCompressor(level=19).compress(ZEROS) * 8,
}


@pytest.mark.parametrize("kind", sorted(BOMBS))
def test_a_bomb_is_refused_by_its_ratio(kind: str) -> None:
    refused = refusal(BOMBS[kind](), name="a.log")
    assert refused.is_whole
    assert "more than 500 times its size" in refused.reason
    assert "upload the files unpacked" in refused.reason


@pytest.mark.parametrize("kind", sorted(BOMBS))
def test_a_bomb_inside_costs_the_others_nothing(kind: str) -> None:
    filler = zlib.compress(LOG) * 50
    files, (refused,) = found(tarred({"bomb": BOMBS[kind](), "filler": filler, "good": LOG}))
    assert files == {"filler": filler, "good": LOG}
    assert (refused.path, refused.is_whole) == ("bomb", False)
    assert "more than 500 times" in refused.reason


@pytest.mark.parametrize("kind", sorted(COMPRESS))
def test_a_compressed_tar_of_zeros_behind_its_end_is_refused(kind: str) -> None:
    files, (refused,) = found(COMPRESS[kind](tarred({"a": LOG}) + ZEROS))
    assert files == ({} if kind == "zst" else {"a": LOG})  # one step of zst unpacks more than is allowed
    assert "more than 500 times" in refused.reason


def test_a_zip_that_declares_its_bomb_is_refused_before_reading() -> None:
    packed = deflated(bytes(11 * MIB))
    raw = RawZip().add(b"bomb", b"", method=8, packed=packed, size=4 << 30 - 1, crc=0)
    raw.add(b"dense", bytes(11 * MIB), method=8, packed=packed)
    files, refused = found(raw.add(b"good", LOG).bytes())
    assert files == {"good": LOG}
    assert ["times its size" in one.reason or "may have at most" in one.reason for one in refused] == [True]
    assert "bomb, dense" in refused[0].reason


def test_many_files_each_under_every_limit_are_refused_together() -> None:
    for count, words in ((2, "more than 500 times its size"), (300, "unpacks to more than 2")):
        raw = RawZip()
        for number in range(count):
            raw.add(b"%d" % number, b"", method=8, packed=DENSE, size=9 * MIB, crc=0)
        assert words in refusal(raw.bytes()).reason


def test_the_total_is_counted_over_all_levels() -> None:
    inner = {f"{number}.gz": COMPRESS["gz"](LOG) for number in range(20)}
    data = zipped({"a.tar": tarred(inner), "b.tar.xz": COMPRESS["xz"](tarred(inner))}, 0)
    files, refused = found(data, ArchiveLimits(total_bytes=25 * len(LOG)))
    assert 10 < len(files) < 40
    assert refused[-1].is_whole
    assert "unpacks to more than" in refused[-1].reason


def test_the_number_of_entries_is_counted_over_all_levels() -> None:
    inner = tarred({str(number): b"1" for number in range(60)})
    files, (refused,) = found(tarred({"a.tar": inner, "b.tar": inner}), ArchiveLimits(members=100))
    assert 80 < len(files) <= 100
    assert "more than 100 entries" in refused.reason
    assert refused.is_whole


def test_a_million_empty_files_in_a_tar_are_refused_by_their_number() -> None:
    """Before any of them is given out: each would be kept."""
    for content in (b"", b"1"):
        data = (tar_header(b"a", b"%011o\0" % len(content)) + padded(content)) * 12_000
        for pack in (COMPRESS["zst"], COMPRESS["gz"], bytes):
            refused = refusal(
                pack(data + bytes(1024)), ArchiveLimits(members=10_000, ratio=100_000, dense_ratio=100_000)
            )
            assert refused.is_whole
            assert "more than 10,000 entries" in refused.reason


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["", "gz", "zst"])
def test_so_many_behind_large_ones_are_refused_before_those_are_given_out(kind: str) -> None:
    noise = random.Random(3).randbytes(MIB) * 40
    small = (tar_header(b"a", b"00000000001\0") + padded(b"1")) * 1200
    data = tar_header(b"large", b"%011o\0" % len(noise)) + noise + small + bytes(1024)
    refused = refusal(
        COMPRESS[kind](data) if kind else data, ArchiveLimits(members=1000, ratio=100_000, dense_ratio=100_000)
    )
    assert refused.is_whole
    assert "more than 1,000 entries" in refused.reason


@pytest.mark.slow
def test_what_unpacks_to_too_much_behind_its_beginning_gives_what_came_before() -> None:
    noise = random.Random(4).randbytes(MIB) * 40
    large = tar_header(b"large", b"%011o\0" % len(noise)) + noise
    files, (refused,) = found(COMPRESS["gz"](large * 2), ArchiveLimits(total_bytes=60 * MIB))
    assert list(files) == ["large"]
    assert refused.is_whole
    assert "unpacks to more than 60" in refused.reason


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gz", "bz2"])
def test_a_bomb_just_under_the_first_ratio_is_refused_before_its_members_are_given(kind: str) -> None:
    """Lines of noise between long repetitions: about 1/250 by each."""
    noise = random.Random(1).randbytes(MIB // 320)
    piece = noise + b"1000, 12, 0, 4096, 0\n" * (MIB // 21)
    packed = COMPRESS[kind](tar_header(b"0", b"%011o\0" % (len(piece) * 14)) + piece * 14)
    refused = refusal(packed, ArchiveLimits(dense_from=12 * MIB))
    assert refused.is_whole
    assert "more than 100 times its size for longer than 12" in refused.reason


def test_a_bomb_behind_what_does_not_compress_is_refused_where_it_begins() -> None:
    noise = random.Random(2).randbytes(2 * MIB)
    data = COMPRESS["gz"](noise + b"1000, 12, 0, 4096, 0\n" * (2 * MIB))
    assert "more than 100 times its size" in refusal(data, ArchiveLimits(dense_from=8 * MIB), name="a.log").reason


def test_a_long_log_of_one_line_is_read() -> None:
    log = b"1000, 12, 0, 4096, 0\n" * (200 * MIB // 21)
    packed = gzip.compress(log[: len(log) // 100], 6) * 100
    assert len(log) > 250 * len(packed)
    assert [
        one.size for one in iterate_members(io.BytesIO(packed), ArchiveLimits(), "a") if isinstance(one, ArchiveMember)
    ] == [len(log) // 100 * 100]


def test_a_zip_of_long_dense_files_is_refused_by_what_it_declares() -> None:
    raw = RawZip()
    packed = deflated(bytes(9 * MIB)) + bytes(40_000)
    for number in range(3):
        raw.add(b"%d" % number, b"", method=8, packed=packed, size=9 * MIB, crc=0)
    assert (
        "more than 100 times its size for longer than 20"
        in refusal(raw.bytes(), ArchiveLimits(dense_from=20 * MIB)).reason
    )


def test_a_hundred_thousand_compressed_pieces_are_refused_by_their_number() -> None:
    assert "more than 50,000 compressed pieces" in refusal(gzip.compress(b"") * 100_000, name="a").reason


def test_pieces_within_the_limit_take_no_time() -> None:
    assert found(gzip.compress(b"a line\n") * 20_000, name="a") == ({"a": b"a line\n" * 20_000}, [])


@pytest.mark.parametrize(
    "wrap", [lambda data: zipped({"r.zip": data}), COMPRESS["gz"], lambda data: tarred({"r.tar": data})]
)
def test_archives_in_archives_without_end_are_refused_by_their_depth(wrap: Callable[[bytes], bytes]) -> None:
    data = b"core"
    for _ in range(12):
        data = wrap(data)
    refused = refusal(data, name="r")
    assert "2 levels inside are opened" in refused.reason


def quine_gz() -> bytes:
    """A gzip file that holds itself (R. Cox, "Zip Files All The Way Down"): here as many levels as anybody looks at."""
    data = b""
    for _ in range(200):
        data = gzip.compress(data, mtime=0)
    return data


def test_a_quine_is_refused_by_its_depth() -> None:
    assert "it is an archive inside of 3 others" in refusal(quine_gz(), name="quine").reason


def test_forty_two_zip_is_refused_level_by_level() -> None:
    data = deflated(bytes(4 * MIB))
    raw = RawZip().add(b"0.dll", bytes(4 * MIB), method=8, packed=data)
    level = raw.bytes()
    for _ in range(4):
        level = zipped({f"lib {number}.zip": level for number in range(16)})
    files, refused = found(level)
    assert files == {}
    assert refused
    assert {("levels inside" in one.reason) or ("times its size" in one.reason) for one in refused} == {True}


def test_more_levels_are_opened_where_the_limits_say_so() -> None:
    data = zipped({"a.zip": zipped({"b.zip": zipped({"c.zip": zipped({"d": LOG})})})})
    assert found(data, ArchiveLimits(depth=3)) == ({"a.zip/b.zip/c.zip/d": LOG}, [])
    assert "3 others" in refusal(data, ArchiveLimits(depth=2)).reason
    assert "1 others" in refusal(data, ArchiveLimits(depth=0)).reason


@pytest.mark.parametrize("exponent", [27, 30, 32])
def test_an_xz_that_wants_much_memory_is_refused(exponent: int) -> None:
    small = lzma.compress(LOG, filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 20}])
    bits = {27: 30, 30: 36, 32: 40}[exponent]  # how xz's block header writes the dictionary
    header = bytearray(small)
    at = small.index(b"\x21\x01", 12) + 2
    header[at] = bits
    length = (header[12] + 1) * 4
    header[12 + length - 4 : 12 + length] = zlib.crc32(bytes(header[12 : 12 + length - 4])).to_bytes(4, "little")
    assert "more than 70" in refusal(bytes(header), name="a").reason
    files, (refused,) = found(tarred({"a.xz": bytes(header), "good": LOG}))
    assert files == {"good": LOG}
    assert "memory" in refused.reason


@pytest.mark.parametrize("log", [27, 30, 31])
def test_a_zst_with_a_huge_window_is_refused(log: int) -> None:
    frame = b"\x28\xb5\x2f\xfd\x00" + bytes([(log - 10) << 3]) + b"\x01\0\0"
    assert "needs more than 70" in refusal(frame, name="a").reason


def test_the_largest_usual_settings_are_read() -> None:
    text = LOG * 3
    parameters = zstandard.ZstdCompressionParameters(window_log=26)
    assert found(lzma.compress(text, preset=9), name="a") == ({"a": text}, [])
    assert found(zstandard.ZstdCompressor(compression_params=parameters).compress(text), name="a") == ({"a": text}, [])


def test_a_zip_inside_of_an_archive_is_kept_only_up_to_a_size() -> None:
    inner = zipped({"a": LOG}, 0)
    files, (refused,) = found(zipped({"b.zip": inner, "good": LOG}, 0), ArchiveLimits(held_bytes=len(inner) - 1))
    assert files == {"good": LOG}
    assert "upload it by itself" in refused.reason
    assert not refused.is_whole


def test_every_byte_of_small_archives_may_be_wrong() -> None:
    for data in (zipped({"a": b"text" * 20, "b": b""}), tarred({"a": b"text" * 20}).rstrip(b"\0") + bytes(1024),
                 *(pack(tarred({"a": b"text"})) for pack in COMPRESS.values())):  # fmt: skip
        for place in range(0, len(data), 1 + len(data) // 150):
            for other in (0, 0xFF, data[place] ^ 0x01):
                changed = data[:place] + bytes([other]) + data[place + 1 :]
                given = list(iterate_members(io.BytesIO(changed), ArchiveLimits(), "x"))
                assert given
                assert all(isinstance(one, ArchiveRefusal) or one.size <= 20_000 for one in given)


NOISE = random.Random(5).randbytes(400_000)
AS_NOISE = tar_header(b"noise", b"%011o\0" % len(NOISE)) + padded(NOISE)
RECORDS = b"5 a=\n" * (MIB // 6)
PAX = tar_header(b"x", b"%011o\0" % len(RECORDS), b"x") + padded(RECORDS)
PAX_OF_MANY = tar_header(b"x", b"%011o\0" % 510, b"x") + padded(b"5 a=\n" * 102)


@pytest.mark.slow
@pytest.mark.parametrize("headers", [PAX * 50, PAX_OF_MANY * 60_000], ids=["long", "many"])
def test_records_of_pax_without_end_are_refused_by_their_number(headers: bytes) -> None:
    files, (refused,) = found(COMPRESS["gz"](AS_NOISE + headers))
    assert files == {"noise": NOISE}
    assert refused.is_whole
    assert "more than 1,000,000 records" in refused.reason


@pytest.mark.slow
def test_zips_of_nothing_but_ends_are_refused_by_the_number_of_those() -> None:
    """Each is looked through for the one that is its own."""
    ends = b"PK\x03\x04" + b"PK\x05\x06" * 16_000
    files, refused = found(zipped({"noise": NOISE} | {f"{number}.zip": ends for number in range(2000)}))
    assert files == {"noise": NOISE}
    assert refused[-1].is_whole
    assert "more than 1,000,000 records" in refused[-1].reason


@pytest.mark.slow
def test_the_headers_of_zips_are_counted_over_all_levels_also_where_they_are_refused() -> None:
    raw = RawZip()
    for _ in range(50_000):
        raw.add(b"a", b"", at=0)
    level = raw.bytes()
    files, refused = found(zipped({"noise": NOISE * 3} | {f"{number}.zip": level for number in range(20)}))
    assert files == {"noise": NOISE * 3}
    assert "lie over each other" in refused[0].reason
    assert refused[-1].is_whole
    assert "more than 1,000,000 records" in refused[-1].reason


def test_many_files_with_many_records_each_are_no_bomb() -> None:
    """As bsdtar writes them: times, numbers of the file and attributes."""
    records = b"".join(b"30 SCHILY.key%d=1234567890.123\n" % number for number in range(9))
    one = tar_header(b"x", b"%011o\0" % len(records), b"x") + padded(records)
    data = b"".join(one + tar_header(b"%d" % number, b"00000000001\0") + padded(b"1") for number in range(3000))
    files, refused = found(data + bytes(1024), ArchiveLimits(records=9 * 3000))
    assert (len(files), refused) == (3000, [])

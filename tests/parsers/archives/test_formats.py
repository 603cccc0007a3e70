"""What is opened, and what comes out of it."""

import tarfile
import zipfile
from collections.abc import Callable

import pytest

from apps.parsers.archives import HEAD, detect_archive
from tests.parsers.archives.build import COMPRESS, LOG, RawZip, found, refusal, special, tar_of, tarred, zipped, zst
from tests.sampling import for_each

FILES = {"host3/bonnie.txt": LOG, "dd.log": b"1048576 bytes copied\n", "one": b"1"}
ALL = sorted(COMPRESS)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_zip_of_each_method_of_python_gives_its_files(method: int) -> None:
    assert found(zipped(FILES, method)) == (FILES, [])


@pytest.mark.parametrize(("method", "packed"), [(93, zst(LOG)), (95, COMPRESS["xz"](LOG))], ids=["zst", "xz"])
def test_a_zip_of_newer_methods_gives_its_file(method: int, packed: bytes) -> None:
    assert found(RawZip().add(b"a.log", LOG, method=method, packed=packed).bytes()) == ({"a.log": LOG}, [])


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_a_tar_of_each_form_gives_its_files_with_long_names(form: int) -> None:
    files = FILES | {"a" * 60 + "/" + "b" * 80 + ".log": b"long"}
    assert found(tarred(files, form)) == (files, [])


@pytest.mark.parametrize("form", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_a_name_beyond_ustar_comes_whole(form: int) -> None:
    files = {"/".join(["n" * 90] * 5): b"deep", "после.log": b"cyrillic"}
    assert found(tarred(files, form)) == (files, [])


def test_a_tar_from_before_posix_is_known_by_its_checksum() -> None:
    data = bytearray(tarred({"a.log": LOG}, tarfile.USTAR_FORMAT))
    data[257:265] = bytes(8)
    data[148:156] = b" " * 8
    data[148:156] = b"%06o\0 " % sum(data[:512])
    assert detect_archive(bytes(data[:HEAD])) == "tar"
    assert found(bytes(data)) == ({"a.log": LOG}, [])


@pytest.mark.parametrize("kind", ALL)
def test_a_compressed_tar_gives_its_files(kind: str) -> None:
    data = COMPRESS[kind](tarred(FILES))
    assert detect_archive(data[:HEAD]) == kind
    assert found(data, name=f"results.tar.{kind}") == (FILES, [])


@pytest.mark.parametrize("kind", ALL)
def test_a_compressed_file_gives_itself_without_the_ending(kind: str) -> None:
    assert found(COMPRESS[kind](LOG), name=f"host3.log.{kind}") == ({"host3.log": LOG}, [])


@pytest.mark.parametrize("kind", ALL)
def test_pieces_written_one_behind_the_other_are_one_file(kind: str) -> None:
    pack = COMPRESS[kind]
    assert found(pack(LOG) + pack(b"") + pack(b"more\n"), name="a") == ({"a": LOG + b"more\n"}, [])


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz"])
def test_zeros_behind_a_compressed_file_are_no_garbage(kind: str) -> None:
    assert found(COMPRESS[kind](LOG) + bytes(100_000), name="a") == ({"a": LOG}, [])


@pytest.mark.parametrize("kind", ALL)
def test_garbage_behind_a_compressed_file_is_left_out_and_told(kind: str) -> None:
    files, (refused,) = found(COMPRESS[kind](LOG) + b"and something else", name="a")
    assert files == {"a": LOG}
    assert f"is not {kind} and was left out" in refused.reason
    assert not refused.is_whole


def test_zst_with_a_frame_to_skip_in_front_is_read() -> None:
    skipped = b"\x50\x2a\x4d\x18" + (700).to_bytes(4, "little") + bytes(700)
    assert found(skipped + zst(LOG) + skipped, name="a") == ({"a": LOG}, [])


def test_archives_in_archives_are_opened_two_levels_deep() -> None:
    inner = COMPRESS["gz"](tarred({"run.log.gz": COMPRESS["gz"](LOG), "b.txt": b"b"}))
    files = {"host3.tar.gz": inner, "c.zip": zipped({"d": b"d"}), "e.xz": COMPRESS["xz"](b"e")}
    expected = {"host3.tar.gz/run.log": LOG, "host3.tar.gz/b.txt": b"b", "c.zip/d": b"d", "e": b"e"}
    assert found(zipped(files)) == (expected, [])
    assert found(COMPRESS["zst"](tarred(files))) == (expected, [])


def test_two_tars_joined_by_cat_are_both_read() -> None:
    assert found(tarred({"a": b"1"}) + tarred({"b": b"2"})) == ({"a": b"1", "b": b"2"}, [])


def test_directories_are_silent_and_desktop_files_are_told_once() -> None:
    files, (refused,) = found(
        zipped({"d/": b"", "d/a": b"1", "__MACOSX/d/._a": b"x", "d/.DS_Store": b"x", "Thumbs.db": b"x", "d/._b": b"x"})
    )
    assert files == {"d/a": b"1"}
    assert "4 files of macOS or Windows" in refused.reason


@pytest.mark.parametrize(
    "pack", [tarred, zipped, lambda files: COMPRESS["gz"](tarred(files))], ids=["tar", "zip", "tgz"]
)
def test_empty_files_are_counted_and_told_together(pack: Callable[[dict[str, bytes]], bytes]) -> None:
    files, (note,) = found(pack({"a_lat.1.log": LOG} | {f"{n}_slat.1.log": b"" for n in range(7)}))
    assert files == {"a_lat.1.log": LOG}
    assert "0_slat.1.log, 1_slat.1.log" in note.reason
    assert "and 2 more" in note.reason
    assert (note.is_note, note.is_whole, note.path) == (True, False, "")


def test_an_archive_of_nothing_but_empty_files_is_refused() -> None:
    refused = refusal(zipped({"a": b"", "b": b""}))
    assert refused.is_whole
    assert "nothing is in its files (0 bytes): a, b" in refused.reason


@pytest.mark.parametrize("kind", ["", *ALL])
def test_an_empty_archive_is_said_to_hold_nothing(kind: str) -> None:
    data = tarred({})
    refused = refusal(COMPRESS[kind](data) if kind else data)
    assert refused.is_whole
    assert "holds no files" in refused.reason


@pytest.mark.parametrize(
    "data", [zipped({}), zipped({"d/": b""}), tar_of([special("d", tarfile.DIRTYPE)])], ids=["zip", "zip/", "tar/"]
)
def test_an_archive_of_nothing_but_directories_is_said_to_hold_nothing(data: bytes) -> None:
    assert "holds no files" in refusal(data).reason


MAGIC = {
    "7z": b"7z\xbc\xaf\x27\x1c\0\4", "rar": b"Rar!\x1a\x07\x01\0", "cab": b"MSCF\0\0\0\0\x2c", "lz4": b"\x04\x22\x4d\x18d@",
    "lzip": b"LZIP\x01\x0c", "compress": b"\x1f\x9d\x90", "lzop": b"\x89LZO\0\r\n", "arj": b"\x60\xea\x28\0\x1e",
    "lzma": b"\x5d\0\0\x80\0" + b"\xff" * 8, "cpio": b"070701" + b"0" * 104,
}  # fmt: skip


@for_each("kind", sorted(MAGIC))
def test_an_archive_that_is_not_opened_is_named_with_the_way_out(kind: str) -> None:
    data = MAGIC[kind] + bytes(200)
    assert detect_archive(data) == kind
    for refused in (refusal(data), refusal(zipped({"a": data}))):
        assert "is not opened here; zip, tar, gz, bz2, xz and zst are: pack the files again" in refused.reason


@for_each("head", [b"", b"Version 1.03\n", b"\x89PNG\r\n", b"{}", b"BZh9 is a strange text", b"1234567 bytes\n" * 90, b"PK", b"\x1f\x8b",
     zipped({"[Content_Types].xml": b"<xml/>", "xl/a.xml": b"<a/>"}), bytes(600)])  # fmt: skip
def test_other_files_and_office_documents_are_no_archives(head: bytes) -> None:
    assert detect_archive(head[:HEAD]) == ""


def test_a_self_extracting_zip_is_read_and_its_program_left_out() -> None:
    program = b"MZ" + bytes(3000)
    data = program + zipped({"a.log": LOG})
    assert detect_archive(data[:HEAD]) == "sfx"
    files, (refused,) = found(data)
    assert files == {"a.log": LOG}
    assert "3,002 bytes before the zip itself were left out" in refused.reason


def test_a_program_without_a_zip_says_so() -> None:
    assert "no zip is behind it" in refusal(b"MZ" + bytes(3000)).reason


def test_zip64_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 10)  # so that Python writes every size and offset wide
    monkeypatch.setattr(zipfile, "ZIP_FILECOUNT_LIMIT", 1)
    data = zipped(FILES)
    assert b"PK\x06\x06" in data
    assert b"PK\x06\x07" in data
    assert found(data) == (FILES, [])

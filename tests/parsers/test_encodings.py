"""The same text in every encoding and wrapping that real files have: the parsers see the same lines."""

import re
import time
from itertools import product

import pytest

from apps.parsers.core.source_text import REPLACEMENT, SourceText, find_blocks
from tests.pace import within
from tests.sampling import for_each

ASCII = """Version 1.03       ------Sequential Output------ --Sequential Input- --Random-
Machine        Size K/sec %CP K/sec %CP K/sec %CP  /sec %CP
host3           16G 61822  97 98472  33 41210  11 389.2   1

              KB  reclen   write rewrite    read    reread
          524288     512  103402  104213  298471    301284
16777216 bytes (17 MB) copied, 0.094 s, 178 MB/s"""
GERMAN = "16777216 Bytes (17 MB) kopiert, 0,094 Sekunden, größer als 178 MB/s"
RUSSIAN = "скопировано 16777216 байт (17 MB), 0,094 секунды, 178 MB/s"
TYPOGRAPHIC = "5 € – „178 MB/s“ …"
LINES = ASCII.split("\n")

WIDE = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"]
MARKED = {
    "utf-16-le": b"\xff\xfe",
    "utf-16-be": b"\xfe\xff",
    "utf-32-le": b"\xff\xfe\0\0",
    "utf-32-be": b"\0\0\xfe\xff",
}


def lines(data: bytes) -> list[str]:
    return SourceText(data).lines


@for_each("encoding", [*WIDE, "ascii", "latin-1", "cp1251", "cp1252", "koi8-r", "mac-roman"])
def test_a_plain_text_is_the_same_in_every_encoding(encoding: str) -> None:
    assert lines(ASCII.encode(encoding)) == LINES


@for_each("encoding, text", product(WIDE, [GERMAN, RUSSIAN, TYPOGRAPHIC]))
def test_letters_beyond_ascii_are_the_same_in_unicode(encoding: str, text: str) -> None:
    assert lines(f"{ASCII}\n{text}\n".encode(encoding)) == [*LINES, text]


@pytest.mark.parametrize("encoding", sorted(MARKED))
def test_a_mark_in_front_is_read_and_taken_away(encoding: str) -> None:
    assert lines(MARKED[encoding] + RUSSIAN.encode(encoding)) == [RUSSIAN]


@pytest.mark.parametrize(
    ("encoding", "text"),
    [("latin-1", GERMAN), ("cp1252", GERMAN), ("cp1252", TYPOGRAPHIC), ("cp1251", RUSSIAN), ("koi8-r", RUSSIAN)],
)
def test_encodings_of_one_byte_are_told_apart(encoding: str, text: str) -> None:
    assert lines(f"{ASCII}\n{text}\n".encode(encoding)) == [*LINES, text]
    assert SourceText(text.encode(encoding)).encoding == encoding or encoding == "cp1252"


@pytest.mark.parametrize("broken", [b"\xff", b"\xc3(", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xc0\xaf", b"\xe2\x82"])
def test_a_few_broken_bytes_do_not_make_the_other_letters_wrong(broken: bytes) -> None:
    text = f"{RUSSIAN}\n{GERMAN}\n".encode()
    found = lines(text + b"x" + broken + b" y\n" + ASCII.encode())
    assert found[:2] == [RUSSIAN, GERMAN]
    assert found[2].startswith("x" + REPLACEMENT)
    assert found[3:] == LINES


@for_each("place", range(1, 12))
def test_a_text_cut_off_in_a_letter_stays_utf_8(place: int) -> None:
    data = RUSSIAN.encode()[:place]
    assert SourceText(data).encoding == "utf-8"
    assert lines(data)[0].rstrip(REPLACEMENT) == RUSSIAN[: place // 2]


def test_noise_has_some_encoding_and_no_crash() -> None:
    for seed in range(60):
        noise = bytes((seed * 131 + at * at * 37) % 256 for at in range(seed * 7))
        assert isinstance(SourceText(noise).text, str)
        assert "\x00" not in SourceText(noise).text


@for_each("end, encoding", product(["\n", "\r\n", "\r", "\r\r\n"], ["utf-8", "utf-16", "cp1251"]))
def test_every_end_of_line_gives_the_same_lines(end: str, encoding: str) -> None:
    text = SourceText(ASCII.replace("\n", end).encode(encoding))
    assert [line for line in text.lines if line] == [line for line in LINES if line]


def test_lines_keep_their_numbers_where_carriage_returns_overwrite_them() -> None:
    text = SourceText(b"one\r\n10%\r20%\r30%\nthree\r\n")
    assert text.lines == ["one", "10%", "20%", "30%", "three"]
    assert [text.number(index) for index in range(5)] == [1, 2, 2, 2, 3]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_lines_that_end_with_carriage_returns_alone_count(encoding: str) -> None:
    text = SourceText("one\rtwo\r\rfour\r".encode(encoding))
    assert (text.lines, [text.number(index) for index in range(4)]) == (["one", "two", "", "four"], [1, 2, 3, 4])


def test_zeros_are_replaced_and_nothing_shifts() -> None:
    found = lines(ASCII.replace(" ", "\x00").encode())
    assert found == [line.replace(" ", REPLACEMENT) for line in LINES]


def test_a_hole_of_zeros_in_a_log_leaves_the_lines_around_it() -> None:
    found = lines(ASCII.encode() + b"\n" + bytes(4096) + b"\n" + RUSSIAN.encode())
    assert found[: len(LINES)] == LINES
    assert found[-1] == RUSSIAN


def test_lone_surrogates_become_what_a_database_holds() -> None:
    SourceText("a\ud800b\udfff").text.encode()
    for encoding in ("utf-16-le", "utf-16-be"):
        assert "\ud800" not in SourceText((ASCII + "\ud800x").encode(encoding, "surrogatepass")).text


ESCAPES = [
    "\x1b[31m",
    "\x1b[0;1;31;42m",
    "\x1b(B",
    "\x1b]0;title\x07",
    "\x1b]8;;http://x\x1b\\",
    "\x1bM",
    "\x1b[2K",
    "\x1b[?25h",
]


@pytest.mark.parametrize("escape", ESCAPES, ids=repr)
def test_escape_sequences_are_taken_away(escape: str) -> None:
    assert lines("\n".join(f"{escape}{line}{escape}" for line in LINES).encode()) == LINES
    assert lines(ASCII.replace("copied", f"cop{escape}ied").encode()) == LINES


@pytest.mark.parametrize("prefix", ["> ", ">", ">> ", "> > ", "# ", " "], ids=repr)
def test_a_prefix_of_every_line_is_taken_away(prefix: str) -> None:
    text = ASCII if prefix != ">" else re.sub("\n +", "\n", ASCII)  # a blank behind ">" is quoting
    assert lines("\n".join(prefix + line for line in text.split("\n")).encode()) == text.split("\n")


def test_what_is_no_prefix_of_all_stays() -> None:
    for text in (
        "# comment\nvalue 1\nvalue 2\nvalue 3",
        "  indented\n  all\n  of it",
        "a > b\nb # c\n c",
        "#!/bin/sh\n# x\n# y",
    ):
        assert lines(text.encode()) == text.split("\n")


@for_each(
    "separator",
    ["\x0c", "\x0b", "\x1c", "\x85", "\u2028", "\u2029", "\u202e", "\u2066", "\ufeff", "\u200b", "\u00a0", "\t"],
)
def test_only_a_line_feed_ends_a_line(separator: str) -> None:
    text = f"first{separator}still first\nsecond"
    assert lines(text.encode()) == text.replace("\u00a0", " ").split("\n")
    assert SourceText(text.encode()).number(1) == 2


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"\xef\xbb\xbf", b"\xff\xfe", b"\x00", b"\r", b"\x1b", b">", b"\xff"], ids=repr
)
def test_almost_nothing_is_a_text_too(data: bytes) -> None:
    text = SourceText(data)
    assert len(text.lines) <= 2
    assert text.by_host() == [("", text)]
    assert find_blocks(text.lines) in ([], [(0, 1)])


MIB = 1 << 20
ENDLESS = {
    "one line of 16 MiB": b"1234567 " * (2 * MIB), "a million empty lines": b"\n" * 10**6, "carriage returns": b"a\r" * MIB,
    "empty carriage returns": b"\r" * MIB, "quotes": b">" * MIB, "quoted lines": b"\n> " * (MIB // 3), "escapes": b"\x1b[" * MIB,
    "escapes that never end": b"\x1b[0;" * MIB, "titles that never end": b"\x1b]" * MIB, "hashes": b"# a\n" * (MIB // 4),
    "blanks": b" " * MIB, "zeros": bytes(MIB), "wide": ("a\n" * MIB).encode("utf-16"), "broken bytes": b"\xff" * MIB,
    "broken letters": b"\xd0" * MIB, "hosts": b"".join(b"node%d: x\n" % number for number in range(100_000)),
    "one host": b"node1: x\n" * 100_000, "dots": b"a." * MIB, "form feeds": b"\x0c" * MIB, "marks": b"\xef\xbb\xbf" * 300_000,
}  # fmt: skip


@for_each("name", sorted(ENDLESS), number=4)
def test_endless_texts_take_linear_time(name: str) -> None:
    text = SourceText(ENDLESS[name])
    before = time.process_time()
    count = len(text.lines)
    text.by_host()
    assert text.head is not None
    assert within(time.process_time() - before, 2)
    assert count <= len(ENDLESS[name])


def test_blanks_of_web_pages_are_blanks_and_marks_of_thousands_stay() -> None:
    text = SourceText("\xa0 KB\xa0 reclen \xa0write\n1\xa0073\xa0741\xa0824 octets, 12\xa0kB\n")
    assert text.lines == ["  KB  reclen  write", "1\xa0073\xa0741\xa0824 octets, 12 kB"]


def test_a_vdbench_report_of_a_web_page_is_read() -> None:
    head = "\xa0\xa0\xa0\xa0 interval \xa0 \xa0 \xa0 i/o \xa0 MB/sec \xa0bytes \xa0 read \xa0 \xa0resp"
    plain = SourceText(f"{head}\n".replace("\xa0", " "))
    assert SourceText(f"{head}\n").lines == plain.lines

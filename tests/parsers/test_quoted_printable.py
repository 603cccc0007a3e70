"""Mail in its raw form, as archives give it out."""

import quopri
import re
import time
from pathlib import Path

import pytest

from apps.parsers.core.source_text import SourceText
from apps.parsers.fio.text import format as text_format
from tests.pace import within
from tests.parsers.every import read_but_lines, read_plain
from tests.parsers.fixture_pairs import FORMATS, outputs
from tests.sampling import for_each

NOT_ALIKE = ("fio_logs", "fio_jobfile")  # without words of their own behind a mail's header
PATHS = [path for folder in FORMATS if folder not in NOT_ALIKE for path in outputs(folder).values()]

HEADER = b"From ann@x.test Mon Sep 17 00:00:00 2001\nDKIM-Signature: v=1; b=AB3D=\nContent-Transfer-Encoding: Quoted-Printable\n\n"
REPORT = """job: (groupid=0, jobs=1): err= 0: pid=9: Sat Jun 25 02:08:42 2022
  read: IOPS=5120, BW=20.0MiB/s (20.0MB/s)(600MiB/30001msec)
    clat (usec): min=41, max=977, avg=390.11, stdev=21.70, of a line that is too long for a mail of its kind
   bw (  KiB/s): min=19000, max=21000, per=99.97%, avg=20480.00, stdev=204.80, samples=60
"""


def mail(text: str) -> bytes:
    return HEADER + quopri.encodestring(text.encode())


def test_a_mail_has_the_lines_that_its_writer_saw() -> None:
    assert SourceText(mail(REPORT)).lines[4:] == REPORT.splitlines()


def test_lines_keep_the_numbers_of_the_file() -> None:
    text = SourceText(mail(REPORT))
    raw = mail(REPORT).split(b"\n")
    numbers = [text.number(index) for index in range(4, 8)]
    assert numbers == [5, 6, 7, 9]  # the third is wrapped
    assert [raw[number - 1][:9] for number in numbers] == [b"job: (gro", b"  read: I", b"    clat ", b"   bw (  "]


def test_a_report_in_a_mail_is_read_whole() -> None:
    (run,) = text_format.parse(SourceText(mail(REPORT))).runs
    found = {(sample.metric, sample.line): sample.value for sample in run.samples}
    assert found["iops", 6] == 5120
    assert found["clat_stdev", 7] == 21_700
    assert found["bandwidth_mean", 9] == 20480 * 1024


def test_a_body_without_its_header_is_known_by_its_marks() -> None:
    body = mail(REPORT).removeprefix(HEADER)
    assert SourceText(body).lines == REPORT.splitlines()


@pytest.mark.parametrize("text", ["a=3D b=3D c=3D d=4\n", "rw=read\nbs=3D\n", "x=3D\n"])
def test_a_text_that_only_looks_so_stays_as_it_is(text: str) -> None:
    assert SourceText(text.encode()).lines == text.splitlines()


def test_only_the_encoded_part_is_decoded() -> None:
    parts = (
        b'Content-Type: multipart/mixed; boundary="=_zz"\n\n--=_zz\nContent-Transfer-Encoding: quoted-printable\n\na=3D1\n'
        b"---------------------------------\nb=3D2\n--=_zz\nContent-Type: text/plain\n\nc=3D3\n--=_zz--\n"
    )
    lines = SourceText(parts).lines
    assert {"a=1", "b=2", "c=3D3"} <= set(lines)


def test_the_next_mail_of_a_mailbox_is_read_by_its_own_header() -> None:
    plain = b"From bob@x.test Mon Sep 17 00:00:00 2001\nSubject: b\n\nc=3D3\n"
    lines = SourceText(mail("a=1\n") + plain + mail("d=4\n")).lines
    assert [line for line in lines if line[:2] in ("a=", "c=", "d=")] == ["a=1", "c=3D3", "d=4"]


def test_letters_of_several_bytes_are_put_together() -> None:
    assert SourceText(mail("größer = 1\n")).lines[-1] == "größer = 1"


ENDLESS = {
    "joined": b"a=3D=\n" * 200_000, "one line": b"=3D" * 400_000, "equals": b"=\n" * 500_000, "blanks": b"=3D" + b"= " * 500_000,
    "headers": b"Content-Transfer-Encoding: quoted-printable\n" * 25_000,
    "parts": b"Content-Transfer-Encoding: quoted-printable\n\na=3D\n" * 20_000,
    "boundaries": b"uoted-printable boundary=aaaa%d " * 30_000, "ends": HEADER + b"From " * 200_000,
}  # fmt: skip


@for_each("name", sorted(ENDLESS), number=4)
def test_endless_mails_take_linear_time(name: str) -> None:
    before = time.process_time()
    text = SourceText(ENDLESS[name])
    assert text.number(0) >= 1 if text.lines else True
    assert within(time.process_time() - before, 2)


@pytest.mark.parametrize("end", [b"=0A=\n", b"=0D=0A=\n", b"=0A=\r\n"])
def test_a_line_feed_that_is_encoded_ends_its_line(end: bytes) -> None:
    text = SourceText(HEADER + end.join([b"a=3D1", b"", b"a line that is =\nwrapped", b"b=3D2", b""]))
    assert text.lines[4:8] == ["a=1", "", "a line that is wrapped", "b=2"]
    assert [text.number(index) for index in range(4, 8)] == [5, 6, 7, 9]


def test_several_ends_on_one_line_of_a_mail_are_several_lines() -> None:
    text = SourceText(HEADER + b"So:=0A=0Aa=3D1=0D=0Ab =\n=3D 2=0A=0A=\nc=3D3\n")
    assert text.lines[4:] == ["So:", " ", "a=1", "b = 2", "", "c=3"]
    assert [text.number(index) for index in range(4, 10)] == [5, 5, 5, 5, 6, 7]


@for_each("path", PATHS)
def test_an_output_whose_ends_of_lines_are_encoded_is_what_was_printed(path: Path) -> None:
    text = path.read_bytes().decode("utf-8", "replace")
    assert read_but_lines(without_ends(text)) == read_plain(text)


def without_ends(text: str) -> str:
    """As some programs send a mail: one line as long as the whole text, wrapped."""
    encoded = quopri.encodestring(text.replace("\r", "").encode()).replace(b"=\n", b"").replace(b"\n", b"=0A")
    tokens = re.findall(rb"=..|[^=]", encoded)
    rows = [b"".join(tokens[at : at + 24]) for at in range(0, len(tokens), 24)]
    return (HEADER + b"=\n".join(rows) + b"\n").decode()

"""A mail that says everything twice, as text and as HTML, has each result once."""

import time

import pytest

from apps.parsers.cleanup.mail_twins import without_html_twins
from apps.parsers.core.source_text import SourceText
from apps.parsers.dd import format as dd_format
from tests.pace import within

TEXT = """$ dd if=/dev/zero of=t bs=1M count=1024
1024+0 records in
1024+0 records out
1073741824 bytes (1.1 GB, 1.0 GiB) copied, 4.1 s, 262 MB/s
"""
HTML = f'<div style="font-size:10pt;color:#102030">{TEXT.rstrip().replace(chr(10), "<br>" + chr(10))}<br>\n</div>\n'
MAIL = """From somebody Mon Nov 23 10:00:00 2026
Content-Type: multipart/alternative;
 boundary="=_part.1"

--=_part.1
Content-Type: text/plain; charset=utf-8

{plain}
--=_part.1
Content-Transfer-Encoding: 8bit
Content-Type: text/html

{html}
--=_part.1--
"""


def runs(text: str) -> list[tuple[int | None, float | None]]:
    return [(run.samples[0].line, run.samples[0].value) for run in dd_format.parse(SourceText(text)).runs]


def test_a_result_in_both_is_one_and_keeps_its_line() -> None:
    mail = MAIL.format(plain=TEXT, html=HTML)
    ((line, _),) = runs(mail)
    assert mail.splitlines()[(line or 0) - 1].startswith("1073741824 bytes")
    assert len(runs(mail.replace("\n", "\r\n"))) == 1


def test_each_mail_of_a_mailbox_has_its_own() -> None:
    assert len(runs(MAIL.format(plain=TEXT, html=HTML) + MAIL.format(plain=TEXT.replace("4.1", "5.2"), html=HTML))) == 2


@pytest.mark.parametrize("plain", ["", "This mail is in HTML.\n", "See below, 1024 of them.\n"])
def test_figures_that_stand_in_the_html_alone_are_read(plain: str) -> None:
    assert len(runs(MAIL.format(plain=plain, html=HTML))) == 1


def test_html_without_a_text_beside_it_and_parts_of_another_kind_stay() -> None:
    mail = MAIL.format(plain=TEXT, html=HTML)
    assert len(runs(mail.replace("alternative", "mixed"))) == 2
    assert len(runs(HTML)) == 1


def test_lines_keep_their_numbers() -> None:
    data = MAIL.format(plain=TEXT, html=HTML).encode()
    assert without_html_twins(data).count(b"\n") == data.count(b"\n")
    assert without_html_twins(data).endswith(b"--=_part.1--\n")


@pytest.mark.parametrize(
    "data",
    [
        b'Content-Type: multipart/alternative; boundary="x"\n' * 20_000 + b"\n--x\n\n--x--\n",
        b"".join(b'Content-Type: multipart/alternative; boundary="b%d"\n' % number for number in range(20_000)),
        b"content-type: multipart/alternative;\n " * 25_000,
        b'Content-Type: multipart/alternative; boundary="x"\n' + b"\n--x\n\n" * 150_000,
    ],
    ids=["one boundary", "many boundaries", "folded", "parts"],
)
def test_a_mebibyte_of_headers_takes_no_time(data: bytes) -> None:
    began = time.process_time()
    assert without_html_twins(data).count(b"\n") == data.count(b"\n")
    assert within(time.process_time() - began, 2)

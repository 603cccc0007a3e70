"""Mails and attachments in base64, as archives give them out."""

import time
from base64 import encodebytes
from email.message import EmailMessage

import pytest

from apps.parsers.cleanup.mail_base64 import STATEMENT
from apps.parsers.core.source_text import SourceText
from apps.parsers.fio.text import format as text_format
from apps.uploads.file_reader import read_file
from tests.pace import within
from tests.parsers.test_quoted_printable import REPORT
from tests.sampling import for_each

HEADER = "From ann@x.test Mon Sep 17 00:00:00 2001\nContent-Transfer-Encoding: Base64\n\n"
DD = "8+0 records in\n8+0 records out\n8388608 bytes (8.4 MB) copied, 0.5 s, 16.8 MB/s\n"


def mail(text: str, ending: str = "\n") -> str:
    return HEADER + encodebytes(text.replace("\n", ending).encode()).decode()


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_mail_has_the_lines_that_its_writer_saw(ending: str) -> None:
    text = SourceText(mail(REPORT, ending).encode())
    assert text.lines[3:] == REPORT.splitlines()
    assert [text.number(index) for index in range(3, 7)] == [4, 5, 6, 7]


def test_the_header_says_how_lines_are_numbered() -> None:
    assert SourceText(mail(REPORT)).lines[1] == "Content-Transfer-Encoding: Base64" + STATEMENT.decode()


def test_a_report_in_a_mail_is_read_whole() -> None:
    (run,) = text_format.parse(SourceText(mail(REPORT))).runs
    assert {sample.metric: sample.value for sample in run.samples}["iops"] == 5120


def test_every_mail_of_a_mailbox_and_what_a_list_adds_is_read() -> None:
    plain = "From bob@x.test Mon Sep 17 00:00:00 2001\nSubject: b\n\nc\n"
    footer = "_______________________________________________\ndisks mailing list\n"
    lines = SourceText(mail("a\n\nb\n") + footer + plain + mail("d\n")).lines
    assert [line for line in lines if len(line) == 1] == ["a", "b", "c", "d"]
    assert "disks mailing list" in lines


def test_attached_files_are_read_and_pictures_stay() -> None:
    message = EmailMessage()
    message.set_content("see below\n")
    message.add_attachment(DD.encode(), maintype="application", subtype="octet-stream", filename="dd.txt")
    message.add_attachment(bytes(range(256)) * 9, maintype="image", subtype="png", filename="a.png")
    found = read_file(SourceText(message.as_bytes()))
    assert [(each.format, each.samples[0].value) for each in found.runs] == [("dd", 16_777_216)]
    assert message.as_bytes().split(b"a.png")[1] in SourceText(message.as_bytes()).data


@pytest.mark.parametrize("body", ["not base64, but text\n", "", "aGVsbG8\n", "=\n", "AAEC\n"])
def test_what_is_no_text_in_base64_stays_as_it_is(body: str) -> None:
    assert SourceText(HEADER + body).data == (HEADER + body).encode()


def test_what_speaks_of_base64_stays_as_it_is() -> None:
    text = "we send base64\nContent-Type: text/plain\n\naGVsbG8K\n"
    assert SourceText(text).data == text.encode()


ENDLESS = {
    "headers": b"Content-Transfer-Encoding: base64\n" * 30_000, "letters": HEADER.encode() + b"AAAA" * 300_000,
    "parts": b"Content-Transfer-Encoding: base64\n\naGVsbG8K\n" * 20_000, "lines": HEADER.encode() + b"CgoK\n" * 200_000,
    "boundaries": b"base64 boundary=aaaa%d " * 30_000,
    "mails": (mail("a\n") + "\n").encode() * 10_000, "none": (HEADER + "no text\n\n").encode() * 10_000,
}  # fmt: skip


@for_each("name", sorted(ENDLESS), number=4)
def test_endless_mails_take_linear_time(name: str) -> None:
    before = time.process_time()
    assert SourceText(ENDLESS[name]).lines
    assert within(time.process_time() - before, 2)

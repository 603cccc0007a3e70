"""Spreadsheets, documents and pictures are told what they are, and what can be brought in their place."""

import io
import zipfile

import pytest

from apps.parsers.core.foreign_files import identify_foreign_file
from apps.parsers.core.source_text import SourceText
from apps.uploads.file_reader import read_file


def zipped(*names: str, mimetype: str = "", stuffing: int = 0) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        if mimetype:
            made.writestr("mimetype", mimetype)
        for name in names:
            made.writestr(name, "<x/>" + "y" * stuffing)
    return out.getvalue()


XLSX = zipped("[Content_Types].xml", "_rels/.rels", "xl/workbook.xml", "xl/worksheets/sheet1.xml", stuffing=9000)


@pytest.mark.parametrize(
    ("data", "name", "instead"),
    [
        (XLSX, "an Excel workbook (.xlsx)", "saved as CSV"),
        (zipped("[Content_Types].xml", "word/document.xml"), "a Word document (.docx)", "pasted"),
        (zipped("content.xml", mimetype="application/vnd.oasis.opendocument.spreadsheet"), "an OpenDocument spreadsheet (.ods)", "CSV"),
        (zipped("content.xml", mimetype="application/vnd.oasis.opendocument.text"), "an OpenDocument file", "pasted"),
        (zipped("META-INF/MANIFEST.MF"), "an office document or program package", "pasted"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "an old Excel or Word file (.xls, .doc)", "CSV"),
        (b"\x09\x00\x04\x00\x07\x00\x10\x00", "an Excel sheet, as IOzone's -b writes it", "-R report"),
        (b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n", "a PDF", "pasted"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "a picture (PNG)", "as text"),
    ],
)  # fmt: skip
def test_it_is_told_what_it_is(data: bytes, name: str, instead: str) -> None:
    found = read_file(SourceText(data, "results"))
    assert found.runs == ()
    assert found.error is not None
    assert (found.error.message, found.error.found) == ("this is no text", name)
    assert instead in found.error.expected


def test_text_is_text() -> None:
    assert identify_foreign_file(b"PDF-1.4 is no PDF\n") is None
    assert identify_foreign_file(b"") is None
    assert "no format recognises" in str(read_file(SourceText(b"buy milk\n")).error)

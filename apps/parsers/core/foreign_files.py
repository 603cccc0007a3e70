"""Recognition of binary files that people keep beside results.

They get a message that says what they are and how their content can be imported instead.
"""

import re
from typing import NamedTuple

_HEAD = 4096
_SHEETS = "its sheets saved as CSV, or their cells pasted"
_WORDS = "its text pasted, or saved as plain text"
_OUTPUT = "the tool's output as text"


class ForeignFile(NamedTuple):
    """A kind of file that Spindle does not read: its name for people, and what to upload in its place."""

    name: str
    instead: str  # what can be brought in its place


# Office documents are zip archives: names of members tell which program wrote them; OpenDocument stores its type first, uncompressed.
_ZIPPED = (
    (re.compile(rb"mimetypeapplication/vnd\.oasis\.opendocument\.spreadsheet"), ForeignFile("an OpenDocument spreadsheet (.ods)", _SHEETS)),
    (re.compile(rb"mimetypeapplication/vnd\.oasis\.opendocument\."), ForeignFile("an OpenDocument file", _WORDS)),
    (re.compile(rb"xl/(?:workbook|worksheets|_rels|sharedStrings|styles|theme)"), ForeignFile("an Excel workbook (.xlsx)", _SHEETS)),
    (re.compile(rb"word/"), ForeignFile("a Word document (.docx)", _WORDS)),
)  # fmt: skip
_DOCUMENT = ForeignFile("an office document or program package", _WORDS)
_BEGINNINGS = (
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", ForeignFile("an old Excel or Word file (.xls, .doc)", f"{_SHEETS} (of text: pasted)")),
    # BIFF 2 to 4; IOzone's -b writes such a file, its -R the same tables as text
    (b"\x09\x00\x04\x00", ForeignFile("an Excel sheet, as IOzone's -b writes it", f"{_SHEETS}, or IOzone's -R report as text")),
    (b"\x09\x02\x06\x00", ForeignFile("an Excel sheet", _SHEETS)),
    (b"\x09\x04\x06\x00", ForeignFile("an Excel sheet", _SHEETS)),
    (b"%PDF-", ForeignFile("a PDF", _WORDS)),
    (b"{\\rtf", ForeignFile("a Rich Text document (.rtf)", _WORDS)),
    (b"\x89PNG\r\n\x1a\n", ForeignFile("a picture (PNG)", "the figures as text or as a table")),
    (b"\xff\xd8\xff", ForeignFile("a picture (JPEG)", "the figures as text or as a table")),
    (b"GIF8", ForeignFile("a picture (GIF)", "the figures as text or as a table")),
    (b"\x7fELF", ForeignFile("a program (ELF)", _OUTPUT)),
    (b"SQLite format 3\0", ForeignFile("an SQLite database", "its table exported as CSV")),
)  # fmt: skip


def identify_foreign_file(data: bytes) -> ForeignFile | None:
    """Return what kind of foreign file begins with these bytes, None for any other file.

    For example `ForeignFile("an Excel workbook (.xlsx)", "its sheets saved as CSV, or their cells pasted")`.
    """
    if data.startswith(b"PK\x03\x04"):
        # members may be stored in any order, and the list of their names is at the end of the file
        return next(
            (kind for words, kind in _ZIPPED if words.search(data[:_HEAD]) or words.search(data[-_HEAD:])), _DOCUMENT
        )
    return next((kind for magic, kind in _BEGINNINGS if data.startswith(magic)), None)

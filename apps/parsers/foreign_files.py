"""Files of programs that people keep beside results and that are no text: what they are, and how what is in them gets here.

kind_of(data) → Foreign("an Excel workbook (.xlsx)", "its sheets saved as CSV, or their cells pasted"); None of any other
"""

import re
from typing import NamedTuple

_HEAD = 4096
_SHEETS = "its sheets saved as CSV, or their cells pasted"
_WORDS = "its text pasted, or saved as plain text"
_OUTPUT = "the tool's output as text"


class Foreign(NamedTuple):
    name: str
    instead: str  # what can be brought in its place


# What a zip of a document has first, and what tells which: names of its members, the type that OpenDocument keeps unpacked in front.
_ZIPPED = (
    (re.compile(rb"mimetypeapplication/vnd\.oasis\.opendocument\.spreadsheet"), Foreign("an OpenDocument spreadsheet (.ods)", _SHEETS)),
    (re.compile(rb"mimetypeapplication/vnd\.oasis\.opendocument\."), Foreign("an OpenDocument file", _WORDS)),
    (re.compile(rb"xl/(?:workbook|worksheets|_rels|sharedStrings|styles|theme)"), Foreign("an Excel workbook (.xlsx)", _SHEETS)),
    (re.compile(rb"word/"), Foreign("a Word document (.docx)", _WORDS)),
)  # fmt: skip
_DOCUMENT = Foreign("an office document or program package", _WORDS)
_BEGINNINGS = (
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Foreign("an old Excel or Word file (.xls, .doc)", f"{_SHEETS} (of text: pasted)")),
    # BIFF 2 to 4; IOzone's -b writes such a file, its -R the same tables as text
    (b"\x09\x00\x04\x00", Foreign("an Excel sheet, as IOzone's -b writes it", f"{_SHEETS}, or IOzone's -R report as text")),
    (b"\x09\x02\x06\x00", Foreign("an Excel sheet", _SHEETS)),
    (b"\x09\x04\x06\x00", Foreign("an Excel sheet", _SHEETS)),
    (b"%PDF-", Foreign("a PDF", _WORDS)),
    (b"{\\rtf", Foreign("a Rich Text document (.rtf)", _WORDS)),
    (b"\x89PNG\r\n\x1a\n", Foreign("a picture (PNG)", "the figures as text or as a table")),
    (b"\xff\xd8\xff", Foreign("a picture (JPEG)", "the figures as text or as a table")),
    (b"GIF8", Foreign("a picture (GIF)", "the figures as text or as a table")),
    (b"\x7fELF", Foreign("a program (ELF)", _OUTPUT)),
    (b"SQLite format 3\0", Foreign("an SQLite database", "its table exported as CSV")),
)  # fmt: skip


def kind_of(data: bytes) -> Foreign | None:
    if data.startswith(b"PK\x03\x04"):
        # members stand anywhere in it, their list at its end
        return next(
            (kind for words, kind in _ZIPPED if words.search(data[:_HEAD]) or words.search(data[-_HEAD:])), _DOCUMENT
        )
    return next((kind for magic, kind in _BEGINNINGS if data.startswith(magic)), None)

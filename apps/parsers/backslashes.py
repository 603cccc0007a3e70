"""Backslashes before signs that mean something in Markdown, as converters of pages and mails write them.

    md1 : active raid1 sda1\\[0\\] sdb1\\[1\\]
          24418688 blocks \\[2/1\\] \\[U\\_\\]

A line that has another backslash too, as strings and other systems' paths do, stays as it is, and so does JSON. Names that begin with
`\\_`, as firmware has them, do not make a text one of these.
"""

import re

from apps.parsers.source_text import SourceText

_SIGN = re.compile(r"\\([\[\]_|*#+>~<=@^-])")
_OTHER = re.compile(r"\\(?![\[\]_|*#+>~<=@^-])")
_TELLING = re.compile(r"\\[^_]")
_FEWEST = 3
_MOST_SPREAD = 16 << 20  # bytes


def without_backslashes(text: SourceText) -> SourceText | None:
    """The same lines, with the same numbers, without them; None where there are fewer than a few."""
    if b"\\" not in text.data or len(text.data) > _MOST_SPREAD or text.head[:1] in (b"{", b"["):
        return None
    rows, count = text.text.split("\n"), 0
    for place, row in enumerate(rows):
        if "\\" in row and not _OTHER.search(row):
            rows[place] = _SIGN.sub(r"\1", row)
            count += len(_TELLING.findall(row))
    return text.with_data("\n".join(rows).encode("utf-8", "replace")) if count >= _FEWEST else None

r"""Removal of backslashes before characters that have a meaning in Markdown, as converters of pages and mails write them.

    md1 : active raid1 sda1\\[0\\] sdb1\\[1\\]
          24418688 blocks \\[2/1\\] \\[U\\_\\]

A line with any other backslash, as in strings or Windows paths, stays as it is, and so does JSON. Escaped underscores
alone change nothing, because model names of disks contain them.
"""

import re

from apps.parsers.core.source_text import SourceText

_ESCAPED_SIGN = re.compile(r"\\([\[\]_|*#+>~<=@^-])")
_OTHER = re.compile(r"\\(?![\[\]_|*#+>~<=@^-])")
_ESCAPE_NOT_UNDERSCORE = re.compile(r"\\[^_]")
_LEAST_ESCAPES = 3
_LONGEST = 16 << 20  # bytes


def without_backslashes(text: SourceText) -> SourceText | None:
    """Return the text without them, with the same line numbers; None where there are fewer than three."""
    if b"\\" not in text.data or len(text.data) > _LONGEST or text.head[:1] in (b"{", b"["):
        return None
    lines, count = text.text.split("\n"), 0
    for index, line in enumerate(lines):
        if "\\" in line and not _OTHER.search(line):
            lines[index] = _ESCAPED_SIGN.sub(r"\1", line)
            count += len(_ESCAPE_NOT_UNDERSCORE.findall(line))
    return text.with_data("\n".join(lines).encode("utf-8", "replace")) if count >= _LEAST_ESCAPES else None

"""Logs that put the time before every line of a tool: of CI systems, containers, journals and `ts`.

    2023-05-04T10:11:12.1234567Z   read: IOPS=12.3k, BW=48.1MiB/s (50.4MB/s)(2886MiB/60001msec)
    [2023-05-04 10:11:12] fio-3.28
    May 04 10:11:12 host3 bench.sh[4711]: 1073741824 bytes (1.1 GB) copied, 8.2 s, 131 MB/s

What looks like a time may also be a table's first column, so only formats that are known by their words are asked what
stands behind it.
"""

import re

from apps.parsers.source_text import SourceText

_DATE = rb"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?"
_LEVEL = rb"(?: \[?(?:DEBUG|INFO|NOTICE)\]?:?)?"
_SHORT = rb"[A-Z][a-z]{2} {1,2}\d{1,2} \d\d:\d\d:\d\d"
_FORMS = tuple(
    re.compile(rb"^(?:" + form + rb")(?: |(?=\r?$))", re.MULTILINE)
    for form in (
        _SHORT + rb" [\w.-]{1,64} [\w./@-]{1,64}(?:\[\d{1,10}\])?:",
        _SHORT,
        rb"\[" + _DATE + rb"\]" + _LEVEL,
        _DATE + _LEVEL,
        rb"\[\d\d:\d\d:\d\d(?:[.,]\d{1,9})?\]",
    )
)
_FILLED = re.compile(rb"^[ \t\r]*[^ \t\r\n]", re.MULTILINE)
_FEWEST = 3
_SHARE = 0.9  # of all lines that are not empty: a log has a few lines of others


def without_times(text: SourceText) -> SourceText | None:
    """The same lines, with the same numbers, without the time before them; None where nearly all have none."""
    filled = None
    for form in _FORMS:
        if not form.search(text.data[:2000]):
            continue
        bare, times = form.subn(b"", text.data)
        filled = filled or sum(1 for _ in _FILLED.finditer(text.data))
        if times >= _FEWEST and times >= _SHARE * filled:
            return SourceText(bare, text.name)
    return None

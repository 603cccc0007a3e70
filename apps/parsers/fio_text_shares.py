"""Percentiles in fio's normal report: `| 99.00th=[  485], 99.50th=[  880],`, without brackets in some copies."""

import re
from collections.abc import Iterator

SHARE = re.compile(
    r"(?<![\w.])(\d{1,3}(?:\.\d{1,9})?)th=(?:\[\s*(\d{1,19})\s*\]|\s*(\d{1,19})\s*(?:,|$))"
)  # no half brackets
_LIKE = re.compile(r"([^\s|,\[\]=]{1,20})th=(?:\[([^\[\]]{1,24})\]|[ \t]{0,8}([^\s,\[\]]{1,24})(?=,))")
_NUMBER = re.compile(r"\d{1,3}(?:\.\d{1,9})?")


def damaged(text: str, found: int) -> Iterator[tuple[float | None, str]]:
    """What stands among a line's percentiles and is none: its share where that can be read, and the words. `found` is how
    many are sound.
    """
    if text.count("th=") <= found:
        return
    for match in _LIKE.finditer(text):
        value = (match[2] or match[3] or "").strip()
        is_share = _NUMBER.fullmatch(match[1]) is not None
        if value and not (is_share and value.isdecimal()):
            yield (float(match[1]) if is_share else None), match[0][:60]

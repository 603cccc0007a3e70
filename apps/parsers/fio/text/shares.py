"""Percentiles in fio's normal report: `| 99.00th=[  485], 99.50th=[  880],`, without brackets in some copies."""

import re
from collections.abc import Iterator

PERCENTILE = re.compile(
    r"(?<![\w.])(\d{1,3}(?:\.\d{1,9})?)th=(?:\[\s*(\d{1,19})\s*\]|\s*(\d{1,19})\s*(?:,|$))"
)  # both brackets or none
_LIKE = re.compile(r"([^\s|,\[\]=]{1,20})th=(?:\[([^\[\]]{1,24})\]|[ \t]{0,8}([^\s,\[\]]{1,24})(?=,))")
_NUMBER = re.compile(r"\d{1,3}(?:\.\d{1,9})?")


def find_damaged(text: str, valid: int) -> Iterator[tuple[float | None, str]]:
    """Yield the percentiles of a line that can not be read: the share where that is readable, and the words.

    `valid` is how many are readable.
    """
    if text.count("th=") <= valid:
        return
    for match in _LIKE.finditer(text):
        value = (match[2] or match[3] or "").strip()
        is_share = _NUMBER.fullmatch(match[1]) is not None
        if value and not (is_share and value.isdecimal()):
            yield (float(match[1]) if is_share else None), match[0][:60]

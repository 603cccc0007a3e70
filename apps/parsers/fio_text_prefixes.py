"""Whole reports of fio's behind the same words on every line, as `grep -H ""` prints files, and diff:

old.txt:job: (groupid=0, jobs=1): err= 0: pid=9: Sat Jun 25 02:08:42 2022
old.txt:  write: IOPS=122k, BW=478MiB/s (501MB/s)(14.0GiB/30001msec)

Without them the lines are the report's own. A line of rates whose job is not above it stays as it is (`fio_text_named`).
"""

import re
from collections.abc import Sequence

from apps.parsers.fio_text_headers import header_in

_RATES = re.compile(
    r"(?P<prefix>[^\s<].{0,200}?)  (?:read|write|trim|mixed)\s{0,3}:\s{0,3}(?:io=|IOPS=)"
)  # fio has two blanks
_LONGEST = 1000


def unprefixed(lines: Sequence[str]) -> tuple[list[str], dict[int, str]]:
    """The lines without such words; and where a report begins that has other words before it than those above, the words."""
    found, begins = list(lines), dict[int, str]()
    done, last = 0, ""  # the line behind the last one that was changed, and its prefix
    for index, line in enumerate(lines):
        if index < done or not index or ("IOPS=" not in line and "runt=" not in line):
            continue
        match = _RATES.match(line)
        if match is None or not _is_below_its_job(lines[index - 1], match["prefix"]):
            continue
        first, prefix = index, match["prefix"]
        while first > done and _is_behind(lines[first - 1], prefix):
            first -= 1
        if prefix == last:
            begins.pop(done, None)  # a line of something else stood between
        else:
            begins[first] = prefix.strip(" \t:+-/*#|")
        done, last = first, prefix
        while done < len(lines) and _is_behind(lines[done], prefix):
            found[done] = lines[done][len(prefix) :]
            done += 1
        begins[done] = ""
    return found, begins


def _is_below_its_job(above: str, prefix: str) -> bool:
    return above.startswith(prefix) and header_in(above[len(prefix) : _LONGEST]) is not None


def _is_behind(line: str, prefix: str) -> bool:
    return line.startswith(prefix) or line.rstrip() == prefix.rstrip()

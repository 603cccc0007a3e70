"""Detection of lines of fio's normal report that end too early, because fio was killed or another tool printed there.

Each kind of line has something that stands at its end in every version. A line without it, also when the next one
continues it as in mails, is not whole: its last figure may be half a number.
"""

import re
from collections.abc import Sequence

from apps.parsers.fio.text.lines import PERCENTILES, SHARES_GO_ON
from apps.parsers.fio.text.shares import PERCENTILE

_SPREAD = re.compile(r"dev=\s*[\d.]+"), "min=, max=, avg= and stdev="
_DISTRIBUTION = re.compile(r"[\d.]+%\W*$"), "shares up to its last %"
_DEPTHS = re.compile(r"(?:64|>32)=\s*[\d.]+%"), "shares up to >=64=0.0%"
_ENDS = {
    "slat": _SPREAD, "clat": _SPREAD, "sync": _SPREAD, "bw": _SPREAD, "iops": _SPREAD, "lat": _SPREAD,
    "cpu": (re.compile(r"sys=\s*[\d.]+%"), "usr=0.0%, sys=0.0%"),
    "IO": _DEPTHS, "submit": _DEPTHS, "complete": _DEPTHS,
    "issued": (re.compile(r"short="), "total=, short= and dropped="),
    "latency": (re.compile(r"depth=\d"), "target=, window=, percentile= and depth="),
}  # fmt: skip
_BEGINS = re.compile(
    r"\s*(?:(slat|clat|lat|sync) \([num]sec\)\s*:\s*(?:(min)=|\d)|(bw) \(\s*[KkM]i?(?:B|bit)\s*/s\)\s*:\s*min=|(iops)\s*: min="
    r"|(cpu)\s*:\s*usr=|(IO) depths\s*:\s|(submit|complete)\s*:\s*0=|(issued) (?:rwts?|r/w/d)?\s*: ?total=|(latency)\s*:\s*target=)"
)
_GOES_ON = re.compile(
    r"\s*(?:(?:min|max|per|avg|stdev|dev|samples|sys|short|drop|dropped|window|percentile|depth|>?=?\d{1,5})=|[\d.]+[,%])"
)
DEPTHS = re.compile(r"(  IO depths|     submit|     complete)|     issued|     latency")
_MEAN = re.compile(
    r"\b(?:avg|stdev)=\s{0,8}\d{1,15}\.\d\d\s{0,8}$"
)  # these have two decimals, so the figure is complete
_SECOND = re.compile(r"samples=\d{1,9} (iops\s{0,20}: min=)")
_LONGEST = 1000


def split_line(lines: Sequence[str], index: int) -> list[tuple[str, str]]:
    """Return a line with the next one; twice where a re-wrapped mail put the beginning of another line behind it."""
    line = lines[index][:_LONGEST]
    more = lines[index + 1][:_LONGEST] if index + 1 < len(lines) else ""
    if "samples=" not in line and "samples=" not in more:
        return [(line, more)]  # the usual case
    second, behind = _SECOND.search(line), _SECOND.search(more)
    more = more[: behind.start(1)] if behind else more
    return [(line, more)] if second is None else [(line[: second.start(1)], ""), (line[second.start(1) :], more)]


def read_whole(line: str, more: str) -> tuple[str, str]:
    """Return the valid part of a line, joined with the next one where a mail wrapped it, and what is missing at its end."""
    begun = _BEGINS.match(line)
    if begun is None:
        return line, ""
    kind = next(word for word in begun.groups() if word and word != "min")
    end, expected = _DISTRIBUTION if begun[1] and not begun[2] else _ENDS[kind]
    if end.search(line):
        return line, ""
    joined = f"{line} {more.strip()}"
    if _GOES_ON.match(more) and end.search(joined):
        return joined, ""
    return line if _MEAN.search(line) else line.rpartition(",")[0], expected


def get_following(line: str) -> str:
    """Return what has to follow a line of the report, "" where it may be the last of its kind."""
    if PERCENTILES.match(line) or _is_share(line):
        return "the other percentiles" if _is_continued(line) else ""
    depths = DEPTHS.match(line)
    return "submit, complete and issued" if depths and depths[1] else ""


def is_continuation(line: str) -> bool:
    """Return whether a line may follow one that is not the last of its kind."""
    return _is_share(line) or bool(DEPTHS.match(line) or _GOES_ON.match(line))


def _is_share(line: str) -> bool:
    return bool(PERCENTILE.search(line) or SHARES_GO_ON.match(line))


def _is_continued(line: str) -> bool:
    """Return whether percentiles go on: fio puts a comma behind all but the last, and a mail may break a line inside one."""
    bare = line.rstrip()
    rest = bare.rpartition("]")[2].lstrip()
    return rest.startswith(",") or bare.endswith((",", ":", "=")) or bare.count("[") > bare.count("]")

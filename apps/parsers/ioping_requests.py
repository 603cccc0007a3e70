"""ioping's line for each request. When it was made is not printed (but for -I): the requests of a run are a histogram.

4 KiB <<< . (ext4 /dev/vda 252.0 GiB): request=2 time=295.8 us
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from apps.parsers import ioping_units
from apps.parsers.finite import INT8
from apps.parsers.shape import ParsedHistogram

_HEAD = re.compile(r"(?:^|\s)([\d.]{1,20} (?:bytes|[KMGTP]i?B|[kmgtp]?b|B)) (from|to|<<<|>>>) (.+)$")
_TIME = re.compile(r"(\d{1,18}) time=([\d.]{1,20} ?[a-z]{1,4})(?!\S)")
_RAW_BEFORE = re.compile(r"(?:\d{1,18} ){4}")
_NOT_COUNTED = ("(warmup)", "(too fast)", "(too slow)")
_DIRECTIONS = {"from": "read", "<<<": "read", "to": "write", ">>>": "write"}
MARK = ": request="


@dataclass(frozen=True, slots=True)
class Request:
    number: int
    size: str
    direction: str
    target: str
    latency: float  # ns
    is_counted: bool  # in ioping's own statistics


def read(line: str) -> Request | None:
    head, _, tail = line.partition(MARK)
    match, time = _HEAD.search(head), _TIME.match(tail)
    latency = ioping_units.time(time[2]) if time else None
    if match is None or time is None or latency is None or latency > INT8 or MARK in tail or _RAW_BEFORE.match(head):
        return None
    is_counted = not any(mark in tail for mark in _NOT_COUNTED)
    return Request(int(time[1]), match[1], _DIRECTIONS[match[2]], match[3], latency, is_counted)


def are_all(requests: Sequence[Request], damaged: int, counted: float | None) -> bool:
    """Whether none was left out, by their numbers and by how many ioping counted; `damaged` ones were told."""
    shown = sum(one.is_counted for one in requests) + damaged
    return not requests or (requests[-1].number <= len(requests) + damaged and shown >= (counted or 0))


def histograms(requests: Sequence[Request], name: str) -> tuple[ParsedHistogram, ...]:
    """Of the latencies that ioping counts; `name` is the operation where there is only one direction."""
    directions = {one.direction for one in requests}
    counted: dict[str, Counter[int]] = {}
    for one in requests:
        if one.is_counted:
            counted.setdefault(one.direction, Counter())[round(one.latency)] += 1
    return tuple(
        ParsedHistogram(name if len(directions) == 1 else f"rand{direction}", "lat", 0, tuple(sorted(bins.items())))
        for direction, bins in counted.items()
    )

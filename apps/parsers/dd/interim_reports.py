"""Reports that dd prints while it still copies: on SIGINFO (Ctrl-T of BSD and macOS) and on SIGUSR1 (GNU, busybox, uutils).

    $ sudo dd if=image.img of=/dev/rdisk3 bs=1m
    load: 1.65  cmd: dd 99732 uninterruptible 0.00u 0.13s
    249+0 records in
    248+0 records out
    260046848 bytes transferred in 0.330818 secs (786072393 bytes/sec)

They have the form of the final report. Bytes and seconds of one copy only grow, and nothing but what asks for a report
stands between them.
"""

import re

from apps.parsers.dd.lines import DdResult, UnclearResult

Records = tuple[int, int]  # full and partial blocks

LOAD = re.compile(r"\s*(?:\^T\s{0,8})?(?:\[ {0,8}[\d.]{1,24}\] )?load: [\d.,]{1,12}\s{1,4}cmd: \S{1,60} \d{1,10}\b")
_REQUEST = re.compile(  # kill -USR1 123, pkill -INFO dd, sudo kill -s SIGUSR1 $(pgrep ^dd), killall -10 dd, watch …
    r"(?:^|[\s;&|#$%>({])(?:p?kill|killall)\b[^\n]{0,60}?-(?:s ?|-signal[ =])?(?:(?:SIG)?(?:USR1|INFO|PWR)|10|29|30)\b",
    re.IGNORECASE,
)
_BESIDE = re.compile(  # ^T alone, ^C, the shell's words about its jobs
    r"\s*(?:\^[TCZ\\]\s*)*$|\s*\[\d{1,3}\](?:[+-]?\s{1,8}(?:Done|Exit|Running|Stopped|Continued|Interrupt|Terminated)\b|\s{0,3}\d{1,10}\s*$)"
)
_ROUND, _POWER = 100, 64  # a count of at most two digits and zeros is one that somebody typed


def is_beside(line: str) -> bool:
    """Return whether a line may stand between two reports of one copy."""
    return bool(_BESIDE.match(line)) or is_request(line)


def is_request(line: str) -> bool:
    """Return whether a line shows that a report was asked for."""
    return bool(
        ("load:" in line and LOAD.match(line)) or ("kill" in line and "dd if" not in line and _REQUEST.search(line))
    )


def is_later(
    before: DdResult | UnclearResult | None, after: DdResult | UnclearResult | None, *, is_requested: bool
) -> bool:
    """Return whether a report can be a later one of the same copy: more seconds, and more bytes.

    Where a report was asked for, the bytes may be the same: the copy waited for its disk.
    """
    if not (isinstance(before, DdResult) and isinstance(after, DdResult)):
        return False
    if before.seconds is None or after.seconds is None or after.seconds <= before.seconds:
        return False
    return after.bytes > before.bytes or (is_requested and after.bytes == before.bytes)


def has_later_records(before: list[Records], after: list[Records]) -> bool:
    """Return whether the records of two reports go on counting, as far as both have them; lines of progress have none."""
    if before and not after:
        return False
    return all(sum(last) >= sum(first) for first, last in zip(before[-2:], after[-2:], strict=False))


def is_in_flight(records: list[Records]) -> bool:
    """Return whether a block was read and not yet written, which the report of a copy that ended does not show."""
    return len(records) > 1 and sum(records[-2]) > sum(records[-1])


def is_typed_count(records: list[Records]) -> bool:
    """Return whether the number of blocks is one that people type (`count=`): 1000, 250000, 4096, 1536."""
    if not records:
        return False
    count, partial = records[-1]
    significant, power = count, count & -count
    while significant and significant % 10 == 0:
        significant //= 10
    return partial == 0 and (significant < _ROUND or (power >= _POWER and count // power < _ROUND))

"""Which way a sum of iperf 2 is of where streams go both ways at once (-d or --full-duplex with -P): `[SUM]` does not say it.

    [  3]  0.0- 1.0 sec   920 MBytes  7.57 Gbits/sec
    [  5]  0.0- 1.0 sec  1.93 GBytes  16.5 Gbits/sec
    [SUM]  0.0- 1.0 sec  2.83 GBytes  23.8 Gbits/sec      of 3 and 5, which moved as much

Since 2.0.14 the sum is of both ways, as `[FD1]` is of one stream: it is no direction's, and not read. Where the streams do not tell
which of these it is, its figures are missing.
"""

from collections.abc import Sequence

from apps.parsers.iperf2_connections import Connection, Header
from apps.parsers.iperf_lines import Report

_NEAR = 0.02  # of what the sum moved: each stream's figure has three digits
_SAME_END = 0.5  # of the sum's seconds: streams begin and end some tenths apart


def by_way(total: Connection, streams: Sequence[Connection], header: Header) -> list[Connection]:
    """The sum's lines of each way; one connection, as it is, where the streams go one way."""
    ways: dict[str, list[Connection]] = {}
    for one in streams:
        ways.setdefault(one.operation(header), []).append(one)
    if not ways or (len(ways) == 1 and not any(one.is_both_ways for one in streams)):
        return [total]
    parts: dict[str, Connection] = {}
    for line in total.lines:
        fitting = [way for way, some in ways.items() if way and _makes_up(some, line)]
        way = fitting[0] if len(fitting) == 1 else ""
        parts.setdefault(way, Connection(total.id, way=way)).lines.append(line)
    if "" in parts and any(_makes_up(streams, line) for line in parts[""].lines):
        del parts[""]
    return list(parts.values())


def _makes_up(streams: Sequence[Connection], total: Report) -> bool:
    allowed = (total.end - total.start) * _SAME_END
    moved = 0.0
    for one in streams:
        same = [line for line in one.lines if line.start == total.start and abs(line.end - total.end) < allowed]
        if not same:
            return False
        moved += min(same, key=lambda line: abs(line.end - total.end)).moved
    return len(streams) > 1 and abs(moved - total.moved) <= total.moved * _NEAR

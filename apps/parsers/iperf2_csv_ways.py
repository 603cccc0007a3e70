"""Which way the lines of iperf 2's CSV are of. The rules are told in `iperf2_csv`."""

from collections.abc import Sequence

from apps.parsers.iperf2_csv_rows import Row

_DEFAULT_PORT, _FIRST_EPHEMERAL = "5001", 32768
_OTHER = {"net_send": "net_receive", "net_receive": "net_send"}
_ROUNDED = 0.01  # of what a sum moved


def server_ports(rows: Sequence[Row]) -> set[str]:
    """`host:port` of what several connections have in common: only a server's stays the same."""
    pairs = {row.ends for row in rows if not row.is_sum}
    counted: dict[str, int] = {}
    for end in (end for pair in pairs for end in pair):
        counted[end] = counted.get(end, 0) + 1
    return {end for end, count in counted.items() if count > 1}


def operation_of(row: Row, servers: set[str]) -> str:
    """net_send, net_receive, or nothing where the ports do not tell."""
    if row.counts_datagrams:
        return "net_receive"
    if "datagrams" in row.cells and row.cells["datagrams"].startswith("-"):
        return "net_send"
    here, there = ":".join(row.key[:2]), ":".join(row.key[2:4])
    for is_server in (
        lambda end: end.endswith(f":{_DEFAULT_PORT}"),
        lambda end: end in servers,
        lambda end: 0 < int(end.rpartition(":")[2] or 0) < _FIRST_EPHEMERAL,
    ):
        if is_server(here) != is_server(there):
            return "net_receive" if is_server(here) else "net_send"
    return ""


def with_other_ways(rows: Sequence[Row], operations: Sequence[str]) -> list[str]:
    """The operations of a test's last lines. Since 2.0.14 the source of the data stands in front: where the ports say the same of two
    streams whose hosts stand the other way round (-d), the second goes the other way. A sum of both ways is neither's: "".
    """
    streams = [place for place, row in enumerate(rows) if not row.is_sum]
    found = list(operations)
    for place in streams[1:]:
        if _is_turned(rows[streams[0]], rows[place]) and found[place] == found[streams[0]]:
            found[place] = _OTHER[found[place]]
    sent = [place for place in streams if not rows[place].counts_datagrams]
    ways = {found[place] for place in sent}
    for place, row in enumerate(rows):
        if row.is_sum and len(ways) > 1:
            moved = {way: sum(rows[one].moved for one in sent if found[one] == way) for way in sorted(ways)}
            fitting = [way for way, amount in moved.items() if abs(amount - row.moved) <= row.moved * _ROUNDED]
            found[place] = fitting[0] if len(fitting) == 1 else ""
    return found


def _is_turned(head: Row, row: Row) -> bool:
    one, other = head.key[0], head.key[2]
    return (row.key[0], row.key[2]) == (other, one) and one != other and "datagrams" not in row.cells

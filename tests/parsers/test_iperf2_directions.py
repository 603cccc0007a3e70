"""Which direction each line of iperf 2 is of: dual tests, sums, servers that call back, full duplex; and lines that stand alone."""

import pytest

from apps.parsers.core.models import ParsedFile, ParsedRun
from apps.parsers.core.source_text import SourceText
from apps.parsers.iperf import iperf2_csv, iperf2_text

CALLED_BACK = """\
Server listening on TCP port 5001
[  4] local 10.0.0.2 port 5001 connected with 10.0.0.1 port 37840
Client connecting to 10.0.0.1, TCP port 5002
[  7] local 10.0.0.2 port 42770 connected with 10.0.0.1 port 5002
Client connecting to 10.0.0.1, TCP port 5002
[  8] local 10.0.0.2 port 42772 connected with 10.0.0.1 port 5002
[  5] local 10.0.0.2 port 5001 connected with 10.0.0.1 port 37848
"""
DUAL = """\
Server listening on TCP port 5001
Client connecting to 10.0.0.2, TCP port 5001
[  3] local 10.0.0.1 port 40001 connected with 10.0.0.2 port 5001
[  4] local 10.0.0.1 port 40002 connected with 10.0.0.2 port 5001
[  5] local 10.0.0.1 port 5001 connected with 10.0.0.2 port 50001
[  6] local 10.0.0.1 port 5001 connected with 10.0.0.2 port 50002
"""
WAY_UNKNOWN = "nothing says which direction this is of"


def read(text: str) -> ParsedFile:
    return iperf2_text.parse(SourceText(text))


def row(name: str, mebibytes: int, mbits: int, end: str = "10.0") -> str:
    return f"[{name:>3}]  0.0-{end} sec  {mebibytes} MBytes  {mbits} Mbits/sec\n"


def rates(run: ParsedRun) -> list[tuple[str, str, float | None]]:
    names = {one.number: one.name for one in run.sections}
    return [
        (names.get(one.section, ""), one.operation, one.value and one.value * 8 / 1e6)
        for one in run.samples
        if one.metric == "bandwidth"
    ]


def test_a_server_that_calls_back_several_times_knows_what_it_received() -> None:
    text = (
        CALLED_BACK
        + row("5", 600, 500)
        + row("4", 700, 580)
        + row("SUM", 1300, 1080)
        + row("8", 300, 250)
        + row("7", 400, 330)
    )
    found = read(text)
    assert rates(found.runs[0]) == [
        ("SUM", "net_receive", 1080), ("stream 4", "net_receive", 580), ("stream 7", "net_send", 330),
        ("stream 8", "net_send", 250), ("stream 5", "net_receive", 500),
    ]  # fmt: skip
    assert (len(found.runs), found.broken) == (1, ())


def test_each_direction_of_a_dual_test_has_its_own_sum() -> None:
    text = DUAL + row("3", 600, 500) + row("5", 100, 80) + row("4", 700, 580) + row("SUM", 1300, 1080)
    (run,) = read(text + row("6", 120, 90) + row("SUM", 220, 170)).runs
    assert rates(run)[:2] == [("SUM", "net_send", 1080), ("SUM", "net_receive", 170)]
    assert not run.series


def test_a_sum_of_both_directions_is_none_of_either() -> None:
    text = (
        DUAL + row("3", 600, 500) + row("5", 100, 80) + row("4", 700, 580) + row("6", 120, 90) + row("SUM", 1520, 1250)
    )
    assert "SUM" not in [name for name, _, _ in rates(read(text).runs[0])]


def test_a_sum_that_its_streams_do_not_make_up_is_missing() -> None:
    text = DUAL + row("3", 600, 500) + row("5", 100, 80) + row("4", 700, 580) + row("6", 120, 90) + row("SUM", 900, 750)
    sample = read(text).runs[0].samples[0]
    assert (sample.value, sample.printed, sample.missing_reason) == (None, "750 Mbits/sec", WAY_UNKNOWN)


def test_a_sum_beside_a_server_of_the_same_terminal_is_the_clients() -> None:
    text = (
        DUAL.replace("port 5001\nClient", "port 5009\nClient")
        + row("3", 600, 500)
        + row("4", 700, 580)
        + row("SUM", 1300, 1080)
    )
    assert rates(read(text).runs[0])[0] == ("SUM", "net_send", 1080)


def test_who_calls_back_with_a_star_sends() -> None:
    text = (
        "Server listening on TCP port 5001\n[  2] local 10.0.0.2 port 5001 connected with 10.0.0.1 port 39300\n"
        "[  2] 0.00-1.01 sec  1.42 GBytes  12.0 Gbits/sec\nClient connecting to 10.0.0.1, TCP port 5002\n"
        "[ *1] local 10.0.0.2 port 37468 connected with 10.0.0.1 port 5002 (reverse)\n[ *1] 0.00-1.02 sec   599 MBytes  4.95 Gbits/sec\n"
    )
    assert [rates(run) for run in read(text).runs] == [[("", "net_receive", 12000)], [("", "net_send", 4950)]]


def test_a_server_of_full_duplex_does_not_tell_its_directions() -> None:
    text = (
        "Server listening on TCP port 5001\n"
        "[ *1] local 10.0.0.2 port 5001 connected with 10.0.0.1 port 34150 (full-duplex)\n[ *1] 0.00-1.02 sec   238 MBytes  1.96 Gbits/sec\n"
        "[ *1] 0.00-1.01 sec   186 MBytes  1.55 Gbits/sec\n[SUM] 0.00-1.03 sec   424 MBytes  3.50 Gbits/sec\n"
    )
    (run,) = read(text).runs
    assert {(one.value, one.missing_reason) for one in run.samples} == {(None, WAY_UNKNOWN)}
    assert not run.series


@pytest.mark.parametrize(
    ("lines", "value"),
    [
        (row("3", 110, 941, " 1.0"), None),
        (row("3", 110, 941, " 1.0") + "[  3] Sent 85 datagrams\n", 941),
        (row("3", 110, 941, " 2.0"), 941),
        ("[  3] 0.00-1.00 sec  110 MBytes  941 Mbits/sec\n", 941),
    ],
)
def test_the_first_second_alone_is_no_whole_test(lines: str, value: float | None) -> None:
    text = "Client connecting to 10.0.0.2, UDP port 5001\n[  3] local 10.0.0.1 port 40001 connected with 10.0.0.2 port 5001\n"
    assert rates(read(text + lines).runs[0]) == [("", "net_send", value)]


def test_a_size_that_the_system_did_not_say_is_no_damage() -> None:
    text = "Client connecting to 10.0.0.2, TCP port 5001\nTCP window size: -1.00 Byte (default)\n"
    assert read(text + row("3", 110, 941)).broken == ()


def test_the_headers_of_each_stream_are_those_of_one_test() -> None:
    """2.2 prints one for each of -P."""
    header = "Client connecting to 10.0.0.2, TCP port 5001\nTCP window size: 16.0 KByte (default)\n"
    found = read(header * 2 + "".join(DUAL.splitlines(keepends=True)[2:4]) + row("3", 600, 500) + row("4", 700, 580))
    assert (len(found.runs), found.broken) == (1, ())
    again = read(f"$ iperf -c 10.0.0.2\n{header}connect failed\n$ iperf -c 10.0.0.2\n{header}" + row("3", 600, 500))
    assert [one.message for one in again.broken] == ["the test has no results"]


def test_a_sum_of_one_line_is_whole_where_its_streams_are() -> None:
    streams = "".join(row(name, 60, 500, " 1.0") * 2 for name in ("3", "4"))
    text = "$ iperf -s -i 1\n" + CALLED_BACK.splitlines()[0] + "\n" + streams + row("SUM", 120, 1000, " 1.0")
    assert rates(read(text).runs[0])[0] == ("SUM", "net_receive", 1000)


def csv(source: str, port: int, peer: str, peer_port: int, name: int, moved: int) -> str:
    return f"20261125104501,{source},{port},{peer},{peer_port},{name},0.0-10.0,{moved},{moved * 8 // 10}\n"


def test_csv_whose_hosts_stand_the_other_way_round_went_the_other_way() -> None:
    text = csv("10.0.0.1", 57162, "10.0.0.2", 5001, 1, 10**9) + csv("10.0.0.2", 50004, "10.0.0.1", 5001, 2, 5 * 10**8)
    (run,) = iperf2_csv.parse(SourceText(text + csv("10.0.0.1", 0, "10.0.0.2", 5001, -1, 15 * 10**8))).runs
    assert rates(run) == [("stream 1", "net_send", 800), ("stream 2", "net_receive", 400)]
    assert {one.threads for one in run.samples} == {1}


def test_csv_of_both_ways_has_the_sum_of_each() -> None:
    """As 2.0 prints it: its own side first."""
    text = csv("10.0.0.1", 57162, "10.0.0.2", 5001, 3, 10**9) + csv("10.0.0.1", 57163, "10.0.0.2", 5001, 4, 10**9)
    text += csv("10.0.0.1", 0, "10.0.0.2", 5001, -1, 2 * 10**9) + csv("10.0.0.1", 5001, "10.0.0.2", 40001, 5, 10**8)
    text += csv("10.0.0.1", 5001, "10.0.0.2", 40002, 6, 10**8) + csv("10.0.0.1", 5001, "10.0.0.2", 0, -1, 2 * 10**8)
    (run,) = iperf2_csv.parse(SourceText(text)).runs
    assert rates(run)[:2] == [("SUM", "net_send", 1600), ("SUM", "net_receive", 160)]

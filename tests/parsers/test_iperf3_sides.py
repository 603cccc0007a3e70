"""iperf 3: sums that stand twice, what a server does not know, and what a client shows of its server."""

import json

import pytest

from apps.parsers.core.models import ParsedFile
from apps.parsers.core.source_text import SourceText
from apps.parsers.iperf import iperf3_json, iperf3_text
from apps.parsers.iperf.iperf3_json import rename_repeated_sums

HEADING = "[ ID] Interval           Transfer     Bitrate         "
CLIENT = f"""\
Connecting to host 10.0.0.2, port 5201
[  5] local 10.0.0.1 port 40001 connected to 10.0.0.2 port 5201
{HEADING}Retr  Cwnd
[  5]   0.00-1.00   sec   110 MBytes   920 Mbits/sec    0    320 KBytes
- - - - - - - - - - - - - - - - - - - - - - - - -
{HEADING}Retr
[  5]   0.00-1.00   sec   110 MBytes   920 Mbits/sec    3             sender
[  5]   0.00-1.04   sec   109 MBytes   880 Mbits/sec                  receiver

Server output:
-----------------------------------------------------------
Accepted connection from 10.0.0.1, port 40000
[  6] local 10.0.0.2 port 5201 connected to 10.0.0.1 port 40001
{HEADING}
[  6]   0.00-1.00   sec   104 MBytes   872 Mbits/sec
[  6]   1.00-1.04   sec  5.00 MBytes   880 Mbits/sec
- - - - - - - - - - - - - - - - - - - - - - - - -
{HEADING}
[  6]   0.00-1.04   sec   109 MBytes   880 Mbits/sec                  receiver


iperf Done.
"""
SERVER_SENDS = f"""\
Accepted connection from 10.0.0.1, port 40000
[  5] local 10.0.0.2 port 5201 connected to 10.0.0.1 port 40001
{HEADING}Total Datagrams
[  5]   0.00-1.00   sec  2.19 MBytes  18.4 Mbits/sec  280
- - - - - - - - - - - - - - - - - - - - - - - - -
{HEADING}Jitter    Lost/Total Datagrams
[  5]   0.00-1.04   sec  2.38 MBytes  19.2 Mbits/sec  {{}}
"""


def figures(found: ParsedFile) -> list[tuple[int, str, str, float | None]]:
    return [
        (s.section, s.operation, s.metric, s.value) for run in found.runs for s in run.samples if s.metric != "io_bytes"
    ]


def bits(amount: float, *, sender: bool) -> dict[str, object]:
    return {"end": 1.0, "bytes": int(amount / 8), "bits_per_second": amount, "sender": sender}


def bidir(indent: int | None) -> str:
    """As 3.7 prints it: the same keys for both directions."""
    start = {
        "connected": [],
        "connecting_to": {"host": "h"},
        "test_start": {"protocol": "TCP", "num_streams": 1, "bidir": 1},
    }
    end = {
        "sum_sent": bits(8e9, sender=True), "sum_received": bits(7.2e9, sender=True),
        "again_sent": bits(4e9, sender=False), "again_received": bits(3.2e9, sender=False),
    }  # fmt: skip
    intervals = [{"sum": bits(8e9, sender=True), "again": bits(3.2e9, sender=False)}]
    document = json.dumps({"start": start, "intervals": intervals, "end": end}, indent=indent)
    return document.replace('"again', '"sum')


@pytest.mark.parametrize("indent", [None, 1])
def test_sums_of_both_directions_under_the_same_keys_are_both_read(indent: int | None) -> None:
    found = iperf3_json.parse(SourceText(bidir(indent)))
    assert figures(found) == [
        (0, "net_send", "bandwidth", 1e9), (0, "net_receive", "bandwidth", 9e8),
        (1, "net_send", "bandwidth", 5e8), (1, "net_receive", "bandwidth", 4e8),
    ]  # fmt: skip
    assert [(one.operation, one.section, one.values) for one in found.runs[0].series] == [
        ("net_send", 0, (1e9,)), ("net_receive", 1, (4e8,))]  # fmt: skip
    assert found.broken == ()
    assert found.runs[0].samples[4].printed == "4000000000.0 bits/s"


def test_a_sum_of_the_next_interval_keeps_its_name() -> None:
    body = '[{"sum": {"bytes": 1}}, {"sum": {"bytes": 2}}]'
    assert rename_repeated_sums(body) is body


@pytest.mark.parametrize(
    ("rest", "known"),
    [
        ("0.000 ms  0/306 (0%)", []),
        ("0.003 ms  80/306 (26%)", [(0, "net_receive", "jitter", 3000), (0, "net_receive", "lost", 80 / 306)]),
    ],
)
def test_a_server_that_sends_knows_of_losses_only_what_is_no_zero(
    rest: str, known: list[tuple[int, str, str, float]]
) -> None:
    found = iperf3_text.parse(SourceText(SERVER_SENDS.format(rest)))
    assert figures(found) == [(0, "net_send", "bandwidth", 2.4e6), *known]


@pytest.mark.parametrize(("jitter", "count"), [(0, 1), (0.032, 3)])
def test_a_server_that_sends_says_so_in_json_too(jitter: float, count: int) -> None:
    total = {
        "bytes": 2_500_000,
        "bits_per_second": 2e7,
        "jitter_ms": jitter,
        "lost_packets": 0,
        "packets": 306,
        "lost_percent": 0,
    }
    start = {"accepted_connection": {"host": "h"}, "test_start": {"protocol": "UDP", "num_streams": 1, "reverse": 1}}
    found = iperf3_json.parse(SourceText(json.dumps({"start": start, "intervals": [], "end": {"sum": total}})))
    assert figures(found)[0] == (0, "net_send", "bandwidth", 2.5e6)
    assert len(figures(found)) == count


def test_what_a_client_shows_of_its_server_is_the_same_test() -> None:
    found = iperf3_text.parse(SourceText(CLIENT))
    assert figures(found) == [
        (0, "net_send", "bandwidth", 115e6), (0, "net_send", "retransmits", 3), (0, "net_receive", "bandwidth", 110e6)]  # fmt: skip
    (run,) = found.runs
    assert [(one.operation, one.values) for one in run.series] == [
        ("net_send", (115e6,)), ("net_receive", (109e6, 110e6))]  # fmt: skip
    assert (run.line, run.last_line, found.broken) == (1, 22, ())


@pytest.mark.parametrize("signal", ["", " by signal Interrupt(2)"])
def test_a_server_that_is_stopped_while_it_waits_has_no_broken_test(signal: str) -> None:
    idle = {
        "start": {"connected": [], "version": "iperf 3.5"},
        "intervals": [],
        "end": {},
        "error": f"interrupt - the server has terminated{signal}",
    }
    found = iperf3_json.parse(SourceText(bidir(1) + "\n" + json.dumps(idle, indent=1)))
    assert (len(found.runs), found.broken) == (1, ())


def test_that_a_client_was_stopped_may_stand_above_its_output() -> None:
    """As in a file for what it prints and its errors."""
    found = iperf3_text.parse(
        SourceText("iperf3: interrupt - the client has terminated\n" + CLIENT.partition("\nServer output")[0])
    )
    (run,) = found.runs
    assert (run.line, run.problem, found.broken) == (1, "", ())
    alone = iperf3_text.parse(
        SourceText("iperf3: interrupt - the client has terminated\n$ iperf3 -c 10.0.0.2\n" + CLIENT)
    )
    assert [(one.line, one.message) for one in alone.broken] == [(1, "the test has no results")]

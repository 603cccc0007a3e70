"""What iperf 3.0 to 3.10 print at the end of a test of UDP is what was sent, on either side; units that 3.0 lost."""

import json
from itertools import product
from typing import Any

import pytest

from apps.parsers.core.models import ParsedFile, ParsedSample
from apps.parsers.core.registry import recognise
from apps.parsers.core.source_text import SourceText
from apps.parsers.iperf import iperf2_csv, iperf2_text, iperf3_json, iperf3_text
from tests.parsers.every import faults

HEADING = "[ ID] Interval           Transfer     Bandwidth       Jitter    Lost/Total Datagrams\n"
RULE = "- - - - - - - - - - - - - - - - - - - - - - - - -\n"


def row(name: str, start: int, end: int, mib: float, mbits: float, lost: int, total: int) -> str:
    moved = f"{mib:5.1f} MBytes  {mbits:4.0f} Mbits/sec"
    return f"[{name:>3}]   {start}.00-{end}.00   sec  {moved}  0.125 ms  {lost}/{total} ({100 * lost / total:.2g}%)  \n"


def parse(text: str) -> ParsedFile:
    source = SourceText(text)
    parsed = iperf3_text.parse(source)
    assert not faults(parsed, source)
    assert not parsed.broken
    return parsed


def find(parsed: ParsedFile, operation: str, metric: str, section: int = 0) -> ParsedSample:
    (run,) = parsed.runs
    (sample,) = [one for one in run.samples if (one.operation, one.metric, one.section) == (operation, metric, section)]
    return sample


HEADS = {
    "client": "Connecting to host 10.1.0.2, port 5201\nReverse mode, remote host 10.1.0.2 is sending\n",
    "server": "Accepted connection from 10.1.0.9, port 52257\n",
}


@pytest.mark.parametrize("side", HEADS)
@pytest.mark.parametrize("streams", [1, 2, 4])
def test_a_receiver_prints_what_was_sent_and_its_intervals_what_arrived(side: str, streams: int) -> None:
    names = [str(4 + 2 * place) for place in range(streams)]
    named = [*names, "SUM"] if streams > 1 else names
    factors = {name: streams if name == "SUM" else 1 for name in named}
    text = HEADS[side] + HEADING
    for second in (0, 1):
        text += "".join(
            row(name, second, second + 1, 20 * factors[name], 168 * factors[name], 3000, 4000) for name in named
        )
    text += RULE + HEADING
    text += "".join(row(name, 0, 2, 160 * factors[name], 671 * factors[name], 6000, 8000) for name in named)
    parsed = parse(text + "\niperf Done.\n" * (side == "client"))
    for section, name in enumerate(["SUM", *names] if streams > 1 else names):
        arrived = find(parsed, "net_receive", "bandwidth", section)
        assert find(parsed, "net_send", "bandwidth", section).value == 671e6 / 8 * factors[name]
        assert (arrived.value, arrived.quality) == (20 * factors[name] * 2**20, "approximate")
        assert "intervals" in arrived.note
        assert find(parsed, "net_receive", "lost", section).value == 0.75
    assert not [one for one in parsed.runs[0].samples if (one.operation, one.metric) == ("net_receive", "io_bytes")]


def test_what_arrived_is_not_known_where_intervals_are_missing() -> None:
    text = (
        HEADS["client"]
        + HEADING
        + row("4", 1, 2, 20, 168, 3000, 4000)
        + RULE
        + HEADING
        + row("4", 0, 2, 160, 671, 6000, 8000)
    )
    arrived = find(parse(text), "net_receive", "bandwidth")
    assert (arrived.value, bool(arrived.missing_reason)) == (None, True)


def json_test(
    total: dict[str, Any], interval: dict[str, Any], *, version: str, reverse: int, suffix: str = ""
) -> ParsedFile:
    document = {
        "start": {
            "connected": [{"socket": 5, "local_host": "10.1.0.1", "remote_host": "10.1.0.2"}], "version": f"iperf {version}",
            "connecting_to": {"host": "10.1.0.2", "port": 5201}, "cookie": "c",
            "test_start": {"protocol": "UDP", "num_streams": 1, "blksize": 1400, "reverse": reverse, "bidir": int(bool(suffix))},
        },
        "intervals": [{"streams": [interval], "sum": interval, f"sum{suffix}": interval}] * 2,
        "end": {"streams": [{"udp": total}], "sum": total, f"sum{suffix}": total},
    }  # fmt: skip
    source = SourceText(json.dumps(document, indent=1))
    parsed = iperf3_json.parse(source)
    assert not faults(parsed, source)
    return parsed


TOTAL = {"socket": 5, "start": 0, "end": 2.0, "seconds": 2.0, "bytes": 900_000_000, "bits_per_second": 3.6e9, "jitter_ms": 0.5,
         "lost_packets": 60, "packets": 100, "lost_percent": 60.0}  # fmt: skip
INTERVAL = {"socket": 5, "start": 0, "end": 1.0, "seconds": 1.0, "bytes": 180_000_000, "bits_per_second": 1.44e9, "jitter_ms": 0.5,
            "lost_packets": 30, "packets": 50, "lost_percent": 60.0, "omitted": False}  # fmt: skip


@pytest.mark.parametrize("version", ["3.0.7", "3.1.2", "3.3", "3.6", "3.9"])
def test_the_sum_in_json_is_the_senders_on_either_side(version: str) -> None:
    reverse = json_test(TOTAL, INTERVAL, version=version, reverse=1)
    assert find(reverse, "net_send", "bandwidth").value == 450e6
    assert find(reverse, "net_receive", "bandwidth").value == 180e6
    assert find(reverse, "net_receive", "lost").value == 0.6
    forward = json_test(TOTAL, INTERVAL, version=version, reverse=0)
    assert find(forward, "net_send", "bandwidth").value == 450e6
    assert find(forward, "net_receive", "lost").value == 0.6
    assert not [one for one in forward.runs[0].samples if (one.operation, one.metric) == ("net_receive", "bandwidth")]


def test_of_both_directions_only_the_other_hosts_sum_is_taken_from_intervals() -> None:
    parsed = json_test(TOTAL, INTERVAL, version="3.8", reverse=0, suffix="_bidir_reverse")
    assert find(parsed, "net_send", "bandwidth").value == 450e6
    assert find(parsed, "net_send", "bandwidth", section=1).value == 450e6
    assert find(parsed, "net_receive", "bandwidth", section=1).value == 180e6


@pytest.mark.parametrize(("lost", "percent"), [(150, 150.0), (101, 101.0), (-3, -3.0)])
def test_no_share_of_a_whole_is_above_all_or_below_nothing(lost: int, percent: float) -> None:
    parsed = json_test({**TOTAL, "lost_packets": lost, "lost_percent": percent}, INTERVAL, version="3.9", reverse=1)
    sample = find(parsed, "net_receive", "lost")
    assert (sample.value, bool(sample.missing_reason)) == (None, True)
    text = (
        f"{HEADS['client']}{HEADING}{row('4', 0, 1, 20, 168, 3, 50)}{RULE}{HEADING}{row('4', 0, 1, 20, 168, lost, 100)}"
    )
    sample = find(parse(text), "net_receive", "lost")
    assert (sample.value, bool(sample.missing_reason), sample.printed.split()[0]) == (None, True, f"{lost}/100")


def test_iperf_2_tells_it_too() -> None:
    text = (
        "Server listening on UDP port 5001\n[  3] local 10.1.0.1 port 5001 connected with 10.1.0.2 port 40000\n"
        "[ ID] Interval       Transfer     Bandwidth        Jitter   Lost/Total Datagrams\n"
        "[  3]  0.0-10.0 sec  1.25 MBytes  1.05 Mbits/sec   0.011 ms  900/  893 (1e+02%)\n"
    )
    (run,) = iperf2_text.parse(SourceText(text)).runs
    assert [(one.value, bool(one.missing_reason)) for one in run.samples if one.metric == "lost"] == [(None, True)]
    csv = "20260102030405,10.1.0.1,5001,10.1.0.2,40000,3,0.0-10.0,1310720,1048576,0.011,900,893,100.784,0\n"
    (run,) = iperf2_csv.parse(SourceText(csv)).runs
    assert [(one.value, bool(one.missing_reason)) for one in run.samples if one.metric == "lost"] == [(None, True)]


def test_a_receiver_that_left_out_the_first_seconds_may_not_know_the_loss() -> None:
    text = (
        "Connecting to host 10.1.0.2, port 5201\n[  5]   0.00-1.00   sec  20.0 MBytes   168 Mbits/sec  4000  \n"
        "[  5]   0.00-1.00   sec  20.0 MBytes   168 Mbits/sec  0.000 ms  0/4000 (0%)  sender\n"
        "[  5]   0.00-1.00   sec  19.0 MBytes   159 Mbits/sec  0.125 ms  Unknown/3800  receiver\n"
    )
    parsed = parse(text)
    assert find(parsed, "net_receive", "jitter").value == 125_000
    assert "does not know" in find(parsed, "net_receive", "lost").missing_reason


UNITS = [
    ("187641 Kbis/sec", 187641e3 / 8),
    ("1876410 Kbs/sec", 1876410e3 / 8),
    ("187641 Mbis/sec", 187641e6 / 8),
    ("98765 KByts/sec", 98765 * 1024),
    ("987654 KBys/sec", 987654 * 1024),
    ("87641 Kbits/sec", 87641e3 / 8),
]


@pytest.mark.parametrize(("printed", "value"), UNITS)
@pytest.mark.parametrize("side", ["sender", "receiver"])
def test_a_unit_that_was_cut_off_is_still_the_unit(printed: str, value: float, side: str) -> None:
    operation = "net_send" if side == "sender" else "net_receive"
    text = f"Connecting to host 10.1.0.2, port 5201\n[SUM]   0.00-10.04  sec   177 MBytes  {printed}                  {side}\n"
    sample = find(parse(text), operation, "bandwidth")
    assert (sample.value, sample.printed) == (value, printed)


LONG = {
    "heading": "[ ID] Interval           Transfer     Bandwidth       Retr  Cwnd\n",
    "interval": "[  4] 8999.00-9000.00 sec  1.09 GBytes  9.40 Gbits/sec    0   3.53 MBytes       \n",
    "sender": "[  4]   0.00-9000.00 sec  0.00 (null)s  9.40 Gbits/sec  77             sender\n",
    "receiver": "[  4]   0.00-9000.00 sec  0.00 (null)s  9.40 Gbits/sec                  receiver\n",
}


@pytest.mark.parametrize(
    "head",
    ["Connecting to host 10.1.0.2, port 5201\n", "", "$ iperf3 -c 10.1.0.2 -t 9000\n", "iperf 3.0.11\n", "Test Complete. Summary Results:\n"],
)  # fmt: skip
@pytest.mark.parametrize("parts", ["".join(two) for two in product((LONG["heading"], ""), (LONG["interval"], ""))])
def test_bytes_above_the_largest_unit_are_missing_and_the_rate_stays(head: str, parts: str) -> None:
    text = f"{head}{parts}{RULE}{LONG['heading']}{LONG['sender']}{LONG['receiver']}\niperf Done.\n"
    (reading,) = recognise(SourceText(text))
    assert (reading.format.name, reading.parsed and reading.parsed.broken) == ("iperf3", ())
    parsed = reading.parsed
    assert parsed
    assert parsed.runs[0].problem == ""
    for operation in ("net_send", "net_receive"):
        assert find(parsed, operation, "bandwidth").value == 1.175e9
        assert find(parsed, operation, "io_bytes").value is None
        assert "unit" in find(parsed, operation, "io_bytes").missing_reason
    assert find(parsed, "net_send", "retransmits").value == 77

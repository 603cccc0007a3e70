"""iperf's lines whose ids in brackets a wiki took away."""

import pytest

from apps.parsers.core.source_text import SourceText
from apps.parsers.iperf import iperf2_text, iperf3_text
from apps.parsers.iperf.lines import add_ids

OF_2 = """\
Client connecting to 10.0.0.2, TCP port 5001
{0}local 10.0.0.1 port 48990 connected with 10.0.0.2 port 5001
{0}Interval       Transfer     Bandwidth
{0} 0.0-10.0 sec  1.10 GBytes   941 Mbits/sec
"""
OF_3 = """\
Connecting to host 10.0.0.2, port 5201
{0}local 10.0.0.1 port 40001 connected to 10.0.0.2 port 5201
{0}Interval           Transfer     Bandwidth       Retr  Cwnd
{0}  0.00-1.00   sec   110 MBytes   920 Mbits/sec    0    320 KBytes
{0}  1.00-2.00   sec   112 MBytes   941 Mbits/sec    0    320 KBytes
- - - - - - - - - - - - - - - - - - - - - - - - -
{0}Interval           Transfer     Bandwidth       Retr
{0}  0.00-2.00   sec   222 MBytes   931 Mbits/sec    3             sender
{0}  0.00-2.00   sec   221 MBytes   930 Mbits/sec                  receiver
"""


@pytest.mark.parametrize("lost", ["", "[  ] ", "[ ]", "   "])
def test_lines_without_ids_are_read(lost: str) -> None:
    (run,) = iperf2_text.parse(SourceText(OF_2.format(lost))).runs
    assert [(one.operation, one.value) for one in run.samples][:1] == [("net_send", 941e6 / 8)]
    assert (run.host, run.target, run.line, run.last_line) == ("10.0.0.1", "10.0.0.2", 1, 4)
    assert iperf2_text.looks_like(SourceText(OF_2.format(lost))) == 1


@pytest.mark.parametrize("lost", ["", "[  ] "])
def test_lines_of_iperf_3_without_ids_are_read(lost: str) -> None:
    (run,) = iperf3_text.parse(SourceText(OF_3.format(lost))).runs
    found = [(one.operation, one.metric, one.value) for one in run.samples if one.metric != "io_bytes"]
    assert found == [
        ("net_send", "bandwidth", 931e6 / 8), ("net_send", "retransmits", 3), ("net_receive", "bandwidth", 930e6 / 8)]  # fmt: skip
    assert [len(one.values) for one in run.series] == [2]


@pytest.mark.parametrize(
    "second",
    [
        "local 10.0.0.1 port 48991 connected with 10.0.0.2 port 5001\n 0.0-10.0 sec  1.00 GBytes   859 Mbits/sec\n",
        " 0.0-10.1 sec  1.00 GBytes   859 Mbits/sec\n",
    ],
)
def test_streams_that_cannot_be_told_apart_stay_as_they_are(second: str) -> None:
    lines = OF_2.format("").splitlines()
    lines[2:3] = second.splitlines()
    assert add_ids(lines, "\n".join(lines)) is lines


def test_a_line_without_id_among_others_is_damaged() -> None:
    text = OF_2.format("[  3] ") + " 0.0-20.0 sec  2.20 GBytes   941 Mbits/sec\n"
    assert [one.line for one in iperf2_text.parse(SourceText(text)).broken] == [
        4,
        5,
    ]  # the line above may be an interval


def test_totals_with_words_between_them_are_tests_of_their_own() -> None:
    row = " 0.0-10.0 sec  1.10 GBytes   {} Mbits/sec\n"
    runs = iperf2_text.parse(SourceText(f"Before:\n{row.format(941)}After:\n{row.format(960)}")).runs
    assert [run.samples[0].printed for run in runs] == ["941 Mbits/sec", "960 Mbits/sec"]

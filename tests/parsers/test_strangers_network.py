"""iperf's and netperf's outputs as people pass them on: wrapped, commented, with blanks that do not break, in part."""

import pytest

from apps.parsers.core.models import ParsedRun
from apps.parsers.core.source_text import SourceText
from apps.parsers.iperf import iperf2_text, iperf3_text
from apps.parsers.netperf import format as netperf_format

HEADING = "[ ID] Interval           Transfer     Bitrate         Retr\n"
CLIENT = """{}------------------------------------------------------------
Client connecting to 10.0.0.8, TCP port 5001
------------------------------------------------------------
[  3] local 10.0.0.7 port 41212 connected with 10.0.0.8 port 5001
[ ID] Interval       Transfer     Bandwidth
"""


def figures(run: ParsedRun) -> list[tuple[str, str, float | None, int | None]]:
    return [(one.operation, one.metric, one.value, one.line) for one in run.samples if one.metric != "io_bytes"]


def test_a_summary_of_iperf_3_that_is_wrapped_before_its_retransmits_is_whole() -> None:
    text = HEADING + "[  5]   0.00-10.00  sec  17.2 MBytes  16.0 Mbits/sec\n3             sender\n"
    text += "[  5]   0.00-10.04  sec  16.9 MBytes  8.00 Mbits/sec\nreceiver\n"
    found = iperf3_text.parse(SourceText(text))
    assert [figures(run) for run in found.runs] == [
        [("net_send", "bandwidth", 2e6, 2), ("net_send", "retransmits", 3, 2), ("net_receive", "bandwidth", 1e6, 4)]
    ]
    assert found.broken == ()


def test_a_summary_of_iperf_3_that_is_wrapped_before_its_share_of_losses_is_whole() -> None:
    text = "[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total\nDatagrams\n"
    text += "[SUM]   0.00-10.00  sec   160 MBytes  16.0 Mbits/sec  0.000 ms  0/400\n(0%)  sender\n"
    text += "[SUM]   0.00-10.01  sec   160 MBytes  8.00 Mbits/sec  0.347 ms  4/400\n(1%)  receiver\n"
    found = iperf3_text.parse(SourceText(text))
    (run,) = found.runs
    assert figures(run)[-3:] == [
        ("net_receive", "bandwidth", 1e6, 5), ("net_receive", "jitter", 347_000, 5), ("net_receive", "lost", 0.01, 5)]  # fmt: skip
    assert (run.problem, found.broken) == ("", ())


@pytest.mark.parametrize(
    "wrapped", ["2.66 MBytes  8.00\nMbits/sec           receiver", "2.66 MBytes\n8.00 Mbits/sec  \nreceiver"]
)
def test_a_summary_of_iperf_3_that_is_wrapped_at_its_rate_is_whole(wrapped: str) -> None:
    text = (
        HEADING
        + f"[  5]   0.00-10.00  sec  2.78 MBytes  16.0 Mbits/sec  337      sender\n[  5]   0.00-10.00  sec  {wrapped}\n"
    )
    found = iperf3_text.parse(SourceText(text))
    assert figures(found.runs[0])[-1] == ("net_receive", "bandwidth", 1e6, 3)
    assert found.broken == ()


def test_a_servers_report_of_iperf_2_that_is_wrapped_before_its_losses_is_whole() -> None:
    text = (
        CLIENT.format("").replace("TCP", "UDP")
        + "[  3]  0.0-10.0 sec  1.75 GBytes  16.0 Mbits/sec\n[  3] Sent 400 datagrams\n"
    )
    text += "[  3] Server Report:\n[  3]  0.0-10.2 sec  1.13 GBytes  8.00 Mbits/sec   0.811 ms\n100/400 (25%)\n"
    (run,) = iperf2_text.parse(SourceText(text)).runs
    assert ("net_receive", "lost", 0.25, 9) in figures(run)


def test_blanks_that_do_not_break_are_blanks() -> None:
    text = HEADING + "[  5]   0.00-10.00  sec  17.2 MBytes  16.0 Mbits/sec    0             sender\n"
    (run,) = iperf3_text.parse(SourceText(text.replace("  ", "\xa0 "))).runs
    assert figures(run)[0] == ("net_send", "bandwidth", 2e6, 2)


def test_the_html_that_repeats_a_mail_is_no_second_test() -> None:
    row = "[  5]   0.00-10.00  sec  17.2 MBytes  16.0 Mbits/sec    0             sender"
    text = HEADING + row + "\n\n" + "&gt; " + row.replace("  ", "\xa0 ") + "<br>\n"
    assert len(iperf3_text.parse(SourceText(text)).runs) == 1


@pytest.mark.parametrize(
    "said", [' ← "iw" told 6 Mb/s "rx bitrate"', "\t← here it falls to 6 Mbits/sec", "  <- 802.11b"]
)
def test_what_somebody_says_behind_a_line_leaves_its_figures_sound(said: str) -> None:
    rows = f"[  3]  0.0- 1.0 sec  1.00 MBytes  8.00 Mbits/sec\n[  3]  1.0- 2.0 sec  1.00 MBytes  16.0 Mbits/sec{said}\n"
    found = iperf2_text.parse(
        SourceText(CLIENT.format("") + rows + "[  3]  0.0- 2.0 sec  2.00 MBytes  8.00 Mbits/sec\n")
    )
    assert found.broken == ()
    assert list(found.runs[0].series[0].values) == [1e6, 2e6]


def test_what_somebody_says_behind_a_command_is_no_part_of_it() -> None:
    text = CLIENT.format("$ iperf -c 10.0.0.8 -t 5  # upload\n") + "[  3]  0.0- 5.0 sec  2.00 MBytes  8.00 Mbits/sec\n"
    (run,) = iperf2_text.parse(SourceText(text)).runs
    assert run.workload["command"] == "iperf -c 10.0.0.8 -t 5"


def test_the_version_behind_a_time_stamp_is_read() -> None:
    rows = "iperf 3.19+\nConnecting to host n2, port 5201\n[  5]   0.00-10.00  sec  17.2 MBytes  16.0 Mbits/sec    0             sender\n"
    text = "".join(f"Tue Dec  7 02:16:12 2024 {row}" for row in rows.splitlines(keepends=True))
    (run,) = iperf3_text.parse(SourceText(text)).runs
    assert (run.tool_version, run.target) == ("3.19+", "n2")


@pytest.mark.parametrize("prompt", ["❯ ", "➜  ~ ", "➜ "])
def test_a_reversed_line_below_a_clients_command_was_received(prompt: str) -> None:
    text = f"{prompt}iperf -c 10.0.0.8 -R\n[ ID] Interval       Transfer     Bandwidth\n"
    found = iperf2_text.parse(SourceText(text + "[ *1] 0.0000-9.0104 sec  9.00 MBytes  8.00 Mbits/sec\n"))
    assert (figures(found.runs[0]), found.warnings) == ([("net_receive", "bandwidth", 1e6, 3)], ())


@pytest.mark.parametrize(("zone", "start"), [("UTC", 1700666459.814), ("CST", None)])
def test_when_a_stream_connected_is_read_where_its_zone_is_clear(zone: str, start: float | None) -> None:
    head = CLIENT.format("").replace("port 5001\n[", f"port 5001 (sock=3) on 2023-11-22 15:20:59.814 ({zone})\n[")
    (run,) = iperf2_text.parse(SourceText(head + "[  3]  0.0- 9.0 sec  1.00 MBytes  8.00 Mbits/sec\n")).runs
    assert run.started_at == start


@pytest.mark.parametrize(
    ("asked", "is_whole"),
    [
        ("-i 1", False),
        ("-i 1 -t 30", False),
        ("-i 1 -t 1", True),
        ("-i 0.5", True),
        ("-t 30", True),
        ("-i 1 -n 9M", True),
    ],
)
def test_the_one_interval_of_a_cut_test_is_no_total(asked: str, is_whole: bool) -> None:
    text = CLIENT.format(f"$ iperf -c 10.0.0.8 {asked}\n") + "[  3]  0.0- 1.0 sec  1.00 MBytes  8.00 Mbits/sec\n"
    found = iperf2_text.parse(SourceText(text))
    assert figures(found.runs[0])[0][2] == (1e6 if is_whole else None)
    assert len(found.broken) == (not is_whole)


@pytest.mark.parametrize(
    ("rest", "retries"),
    [
        ("0   14K(10)/221(50) us  Tx=1000 Rx=1000  RPS=3225", 0),
        ("1   -(-)/-(-)    Tx=2000 Rx=2000  RPS=3225", 1),
        ("2   14K/221 us    3225 rps", 2),
        ("   3225 rps", None),
    ],
)
def test_requests_that_bounce_back_have_their_latencies_and_rate(rest: str, retries: int | None) -> None:
    row = f"[  3] 0.0000-2.0041 sec  3.91 KBytes  8.00 Kbits/sec    20=0.300/0.110/0.512/0.096 ms    {rest}\n"
    (run,) = iperf2_text.parse(SourceText(CLIENT.format("") + row)).runs
    found = {(operation, metric): value for operation, metric, value, _ in figures(run)}
    assert found.get(("net_send", "retransmits")) == retries
    assert found["net_request", "rate"] == 3225
    assert [found["net_request", f"latency_{word}"] for word in ("mean", "min", "max", "stdev")] == [
        300e3,
        110e3,
        512e3,
        96e3,
    ]


def test_the_round_trip_behind_what_is_in_flight_is_a_note() -> None:
    row = "[  3] 0.0000-10.0000 sec  2.38 MBytes  8.00 Mbits/sec  20/0        73       22K(16)/24K(17)/56167(15843) us  4.4\n"
    (run,) = iperf2_text.parse(SourceText(CLIENT.format("") + row)).runs
    assert run.samples[0].note == "RTT 56167 us at the end"


ROWS = """[  5]   0.00-1.00   sec  1.00 MBytes  8.00 Mbits/sec    0   14.1 KBytes
[  5]   1.00-2.00   sec  1.00 MBytes  16.0 Mbits/sec    0   14.1 KBytes
"""
CALLED = "Connecting to host h2, port 5201\n[  5] local 10.0.0.1 port 41212 connected to 10.0.0.2 port 5201\n"


def test_a_line_of_iperf_3_over_the_whole_time_is_no_interval_where_its_side_and_the_rule_are_gone() -> None:
    text = CALLED + HEADING + ROWS + "[  5]   0.00-2.00   sec  2.00 MBytes  8.00 Mbits/sec    0\n"
    found = iperf3_text.parse(SourceText(text))
    (run,) = found.runs
    assert figures(run) == [("net_send", "bandwidth", 1e6, 6), ("net_send", "retransmits", 0, 6)]
    assert (list(run.series[0].values), run.problem, found.broken) == ([1e6, 2e6], "", ())


def test_an_interval_of_iperf_3_from_zero_that_does_not_add_up_is_the_next_tests() -> None:
    text = CALLED + HEADING + ROWS + "[  5]   0.00-2.00   sec  7.00 MBytes  29.4 Mbits/sec    0\n"
    found = iperf3_text.parse(SourceText(text))
    assert [[value for _, _, value, _ in figures(run)] for run in found.runs] == [[None], [None]]


def test_two_lines_of_iperf_3_over_the_whole_time_that_name_no_side_are_nobodys() -> None:
    text = CALLED + "- - - - -\n[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams\n"
    row = "[  5]   {}  sec   122 KBytes  {} Kbits/sec  {}  \n"
    text += (
        row.format("0.00-1.00 ", "1000", "91")
        + "- - - - -\n[ ID] Interval           Transfer     Bitrate         Jitter\n"
    )
    text += row.format("0.00-1.00 ", "1000", "0.000 ms  0/91 (0%)") + row.format(
        "0.00-1.04 ", "960", "0.023 ms  3/91 (3%)"
    )
    (run,) = iperf3_text.parse(SourceText(text)).runs
    assert figures(run) == [("net_send", "bandwidth", None, 8)]
    assert run.samples[0].missing_reason == "nothing says which side sent"


@pytest.mark.parametrize(
    "row",
    [
        "  0.00-2.04   sec  2.00 MBytes  8.00 Mbits/sec                  receiver",
        " 5]   0.00-2.04   sec  2.00 MBytes  8.00 Mbits/sec                  receiver",
        "[  5]   0.00-2.04   sxc  2.00 MBytes  8.00 Mbits/sec                  receiver",
        "[  5]   0.00-2.04   sec  2.00 MBytes  8.00 Mbxts/sec                  receiver",
        "[  5][RXC]   0.00-2.04   sec  2.00 MBytes  8.00 Mbits/sec                  receiver",
        "[  5]   0.00-2.04   sec  2.00 MBytes  8.00 Mbits/sec  0.023 xs  3/173 (1.7%)  receiver",
    ],
)
def test_a_line_of_iperf_3_that_is_nearly_a_report_is_told(row: str) -> None:
    text = (
        CALLED + HEADING + ROWS + "[  5]   0.00-2.00   sec  2.00 MBytes  8.00 Mbits/sec    0             sender\n" + row
    )
    found = iperf3_text.parse(SourceText(text + "\n\niperf Done.\n"))
    assert [(one.line, one.found) for one in found.broken] == [(7, row.strip())]
    assert figures(found.runs[0])[0] == ("net_send", "bandwidth", 1e6, 6)


def test_an_interval_of_iperf_2_is_no_total_where_the_total_has_lost_its_id() -> None:
    rows = "[  3]  0.0- 1.0 sec  1.00 MBytes  8.00 Mbits/sec\n  0.0-10.0 sec  10.0 MBytes  8.39 Mbits/sec\n"
    found = iperf2_text.parse(SourceText(CLIENT.format("") + rows))
    assert [value for _, _, value, _ in figures(found.runs[0])] == [None]
    assert [one.line for one in found.broken] == [6, 7]


def test_what_says_how_many_datagrams_came_late_is_no_damaged_report() -> None:
    rows = "[  3]  0.0-10.0 sec  1.25 MBytes  8.00 Mbits/sec   0.005 ms    0/  893 (0%)\n"
    rows += "[  3] 0.00-10.00 sec  1 datagrams received out-of-order\n"
    found = iperf2_text.parse(SourceText(CLIENT.format("") + rows))
    assert (len(found.runs), found.broken) == (1, ())


BANNER = (
    "MIGRATED TCP {} TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 10.0.0.7 () port 0 AF_INET : demo : first burst 0\n"
)


def test_netperfs_csv_without_a_throughput_is_read() -> None:
    text = (
        BANNER.format("REQUEST/RESPONSE")
        + "Minimum Latency Microseconds,Mean Latency Microseconds,Transaction Rate Tran/s\n64,75.5,13218.5\n"
    )
    (run,) = netperf_format.parse(SourceText(text)).runs
    assert figures(run) == [
        ("net_request", "rate", 13218.5, 3), ("net_request", "latency_min", 64e3, 3), ("net_request", "latency_mean", 75.5e3, 3)]  # fmt: skip


def test_netperfs_columns_without_a_throughput_are_read() -> None:
    text = BANNER.format("REQUEST/RESPONSE") + (
        "Minimum      99th         Transaction \nLatency      Percentile   Rate        \n"
        "Microseconds Latency      Tran/s      \n             Microseconds             \n38           69           52866.25    \n"
    )
    (run,) = netperf_format.parse(SourceText(text)).runs
    assert figures(run) == [
        ("net_request", "rate", 52866.25, 6), ("net_request", "latency_p99", 69e3, 6), ("net_request", "latency_min", 38e3, 6)]  # fmt: skip


def test_a_throughput_without_its_unit_is_missing_beside_latencies() -> None:
    text = BANNER.format("STREAM") + "Throughput,Mean Latency Microseconds\n934.15,27.5\n"
    (run,) = netperf_format.parse(SourceText(text)).runs
    assert figures(run) == [("net_send", "bandwidth", None, 3), ("net_send", "latency_mean", 27.5e3, 3)]
    assert (run.samples[0].printed, run.samples[0].missing_reason) == ("934.15", "its unit is not printed")


@pytest.mark.parametrize("also", ["", "ELAPSED_TIME=10.00\n", "MEAN_LATENCY=33.20\n"])
def test_a_throughput_without_unit_and_banner_is_told_by_what_it_lacks(also: str) -> None:
    found = netperf_format.parse(SourceText(f"THROUGHPUT=9414.52\n{also}"))
    assert [(one.line, one.message, one.found) for one in found.broken] == [
        (1, "its unit is not printed", "THROUGHPUT 9414.52")
    ]
    assert found.runs == ()


def test_a_throughput_without_its_unit_is_missing_where_the_direction_is_told() -> None:
    (run,) = netperf_format.parse(SourceText("THROUGHPUT=9414.52\nDIRECTION=Send\n")).runs
    assert figures(run) == [("net_send", "bandwidth", None, 1)]
    assert run.samples[0].missing_reason == "its unit is not printed"

"""iperf 3's text and JSON: older versions, errors, streams of events, cut and bent outputs."""

import json

import pytest

from apps.parsers.core.models import ParsedRun, ParseError
from apps.parsers.core.source_text import SourceText
from apps.parsers.iperf import iperf2_text, iperf3_json, iperf3_text

START = {
    "connected": [{"local_host": "10.0.0.7", "remote_host": "10.0.0.8"}], "version": "iperf 3.12",
    "timestamp": {"timesecs": 1700000000}, "connecting_to": {"host": "n2", "port": 5201},
    "test_start": {"protocol": "TCP", "num_streams": 1, "blksize": 131072, "duration": 10, "reverse": 0},
}  # fmt: skip
SENT = {"bytes": 1000, "bits_per_second": 800, "retransmits": 2}


def figures(run: ParsedRun) -> list[tuple[str, str, float | None]]:
    return [(s.operation, s.metric, s.value) for s in run.samples if s.metric != "io_bytes"]


def test_the_one_summary_line_of_udp_in_30_is_the_clients_rate_and_the_receivers_jitter() -> None:
    text = (
        "Connecting to host n2, port 5201\n[  4] local 10.0.0.7 port 4 connected to 10.0.0.8 port 5201\n"
        "[ ID] Interval           Transfer     Bandwidth       Total Datagrams\n"
        "[  4]   0.00-1.00   sec   128 KBytes  1.05 Mbits/sec  16  \n"
        "- - - - - - - - - - - - - - - - - - - - - - - - -\n"
        "[ ID] Interval           Transfer     Bandwidth       Jitter    Lost/Total Datagrams\n"
        "[  4]   0.00-1.00   sec   128 KBytes  1.05 Mbits/sec  0.016 ms  4/16 (25%)  \n[  4] Sent 16 datagrams\n\niperf Done.\n"
    )
    (run,) = iperf3_text.parse(SourceText(text)).runs
    assert figures(run) == [
        ("net_send", "bandwidth", 131_250), ("net_receive", "jitter", 16_000), ("net_receive", "lost", 0.25)]  # fmt: skip
    assert run.last_line == 10


def test_a_receiver_of_nothing_never_told_its_figures() -> None:
    text = (
        "Connecting to host n2, port 5201\n[  5]   0.00-1.00   sec  1.00 MBytes  8.00 Mbits/sec    0             sender\n"
        "[  5]   0.00-1.00   sec  0.00 Bytes  0.00 bits/sec                  receiver\n"
    )
    (run,) = iperf3_text.parse(SourceText(text)).runs
    assert figures(run)[-1] == ("net_receive", "bandwidth", None)
    assert run.samples[-1].printed == "0.00 bits/sec"


UDP_SERVER = """Accepted connection from 10.0.0.9, port 52257
[  6] local 10.0.0.2 port 5201 connected to 10.0.0.9 port 61000
[ ID] Interval           Transfer     Bandwidth       Jitter    Lost/Total Datagrams
[  6]   0.00-1.00   sec  20.5 MBytes   172 Mbits/sec  0.048 ms  0/14728 (0%)
[  6]   1.00-2.00   sec  20.5 MBytes   172 Mbits/sec  0.048 ms  0/14728 (0%)
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bandwidth       Jitter    Lost/Total Datagrams
[  6]   0.00-2.00   sec  0.00 Bytes  0.00 bits/sec  0.082 ms  40/32000 (0.12%)
-----------------------------------------------------------
Server listening on 5201
-----------------------------------------------------------
iperf3: interrupt - the server has terminated
"""


def test_old_servers_of_udp_do_not_know_the_total_but_jitter_and_loss() -> None:
    found = iperf3_text.parse(SourceText(UDP_SERVER))
    (run,) = found.runs
    assert figures(run) == [
        ("net_receive", "bandwidth", None), ("net_receive", "jitter", 82_000), ("net_receive", "lost", 0.00125)]  # fmt: skip
    assert "intervals" in run.samples[0].missing_reason
    assert len(run.series) > 0
    assert found.broken == ()  # the server that was stopped had no test any more


def test_a_clients_command_is_none_of_a_servers_test_and_no_datagrams_have_no_jitter() -> None:
    commands = "$ iperf3 -s\n$ iperf3 -u -c 10.0.0.2 -t 3000\n"
    (run,) = iperf3_text.parse(SourceText(commands + UDP_SERVER.replace("40/32000 (0.12%)", "0/0 (0%)"))).runs
    assert run.workload.keys() == {"protocol"}
    assert figures(run) == [("net_receive", "bandwidth", None)]
    (run,) = iperf3_text.parse(SourceText("$ iperf3 -s -i 1\n" + UDP_SERVER)).runs
    assert run.workload["command"] == "iperf3 -s -i 1"


def test_who_is_done_long_after_a_test_is_none_of_it() -> None:
    (run,) = iperf3_text.parse(SourceText(UDP_SERVER + "He said:\n" * 40 + "iperf Done.\n")).runs
    assert run.last_line == 8


def test_old_servers_of_udp_do_not_know_the_total_in_json_either() -> None:
    moved = {"start": 0, "end": 1.0, "seconds": 1.0, "bytes": 21_500_000, "bits_per_second": 1.72e8}
    total = {
        "start": 0,
        "end": 1.0,
        "seconds": 1.0,
        "bytes": 0,
        "bits_per_second": 0,
        "jitter_ms": 0.082,
        "packets": 32000,
        "lost_percent": 0.125,
    }
    document = {
        "start": {"version": "iperf 3.1.3", "accepted_connection": {"host": "10.0.0.9", "port": 1}, "test_start": {"protocol": "UDP"}},
        "intervals": [{"streams": [], "sum": moved}], "end": {"streams": [{"udp": total}], "sum": total},
    }  # fmt: skip
    (run,) = iperf3_json.parse(SourceText(json.dumps(document))).runs
    assert figures(run) == [
        ("net_receive", "bandwidth", None), ("net_receive", "jitter", 82_000), ("net_receive", "lost", 0.00125)]  # fmt: skip


def test_a_killed_test_keeps_its_intervals_and_is_broken() -> None:
    text = (
        "Connecting to host n2, port 5201\n[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n"
        "[  5]   0.00-1.00   sec  1.00 MBytes  8.00 Mbits/sec    0    767 KBytes       \niperf3: error - control socket has closed unexpectedly\n"
    )
    parsed = iperf3_text.parse(SourceText(text))
    assert parsed.runs[0].problem == "error - control socket has closed unexpectedly"
    assert [s.values for s in parsed.runs[0].series] == [(1e6,)]
    assert parsed.broken[0].message == "the summary is missing"


def test_reports_of_the_two_iperfs_in_one_log_are_told_apart() -> None:
    text = SourceText(
        "[  3] local 1.1.1.1 port 4 connected with 1.1.1.2 port 5001\n[  3]  0.0-10.0 sec  1.00 MBytes  8.00 Mbits/sec\n"
        "Connecting to host n2, port 5201\n[  5]   0.00-10.00  sec  2.00 MBytes  16.0 Mbits/sec    0             sender\n"
    )
    assert [run.samples[0].value for run in iperf2_text.parse(text).runs] == [1e6]
    assert [run.samples[0].value for run in iperf3_text.parse(text).runs] == [2e6]


def parse(*documents: object) -> list[ParsedRun]:
    return list(iperf3_json.parse(SourceText("\n".join(json.dumps(one) for one in documents))).runs)


def test_documents_one_after_the_other_are_runs() -> None:
    runs = parse(*[{"start": START, "intervals": [], "end": {"sum_sent": SENT, "sum_received": SENT}}] * 2)
    assert [run.line for run in runs] == [1, 2]
    assert figures(runs[0]) == [
        ("net_send", "bandwidth", 100), ("net_send", "retransmits", 2), ("net_receive", "bandwidth", 100)]  # fmt: skip
    assert (runs[0].started_at, runs[0].target, runs[0].host) == (1_700_000_000, "n2", "10.0.0.7")


def test_a_stream_of_events_is_one_run() -> None:
    interval = {"streams": [], "sum": {"end": 1.0, "bits_per_second": 80, "omitted": False}}
    (run,) = parse(
        {"event": "start", "data": START}, {"event": "interval", "data": interval},
        {"event": "end", "data": {"sum_sent": SENT, "sum_received": SENT}},
    )  # fmt: skip
    assert run.series[0].values == (10,)
    assert (run.line, run.last_line) == (1, 3)


def test_an_error_keeps_what_was_measured() -> None:
    interval = {"streams": [], "sum": {"end": 1.0, "bits_per_second": 80, "omitted": False, "sender": True}}
    (run,) = parse(
        {"start": START, "intervals": [interval], "end": {}, "error": "interrupt - the client has terminated"}
    )
    assert (run.problem, run.series[0].values) == ("interrupt - the client has terminated", (10,))


def test_a_document_that_is_cut_off_is_broken_and_the_one_before_it_stays() -> None:
    whole = json.dumps({"start": START, "intervals": [], "end": {"sum_sent": SENT, "sum_received": SENT}}, indent=1)
    parsed = iperf3_json.parse(SourceText(f"{whole}\n{whole[:200]}"))
    assert len(parsed.runs) == 1
    assert [one.line for one in parsed.broken] == [whole.count("\n") + 2]


WHOLE = json.dumps({"start": START, "intervals": [], "end": {"sum_sent": SENT, "sum_received": SENT}}, indent=1) + "\n"
ROWS = WHOLE.count("\n")


def test_a_document_that_is_cut_off_says_what_stands_there() -> None:
    (broken,) = iperf3_json.parse(SourceText(WHOLE + WHOLE[:200] + "\n" + WHOLE)).broken
    assert (broken.line, broken.expected) == (ROWS + 1, "a whole JSON object")
    assert broken.found


@pytest.mark.parametrize("hurt", ['"start": {', '"connected": ['])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_document_that_is_no_json_at_some_place_is_broken_among_others(place: int, hurt: str) -> None:
    parts = [WHOLE, WHOLE, WHOLE]
    parts[place] = WHOLE.replace(hurt, hurt.replace(":", ""), 1)
    parsed = iperf3_json.parse(SourceText("".join(parts)))
    assert len(parsed.runs) == 2
    (broken,) = parsed.broken
    assert broken.line is not None
    assert place * ROWS < broken.line <= (place + 1) * ROWS
    assert broken.found
    assert broken.expected


def test_a_figure_whose_key_stands_twice_is_told() -> None:
    parsed = iperf3_json.parse(
        SourceText(WHOLE.replace('"bits_per_second": 800', '"bits_per_second": 1, "bits_per_second": 2'))
    )
    assert {s.value for s in parsed.runs[0].samples if s.metric == "bandwidth"} == {None}
    (broken,) = parsed.broken
    assert "stands twice" in broken.message
    assert broken.found == "1 and 2"


@pytest.mark.parametrize("word", ["NaN", "Infinity", "1e999", "9" * 5000, '"8"x', "-1", "null", "[]"])
def test_figures_that_are_no_numbers_become_no_values(word: str) -> None:
    text = json.dumps({"start": START, "end": {"sum_sent": SENT}}).replace("800", word)
    try:
        parsed = iperf3_json.parse(SourceText(text))
    except ParseError:
        return
    assert [s.value for run in parsed.runs for s in run.samples if s.metric == "bandwidth"] in ([], [None])


def test_deep_nesting_ends_in_an_error() -> None:
    text = SourceText('{"start":' + "[" * 100_000)
    with pytest.raises(ParseError):
        iperf3_json.parse(text)


@pytest.mark.parametrize("stamp", [10**15, 9 * 10**18, 10**40, -1])
def test_a_time_stamp_that_is_no_date_is_not_read(stamp: int) -> None:
    start = {**START, "timestamp": {"timesecs": stamp}}
    (run,) = iperf3_json.parse(SourceText(json.dumps({"start": start, "end": {"sum_sent": SENT}}))).runs
    assert run.started_at is None
    assert run.samples


def test_an_end_that_is_no_object_holds_no_figures() -> None:
    document = {"start": {**START, "test_start": "yesterday"}, "intervals": [], "end": 4096.5}
    parsed = iperf3_json.parse(SourceText(json.dumps(document)))
    assert (parsed.runs, len(parsed.broken)) == ((), 1)


def test_a_role_that_a_mail_has_on_the_next_line_belongs_to_its_row() -> None:
    text = (
        "[ ID][Role] Interval           Transfer     Bitrate         Retr\n[  5][TX-C]   0.00-20.00  sec   250 MBytes   160 Mbits/sec   12 \n"
        "    sender\n[  5][TX-C]   0.00-20.00  sec   249 MBytes   152 Mbits/sec \n    receiver\n"
    )
    parsed = iperf3_text.parse(SourceText(text))
    assert parsed.broken == ()
    (run,) = parsed.runs
    assert [(s.operation, s.value, s.line) for s in run.samples if s.metric == "bandwidth"] == [
        ("net_send", 20e6, 2), ("net_receive", 19e6, 4),
    ]  # fmt: skip


def test_a_heading_behind_a_summary_begins_another_test() -> None:
    text = (
        "[SUM]   0.00-30.00  sec  22.1 GBytes  6.40 Gbits/sec    31             sender\n"
        "[SUM]   0.00-30.00  sec  22.1 GBytes  6.40 Gbits/sec                   receiver\n\nkubectl exec c -- iperf3 -c n2 -u -t 30\n\n"
        "[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams\n"
        "[  5]   0.00-30.00  sec  4.42 GBytes  1.28 Gbits/sec  0.000 ms  0/3300000 (0%)  sender\n"
        "[  5]   0.00-30.00  sec  4.41 GBytes  1.28 Gbits/sec  0.006 ms  3300/3300000 (0.1%)  receiver\n"
    )
    first, second = iperf3_text.parse(SourceText(text)).runs
    assert ([s.value for s in first.samples if s.metric == "bandwidth"], first.last_line) == ([800e6, 800e6], 2)
    assert ([s.value for s in second.samples if s.metric == "bandwidth"], second.line) == ([160e6, 160e6], 6)
    assert second.workload["runtime"] == 30


def test_a_test_whose_lines_cannot_be_read_leaves_the_next_one_whole() -> None:
    text = (
        "Connecting to host n{}, port 5201\n[  5] local 10.0.0.7 port 4 connected to 10.0.0.8 port 5201\n"
        "[ ID] Interval           Transfer     Bitrate         Retr\n"
        "[  5]   0.00-1.00   sec  1.00 MBytes  8.00 {}/sec    0             sender\n\niperf Done.\n"
    )
    parsed = iperf3_text.parse(
        SourceText(text.format(1, "Mbits") + text.format(2, "Mxits") + text.format(3, "Mbits") + text[:34].format(4))
    )
    assert [(run.target, run.line, run.last_line) for run in parsed.runs] == [("n1", 1, 6), ("n3", 13, 18)]
    assert [(one.line, one.found) for one in parsed.broken] == [
        (7, "iperf Done."),
        (19, "Connecting to host n4, port 5201"),
    ]


LOCAL = "[  5] local 10.0.0.7 port {} connected to{}10.0.0.8 port 5201\n"
HEADING = "[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n"
ROW = "[  5]   {0}.00-{1}.00   sec  1.00 MBytes  {2:.2f} Mbits/sec    0    256 KBytes       \n"


def rows(*rates: float) -> str:
    return "".join(ROW.format(at, at + 1, rate) for at, rate in enumerate(rates))


def series(text: str) -> list[tuple[float, ...]]:
    return [tuple(one.series[0].values) for one in iperf3_text.parse(SourceText(text)).runs]


@pytest.mark.parametrize("gap", [" ", "\n  ", "\n"])
@pytest.mark.parametrize("between", ["", "And without it:\n\n"])
def test_two_excerpts_are_two_runs_whose_connections_may_be_wrapped(gap: str, between: str) -> None:
    text = LOCAL.format(41, gap) + HEADING + rows(8, 16) + between + LOCAL.format(42, gap) + HEADING + rows(80, 88)
    runs = iperf3_text.parse(SourceText(text)).runs
    assert [(run.host, run.target, tuple(run.series[0].values)) for run in runs] == [
        ("10.0.0.7", "10.0.0.8", (1e6, 2e6)), ("10.0.0.7", "10.0.0.8", (10e6, 11e6)),
    ]  # fmt: skip


def test_a_heading_over_rows_from_the_beginning_or_a_count_from_it_begins_a_run() -> None:
    assert series(HEADING + rows(8, 16) + HEADING + rows(80)) == [(1e6, 2e6), (10e6,)]
    assert series(HEADING + rows(8, 16) + rows(80, 88)) == [(1e6, 2e6), (10e6, 11e6)]


def test_a_heading_over_rows_that_count_on_begins_none() -> None:
    assert series(HEADING + rows(8, 16) + HEADING + ROW.format(2, 3, 24)) == [(1e6, 2e6, 3e6)]


def test_the_summary_below_a_heading_without_its_rule_is_the_same_tests() -> None:
    text = (
        HEADING
        + rows(8, 16)
        + HEADING
        + "[  5]   0.00-2.00   sec  2.00 MBytes  12.0 Mbits/sec    0             sender\n"
    )
    (run,) = iperf3_text.parse(SourceText(text)).runs
    assert (figures(run)[0], tuple(run.series[0].values)) == (("net_send", "bandwidth", 1.5e6), (1e6, 2e6))


def test_omitted_seconds_count_from_the_beginning_in_one_run() -> None:
    text = HEADING + rows(8).replace("KBytes       ", "KBytes       (omitted)") + rows(16, 24)
    assert series(text) == [(2e6, 3e6)]


@pytest.mark.parametrize("words", [("      Sent", "      Received"), ("      Total sent", "      Total received")])
def test_the_sides_of_a_summary_may_be_named_on_lines_of_their_own(words: tuple[str, str]) -> None:
    total = "[  5]   0.00-2.00   sec  2.00 MBytes  {} Mbits/sec{}\n"
    text = "Connecting to host n2, port 5201\n" + HEADING + rows(8, 16) + HEADING
    text += f"{words[0]}\n{total.format('12.0', '   3')}{words[1]}\n{total.format('11.2', '')}\niperf Done.\n"
    parsed = iperf3_text.parse(SourceText(text))
    assert parsed.broken == ()
    assert figures(parsed.runs[0]) == [
        ("net_send", "bandwidth", 1.5e6), ("net_send", "retransmits", 3), ("net_receive", "bandwidth", 1.4e6),
    ]  # fmt: skip
    assert tuple(parsed.runs[0].series[0].values) == (1e6, 2e6)


def test_a_test_that_was_interrupted_before_its_first_row_is_told() -> None:
    text = SourceText(
        "iperf 3.6\nTest Complete. Summary Results:\n" + HEADING + "iperf3: interrupt - the client has terminated\n"
    )
    assert iperf3_text.looks_like(text) > 0
    parsed = iperf3_text.parse(text)
    assert (parsed.runs, [one.found for one in parsed.broken]) == ((), ["interrupt - the client has terminated"])


@pytest.mark.parametrize(("asked", "is_its"), [("iperf3 -c n2 -t 60", True), ("iperf3 -c n3 -t 60", False)])
def test_a_command_for_another_host_is_not_this_runs(asked: str, is_its: bool) -> None:
    (run,) = iperf3_text.parse(SourceText(f"$ {asked}\nConnecting to host n2, port 5201\n" + HEADING + rows(8))).runs
    assert run.workload == ({"command": asked, "runtime": 60} if is_its else {})

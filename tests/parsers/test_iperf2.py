"""iperf 2's text and CSV: other versions, dual tests, servers' logs, cut and bent outputs."""

import time

import pytest

from apps.parsers.core.models import ParsedRun, ParseError
from apps.parsers.core.source_text import SourceText
from apps.parsers.iperf import iperf2_csv, iperf2_text
from tests.pace import within

CLIENT = """------------------------------------------------------------
Client connecting to 10.0.0.8, {} port 5001
------------------------------------------------------------
[  3] local 10.0.0.7 port 41212 connected with 10.0.0.8 port 5001
"""


def figures(run: ParsedRun) -> list[tuple[int, str, str, float | None]]:
    return [(s.section, s.operation, s.metric, s.value) for s in run.samples if s.metric != "io_bytes"]


def test_a_udp_client_shows_what_the_server_received() -> None:
    text = CLIENT.format("UDP") + (
        "[  3]  0.0-10.0 sec  1.25 MBytes  1.05 Mbits/sec\n[  3] Sent 893 datagrams\n[  3] Server Report:\n"
        "[  3]  0.0-10.0 sec  1.24 MBytes  1.04 Mbits/sec   0.005 ms    9/  893 (1%)\n"
    )
    (run,) = iperf2_text.parse(SourceText(text)).runs
    assert figures(run) == [
        (0, "net_send", "bandwidth", 131_250), (0, "net_receive", "bandwidth", 130_000),
        (0, "net_receive", "jitter", 5_000), (0, "net_receive", "lost", 9 / 893)]  # fmt: skip


def test_a_dual_test_has_a_section_per_direction() -> None:
    text = (
        "Server listening on TCP port 5001\n" + CLIENT.format("TCP")
        + "[  5] local 10.0.0.7 port 5001 connected with 10.0.0.8 port 33333\n"
        "[  3]  0.0-10.0 sec  100 MBytes  80.0 Mbits/sec\n[  5]  0.0-10.0 sec  200 MBytes   160 Mbits/sec\n"
    )  # fmt: skip
    (run,) = iperf2_text.parse(SourceText(text)).runs
    assert figures(run) == [(0, "net_send", "bandwidth", 10e6), (1, "net_receive", "bandwidth", 20e6)]
    assert [section.name for section in run.sections] == ["stream 3", "stream 5"]


def test_each_connection_of_a_server_is_a_run() -> None:
    text = "Server listening on TCP port 5001\nTCP window size: 85.3 KByte (default)\n"
    for number in (4, 5, 4):
        text += f"[{number:3}] local 10.0.0.8 port 5001 connected with 10.0.0.{number} port 4000\n"
        text += f"[{number:3}]  0.0-10.0 sec  100 MBytes  8{number}.0 Mbits/sec\n"
    runs = iperf2_text.parse(SourceText(text)).runs
    assert [(run.target, figures(run)[0][3]) for run in runs] == [
        ("10.0.0.4", 10.5e6),
        ("10.0.0.5", 10.625e6),
        ("10.0.0.4", 10.5e6),
    ]
    assert {run.workload["window_size"] for run in runs} == {round(85.3 * 1024)}


@pytest.mark.parametrize(
    ("printed", "value"),
    [
        ("8.00 bits/sec", 1),
        ("8.00 Kbits/sec", 1e3),
        ("8.00 Gbits/sec", 1e9),
        ("1.00 KBytes/sec", 1024),
        ("1.00 GBytes/sec", 1024**3),
    ],
)
def test_bits_are_decimal_and_bytes_binary(printed: str, value: float) -> None:
    (run,) = iperf2_text.parse(SourceText(CLIENT.format("TCP") + f"[  3]  0.0-10.0 sec  1.00 MBytes  {printed}\n")).runs
    assert figures(run) == [(0, "net_send", "bandwidth", value)]


@pytest.mark.parametrize("word", ["nan", "inf", "-1.0", "9" * 5000])
def test_what_is_no_number_is_not_read(word: str) -> None:
    with pytest.raises(ParseError):
        iperf2_text.parse(SourceText(CLIENT.format("TCP") + f"[  3]  0.0-10.0 sec  1.00 MBytes  {word} Mbits/sec\n"))


def test_csv_sum_line_comes_first_and_streams_are_sections() -> None:
    row = "20240102030405,10.0.0.7,{},10.0.0.8,5001,{},0.0-10.0,1000,{}\n"
    text = row.format(41212, 3, 800) + row.format(41213, 4, 1600) + row.format(0, -1, 2400)
    (run,) = iperf2_csv.parse(SourceText(text)).runs
    assert [(section.number, section.name) for section in run.sections] == [
        (0, "SUM"),
        (1, "stream 3"),
        (2, "stream 4"),
    ]
    assert figures(run)[0] == (0, "net_send", "bandwidth", 300)


def test_csv_runs_one_after_the_other_stay_apart() -> None:
    row = "2024010203{}05,10.0.0.7,{},10.0.0.8,5001,3,0.0-10.0,1000,800\n"
    runs = iperf2_csv.parse(SourceText(row.format("04", 41212) + row.format("05", 41300))).runs
    assert [run.line for run in runs] == [1, 2]


def test_enhanced_csv_is_read_by_the_names_of_its_header() -> None:
    text = (
        "time,srcaddress,srcport,dstaddr,dstport,transferid,istart,iend,bytes,speed,writecnt,writeerr,tcpretry,tcpcwnd,tcppcwnd,tcprtt,tcprttvar\n"
        "-0700:20240727114802.123,10.0.0.7,41212,10.0.0.8,5001,1,0.0,10.0,1000,800,5,0,7,10,1,50,3\n"
    )
    (run,) = iperf2_csv.parse(SourceText(text)).runs
    assert figures(run) == [(0, "net_send", "bandwidth", 100), (0, "net_send", "retransmits", 7)]


def test_rows_with_losses_are_the_receivers_where_nothing_else_tells() -> None:
    row = "[  3]  0.0-10.0 sec  1.25 MBytes  1.05 Mbits/sec   0.020 ms    1/  893 (0.11%)\n"
    parsed = iperf2_text.parse(SourceText(row))
    assert parsed.warnings == ()
    assert figures(parsed.runs[0]) == [
        (0, "net_receive", "bandwidth", 131250), (0, "net_receive", "jitter", 20000), (0, "net_receive", "lost", 1 / 893),
    ]  # fmt: skip
    (sent,) = iperf2_text.parse(SourceText(row.replace("   0.020 ms    1/  893 (0.11%)", ""))).runs
    assert figures(sent) == [(0, "net_send", "bandwidth", None)]


@pytest.mark.parametrize(
    "told", ["[  3] Sent 893 datagrams\n", "[  3] WARNING: did not receive ack of last datagram after 10 tries.\n"]
)
def test_a_client_without_its_head_and_the_servers_report_is_known_by_what_only_a_sender_says(told: str) -> None:
    text = "[  3] local 10.0.0.7 port 44077 connected with 10.0.0.8 port 5002\n[  3]  0.0-10.0 sec  1.25 MBytes  1.05 Mbits/sec\n"
    parsed = iperf2_text.parse(SourceText(text + told))
    assert parsed.warnings == ()
    assert figures(parsed.runs[0]) == [(0, "net_send", "bandwidth", 131250)]


def test_rows_with_counted_writes_are_the_senders() -> None:
    row = "[  1] 0.0000-2.0000 sec  1.25 MBytes  5.24 Mbits/sec  {}\n"
    for rest in ("893/0          446 pps", "34225/0         10     3836K/243(195) us  9227970"):
        assert figures(iperf2_text.parse(SourceText(row.format(rest))).runs[0])[0] == (
            0,
            "net_send",
            "bandwidth",
            655000,
        )


def test_a_sum_of_losses_is_not_taken_for_counted_writes() -> None:
    row = "[{}] 0.0000-1.0000 sec  1.25 MBytes  5.00 Mbits/sec{}\n"
    alone = row.format("SUM", "  7/4200     4203 pps")
    assert figures(iperf2_text.parse(SourceText(alone)).runs[0]) == [(0, "net_send", "bandwidth", None)]
    (run,) = iperf2_text.parse(
        SourceText(row.format("  1", "   0.020 ms 3/1200 (0.25%) 0.050/0.030/2.000/0.100 ms 1200 pps") + alone)
    ).runs
    assert [each for each in figures(run) if each[2] == "bandwidth"] == [
        (0, "net_send", "bandwidth", None), (1, "net_receive", "bandwidth", 625000),
    ]  # fmt: skip
    (run,) = iperf2_text.parse(SourceText(row.format("  1", "  893/0/0      446 pps") + alone)).runs
    assert [each for each in figures(run) if each[2] == "bandwidth"] == [
        (0, "net_send", "bandwidth", 625000), (1, "net_send", "bandwidth", 625000),
    ]  # fmt: skip


def test_the_head_of_an_indented_copy_is_read_whole() -> None:
    text = (
        "   root@host7:~# ./iperf -c 10.0.0.8 -u -t 10 -P 2\n   Client connecting to 10.0.0.8, UDP port 5001\n   Sending 1470 byte datagrams\n"
        "   [  3] local 10.0.0.7 port 44077 connected with 10.0.0.8 port 5001\n   [  3]  0.0-10.0 sec  1.25 MBytes  1.05 Mbits/sec\n"
    )
    workload = iperf2_text.parse(SourceText(text)).runs[0].workload
    assert (workload["block_size"], workload["runtime"], workload["numjobs"]) == (1470, 10, 2)
    assert workload["command"] == "./iperf -c 10.0.0.8 -u -t 10 -P 2"


def test_csv_whose_ports_tell_nothing_is_broken() -> None:
    parsed = iperf2_csv.parse(SourceText("20240102030405,10.0.0.7,41212,10.0.0.8,50000,3,0.0-10.0,1000,800\n"))
    assert (parsed.runs, parsed.broken[0].line) == ((), 1)


def test_other_csv_is_not_taken_for_iperfs() -> None:
    text = SourceText("2024-01-02,10.0.0.7,41212,10.0.0.8,5001,3,0.0,1000,800\n20240102030405,a,b,c,d,e,f,g,h\n")
    assert iperf2_csv.looks_like(text) == 0


@pytest.mark.slow
def test_thirteen_thousand_connections_at_once_are_read_in_less_than_two_seconds() -> None:
    line = "20240718030119,192.168.0.8,{},172.16.60.140,5001,3,0.0-10.0,393577800,314824870\n"
    before = time.process_time()
    (run,) = iperf2_csv.parse(SourceText("".join(line.format(port) for port in range(40_000, 53_000)))).runs
    assert within(time.process_time() - before, 2)
    assert len(run.sections) == 13_000


WHOLE = "[  3]  0.0-10.0 sec  1.25 MBytes  1.05 Mbits/sec\n"


@pytest.mark.parametrize("lines", [2, 4], ids=["no connection", "no report"])
def test_a_client_that_was_interrupted_leaves_the_next_run_whole(lines: int) -> None:
    client = CLIENT.format("TCP")
    middle = "".join(client.splitlines(keepends=True)[:lines])
    parsed = iperf2_text.parse(SourceText(client + WHOLE + middle + client + WHOLE))
    assert [figures(run) for run in parsed.runs] == [[(0, "net_send", "bandwidth", 131_250)]] * 2
    assert [(run.line, run.target) for run in parsed.runs] == [(2, "10.0.0.8"), (7 + lines, "10.0.0.8")]
    assert [(one.line, one.message) for one in parsed.broken] == [(7, "the test has no results")]
    assert parsed.warnings == ()


def test_a_client_that_was_interrupted_last_is_told() -> None:
    parsed = iperf2_text.parse(SourceText(CLIENT.format("TCP") + WHOLE + CLIENT.format("TCP")))
    assert (len(parsed.runs), [one.line for one in parsed.broken]) == (1, [7])


ROW = "20240718030119,192.168.0.8,59608,172.16.60.140,5001,3,0.0-10.0,393577800,314862240"


@pytest.mark.parametrize("length", [30, 43, 56, 68, len(ROW) - 6, len(ROW) - 1])
def test_a_csv_line_that_is_cut_is_told_and_its_digits_say_no_rate(length: int) -> None:
    other = ROW.replace("0301", "0401").replace("59608", "59700")
    parsed = iperf2_csv.parse(SourceText(f"{other}\n{ROW[:length]}"))
    assert [figures(run) for run in parsed.runs] == [[(0, "net_send", "bandwidth", 39_357_780)]]
    assert [(one.line, one.found) for one in parsed.broken] == [(2, ROW[:length])]


@pytest.mark.parametrize("fields", [10, 13])
def test_a_udp_line_that_is_cut_is_no_senders(fields: int) -> None:
    row = "20240718030119,172.16.60.140,5001,192.168.0.8,59608,3,0.0-9.8,392785470,320693067,0.114,539,267740,0.201,0"
    parsed = iperf2_csv.parse(SourceText(",".join(row.split(",")[:fields])))
    assert (parsed.runs, [one.line for one in parsed.broken]) == ((), [1])


SERVER = "Server listening on TCP port 5001\nTCP window size: 64.0 KByte (default)\n"


def connected(name: int, port: int, peer: str = "10.0.0.7") -> str:
    return f"[{name:3}] local 10.0.0.8 port 5001 connected with {peer} port {port}\n"


def measured(name: int, rate: str) -> str:
    return f"[{name:3}]  0.0-10.0 sec  1.00 GBytes  {rate} Mbits/sec\n"


def test_a_peer_that_only_connected_makes_no_streams_of_the_clients_behind_it() -> None:
    text = SERVER + connected(4, 49951, "192.0.2.9") + connected(5, 60144) + measured(5, "80.0")
    text += connected(6, 60145) + measured(6, "88.0") + connected(4, 60146) + measured(4, "96.0")
    runs = iperf2_text.parse(SourceText(text)).runs
    assert [(figures(run), run.target) for run in runs] == [
        ([(0, "net_receive", "bandwidth", rate)], "10.0.0.7") for rate in (10e6, 11e6, 12e6)
    ]


def test_who_still_measures_when_the_next_one_connects_keeps_its_host() -> None:
    text = SERVER + connected(4, 1) + connected(5, 2, "10.0.0.6") + measured(4, "80.0") + connected(6, 3)
    first, second = iperf2_text.parse(SourceText(text + measured(5, "88.0") + measured(6, "96.0"))).runs
    assert figures(first) == [(0, "net_receive", "bandwidth", 10e6)]
    assert (len(second.sections), second.host, second.target) == (2, "10.0.0.8", "10.0.0.6")


@pytest.mark.parametrize("rate", ["-nan bits/sec", "inf Mbits/sec"])
def test_a_servers_report_that_is_no_number_is_missing(rate: str) -> None:
    text = CLIENT.format("UDP") + measured(3, "80.0") + "[  3] Server Report:\n"
    (run,) = iperf2_text.parse(
        SourceText(f"{text}[  3] 0.00-0.00 sec  0.000 Bytes  {rate}  9.000 ms 77/0 (inf%)\n")
    ).runs
    assert figures(run) == [(0, "net_send", "bandwidth", 10e6), (0, "net_receive", "bandwidth", None)]
    assert (run.samples[-1].printed, run.samples[-1].line) == (rate, 7)
    assert run.samples[-1].missing_reason


@pytest.mark.parametrize("asked", ["iperf -c 10.0.0.9 -t 60", "iperf -t 60 -c n9", "iperf -uc 10.0.0.9"])
def test_a_command_that_names_another_host_than_the_banner_is_not_this_runs(asked: str) -> None:
    text = f"iperf -c 10.0.0.8\n{asked}\n\n" + CLIENT.format("TCP") + WHOLE
    assert iperf2_text.parse(SourceText(text)).runs[0].workload == {"protocol": "tcp"}


@pytest.mark.parametrize(
    "asked", ["iperf -c 10.0.0.8%eth1 -t 60", "iperf -c $HOST -t 60", "iperf --client 10.0.0.8 -t 60"]
)
def test_a_command_that_names_no_other_host_stays(asked: str) -> None:
    workload = iperf2_text.parse(SourceText(f"$ {asked}\n" + CLIENT.format("TCP") + WHOLE)).runs[0].workload
    assert (workload["command"], workload["runtime"]) == (asked, 60)


def test_a_banner_that_hides_its_host_names_no_other_one() -> None:
    text = "$ iperf -c n8 -t 60 --hide-ips\n" + CLIENT.format("TCP").replace("to 10.0.0.8", "to (**hidden**)") + WHOLE
    (run,) = iperf2_text.parse(SourceText(text)).runs
    assert (run.workload["runtime"], run.target) == (60, "10.0.0.8")


@pytest.mark.parametrize("typed", ["iperf.exe -c 10.0.0.8 -t 20", r"D:\tools\iperf.exe -c 10.0.0.8 -t 20"])
def test_a_command_behind_the_prompt_of_windows_is_read(typed: str) -> None:
    workload = (
        iperf2_text.parse(SourceText(rf"C:\Old tools>{typed}" + "\n" + CLIENT.format("TCP") + WHOLE)).runs[0].workload
    )
    assert (workload["command"], workload["runtime"]) == (typed, 20)


TIMED = "  1.500/0.500/4.000/0.250 ms (96/131072)   64 KByte 5012  90=30:60:0:0:0:0:0:0"


@pytest.mark.parametrize(
    "rest", [TIMED, "   0.020 ms 3/1200 (0.25%) 1.500/0.500/4.000/0.250 ms 1200 pps 90/2(1) pkts 6"]
)
def test_the_latencies_of_trip_times_are_kept(rest: str) -> None:
    text = SERVER + connected(1, 4000) + f"[  1] 0.00-1.00 sec  1.00 MBytes  8.00 Mbits/sec{rest}\n"
    found = [one for one in figures(iperf2_text.parse(SourceText(text)).runs[0]) if "latency" in one[2]]
    assert found == [
        (0, "net_receive", "latency_mean", 1.5e6), (0, "net_receive", "latency_min", 5e5),
        (0, "net_receive", "latency_max", 4e6), (0, "net_receive", "latency_stdev", 2.5e5),
    ]  # fmt: skip


def test_latencies_of_nothing_that_was_timed_are_missing() -> None:
    rest = TIMED.replace("1.500/0.500/4.000/0.250", "0.000/0.000/0.000/0.000")
    text = SERVER + connected(1, 4000) + f"[  1] 0.00-1.00 sec  1.00 MBytes  8.00 Mbits/sec{rest}\n"
    samples = iperf2_text.parse(SourceText(text)).runs[0].samples
    assert {(s.value, s.missing_reason) for s in samples if "latency" in s.metric} == {(None, "no packet was timed")}


def test_latencies_below_zero_say_that_the_clocks_differ_and_leave_only_the_spread() -> None:
    rest = "   0.052 ms    0/   17 (0%) -0.125/-0.250/ 0.375/ 0.120 ms   17 pps"
    text = SERVER + connected(1, 4000) + f"[  1] 0.00-1.00 sec  1.00 MBytes  8.00 Mbits/sec{rest}\n"
    samples = [one for one in iperf2_text.parse(SourceText(text)).runs[0].samples if "latency" in one.metric]
    assert [one.value for one in samples] == [None, None, None, 120_000]
    assert [(one.printed, one.missing_reason) for one in samples][1] == (
        "-0.250 ms", "the clocks of the two hosts are not together",
    )  # fmt: skip


def test_the_round_trip_time_of_enhanced_reports_is_a_note() -> None:
    text = (
        CLIENT.format("TCP")
        + "[  3] 0.0000-2.0000 sec  1.00 MBytes  8.00 Mbits/sec  34/0         7      64K/243(19) us  4112\n"
    )
    (run,) = iperf2_text.parse(SourceText(text)).runs
    assert {s.metric: s.note for s in run.samples}["bandwidth"] == "RTT 243 us at the end"


@pytest.mark.slow
def test_a_mebibyte_of_peers_that_only_connect_is_read_within_two_seconds() -> None:
    text = SERVER + "".join(connected(number, number, "192.0.2.9") for number in range(4, 9000))
    text += "".join(connected(3, number) + measured(3, "80.0") for number in range(4000))
    before = time.process_time()
    assert iperf2_text.parse(SourceText(text)).runs
    assert within(time.process_time() - before, 2)


NOTED = "20171119160019,10.0.0.2,43729,10.0.0.1,5001,4,0.0-10.1,49283072000,39065747923"


@pytest.mark.parametrize("note", [" 0.07 0.55 0.66 1/226 59530", "  # with bbr", " "])
def test_what_a_script_puts_behind_a_csv_line_leaves_its_figures_sound(note: str) -> None:
    found = iperf2_csv.parse(SourceText(f"{NOTED}{note}\n"))
    assert figures(found.runs[0]) == [(0, "net_send", "bandwidth", 39065747923 / 8)]
    assert found.broken == ()


@pytest.mark.parametrize("line", [NOTED[:-1] + " 3", NOTED.replace("0.0-10.1", "0.0-0.5") + " 1"])
def test_a_blank_inside_the_last_figure_of_a_csv_line_is_no_note(line: str) -> None:
    (told,) = iperf2_csv.parse(SourceText(f"{line}\n")).broken
    assert told.line == 1


def test_csv_lines_that_are_bent_are_told_to_the_last() -> None:
    found = iperf2_csv.parse(SourceText((NOTED[:-3] + "\n") * 50))
    assert (len(found.broken), found.broken[-1].message) == (21, "30 more lines like those above")

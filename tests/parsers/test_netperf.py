"""netperf: the tables of every test, omni's three shapes, wrapped and cut outputs."""

import json
import time

import pytest

from apps.parsers.core.models import ParsedFile, ParsedRun, ParseError
from apps.parsers.core.registry import get_format, read_as
from apps.parsers.core.source_text import SourceText
from apps.parsers.netperf import format as netperf_format
from tests.pace import within
from tests.sampling import for_each

BANNER = "MIGRATED {} TEST from 10.0.0.1 (10.0.0.1) port 0 AF_INET to n2.example (10.0.0.2) port 0 AF_INET : demo\n"
STREAM = """Recv   Send    Send
Socket Socket  Message  Elapsed
Size   Size    Size     Time     Throughput
bytes  bytes   bytes    secs.    {}/sec

 87380  16384  65536    10.00    {}
"""
REQUEST = """Local /Remote
Socket Size   Request  Resp.   Elapsed  Trans.
Send   Recv   Size     Size    Time     Rate
bytes  Bytes  bytes    bytes   secs.    per sec

16384  87380  1        4       10.00    21456.78
16384  87380
"""


def run(text: str) -> ParsedRun:
    (one,) = netperf_format.parse(SourceText(text)).runs
    return one


def shown(text: str) -> ParsedFile:
    """As a person says that it is netperf's: what stands in strings is what was printed."""
    found = read_as(get_format("netperf"), SourceText(text)).parsed
    assert found
    return found


def figures(one: ParsedRun) -> list[tuple[str, str, float | None]]:
    return [(sample.operation, sample.metric, sample.value) for sample in one.samples]


@pytest.mark.parametrize(
    ("unit", "factor"),
    [
        ("10^6bits", 125_000),
        ("10^3bits", 125),
        ("10^9bits", 125e6),
        ("KBytes", 1024),
        ("MBytes", 1024**2),
        ("GBytes", 1024**3),
    ],
)
def test_units_are_decimal_for_bits_and_binary_for_bytes(unit: str, factor: float) -> None:
    one = run(BANNER.format("TCP STREAM") + STREAM.format(unit, "12.50"))
    assert figures(one) == [("net_send", "bandwidth", 12.5 * factor)]
    assert (one.host, one.target, one.samples[0].block_size) == ("10.0.0.1", "n2.example", 65536)


def test_maerts_receives() -> None:
    assert figures(run(BANNER.format("TCP MAERTS") + STREAM.format("10^6bits", "8.00"))) == [
        ("net_receive", "bandwidth", 1e6)
    ]


@pytest.mark.parametrize("kind", ["TCP REQUEST/RESPONSE", "UDP REQUEST/RESPONSE", "TCP Connect/Request/Response"])
def test_requests_have_a_rate(kind: str) -> None:
    one = run(BANNER.format(kind) + REQUEST)
    assert figures(one) == [("net_request", "rate", 21456.78)]
    assert (one.workload["request_size"], one.workload["response_size"]) == (1, 4)


def test_cpu_of_all_cores_is_a_note_and_not_cpu() -> None:
    text = STREAM.format("10^6bits", "8.00     12.50    25.00    1.234   2.345")
    one = run(BANNER.format("TCP STREAM") + text)
    assert one.samples[0].cpu is None
    assert one.samples[0].note == "CPU 12.50 and 25.00 % of all cores"


def test_omni_columns_are_told_by_where_they_begin() -> None:
    one = run(
        "OMNI Send TEST from 0.0.0.0 () port 0 AF_INET to n2 () port 0 AF_INET\n"
        "Local       Remote      Local  Elapsed Throughput Throughput  \n"
        "Send Socket Recv Socket Send   Time               Units       \n"
        "Size        Size        Size   (sec)                          \n"
        "Final       Final                                             \n"
        "2626560     6291456     16384  10.00   9415.39    10^6bits/s  \n"
    )
    assert figures(one) == [("net_send", "bandwidth", 9415.39 * 125_000)]


def test_keywords_are_read_without_a_banner_and_come_again_for_the_next_run() -> None:
    text = "THROUGHPUT=100.00\nTHROUGHPUT_UNITS=Trans/s\nP99_LATENCY=250\nMEAN_LATENCY=-1.00\n"
    runs = netperf_format.parse(SourceText(text + text.replace("100.00", "200.00"))).runs
    assert [figures(one) for one in runs] == [
        [("net_request", "rate", value), ("net_request", "latency_p99", 250_000)] for value in (100.0, 200.0)]  # fmt: skip


@pytest.mark.parametrize(
    ("title", "retransmits"), [("OMNI Send", [("net_send", "retransmits", 12)]), ("OMNI Receive", [])]
)
def test_retransmits_are_those_of_the_sender(title: str, retransmits: list[tuple[str, str, float]]) -> None:
    text = "THROUGHPUT=100.00\nTHROUGHPUT_UNITS=10^6bits/s\nLOCAL_TRANSPORT_RETRANS=12\n"
    found = figures(run(BANNER.format(title) + text))
    assert found[0][1:] == ("bandwidth", 100.0 * 125_000)
    assert found[1:] == retransmits


def test_keywords_that_do_not_say_the_direction_are_broken() -> None:
    parsed = netperf_format.parse(SourceText("THROUGHPUT=100.00\nTHROUGHPUT_UNITS=10^6bits/s\n"))
    (broken,) = parsed.broken
    assert (parsed.runs, broken.line, broken.found) == ((), 1, "100.00 10^6bits/s")
    assert broken.message == "nothing says whether this host sent or received"


def test_a_keyword_without_its_unit_is_missing() -> None:
    parsed = netperf_format.parse(SourceText(BANNER.format("OMNI Send") + "THROUGHPUT=941.23\nELAPSED_TIME=10.0\n"))
    (sample,) = parsed.runs[0].samples
    assert (sample.operation, sample.metric, sample.value, sample.printed) == ("net_send", "bandwidth", None, "941.23")
    assert sample.missing_reason == "its unit is not printed"


def test_whole_outputs_in_json_strings_are_read() -> None:
    text = BANNER.format("TCP STREAM") + STREAM.format("10^6bits", "8.00")
    parsed = shown(json.dumps([text, text], indent=1))
    assert [one.line for one in parsed.runs] == [2, 3]


def test_a_udp_table_without_the_receivers_row_says_so() -> None:
    text = BANNER.format("UDP STREAM") + (
        "Socket  Message  Elapsed      Messages\nSize    Size     Time         Okay Errors   Throughput\n"
        "bytes   bytes    secs            #      #   10^6bits/sec\n\n124928   32768   10.00      105672      0    8.00\n"
    )
    one = run(text)
    assert figures(one) == [("net_send", "bandwidth", 1e6), ("net_receive", "bandwidth", None)]


def test_a_banner_without_figures_is_broken_beside_the_others() -> None:
    parsed = netperf_format.parse(
        SourceText(BANNER.format("TCP STREAM") + BANNER.format("TCP STREAM") + STREAM.format("10^6bits", "8.00"))
    )
    assert (len(parsed.runs), [one.line for one in parsed.broken]) == (1, [1])


@pytest.mark.parametrize("word", ["nan", "inf", "1e999", "9" * 5000, "-1"])
def test_what_is_no_number_becomes_no_value(word: str) -> None:
    parsed = netperf_format.parse(SourceText(f"THROUGHPUT={word}\nTHROUGHPUT_UNITS=Trans/s\n"))
    assert [sample.value for one in parsed.runs for sample in one.samples] in ([], [None])


def test_prose_about_a_test_is_not_taken_for_netperf() -> None:
    text = SourceText("The LOAD TEST from last week went to the team.\n")
    assert netperf_format.looks_like(text) == 0
    with pytest.raises(ParseError):
        netperf_format.parse(text)


HOSTILE = {
    "line feeds": BANNER.format("TCP STREAM") + "\n" * 1_000_000,
    "keys": "THROUGHPUT=1\nTHROUGHPUT_UNITS=MBytes/s\n" + "".join(f"K{n}={n}\n" for n in range(80_000)),
    "the same key": "THROUGHPUT=1\n" * 80_000,
    "rows of numbers": BANNER.format("TCP STREAM") + "Throughput\n" + "1\n" * 500_000,
    "rows of figures": BANNER.format("TCP STREAM") + "Recv\n" + " 1 2 3 4 5\n" * 95_000,
    "pairs": BANNER.format("OMNI") + "a,b\n1,2\n" * 130_000,
    "interim results": BANNER.format("OMNI") + "Throughput,b\n" + "1,Trans/s,3,4.0\na,b\n" * 50_000,
    "wide names": BANNER.format("OMNI") + ("a," * 2500 + "\n") * 100 + "1,2\n" * 130_000,
    "cells": BANNER.format("OMNI") + "1,2\n" * 260_000,
}


@pytest.mark.slow
@for_each("name", HOSTILE, number=4)
def test_a_hostile_mebibyte_takes_less_than_two_seconds(name: str) -> None:
    before = time.process_time()
    assert netperf_format.parse(SourceText(HOSTILE[name])).broken
    assert within(time.process_time() - before, 2)


def test_outputs_in_a_list_on_one_line_are_read_one_by_one() -> None:
    text = BANNER.format("TCP STREAM") + STREAM.format("10^6bits", "8.00")
    parsed = shown(json.dumps([[text, text], [text]]))
    assert [figures(one) for one in parsed.runs] == [[("net_send", "bandwidth", 1e6)]] * 3
    assert not parsed.broken


def test_a_list_that_is_cut_is_read_in_linear_time() -> None:
    text = BANNER.format("TCP STREAM") + STREAM.format("10^6bits", "8.00")
    line = json.dumps([text]) + '[["' + '\\"' * 400_000
    began = time.process_time()
    assert shown(line[: line.rindex("8.00") + 4] + "\n[" + line).runs
    assert within(time.process_time() - began, 2)


def test_rows_below_a_streams_row_are_runs_of_their_own() -> None:
    """A script prints the title once and the rest with -P 0."""
    more = " 87380  16384  65536    10.00    900.00\n 87380  16384  65536    10.00    880.00\n\n 87380  16384  65536    10.00    1.00\n"
    runs = netperf_format.parse(
        SourceText(BANNER.format("TCP STREAM") + STREAM.format("10^6bits", "800.00") + more)
    ).runs
    assert [(figures(one), one.line, one.target) for one in runs] == [
        ([("net_send", "bandwidth", rate * 1e6 / 8)], line, "n2.example") for rate, line in ((800, 1), (900, 8), (880, 9))
    ]  # fmt: skip
    assert {(one.workload["block_size"], one.samples[0].line) for one in runs[1:]} == {(65536, 8), (65536, 9)}


def test_a_unit_that_is_padded_is_read() -> None:
    assert figures(run(BANNER.format("TCP STREAM") + STREAM.format("MBytes  ", "2.00"))) == [
        ("net_send", "bandwidth", 2 * 1024**2)
    ]


NAMELESS = "TEST from (null) (0.0.0.0) port 0 AF_INET to (null) () port 0 AF_INET : demo\n"


@pytest.mark.parametrize(
    ("asked", "target"), [("-H 192.0.2.5", "192.0.2.5"), ("-H n5,4", "n5"), ("-H $PEER", ""), ("", "")]
)
def test_a_peer_that_the_banner_cannot_name_is_the_one_of_the_command(asked: str, target: str) -> None:
    text = f"$ netperf {asked} -l 10\nMIGRATED TCP STREAM {NAMELESS}" + STREAM.format("10^6bits", "8.00")
    assert (run(text).host, run(text).target) == ("", target)


def test_the_unspecified_address_of_ipv6_is_no_host() -> None:
    text = "MIGRATED TCP STREAM TEST from ::0 (::) port 0 AF_INET6 to 2001:db8::7 () port 0 AF_INET6 : demo\n"
    one = run(text + STREAM.format("10^6bits", "8.00"))
    assert (one.host, one.target) == ("", "2001:db8::7")


def test_bare_figures_have_the_names_that_the_command_asked_for() -> None:
    asked = "# netperf -H n5 -P 0 -t TCP_RR -- -r 64,64 -o P50_LATENCY,MAX_LATENCY,THROUGHPUT,THROUGHPUT_UNITS\n"
    text = (
        asked
        + "\n12,340,4500.25,Trans/s\n13,350,4400.25,Trans/s\nThen to n6 came the others.\n14,360,4300.25,Trans/s\n"
    )
    runs = netperf_format.parse(SourceText(text)).runs
    assert netperf_format.looks_like(SourceText(text)) > 0.5
    assert [figures(one) for one in runs] == [
        [("net_request", "rate", rate), ("net_request", "latency_p50", p50), ("net_request", "latency_max", most)]
        for rate, p50, most in ((4500.25, 12e3, 340e3), (4400.25, 13e3, 350e3))
    ]  # fmt: skip
    assert [(one.line, one.last_line, one.target) for one in runs] == [(3, 3, "n5"), (4, 4, "n5")]


def test_bare_figures_without_a_unit_say_no_rate() -> None:
    one = run("$ netperf -P 0 -t TCP_RR -- -o THROUGHPUT,P99_LATENCY\n4500.25,88\n")
    assert figures(one) == [("net_request", "rate", None), ("net_request", "latency_p99", 88e3)]
    assert one.samples[0].printed == "4500.25"


@pytest.mark.parametrize(
    "above", ["", "$ netperf -P 0 -t TCP_RR -- -o P50_LATENCY\n", "$ other -o P50_LATENCY,P99_LATENCY\n"]
)
def test_bare_figures_that_nothing_names_are_not_guessed(above: str) -> None:
    text = SourceText(f"{above}78,91\n")
    assert netperf_format.looks_like(text) == 0
    with pytest.raises(ParseError):
        netperf_format.parse(text)


def test_keywords_without_a_banner_have_the_peer_of_the_command_and_the_cpu_as_a_note() -> None:
    text = "$ netperf -P 0 -H n5 -- -k ALL\nTHROUGHPUT=8.00\nTHROUGHPUT_UNITS=10^6bits/s\nDIRECTION=Send\n"
    one = run(text + "LOCAL_CPU_UTIL=12.50\nREMOTE_CPU_UTIL=-1.00\n")
    assert (one.target, one.samples[0].note, one.samples[0].cpu) == ("n5", "CPU 12.50 % of all cores", None)


WRAPPED = r"""MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 (0.0.0.0) port 20001
AF_INET to 10.0.0.9 () port 20001 AF_INET : +/-2.500% @ 99% conf.
: first burst 0",\n
Throughput,Throughput Units,Throughput Confidence Width (%),
Confidence Iterations Run,Stddev Latency Microseconds,
50th Percentile Latency Microseconds,99th Percentile Latency Microseconds\n
1300.50,Trans/s,2.522,4,700.25,601,842\n
"""


def test_a_banner_that_is_wrapped_shifts_no_names() -> None:
    (run,) = netperf_format.parse(SourceText(WRAPPED)).runs
    assert {one.metric: one.value for one in run.samples} == {
        "rate": 1300.5, "latency_stdev": 700_250, "latency_p50": 601_000, "latency_p99": 842_000
    }  # fmt: skip


def test_csv_with_fewer_values_than_names_is_told() -> None:
    found = netperf_format.parse(SourceText(WRAPPED.replace(",601,842", ",601")))
    assert {one.metric for one in found.runs[0].samples} == {"rate", "latency_stdev", "latency_p50"}
    assert found.warnings == ("line 7: 6 values for 7 names; the last names have none",)


STREAM_TABLE = STREAM.format("10^6bits", "941.44").replace("65536", "16384")
REQUEST_TABLE = REQUEST.replace("21456.78", "12507.25")


@pytest.mark.parametrize(
    ("command", "operation"),
    [("netperf -H 10.0.0.5", "net_send"), ("netperf -H 10.0.0.5 -t TCP_MAERTS", "net_receive")],
)
def test_a_table_without_its_banner_is_of_what_the_command_says(command: str, operation: str) -> None:
    text = SourceText(f"$ {command}\n{STREAM_TABLE}\n{REQUEST_TABLE}")
    assert netperf_format.looks_like(text) > 0.5
    found = netperf_format.parse(text)
    assert [(one.operation, one.value) for run in found.runs for one in run.samples] == [
        (operation, 117_680_000.0), ("net_request", 12507.25)
    ]  # fmt: skip
    assert [(run.target, run.line) for run in found.runs] == [("10.0.0.5", 2), ("", 9)]


@pytest.mark.parametrize("above", ["", "$ netperf -H h -t $TEST\n", "$ netperf -H h -t TCP_RR\n"])
def test_a_stream_without_banner_and_command_is_told(above: str) -> None:
    found = netperf_format.parse(SourceText(above + STREAM_TABLE))
    assert (found.runs, [one.found for one in found.broken]) == ((), ["87380 16384 16384 10.00 941.44"])


ROW = " 87380  16384 262144    60.01    32547.82\n"


@pytest.mark.parametrize(
    ("command", "row", "found"),
    [
        ("netperf -H b -P 0 -l 60 -- -m 256K", ROW, ("net_send", 32547.82e6 / 8, "b")),
        ("netperf -t TCP_MAERTS -f g -P0 -H b", ROW, ("net_receive", 32547.82e9 / 8, "b")),
        ("netperf -f M -P 0 -c -H b", ROW.rstrip() + " 3.1 2.2 0.1 0.2\n", ("net_send", 32547.82 * 1024**2, "b")),
        (
            "netperf -t TCP_RR -P 0 -H b",
            "16384 131072 1 1 10.00 23456.78\n16384 131072\n",
            ("net_request", 23456.78, "b"),
        ),
    ],
)
def test_a_row_without_title_is_what_its_command_asked_for(
    command: str, row: str, found: tuple[str, float, str]
) -> None:
    text = SourceText(f"Before:\n# {command}\n{row}")
    (run,) = netperf_format.parse(text).runs
    assert netperf_format.looks_like(text) > 0.5
    assert (run.samples[0].operation, run.samples[0].value, run.target) == found
    assert (run.line, run.samples[0].line) == (3, 3)


@pytest.mark.parametrize(
    "text",
    [
        f"$ netperf -H b -l 60\n{ROW}",  # prints a title
        f"$ netperf -H b -P 0 -f $UNIT\n{ROW}",
        f"$ netperf -t $TEST -P 0\n{ROW}",
        f"$ netperf -P 0 -c -C\n{ROW}",
        f"$ netperf -P 0 -- -k\n{ROW}",
        f"$ netperf -P 0\nbusy\n{ROW}",
        "$ netperf -P 0 -v 0 -c\n32547.82\n",
        "$ netperf -P 0 -t UDP_STREAM\n 212992 65507 10.00 1234 0 64.67\n",
    ],
)
def test_a_row_that_no_command_explains_is_nothing(text: str) -> None:
    assert netperf_format.looks_like(SourceText(text)) == 0


UDP_NAMES = "Local Send Socket Size Final,Elapsed Time (sec),Throughput,Throughput Units,Local Send Throughput\n"


@pytest.mark.parametrize(
    ("top", "operations"),
    [
        (BANNER.format("UDP STREAM"), ["net_receive", "net_send"]),
        ("$ netperf -t OMNI -- -d send -T UDP -o\n" + BANNER.format("OMNI Send"), ["net_receive", "net_send"]),
        (BANNER.format("TCP STREAM"), ["net_send"]),
    ],
)
def test_what_omni_calls_the_throughput_of_datagrams_is_what_arrived(top: str, operations: list[str]) -> None:
    (run,) = netperf_format.parse(SourceText(top + UDP_NAMES + "212992,1.00,1479.73,10^6bits/s,13267.08\n")).runs
    assert [sample.operation for sample in run.samples] == operations
    assert [round(sample.value or 0) for sample in run.samples] == [184966250, 1658385000][: len(operations)]


def test_interim_results_of_datagrams_are_what_was_sent() -> None:
    text = BANNER.format("UDP STREAM") + (
        "Interim result: 100.00 10^6bits/s over 1.000 seconds ending at 1795617322.000\n"
        "THROUGHPUT=80.00\nTHROUGHPUT_UNITS=10^6bits/s\n"
    )
    (run,) = netperf_format.parse(SourceText(text)).runs
    assert (run.samples[0].operation, run.series[0].operation) == ("net_receive", "net_send")


def test_csv_may_begin_with_a_word_and_hold_the_command_line() -> None:
    text = BANNER.format("TCP REQUEST/RESPONSE") + (
        "Socket Type,Protocol,Throughput,Throughput Units,Mean Latency Microseconds,Command Line\n"
        'Stream,TCP,15254.89,Trans/s,65.41,"netperf -t TCP_RR -- -o a,b,c"\n'
    )
    parsed = netperf_format.parse(SourceText(text))
    assert {s.metric: s.value for s in parsed.runs[0].samples} == {"rate": 15254.89, "latency_mean": 65410}
    assert not parsed.warnings


def test_columns_in_several_blocks_are_one_test() -> None:
    text = BANNER.format("TCP REQUEST/RESPONSE") + (
        "Socket Throughput Throughput \nType              Units      \nStream 100.50     Trans/s    \n\n"
        "Local  50th         \nCPU    Percentile   \nUtil   Latency      \n%      Microseconds \n-1.00  16           \n"
        "\nsome text 5\nbelow 6\n"
    )
    (run,) = netperf_format.parse(SourceText(text)).runs
    assert {s.metric: (s.value, s.line) for s in run.samples} == {"rate": (100.5, 4), "latency_p50": (16000, 10)}


@pytest.mark.parametrize(
    ("command", "kind", "expected"),
    [
        ("$ netperf -v 0 -H h\n", "TCP STREAM", ("net_send", "bandwidth", 3032.61e6 / 8)),
        ("$ netperf -v 0 -f M -H h -t TCP_MAERTS\n", "TCP MAERTS", ("net_receive", "bandwidth", 3032.61 * 1024**2)),
        ("$ netperf -v 0 -H h -t TCP_RR\n", "TCP REQUEST/RESPONSE", ("net_request", "rate", 3032.61)),
        ("", "TCP STREAM", ("net_send", "bandwidth", None)),
    ],
)
def test_a_throughput_by_itself_has_the_unit_of_the_command(
    command: str, kind: str, expected: tuple[str, str, float | None]
) -> None:
    ((sample,),) = [
        run.samples for run in netperf_format.parse(SourceText(command + BANNER.format(kind) + "3032.61 \n")).runs
    ]
    assert (sample.operation, sample.metric) == expected[:2]
    assert sample.value == (pytest.approx(expected[2]) if expected[2] else None)
    assert sample.missing_reason == ("" if expected[2] else "its unit is not printed")


def test_a_service_demand_by_itself_is_no_throughput() -> None:
    assert not netperf_format.parse(
        SourceText("$ netperf -v 0 -c -C\n" + BANNER.format("TCP STREAM") + " 6.582 S \n")
    ).runs


def test_throughputs_without_any_title_are_read_below_the_command() -> None:
    assert (
        netperf_format.parse(SourceText("$ netperf -P 0 -v 0\n32547.82\n")).runs[0].samples[0].value == 32547.82e6 / 8
    )
    text = "$ netperf -v 0 -P 0 -f M -H h\n 229.59 \n 230.00 \n"
    assert [run.samples[0].value for run in netperf_format.parse(SourceText(text)).runs] == [
        229.59 * 1024**2,
        230 * 1024**2,
    ]


def test_interim_results_above_a_row_without_title_are_its_series() -> None:
    text = (
        "$ netperf -P 0 -D 1 -H h\nInterim result: 2543.74 10^6bits/s over 1.008 seconds ending at 1795617324.084\n"
        "131072  16384  16384    1.02     2521.60   \n"
    )
    (run,) = netperf_format.parse(SourceText(text)).runs
    assert (run.samples[0].value, len(run.series[0].values)) == (2521.6e6 / 8, 1)

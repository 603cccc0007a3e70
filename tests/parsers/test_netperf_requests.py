"""netperf's requests and responses: bursts, latencies, every form of omni, with and without banner, titles and command."""

import pytest

from apps.parsers.core.models import ParsedFile, ParsedRun
from apps.parsers.core.registry import recognise
from apps.parsers.core.source_text import SourceText
from apps.parsers.netperf import format as netperf
from tests.parsers.every import faults

Figures = list[tuple[str, str, float | None]]


def parse(text: str) -> ParsedFile:
    source = SourceText(text)
    parsed = netperf.parse(source)
    assert not faults(parsed, source)
    assert netperf.looks_like(source) >= 0.8
    return parsed


def only(text: str) -> ParsedRun:
    (run,) = parse(text).runs
    return run


def figures(run: ParsedRun) -> Figures:
    return [(sample.operation, sample.metric, sample.value) for sample in run.samples]


TESTS = {
    "TCP_RR": "TCP REQUEST/RESPONSE", "UDP_RR": "UDP REQUEST/RESPONSE", "TCP_CRR": "TCP Connect/Request/Response", "TCP_CC": "TCP Connect/Close",
}  # fmt: skip
TITLE = (
    "Local /Remote\nSocket Size   Request  Resp.   Elapsed  Trans.\nSend   Recv   Size     Size    Time     Rate         \n"
    "bytes  Bytes  bytes    bytes   secs.    per sec   \n\n"
)
ROWS = "16384  131072 64       256     10.00    31234.56   \n16384  131072\n"


def banner(test: str, burst: int | None) -> str:
    end = "" if burst is None else f" : first burst {burst}"
    return f"MIGRATED {test} TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 10.9.8.7 () port 0 AF_INET : demo{end}\n"


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("burst", [None, 0, 3, 16])
@pytest.mark.parametrize("is_shown", [True, False])
def test_a_rate_of_requests_and_how_many_were_in_flight(test: str, burst: int | None, is_shown: bool) -> None:
    option = f" -- -b {burst}" if burst is not None else ""
    command = f"$ netperf -H 10.9.8.7 -t {test}{option}\n" if is_shown else ""
    run = only(command + banner(TESTS[test], burst) + TITLE + ROWS)
    assert figures(run) == [("net_request", "rate", 31234.56)]
    assert run.samples[0].iodepth == (burst + 1 if burst else None)
    assert (run.workload.get("burst"), run.workload["request_size"], run.workload["response_size"]) == (
        burst or None,
        64,
        256,
    )


ROUND_TRIP = (
    "Alignment      Offset         RoundTrip  Trans    Throughput\nLocal  Remote  Local  Remote  Latency    Rate     10^6bits/s\n"
    "Send   Recv    Send   Recv    usec/Tran  per sec  Outbound   Inbound\n    8      0       0      0   31.250    31234.561 0.250     0.250 \n"
)


def test_the_round_trip_of_v_2_is_the_mean_latency() -> None:
    run = only(banner(TESTS["TCP_RR"], 0) + TITLE + ROWS + ROUND_TRIP + "\nHistogram of request/response times\n")
    assert figures(run) == [("net_request", "rate", 31234.56), ("net_request", "latency_mean", 31250)]
    in_bits = TITLE.replace("Trans.", "").replace("Rate  ", "Throughput").replace("per sec", "10^6bits/sec")
    run = only(banner(TESTS["TCP_RR"], 6) + in_bits + ROWS.replace("31234.56", "2.56") + ROUND_TRIP)
    assert figures(run) == [
        ("net_request", "bandwidth", 320000),
        ("net_request", "rate", 31234.561),
        ("net_request", "latency_mean", 31250),
    ]


NAMES = {  # selector, its title with -o, its title with -O
    "THROUGHPUT": ("Throughput", "31234.56"), "THROUGHPUT_UNITS": ("Throughput Units", "Trans/s"),
    "MEAN_LATENCY": ("Mean Latency Microseconds", "31.25"), "P50_LATENCY": ("50th Percentile Latency Microseconds", "30"),
    "P99_LATENCY": ("99th Percentile Latency Microseconds", "88"), "MAX_LATENCY": ("Maximum Latency Microseconds", "3576"),
}  # fmt: skip
EXPECTED = {
    ("net_request", "rate", 31234.56), ("net_request", "latency_mean", 31250), ("net_request", "latency_p50", 30000),
    ("net_request", "latency_p99", 88000), ("net_request", "latency_max", 3576000),
}  # fmt: skip


def columns() -> str:
    words = [["Throughput", "", ""], ["Throughput", "Units", ""], *(f"{title.rpartition(' Latency')[0]}|Latency|Microseconds".split("|")
             for title, _ in list(NAMES.values())[2:])]  # fmt: skip
    rows = [*zip(*words, strict=True), [value for _, value in NAMES.values()]]
    return "".join("".join(f"{word:<17}" for word in row) + "\n" for row in rows)


FORMS = {
    "-k": "".join(f"{name}={value}\n" for name, (_, value) in NAMES.items()),
    "-o": ",".join(title for title, _ in NAMES.values()) + "\n" + ",".join(value for _, value in NAMES.values()) + "\n",
    "-O": columns(),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("has_command", [True, False])
@pytest.mark.parametrize("has_banner", [True, False])
def test_omni_is_read_with_and_without_banner_and_command(form: str, has_command: bool, has_banner: bool) -> None:
    command = f"$ netperf -t UDP_RR -H 10.9.8.7 -- {form} {','.join(NAMES)}\n" if has_command else ""
    run = only(command + (banner(TESTS["UDP_RR"], 0) if has_banner else "") + FORMS[form])
    assert set(figures(run)) == EXPECTED
    assert run.target == ("10.9.8.7" if has_command or has_banner else "")


def test_latencies_alone_are_read_where_the_test_is_known() -> None:
    keys = "RT_LATENCY=19.765\nP99_LATENCY=88\n"
    expected = {("net_request", "latency_mean", 19765), ("net_request", "latency_p99", 88000)}
    assert set(figures(only(f"$ netperf -t omni -H h -- -d rr -b 4 -k RT_LATENCY,P99_LATENCY\n{keys}"))) == expected
    assert set(figures(only(banner(TESTS["TCP_RR"], 4) + keys))) == expected
    (reading,) = recognise(SourceText(keys))
    assert (reading.format.name, len(reading.parsed.broken if reading.parsed else ())) == ("netperf", 1)


@pytest.mark.parametrize(
    ("options", "row", "expected"),
    [
        ("-t TCP_RR -P 0 -- -o", "3939840,262484,262560,3939840,1,1,1.00,31234.56,Trans/s", ("net_request", "rate", 31234.56)),
        ("-t omni -P 0 -- -d rr -o", "3939840,262484,262560,3939840,1,1,1.00,31234.56,Trans/s", ("net_request", "rate", 31234.56)),
        ("-t TCP_STREAM -P 0 -- -o", "4194304,917207,16384,1.00,800.00,10^6bits/s", ("net_send", "bandwidth", 1e8)),
        ("-t TCP_MAERTS -P 0 -- -o", "4194304,917207,16384,1.00,800.00,10^6bits/s", ("net_receive", "bandwidth", 1e8)),
        ("-t omni -P 0 -- -d maerts -o", "4194304,917207,16384,1.00,800.00,10^6bits/s", ("net_receive", "bandwidth", 1e8)),
        ("-f m -t omni -P 0 -- -d send -o throughput,direction", "800.00,Send", ("net_send", "bandwidth", 1e8)),
        ("-f m -t omni -P 0 -- -d send -o throughput,direction", "800.00,Receive", ("net_receive", "bandwidth", 1e8)),
    ],
)  # fmt: skip
def test_rows_without_names_have_those_of_their_test(options: str, row: str, expected: tuple[str, str, float]) -> None:
    run = only(f"$ netperf -H 10.9.8.7 {options}\n{row}\n")
    assert figures(run) == [expected]


LOOP = 'for b in 1 2 4\ndo\n netperf -v 0 -t TCP_RR -B "burst $b" -H n5 -P 0 -- -b $b {end}\ndone\n{after}\n'


@pytest.mark.parametrize("end", ["", "&"])
@pytest.mark.parametrize("after", ["", "wait\n", "/usr/sbin/ethtool -S eth2 > after\n"])
def test_a_loop_of_bursts_is_a_run_for_each_row(end: str, after: str) -> None:
    rows = "".join(f" {value} burst {b}\n" for b, value in ((1, 9975.37), (2, 10000.61), (4, 20084.47)))
    runs = parse(LOOP.format(end=end, after=after) + rows).runs
    assert [figures(run) for run in runs] == [
        [("net_request", "rate", value)] for value in (9975.37, 10000.61, 20084.47)
    ]
    assert [run.caption for run in runs] == ["burst 1", "burst 2", "burst 4"]


def test_commands_that_run_at_the_same_time_are_told_by_their_words() -> None:
    commands = "".join(
        f' netperf -H n5 -t {test} -B "{brand}" -P 0 -v 0 \\\n   -- -s 256K &\n'
        for test, brand in (("TCP_STREAM", "out"), ("TCP_MAERTS", "in"))
    )
    runs = parse(f"for i in 1\ndo\n{commands}done\n\n 892.66 out\n 891.34 in\n").runs
    assert [figures(run) for run in runs] == [
        [("net_send", "bandwidth", 892.66e6 / 8)],
        [("net_receive", "bandwidth", 891.34e6 / 8)],
    ]
    unnamed = commands.replace("-B", "-D")
    assert not [reading for reading in recognise(SourceText(f"{unnamed}\n 892.66\n 891.34\n")) if reading.has_found]


def test_rows_of_streams_with_words_behind_them_are_read() -> None:
    row = " 87380  16384  16384    10.03     {}   set {}\n"
    text = '$ netperf -t TCP_STREAM -H n5 -B "set $i" -P 0 &\n' + row.format("234.90", 4) + row.format("234.41", 2)
    assert [(figures(run), run.caption) for run in parse(text).runs] == [
        ([("net_send", "bandwidth", 29362500.0)], "set 4"), ([("net_send", "bandwidth", 29301250.0)], "set 2"),
    ]  # fmt: skip


def test_a_test_that_ends_with_its_interim_results_keeps_them() -> None:
    interim = "".join(
        f"Interim result: {rate} Trans/s over 1.000 seconds ending at 179570517{second}.000\n"
        for second, rate in enumerate((9000.5, 9100.5))
    )
    run = only(banner(TESTS["TCP_RR"], 0) + interim)
    assert (figures(run), run.problem) == ([("net_request", "rate", None)], "the output ends before its result")
    assert [tuple(series.values) for series in run.series] == [(9000.5, 9100.5)]


def test_a_server_that_was_not_reached_is_told() -> None:
    text = (
        "$ netperf -H 10.9.8.7 -t TCP_RR\nestablish control: are you sure there is a netserver listening on 10.9.8.7 at port 12865?\n"
        "establish_control could not establish the control connection from 0.0.0.0 port 0 address family AF_INET to 10.9.8.7 port 12865\n"
    )
    (reading,) = recognise(SourceText(text))
    assert reading.parsed
    assert [(reading.format.name, broken.line) for broken in reading.parsed.broken] == [("netperf", 2)]


@pytest.mark.parametrize(("unit", "expected"), [("Trans/s", ("rate", 800.0)), ("10^6bits/s", ("bandwidth", 1e8))])
def test_omni_both_ways_is_one_of_requests(unit: str, expected: tuple[str, float]) -> None:
    command = "$ netperf -t omni -H 10.9.8.7 -- -d rr -b 9 -k\n"
    keys = f"REQUEST_SIZE=1\nRESPONSE_SIZE=1\nELAPSED_TIME=10.00\nTHROUGHPUT=800.00\nTHROUGHPUT_UNITS={unit}\n"
    run = only(
        command
        + "OMNI Send|Recv TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 10.9.8.7 () port 0 AF_INET : demo\n"
        + keys
    )
    assert figures(run) == [("net_request", *expected)]
    assert run.samples[0].iodepth == 10


def test_interim_results_in_keys_are_a_series_without_a_banner() -> None:
    keys = "".join(
        f"NETPERF_INTERIM_RESULT[{place}]={rate}\nNETPERF_UNITS[{place}]=Trans/s\nNETPERF_INTERVAL[{place}]=1.000\n"
        f"NETPERF_ENDING[{place}]=179570517{place}.000\n"
        for place, rate in enumerate(("9000.50", "9100.50"))
    )
    run = only(f"{keys}REQUEST_SIZE=1\nELAPSED_TIME=2.00\nTHROUGHPUT=9050.50\nTHROUGHPUT_UNITS=Trans/s\n")
    assert figures(run) == [("net_request", "rate", 9050.5)]
    assert [tuple(series.values) for series in run.series] == [(9000.5, 9100.5)]

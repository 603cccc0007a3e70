"""netperf's figures without their banner, or without any heading, as scripts and pages keep them."""

import pytest

from apps.parsers.core.models import ParsedRun
from apps.parsers.core.source_text import SourceText
from apps.parsers.netperf import format as netperf_format

NAMES = "Throughput,Throughput Units,Direction\n"
STREAM = """\
Recv   Send    Send
Socket Socket  Message  Elapsed
Size   Size    Size     Time     Throughput
bytes  bytes   bytes    secs.    10^6bits/sec

"""
ROW = " 87380  16384  16384    10.00     941.52\n"
REQUESTS = "16384  131072 1        1       10.00    12345.67\n16384  131072\n"
DATAGRAMS = (
    "212992   65507   10.00       18344      0     961.31\n212992           10.00       18300            959.00\n"
)


def read(text: str) -> list[tuple[str, str, float | None]]:
    assert netperf_format.looks_like(SourceText(text)) >= 0.5
    return [figure for run in netperf_format.parse(SourceText(text)).runs for figure in figures(run)]


def figures(run: ParsedRun) -> list[tuple[str, str, float | None]]:
    return [(one.operation, one.metric, one.value) for one in run.samples]


def test_csv_without_banner_is_read_where_its_columns_tell_the_direction() -> None:
    assert read(NAMES + "8.00,10^6bits/s,Send\n") == [("net_send", "bandwidth", 1e6)]
    assert read("Mean Latency Microseconds,Transaction Rate Tran/s\n44.2,2217.06\n") == [
        ("net_request", "rate", 2217.06), ("net_request", "latency_mean", 44200)]  # fmt: skip


def test_csv_without_banner_and_direction_is_told() -> None:
    found = netperf_format.parse(
        SourceText("Elapsed Time (sec),Throughput,Throughput Units\n10.00,941.52,10^6bits/s\n")
    )
    assert [(one.line, one.found) for one in found.broken] == [(2, "941.52 10^6bits/s")]
    assert not found.runs


def test_every_row_below_the_names_is_a_test() -> None:
    text = NAMES + "8.00,10^6bits/s,Send\n16.00,10^6bits/s,Send\n24.00,10^6bits/s,Receive\n"
    runs = netperf_format.parse(SourceText(text)).runs
    assert [figures(run) for run in runs] == [
        [("net_send", "bandwidth", 1e6)], [("net_send", "bandwidth", 2e6)], [("net_receive", "bandwidth", 3e6)]]  # fmt: skip
    assert [(run.line, run.last_line) for run in runs] == [(1, 2), (3, 3), (4, 4)]


@pytest.mark.parametrize("banner", ["MIGRATED TCP STREAM TEST", "TCP STREAM TEST:"])
def test_a_banner_without_hosts_above_a_table_names_its_test(banner: str) -> None:
    assert read(f"{banner}\n{STREAM}{ROW}") == [("net_send", "bandwidth", 117_690_000)]
    assert read(f"{banner.replace('STREAM', 'MAERTS')}\n\n{STREAM}{ROW}") == [("net_receive", "bandwidth", 117_690_000)]


@pytest.mark.parametrize(
    ("command", "rows", "expected"),
    [
        ("-t TCP_RR -f x", REQUESTS, [("net_request", "rate", 12345.67)]),
        ("-t TCP_CC", REQUESTS, [("net_request", "rate", 12345.67)]),
        ("-t TCP_RR -f M", REQUESTS, [("net_request", "bandwidth", 12345.67 * 1024**2)]),
        ("-f x", ROW, [("net_send", "bandwidth", 117_690_000)]),
        ("-f G", ROW, [("net_send", "bandwidth", 941.52 * 1024**3)]),
        (
            "-t UDP_STREAM -f M",
            DATAGRAMS,
            [("net_send", "bandwidth", 961.31 * 1024**2), ("net_receive", "bandwidth", 959 * 1024**2), ("net_receive", "lost", 1 - 18300 / 18344)],
        ),
    ],
)  # fmt: skip
def test_rows_without_headings_have_the_units_of_the_command(
    command: str, rows: str, expected: list[tuple[str, str, float]]
) -> None:
    found = read(f"$ netperf -H 10.0.0.2 -P 0 {command}\n{rows}")
    assert [(operation, metric, pytest.approx(value)) for operation, metric, value in found] == expected
    assert read(f"$ netperf -H 10.0.0.2 -P 0 {command}\n{rows}{rows}") == found * 2


def test_the_command_says_the_direction_of_keywords() -> None:
    text = "LSS_SIZE_END=4194304\nLSS_SIZE_END=4194304\nTHROUGHPUT=8.00\nTHROUGHPUT_UNITS=10^6bits/s\n"
    assert read(f"$ netperf -t TCP_MAERTS -P 0 -- -k\n{text}") == [("net_receive", "bandwidth", 1e6)]
    assert netperf_format.parse(SourceText(f"$ netperf -t TCP_STREAM -P 0 -- -d rr -k\n{text}")).broken


def test_a_name_that_is_printed_twice_begins_no_other_test() -> None:
    text = (
        "MIGRATED TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to h () port 0 AF_INET : demo\n"
        "LSS_SIZE_END=4194304\nLSS_SIZE_END=4194304\nTHROUGHPUT=8.00\nTHROUGHPUT_UNITS=10^6bits/s\n"
    )
    found = netperf_format.parse(SourceText(text))
    assert (len(found.runs), found.broken) == (1, ())


def test_rows_behind_words_below_one_title_are_runs_with_captions() -> None:
    banner = "MIGRATED TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to localhost (127.0.0.1) port 0 AF_INET\n"
    rows = f" before: {ROW.strip()}\n\n with checks:\t{ROW.strip().replace('941.52', '8.00')}\n\n See above.\n"
    found = netperf_format.parse(SourceText(banner + STREAM + rows))
    assert [(run.caption, run.target, run.line, *figures(run)) for run in found.runs] == [
        ("before", "localhost", 7, ("net_send", "bandwidth", 117_690_000)),
        ("with checks", "localhost", 9, ("net_send", "bandwidth", 1e6)),
    ]
    assert found.broken == ()

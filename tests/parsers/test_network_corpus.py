"""Real outputs of iperf 2, iperf 3 and netperf by other people, against the true values of the corpus's index."""

from typing import Any

import pytest

from apps.parsers.core.models import ParsedFile, ParsedRun
from apps.parsers.core.registry import recognise
from apps.parsers.core.source_text import SourceText
from tests.parsers import fixture_pairs
from tests.parsers.corpus import folder
from tests.sampling import for_each

MBIT, KBYTE, MBYTE, GBYTE = 1e6 / 8, 1024, 1024**2, 1024**3

# file, parser, runs, first interval (operation, B/s), summary of the last run: (operation, metric) → value
TRUE: list[tuple[str, str, int, tuple[str, float] | None, dict[tuple[str, str], float | None]]] = [
    ("iperf2-bom-no-header.txt", "iperf2_text", 1, ("net_send", 18.9 * MBIT), {("net_send", "bandwidth"): None}),
    ("iperf2-client-bufferbloat.txt", "iperf2_text", 1, ("net_send", 255 * MBIT), {
        ("net_send", "bandwidth"): 2.87 * MBIT, ("net_send", "io_bytes"): 41.0 * MBYTE}),
    ("iperf2-client-mininet.txt", "iperf2_text", 1, ("net_send", 168 * MBIT), {("net_send", "bandwidth"): None}),
    ("iperf2-client-project5.txt", "iperf2_text", 1, ("net_send", 89.1 * MBIT), {("net_send", "bandwidth"): None}),
    ("iperf2-server-project5.txt", "iperf2_text", 1, ("net_receive", 1.43 * MBIT), {("net_receive", "bandwidth"): None}),
    ("iperf2-csv-tcp-download.csv", "iperf2_csv", 1, ("net_send", 22020096 / 8), {
        ("net_send", "bandwidth"): 15176919 / 8, ("net_send", "io_bytes"): 569510176}),
    ("iperf2-csv-udp-loss.csv", "iperf2_csv", 1, None, {
        ("net_send", "bandwidth"): 314824870 / 8, ("net_receive", "bandwidth"): 320693067 / 8,
        ("net_receive", "jitter"): 114_000, ("net_receive", "lost"): 539 / 267740}),
    ("iperf3-text-retr.txt", "iperf3_text", 1, ("net_send", 57.5 * MBIT), {
        ("net_send", "bandwidth"): 45.2 * MBIT, ("net_send", "io_bytes"): 53.9 * MBYTE, ("net_send", "retransmits"): 0,
        ("net_receive", "bandwidth"): 43.6 * MBIT, ("net_receive", "io_bytes"): 52.0 * MBYTE}),
    ("iperf3-thesis-15m.txt", "iperf3_text", 1, ("net_receive", 67.2 * MBIT), {
        ("net_receive", "bandwidth"): 220 * MBIT, ("net_receive", "io_bytes"): 7.67 * GBYTE,
        ("net_receive", "jitter"): 55_000, ("net_receive", "lost"): 32753 / 5719589}),
    ("lkp-iperf3-1.txt", "iperf3_json", 1, ("net_send", 23998405944.859089 / 8), {
        ("net_receive", "bandwidth"): 23548652092.780964 / 8, ("net_receive", "io_bytes"): 29439950848,
        ("net_send", "retransmits"): 0}),
    ("lkp-iperf3-3.txt", "iperf3_json", 2, None, {
        ("net_send", "bandwidth"): 980e6 / 8, ("net_send", "io_bytes"): 3675000000, ("net_receive", "lost"): 0.0000022,
        ("net_receive", "jitter"): 12_000}),
    ("iperf3-python-results.json", "iperf3_json", 1, ("net_send", 9.50062e8 / 8), {
        ("net_receive", "bandwidth"): 934268000 / 8, ("net_receive", "io_bytes"): 1518193248,
        ("net_send", "retransmits"): 0}),
]  # fmt: skip
INTERVALS = {
    "iperf2-bom-no-header.txt": 30, "iperf2-client-bufferbloat.txt": 59, "iperf2-client-mininet.txt": 389,
    "iperf2-client-project5.txt": 192, "iperf2-server-project5.txt": 211, "iperf2-csv-tcp-download.csv": 300,
    "iperf3-text-retr.txt": 10, "iperf3-thesis-15m.txt": 301,
}  # fmt: skip


def parsed(directory: str, name: str, parser: str) -> ParsedFile:
    module: Any = fixture_pairs.parser(parser)
    text = SourceText((folder(directory) / name).read_bytes())
    assert module.looks_like(text) == 1.0
    result = module.parse(text)
    assert isinstance(result, ParsedFile)
    return result


def value(run: ParsedRun, operation: str, metric: str, section: int = 0) -> float | None:
    found = [s.value for s in run.samples if (s.operation, s.metric, s.section) == (operation, metric, section)]
    assert len(found) == 1, (operation, metric)
    return found[0]


@for_each("name, parser, count, first, true", TRUE)
def test_iperf_values_are_those_of_the_index(
    name: str, parser: str, count: int, first: tuple[str, float] | None, true: dict[tuple[str, str], float | None]
) -> None:
    runs = parsed("iperf", name, parser).runs
    assert len(runs) == count
    run = runs[-1]
    for (operation, metric), expected in true.items():
        assert value(run, operation, metric) == (None if expected is None else pytest.approx(expected, rel=1e-12))
    if first is not None:
        series = run.series[0]
        assert (series.operation, series.values[0]) == (first[0], pytest.approx(first[1], rel=1e-12))
        assert len(series.values) == INTERVALS.get(name, len(series.values))


def test_logs_that_were_cut_off_say_so_and_keep_their_intervals() -> None:
    for name in ("iperf2-client-mininet.txt", "iperf2-client-project5.txt", "iperf2-server-project5.txt"):
        found = parsed("iperf", name, "iperf2_text")
        assert [one.message for one in found.broken] == ["the line over the whole time is missing"]
        assert found.runs[0].series[0].values[-1] in (0.0, 1.42 * MBIT)


def test_a_log_without_header_keeps_the_tools_words_where_the_side_is_unknown() -> None:
    found = parsed("iperf", "iperf2-bom-no-header.txt", "iperf2_text")
    (sample,) = found.runs[0].samples
    assert (sample.printed, sample.line) == ("12.6 Mbits/sec", 31)
    assert "side" in sample.missing_reason or "client" in sample.missing_reason
    assert found.warnings


def test_the_second_direction_of_a_dual_test_has_a_section_of_its_own() -> None:
    run = parsed("iperf", "iperf2-csv-udp-loss.csv", "iperf2_csv").runs[0]
    assert value(run, "net_receive", "bandwidth", 1) == 295186328 / 8
    assert value(run, "net_receive", "lost", 1) == 3822 / 254835


def test_iperf3_in_an_article_is_read_among_its_other_tables() -> None:
    runs = parsed("mixed-logs", "kaiser-iozone-in-markdown.md", "iperf3_text").runs
    assert len(runs) == 12
    assert value(runs[0], "net_receive", "bandwidth") == 1.57e9 / 8
    assert runs[1].workload["reverse"] == 1


NETPERF: list[tuple[str, int, dict[tuple[str, str], float]]] = [
    ("doc-confidence-not-met.txt", 1, {("net_send", "bandwidth"): 40.23 * MBIT}),
    ("doc-tcp-stream-interim-MBytes.txt", 1, {("net_send", "bandwidth"): 17.81 * MBYTE}),
    ("doc-tcp-stream-lag.txt", 1, {("net_send", "bandwidth"): 80.42 * MBIT}),
    ("doc-udp-stream.txt", 1, {
        ("net_send", "bandwidth"): 2770.20 * MBIT, ("net_receive", "bandwidth"): 2748.50 * MBIT,
        ("net_receive", "lost"): 1 - 104844 / 105672}),
    ("lkp-netperf.txt", 64, {("net_send", "bandwidth"): 7572.02 * MBIT}),
    ("pkb-netperf-omni-csv.txt", 1, {("net_request", "rate"): 2217.06, ("net_request", "latency_p99"): 589_000}),
    ("pkb-netperf_results.json", 10, {("net_request", "rate"): 1405.50, ("net_request", "latency_p50"): 683_000}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "count", "true"), NETPERF, ids=[row[0] for row in NETPERF])
def test_netperf_values_are_those_of_the_index(name: str, count: int, true: dict[tuple[str, str], float]) -> None:
    found = recognise(SourceText((folder("netperf") / name).read_bytes()))[0]
    assert found.format.name == "netperf"
    runs = found.parsed.runs if found.parsed else ()
    assert len(runs) == count
    for (operation, metric), expected in true.items():
        assert value(runs[0], operation, metric) == pytest.approx(expected, rel=1e-12)


def test_a_netperf_table_whose_row_was_cut_away_is_broken() -> None:
    found = parsed("netperf", "doc-tcp-stream-plain.txt", "netperf")
    assert not found.runs
    assert [(one.line, one.expected) for one in found.broken] == [(2, "a row of numbers")]


def test_no_file_of_the_folders_is_left_out() -> None:
    assert {path.name for path in folder("iperf").iterdir()} == {row[0] for row in TRUE}
    assert {path.name for path in folder("netperf").iterdir()} == {row[0] for row in NETPERF} | {
        "doc-tcp-stream-plain.txt"
    }

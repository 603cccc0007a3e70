"""Clients of iperf 3 with titles (-T) that wrote into one terminal at the same time."""

import json

from apps.parsers.core.source_text import SourceText
from apps.parsers.iperf import iperf3_json, iperf3_text

MIXED = """$ iperf3 -c 10.0.0.2 -T up -p 5101 & iperf3 -c 10.0.0.2 -T two -p 5102 &
[1] 4711
[root@h ~]# up:  Connecting to host 10.0.0.2, port 5101
two:  Connecting to host 10.0.0.2, port 5102
up:  [  4] local 10.0.0.1 port 36758 connected to 10.0.0.2 port 5101
two:  [  4] local 10.0.0.1 port 42245 connected to 10.0.0.2 port 5102
up:  [ ID] Interval           Transfer     Bandwidth       Retr  Cwnd
up:  [  4]   0.00-1.00   sec   401 MBytes  3.36 Gbits/sec    0    446 KBytes
two:  [ ID] Interval           Transfer     Bandwidth       Retr  Cwnd
two:  [  4]   0.00-1.00   sec   391 MBytes  3.28 Gbits/sec    0    446 KBytes
up:  [  4]   1.00-2.00   sec   400 MBytes  3.35 Gbits/sec    0    446 KBytes
two:  [  4]   1.00-2.00   sec   390 MBytes  3.27 Gbits/sec    0    446 KBytes
up:  - - - - - - - - - - - - - - - - - - - - - - - - -
two:  - - - - - - - - - - - - - - - - - - - - - - - - -
up:  [ ID] Interval           Transfer     Bandwidth       Retr
two:  [ ID] Interval           Transfer     Bandwidth       Retr
up:  [  4]   0.00-2.00   sec   801 MBytes  3.36 Gbits/sec    0             sender
two:  [  4]   0.00-2.00   sec   781 MBytes  3.28 Gbits/sec    5             sender
up:  [  4]   0.00-2.00   sec   800 MBytes  3.35 Gbits/sec                  receiver
up:  
up:  iperf Done.
two:  [  4]   0.00-2.00   sec   780 MBytes  3.27 Gbits/sec                  receiver
two:  
two:  iperf Done.
"""  # noqa: W291


def test_each_titles_lines_are_a_run_of_their_own() -> None:
    found = iperf3_text.parse(SourceText(MIXED))
    assert [(run.caption, run.host, run.line) for run in found.runs] == [("up", "10.0.0.1", 3), ("two", "10.0.0.1", 4)]
    rates = [[one.value for one in run.samples if one.metric == "bandwidth"] for run in found.runs]
    assert rates == [[420e6, 418.75e6], [410e6, 408.75e6]]
    assert [list(run.series[0].values) for run in found.runs] == [[420e6, 418.75e6], [410e6, 408.75e6]]
    assert [one.value for run in found.runs for one in run.samples if one.metric == "retransmits"] == [0, 5]
    assert found.broken == ()


def test_a_test_without_a_title_beside_them_has_none() -> None:
    plain = MIXED.replace("two:  ", "")
    found = iperf3_text.parse(SourceText(plain))
    assert [run.caption for run in found.runs] == ["up", ""]
    assert [len(run.series[0].values) for run in found.runs] == [2, 2]


def test_words_before_a_line_with_one_blank_are_no_title() -> None:
    text = MIXED.partition("\n")[2].replace("up:  ", "up: ").replace("two:  ", "up: ")
    assert {run.caption for run in iperf3_text.parse(SourceText(text)).runs} == {""}


def test_the_title_of_a_document_is_its_caption() -> None:
    sums = {"seconds": 2.0, "bytes": 250000000, "bits_per_second": 1e9}
    end = {"streams": [], "sum_sent": sums, "sum_received": sums}
    start = {"version": "iperf 3.9", "test_start": {"protocol": "TCP", "num_streams": 1}}
    text = json.dumps({"start": start, "intervals": [], "end": end, "title": "s1"})
    assert [run.caption for run in iperf3_json.parse(SourceText(text)).runs] == ["s1"]

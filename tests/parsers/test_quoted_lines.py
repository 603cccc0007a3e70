"""Outputs of fio and iperf inside strings: Ansible's results, logs of containers, programs' own JSON around them."""

import json

import pytest

from apps.parsers import fio_json, iperf2_text, iperf3_json, iperf3_text
from apps.parsers.quoted_lines import unquoted
from apps.parsers.shape import ParsedFile
from apps.parsers.source_text import SourceText

IPERF3 = """Connecting to host 10.0.0.2, port 5201
[  5] local 10.0.0.1 port 40000 connected to 10.0.0.2 port 5201
[ ID] Interval           Transfer     Bitrate         Retr  Cwnd
[  5]   0.00-1.00   sec   112 MBytes   941 Mbits/sec    0    400 KBytes
[  5]   1.00-2.00   sec   111 MBytes   934 Mbits/sec    3    410 KBytes
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-2.00   sec   223 MBytes   937 Mbits/sec    3             sender
[  5]   0.00-2.04   sec   221 MBytes   909 Mbits/sec                  receiver

iperf Done.
"""
IPERF2 = """Client connecting to 10.0.0.2, UDP port 5001
Sending 1470 byte datagrams
[  3] local 10.0.0.1 port 40000 connected with 10.0.0.2 port 5001
[ ID] Interval       Transfer     Bandwidth
[  3]  0.0-10.0 sec  1.25 MBytes  1.05 Mbits/sec
[  3] Sent 893 datagrams
[  3] Server Report:
[  3]  0.0-10.0 sec  1.25 MBytes  1.04 Mbits/sec   0.011 ms    1/  893 (0.11%)
"""
CLAT = {"min": 1, "max": 3, "mean": 1.5, "stddev": 0.5, "N": 5}
READ = {"io_bytes": 20480, "bw_bytes": 40960, "bw": 40, "iops": 10.0, "runtime": 500, "total_ios": 5, "clat_ns": CLAT}
JOB = {"jobname": "rr", "groupid": 0, "error": 0, "job options": {"rw": "randread", "bs": "4k"}, "read": READ}
FIO = {"fio version": "fio-3.28", "timestamp": 1656122922, "jobs": [JOB]}
SUM = {"start": 0, "end": 2.0, "seconds": 2.0, "bytes": 250000000, "bits_per_second": 1e9}
TEST = {"connected": [], "version": "iperf 3.9", "test_start": {"protocol": "TCP", "num_streams": 1, "reverse": 0}}
IPERF3_JSON = {"start": TEST, "intervals": [], "end": {"streams": [], "sum_sent": SUM, "sum_received": SUM}}

PRINTED = {
    "iperf3": (iperf3_text, IPERF3),
    "iperf2": (iperf2_text, IPERF2),
    "fio json": (fio_json, json.dumps(FIO, indent=2)),
    "iperf3 json": (iperf3_json, json.dumps(IPERF3_JSON, indent=2)),
}
FORMS = {
    "lines": lambda text: "ok: [a] => " + json.dumps({"o.stdout_lines": text.splitlines(), "rc": 0}, indent=4),
    "string": lambda text: "ok: [a] => " + json.dumps({"stdout": text, "rc": 0}, indent=4),
    "both": lambda text: "ok: [a] => " + json.dumps({"stdout": text, "stdout_lines": text.splitlines()}, indent=4),
    "one row": lambda text: "ok: [a] => " + json.dumps({"stdout": text, "stdout_lines": text.splitlines()}),
    "container": lambda text: "".join(json.dumps({"log": f"{one}\n", "time": "t"}) + "\n" for one in text.splitlines()),
}


def figures(found: ParsedFile) -> list[list[tuple[str, str, float | None]]]:
    return [[(one.operation, one.metric, one.value) for one in run.samples] for run in found.runs]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", PRINTED)
def test_what_stands_in_strings_is_what_was_printed(name: str, form: str) -> None:
    module, printed = PRINTED[name]
    plain = module.parse(SourceText(printed))
    text = SourceText(FORMS[form](printed))
    assert module.looks_like(text) == 1
    found = module.parse(text)
    assert figures(found) == figures(plain) != []
    assert [run.workload for run in found.runs] == [run.workload for run in plain.runs]
    assert (found.warnings, found.broken) == ((), ())


def test_a_tool_that_is_not_in_the_strings_leaves_the_text_as_it_is() -> None:
    text = SourceText(FORMS["both"](IPERF3))
    assert unquoted(text, "fio version", '\\"fio version') is text


def test_what_iperf3s_json_says_of_the_server_is_no_second_test() -> None:
    text = json.dumps({**IPERF3_JSON, "server_output_text": IPERF3}, indent=2)
    assert iperf3_text.looks_like(SourceText(text)) == 0
    assert len(iperf3_json.parse(SourceText(text)).runs) == 1


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("count", [1, 40])
def test_fios_documents_inside_of_others_json_are_all_read(indent: int | None, count: int) -> None:
    text = json.dumps({"results": [{"host": f"h{n}", "fio": FIO} for n in range(count)]}, indent=indent)
    found = fio_json.parse(SourceText(text))
    assert figures(found) == figures(fio_json.parse(SourceText(json.dumps(FIO)))) * count
    assert (found.warnings, found.broken) == ((), ())


def test_a_document_inside_of_others_json_is_read_below_one_that_is_not() -> None:
    text = json.dumps(FIO) + "\n" + json.dumps({"host": "b", "fio": FIO}) + "\n"
    assert len(fio_json.parse(SourceText(text)).runs) == 2


@pytest.mark.parametrize("end", ["[/code]", "[/code][/quote]", " |", "`", "```"])
def test_what_ends_a_block_is_none_of_the_last_line(end: str) -> None:
    text = IPERF3.partition("\n\n")[0] + end + "\n"
    found = iperf3_text.parse(SourceText(text))
    assert figures(found) == figures(iperf3_text.parse(SourceText(IPERF3)))
    assert found.broken == ()


def test_figures_and_sides_in_bold_are_read() -> None:
    text = IPERF3.replace("937 Mbits/sec", "**937 Mbits/sec**").replace("receiver", "**receiver**")
    found = iperf3_text.parse(SourceText(text))
    assert figures(found) == figures(iperf3_text.parse(SourceText(IPERF3)))
    assert found.broken == ()


def test_all_documents_behind_a_blank_are_read() -> None:
    found = fio_json.parse(SourceText(f" {json.dumps(FIO)}\n" * 40))
    assert len(found.runs) == 40
    assert [run.line for run in found.runs] == [*range(1, 41)]

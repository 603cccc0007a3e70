"""Outputs inside strings: Ansible's results, logs of containers, programs' own JSON around them."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from apps.parsers.cleanup.string_literals import without_quotes
from apps.parsers.core.models import ParsedFile
from apps.parsers.core.registry import recognise
from apps.parsers.core.source_text import SourceText
from apps.parsers.fio.json import format as json_format
from apps.parsers.iperf import iperf3_text
from tests.parsers.every import read_but_lines, read_plain, timed
from tests.parsers.fixture_pairs import FORMATS, outputs
from tests.parsers.seeds import TEXTS
from tests.parsers.wrappings import STRINGS, in_lines, of_a_container
from tests.sampling import for_each, in_turn

IPERF3 = TEXTS["iperf3"]
CLAT = {"min": 1, "max": 3, "mean": 1.5, "stddev": 0.5, "N": 5}
READ = {"io_bytes": 20480, "bw_bytes": 40960, "bw": 40, "iops": 10.0, "runtime": 500, "total_ios": 5, "clat_ns": CLAT}
JOB = {"jobname": "rr", "groupid": 0, "error": 0, "job options": {"rw": "randread", "bs": "4k"}, "read": READ}
FIO = {"fio version": "fio-3.28", "timestamp": 1656122922, "jobs": [JOB]}
SUM = {"start": 0, "end": 2.0, "seconds": 2.0, "bytes": 250000000, "bits_per_second": 1e9}
TEST = {"connected": [], "version": "iperf 3.9", "test_start": {"protocol": "TCP", "num_streams": 1, "reverse": 0}}
IPERF3_JSON = {"start": TEST, "intervals": [], "end": {"streams": [], "sum_sent": SUM, "sum_received": SUM}}

NOT_ALIKE = ("fio_logs", "fio_jobfile", "cut_off")  # without words of their own; what is cut off is cut in other rows
PATHS = [
    path for folder in FORMATS for path in outputs(folder).values() if not {folder, path.stem}.intersection(NOT_ALIKE)
]


@pytest.mark.slow
@for_each("form, path", in_turn(STRINGS, PATHS))
def test_what_stands_in_strings_is_what_was_printed(path: Path, form: Callable[[str], str]) -> None:
    text = path.read_bytes().decode("utf-8", "replace")
    assert read_but_lines(form(text)) == read_plain(text)


@pytest.mark.parametrize("form", [in_lines, of_a_container])
def test_lines_keep_their_numbers(form: Callable[[str], str]) -> None:
    (found,) = recognise(SourceText(form(IPERF3)))
    (plain,) = recognise(SourceText(IPERF3))
    assert found.parsed
    assert plain.parsed
    above = 1 + form(IPERF3).split("\n").index(next(row for row in form(IPERF3).split("\n") if "iperf 3.12" in row))
    assert [one.line for one in found.parsed.runs[0].samples] == [
        above - 1 + (one.line or 0) for one in plain.parsed.runs[0].samples
    ]


def test_a_tools_own_lists_and_words_are_no_output() -> None:
    for own in (
        {"smartctl": {"argv": ["smartctl", "-a", "-j", "/dev/sda x"], "output": ["=== START ===", "a b", "c d"]}},
        {"blockdevices": [{"name": "sda", "mountpoints": ["/", "/home", "/boot/efi"]}]},
        {"server_output_text": IPERF3},
        {"blockdevices": [{"name": "a\nb", "mountpoints": ["/mnt/a b"]}]},
    ):
        assert without_quotes(SourceText(json.dumps(own, indent=3))) is None


def test_what_iperf3s_json_says_of_the_server_is_no_second_test() -> None:
    (found,) = recognise(SourceText(json.dumps({**IPERF3_JSON, "server_output_text": IPERF3}, indent=2)))
    assert found.format.name == "iperf3 json"
    assert found.parsed
    assert len(found.parsed.runs) == 1


@pytest.mark.parametrize("form", ['"msg": [{}]', '"msg":[{}]', '"fio.stdout_lines":[{}]'])
def test_a_list_in_one_row_that_stands_alone_is_read(form: str) -> None:
    text = "ok: [a] => {" + form.format(", ".join(map(json.dumps, IPERF3.split("\n")))) + "}\n"
    assert read_but_lines(text) == read_plain(IPERF3)


def test_rows_around_the_strings_stay() -> None:
    dd = "1073741824 bytes (1.1 GB) copied, 8 s, 134 MB/s"
    text = f'{dd}\nok: [a] => {{"stderr": "", "stdout": "{dd.replace("8 s", "9 s")}"}}\n{dd.replace("8 s", "7 s")}\n'
    (found,) = recognise(SourceText(text))
    assert found.parsed
    assert [(run.line, run.samples[1].printed) for run in found.parsed.runs] == [(1, "8 s"), (2, "9 s"), (3, "7 s")]


@pytest.mark.slow
@for_each(
    "piece",
    ['"', "'", '\\"', "- '", '{"log":"', '"a_lines": ["', '["b",', '"stdout":"a\\n', "\\u", '"x y",\n', "  - 'a'\n"],
    number=4,
)
def test_a_hostile_mebibyte_takes_little(piece: str) -> None:
    text = SourceText('"a_lines": [\n"a\\n' + piece * (2**20 // len(piece)))
    _, seconds = timed(lambda: without_quotes(text), 1.5)
    assert seconds < 1.5


def figures(found: ParsedFile) -> list[list[tuple[str, str, float | None]]]:
    return [[(one.operation, one.metric, one.value) for one in run.samples] for run in found.runs]


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("count", [1, 40])
def test_fios_documents_inside_of_others_json_are_all_read(indent: int | None, count: int) -> None:
    text = json.dumps({"results": [{"host": f"h{n}", "fio": FIO} for n in range(count)]}, indent=indent)
    found = json_format.parse(SourceText(text))
    assert figures(found) == figures(json_format.parse(SourceText(json.dumps(FIO)))) * count
    assert (found.warnings, found.broken) == ((), ())


def test_a_document_inside_of_others_json_is_read_below_one_that_is_not() -> None:
    text = json.dumps(FIO) + "\n" + json.dumps({"host": "b", "fio": FIO}) + "\n"
    assert len(json_format.parse(SourceText(text)).runs) == 2


@pytest.mark.parametrize("end", [" |", "`", "```"])
def test_what_ends_a_block_is_none_of_the_last_line(end: str) -> None:
    text = IPERF3.partition("\n\n")[0] + end + "\n"
    found = iperf3_text.parse(SourceText(text))
    assert figures(found) == figures(iperf3_text.parse(SourceText(IPERF3)))
    assert found.broken == ()


def test_figures_and_sides_in_bold_are_read() -> None:
    text = IPERF3.replace("942 Mbits/sec", "**942 Mbits/sec**").replace("receiver", "**receiver**")
    found = iperf3_text.parse(SourceText(text))
    assert figures(found) == figures(iperf3_text.parse(SourceText(IPERF3)))
    assert found.broken == ()


def test_all_documents_behind_a_blank_are_read() -> None:
    found = json_format.parse(SourceText(f" {json.dumps(FIO)}\n" * 40))
    assert len(found.runs) == 40
    assert [run.line for run in found.runs] == [*range(1, 41)]


def test_a_document_that_begins_with_its_jobs_is_read_in_a_list_and_a_wrong_one_beside_it_is_told() -> None:
    late = json.dumps({"jobs": [JOB], "fio version": "fio-2.1.10"})
    (found,) = recognise(SourceText(in_lines(late)))
    assert found.parsed
    assert [run.tool_version for run in found.parsed.runs] == ["2.1.10"]
    wrong = json.dumps({"host": "b", "fio": {"fio version": 3, "jobs": []}})
    parsed = json_format.parse(SourceText(f"{wrong}\n{late}\n"))
    assert (len(parsed.runs), [one.line for one in parsed.broken]) == (1, [1])


def test_strings_one_below_the_other_are_no_list() -> None:
    text = '"Throughput report Y-axis is type of test"\n"Record size = 4 Kbytes "\n"Output is in Kbytes/sec"\n'
    assert without_quotes(SourceText(text)) is None

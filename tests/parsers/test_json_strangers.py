"""JSON into whose file others wrote: their lines are left out and told, values keep the numbers of their lines, and what could
belong to the document is never left out.
"""

import json
import re
import time
from itertools import product
from pathlib import Path
from types import ModuleType

import pytest

from apps.parsers.cleanup.json_interruptions import MOST_INTERRUPTIONS, without_interruptions
from apps.parsers.core.models import Broken, ParsedFile, ParseError
from apps.parsers.core.registry import recognise
from apps.parsers.core.source_text import SourceText
from apps.parsers.fio.json import format as json_format
from apps.parsers.fio.text import format as text_format
from apps.parsers.iperf import iperf3_json
from tests.pace import within
from tests.sampling import for_each

FIO = (Path(__file__).parent / "fixtures" / "fio_json" / "null.json").read_text().splitlines()
IPERF = json.dumps({
    "start": {
        "connected": [], "version": "iperf 3.12", "cookie": "x", "timestamp": {"timesecs": 1700000000},
        "connecting_to": {"host": "n2"}, "test_start": {"protocol": "TCP", "num_streams": 1},
    },
    "intervals": [],
    "end": {
        "sum_sent": {"bytes": 1000, "bits_per_second": 800, "retransmits": 2},
        "sum_received": {"bytes": 1000, "bits_per_second": 640},
    },
}, indent=1).splitlines()  # fmt: skip
STRANGERS = [
    "fio: terminating on signal 2",
    "note: both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped at 1",
    "Jobs: 1 (f=1): [r(1)][50.0%][r=113MiB/s][r=28.9k IOPS][eta 00m:15s]",
    "iperf3: error - control socket has closed unexpectedly",
    "iperf3: interrupt - the client has terminated",
    "[12345.678901] nvme nvme0: I/O 12 QID 3 timeout, aborting",
    "Jan  5 12:00:00 host kernel: sd 0:0:0:0: [sda] tag#0 FAILED",
    "3+0 records in",
    "Terminated",
]
ETA = "Jobs: 1 (f=1): [r(1)][50.0%][eta 00m:15s]\r"


def text_of(*lines: str) -> str:
    return "".join(f"{line}\n" for line in lines)


def told_of(module: ModuleType, text: SourceText) -> tuple[int, tuple[Broken, ...], tuple[str, ...]]:
    """How many runs, what is broken, and the warnings; also of a text that is refused."""
    try:
        parsed: ParsedFile = module.parse(text)
    except ParseError as error:
        return 0, (error.broken,), ()
    return len(parsed.runs), parsed.broken, parsed.warnings


def check_places(parsed: ParsedFile, text: str) -> None:
    """That each value's line is the file's, by the value's own characters."""
    lines = text.split("\n")
    for run in parsed.runs:
        places = [(one.line, one.printed.split()[0]) for one in run.samples if one.line and one.printed]
        assert len(places) > 3
        assert [(line, printed) for line, printed in places if printed not in lines[line - 1]] == []


def both(text: str) -> ParsedFile:
    module = json_format if '"fio version"' in text else iperf3_json
    parsed = module.parse(SourceText(text))
    check_places(parsed, text)
    return parsed


@for_each("stranger, document", product(STRANGERS, [FIO, IPERF]))
def test_a_strangers_line_in_a_document_is_left_out_and_told(document: list[str], stranger: str) -> None:
    undisturbed = both(text_of(*document))
    whole, own = undisturbed.runs[0], undisturbed.warnings  # what the document says of itself
    for at in (1, 4, len(document) // 2, len(document) - 1):
        parsed = both(text_of(*document[:at], stranger, *document[at:]))
        (run,) = parsed.runs
        assert [one.value for one in run.samples] == [one.value for one in whole.samples]
        assert (run.line, run.last_line) == (1, len(document) + 1)
        found = " ".join(stranger.split())
        told = f"line {at + 1}: left out, as it is no JSON; found {found!r}, expected JSON"
        assert (parsed.warnings, parsed.broken) == ((told, *own), ())


@pytest.mark.parametrize("document", [FIO, IPERF])
def test_several_strangers_among_several_documents_are_each_told(document: list[str]) -> None:
    torn = [*document[:5], *STRANGERS, *document[5:9], STRANGERS[0], *document[9:]]
    parsed = both(text_of("a title", *document, "between", *torn, "behind", *document))
    assert (len(parsed.runs) >= 1, parsed.broken) == (True, ())
    first = len(document) + 3 + 5
    of_strangers = [warning for warning in parsed.warnings if "no JSON" in warning]
    numbers = [int(re.findall(r"\d+", warning)[0]) for warning in of_strangers]
    assert numbers == [*range(first, first + len(STRANGERS)), first + len(STRANGERS) + 4]


@pytest.mark.parametrize("document", [FIO, IPERF])
def test_what_is_glued_into_a_line_of_json_stays_broken_and_told(document: list[str]) -> None:
    for glued in (document[5] + STRANGERS[0], STRANGERS[0] + document[5], document[5][:-3] + STRANGERS[0]):
        text = SourceText(text_of(*document[:5], glued, *document[6:]))
        runs, broken, warnings = told_of(json_format if document is FIO else iperf3_json, text)
        assert (runs, warnings) == (0, ())
        assert broken[0].line == 6 or "line 6" in broken[0].message


@for_each(
    "line",
    [
        '"key" : "value"',
        "  12,",
        "nan,",
        "-nan",
        "true",
        "e+05",
        "E5",
        ".5",
        "}",
        "12fio: x",
        'rest of a word",',
        "ue,",
        'fio: x "a" : 1',
        "",
    ],
)
def test_a_line_that_may_be_of_the_document_is_kept(line: str) -> None:
    assert without_interruptions(["{", line, "}"]) == (["{", line, "}"], {})


def test_a_figure_of_two_lines_is_not_made_one_by_leaving_out_the_second() -> None:
    at = next(index for index, line in enumerate(FIO) if '"iops"' in line)
    half, rest = FIO[at].rsplit(".", 1)
    text = text_of(*FIO[:at], half, STRANGERS[0], f".{rest}", *FIO[at + 1 :])
    with pytest.raises(ParseError):
        json_format.parse(SourceText(text))


def test_a_tool_that_printed_in_the_middle_of_json_is_a_run_of_its_own() -> None:
    dd = "3+0 records in\n3+0 records out\n3145728 bytes (3.1 MB, 3.0 MiB) copied, 0.5 s, 6.3 MB/s".splitlines()
    found = recognise(SourceText(text_of(*FIO[:7], *dd, *FIO[7:])))
    runs = [(run.tool, run.line) for one in found if one.parsed for run in one.parsed.runs]
    assert sorted(runs) == [("dd", 8), ("fio", 1)]


def test_a_normal_report_that_repeats_such_a_document_is_not_read_twice() -> None:
    job = json.loads("\n".join(FIO))["jobs"][0]
    name = next(one for one in ("read", "write") if job[one]["runtime"])
    report = (
        f"{job['jobname']}: (groupid=0, jobs=1): err= 0: pid=9: Sat Jun 25 02:08:42 2022\n"
        f"  {name}: IOPS=28.9k, BW=113MiB/s (118MB/s)(3389MiB/{job[name]['runtime']}msec)\n"
    )
    assert text_format.parse(SourceText(report + text_of(*FIO[:7], STRANGERS[0], *FIO[7:]))).runs == ()


def test_lines_beyond_measure_are_no_document_any_more() -> None:
    lines = ["{", *["hello you"] * (MOST_INTERRUPTIONS + 1), "}"]
    assert without_interruptions(lines) == (lines, {})


QUOTED = [f"> {line}" for line in FIO]
WHERE = {  # text, and the number of the document's first line
    "behind progress on its line": (ETA * 3 + text_of(*FIO), 1),
    "behind progress": (ETA * 3 + "\n" + text_of(*FIO), 2),
    "behind progress, CRLF": (ETA * 3 + "\r\n" + text_of(*FIO).replace("\n", "\r\n"), 2),
    "quoted": (text_of("He wrote:", *QUOTED), 2),
    "quoted behind progress": (text_of("> so:", f"> {ETA * 3}", *QUOTED), 3),
    "quoted behind progress on its line": (text_of("> so:", "> " + ETA * 3 + FIO[0], *QUOTED[1:]), 2),
    "quoted behind progress that is not": (text_of("so:", ETA * 3, *QUOTED), 3),
    "quoted twice": (text_of(*[f"> {line}" for line in QUOTED]), 1),
    "between escape sequences": (text_of(ETA * 2, *[f"\x1b[0m{line}\x1b[K" for line in FIO]), 2),
    "progress in the middle": (text_of(*FIO[:9], ETA * 4 + FIO[9], *FIO[10:]), 1),
    "progress in the middle, quoted": (text_of("", *QUOTED[:9], "> " + ETA * 4 + FIO[9], *QUOTED[10:]), 2),
}


@for_each("where", WHERE)
def test_values_have_the_lines_of_the_file_wherever_the_document_stands(where: str) -> None:
    text, first = WHERE[where]
    parsed = both(text)
    (run,) = parsed.runs
    assert (run.line, run.last_line, len(run.samples)) == (first, first + len(FIO) - 1, 38)
    assert parsed.broken == ()


def test_a_document_behind_progress_is_not_lost_where_another_one_follows() -> None:
    other = [re.sub(r'"timestamp_ms" : \d+', '"timestamp_ms" : 1900000000000', line) for line in FIO]
    parsed = both(ETA * 3 + text_of(*FIO, *other))
    assert [run.line for run in parsed.runs] == [1, len(FIO) + 1]


def test_what_is_broken_behind_progress_names_the_line_of_the_file() -> None:
    hurt = [line.replace('"error" : 0,', '"error" : 0') for line in QUOTED]
    place = next(index for index, line in enumerate(hurt) if line.endswith('"error" : 0'))
    with pytest.raises(ParseError) as refused:
        json_format.parse(SourceText(text_of("> so:", f"> {ETA * 3}", *hurt)))
    assert refused.value.line == 2 + place + 2


HOSTILE = {
    "strangers": "{\n" + "aa b\n" * 200_000 + '"fio version" : 1}\n',
    "many torn documents": '{\n"fio version" : "fio-3",\nfio: x\n"jobs":[]\n}\n' * 22_000,
    "one line of carriage returns": '{\r"fio version" : "x"' + "aa b\r" * 200_000 + "\n}\n",
    "openings": '{"fio version"\n' * 65_000,
    "torn tests": '{"start":{"test_start":1}\nhello you\n,"intervals":[],"bits_per_second":1}\n' * 14_000,
}


@pytest.mark.slow
@for_each("name", HOSTILE, number=4)
def test_a_mebibyte_of_strangers_is_read_or_refused_in_time(name: str) -> None:
    text = SourceText(HOSTILE[name])
    for module in (json_format, iperf3_json):
        began = time.process_time()
        told_of(module, text)
        assert within(time.process_time() - began, 2)

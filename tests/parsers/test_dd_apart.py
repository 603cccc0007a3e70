"""dd's lines on one line, as commands that were typed together and paragraphs that were filled anew have them."""

import textwrap
from itertools import product

import pytest

from apps.parsers.core.registry import recognise
from apps.parsers.core.source_text import SourceText
from apps.parsers.dd import format as dd_format
from tests.sampling import for_each

WRITE, READ = (
    "dd if=/dev/zero of=/srv/one.img bs=1M count=100 oflag=direct",
    "dd if=/srv/one.img of=/dev/null bs=1M iflag=direct",
)
RECORDS = "100+0 records in\n100+0 records out\n"
RESULTS = [  # of half a second each
    "104857600 bytes (105 MB, 100 MiB) copied, 0.500123 s, 210 MB/s",
    "104857600 bytes (105 MB) copied, 0.5 seconds, 210 MB/s",
    "104857600 bytes transferred in 0.500000 secs (209715200 bytes/sec)",
    "104857600 bytes (100.0MB) copied, 0.500000 seconds, 200.0MB/s",
]


def found(text: str) -> list[tuple[str, str, int | None, int | None, int]]:
    [reading] = recognise(SourceText(text))
    assert reading.format.name == "dd"
    assert reading.parsed
    assert not reading.parsed.broken
    return [
        (one.operation, run.target, one.file_size, one.block_size, round((one.value or 0) / 1e6))
        for run in reading.parsed.runs
        for one in run.samples
    ]


EXPECTED = [
    (operation, "/srv/one.img", 104857600, 1 << 20, value) for operation in ("write", "read") for value in (210, 500)
]


@for_each("result, width", product(RESULTS, range(40, 110)))
def test_dds_in_a_paragraph_that_was_filled_anew_are_read_as_they_were_printed(result: str, width: int) -> None:
    printed = f"$ {WRITE}\n{RECORDS}{result}\n$ {READ}\n{RECORDS}{result}\n"
    filled = textwrap.fill(printed, width, break_long_words=False, break_on_hyphens=False)
    assert found(filled) == found(printed) == EXPECTED


@pytest.mark.parametrize("mark", ["; ", " && ", "; sync; "])
def test_commands_that_were_typed_together_have_their_results_in_turn(mark: str) -> None:
    output = (RECORDS + RESULTS[0] + "\n") * 2
    assert found(f"$ {WRITE}{mark}{READ}\n{output}") == EXPECTED
    assert found(f"$ {WRITE}{mark}{READ}\n{output.replace(chr(10), ' ')}") == EXPECTED


def test_equal_results_of_whole_seconds_on_one_line_are_two_copies_and_no_progress() -> None:
    one = "104857600 bytes (105 MB, 100 MiB) copied, {} s, {} MB/s"
    parsed = dd_format.parse(SourceText(f"{one.format(1, 105)} {one.format(2, 52.4)}\n"))
    assert [(run.samples[0].value, run.line) for run in parsed.runs] == [(104857600, 1), (52428800, 1)]
    progress = "\r209715200 bytes (210 MB, 200 MiB) copied, 2 s, 105 MB/s\n"
    end = "300+0 records in\n300+0 records out\n314572800 bytes (315 MB, 300 MiB) copied, 2.5 s, 126 MB/s\n"
    for between in ("\r", ""):  # some copies lose it
        parsed = dd_format.parse(SourceText(one.format(1, 105) + between + progress.lstrip("\r") + end))
        assert [run.samples[0].file_size for run in parsed.runs] == [314572800]


def test_bytes_that_a_mail_left_alone_on_their_line_belong_to_what_follows() -> None:
    for result in RESULTS:
        size, rest = result.split(" ", 1)
        assert found(f"$ {WRITE}\n{RECORDS}{size}\n{rest}\n") == EXPECTED[:2]
    parsed = dd_format.parse(SourceText(f"$ {WRITE}\n{RECORDS}42\nis the answer\n"))
    assert not parsed.broken


@pytest.mark.parametrize("name", ["gdd", "/opt/homebrew/bin/gdd", "sudo gdd", "time gdd"])
def test_dd_is_called_gdd_where_another_one_has_its_name(name: str) -> None:
    assert found(f"$ {name}{WRITE[2:]}\n{RECORDS}{RESULTS[0]}\n") == EXPECTED[:2]
    parsed = dd_format.parse(SourceText(f"$ x{name.split('/')[-1].split()[-1]}{WRITE[2:]}\n{RECORDS}{RESULTS[0]}\n"))
    assert parsed.runs[0].target == ""  # another program's


def test_what_docker_tells_between_a_command_and_its_output_is_passed_over() -> None:
    told = " ---> Running in d98f674c46f2\n"
    assert found(f"Step 2 : RUN {WRITE}\n{told}{RECORDS}{RESULTS[0]}\n ---> f3a606172d91\n") == EXPECTED[:2]


def test_a_mark_around_prompt_and_command_is_none_of_the_command() -> None:
    [run] = dd_format.parse(SourceText(f"`[root@n7 ~]# {WRITE}`  \n{RECORDS}{RESULTS[0]}\n")).runs
    assert (run.host, run.workload["command"]) == ("n7", WRITE)


def test_a_slash_between_records_lines_is_no_line() -> None:
    assert found(f"# {WRITE}\n{RECORDS.replace(chr(10), ' / ', 1)}{RESULTS[0]}\n") == EXPECTED[:2]

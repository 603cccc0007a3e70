"""IOzone that found wrong data, could not read or write, or was stopped: told with the figures that it still printed."""

import pytest

from apps.parsers.core.models import ParsedFile, ParseError
from apps.parsers.core.registry import recognise
from apps.parsers.core.source_text import SourceText
from apps.parsers.iozone import format as iozone
from tests.parsers.every import faults

BANNER = (
    "\tIozone: Performance Test of File I/O\n\t        Version $Revision: 3.489 $\n\tRecord Size 512 kB\n\tFile size set to 65536 kB\n"
    "\tCommand line used: iozone -r 512k -s 64m -t 2 -i 0 -i 1 -+d\n\tOutput is in kBytes/sec\n\tThroughput test with 2 processes\n"
    "\tEach process writes a 65536 kByte file in 512 kByte records\n\n"
)
BLOCK = (
    "\tChildren see throughput for  2 {0} \t=  {1} kB/sec\n\tParent sees throughput for  2 {0} \t=  {1} kB/sec\n"
    "\tMin throughput per process \t\t\t=  {1} kB/sec \n\tMax throughput per process \t\t\t=  {1} kB/sec\n"
    "\tAvg throughput per process \t\t\t=  {1} kB/sec\n\tMin xfer \t\t\t\t\t=   65536.00 kB\n\n"
)
TABLE = (
    BANNER.partition("\tThroughput")[0]
    + "                                                              random    random     bkwd    record    stride\n"
    "              kB  reclen    write  rewrite    read    reread    read     write     read   rewrite      read   fwrite frewrite\n"
    "           65536     512  1087638  3588436  3958892  3203069\n"
)
FAILURES = {
    "wrong data": (
        "\n\nError in file: Found ?1a2b? Expecting ?f4f4f4f4f4f4f4f4? addr 7f01\nError in file: Position 4096\n"
        "Record # 8 Record size 512 kb\nwhere 0x7f01x loop 0\n",
        "wrong data in the file: 1a2b where f4f4f4f4f4f4f4f4 was expected, at position 4096",
    ),
    "wrong letters": (
        "\nError in file: Position 12 0 12\nFound pattern: Char >>a<< Expecting >>b<<\nFound pattern: Hex >>61<< Expecting >>62<<\n",
        "wrong data in the file, at position 12",
    ),
    "write": ("\nError writing block 96, fd= 3\nwrite: No space left on device\n", "Error writing block 96, fd= 3 (write: No space left on device)"),
    "read": ("\nError reading block 12 7f0011\nread: Input/output error\n", "Error reading block 12 7f0011 (read: Input/output error)"),
    "stream": ("\nError fwriting block 3, fd= 4\nfwrite: No space left on device\n", "Error fwriting block 3, fd= 4"),
    "positioned": ("\nError preading block 3, fd= 4\npread: Input/output error\n", "Error preading block 3, fd= 4"),
    "interrupted": ("^C\niozone: interrupted\n\nexiting iozone\n\n", "interrupted"),
    "no file": ("\nCan not open temp file: /mnt/t\nopen: Permission denied\n", "Can not open temp file: /mnt/t (open: Permission denied)"),
}  # fmt: skip


def parse(text: str) -> ParsedFile:
    source = SourceText(text)
    parsed = iozone.parse(source)
    assert not faults(parsed, source)
    return parsed


@pytest.mark.parametrize("name", FAILURES)
@pytest.mark.parametrize("figures", [BANNER + BLOCK.format("re-readers", "1040.50"), TABLE])
def test_a_failure_is_the_problem_of_the_run_above_it(name: str, figures: str) -> None:
    printed, told = FAILURES[name]
    line = figures.count("\n") + next(n for n, row in enumerate(printed.split("\n"), 1) if row.strip(" ^C"))
    (run,) = parse(figures + printed).runs
    assert run.problem.startswith(told)
    assert f"(line {line})" in run.problem
    assert run.samples[0].value
    assert (run.last_line or 0) >= line


def test_a_failure_between_two_tests_is_of_their_run_and_all_are_told() -> None:
    text = BANNER + FAILURES["write"][0] + BLOCK.format("initial writers", "1040.50") + FAILURES["wrong data"][0]
    (run,) = parse(text + BLOCK.format("re-readers", "2040.50") + FAILURES["interrupted"][0]).runs
    assert [part.partition(" (")[0].partition(",")[0] for part in run.problem.split("; ")] == [
        "Error writing block 96", "wrong data in the file: 1a2b where f4f4f4f4f4f4f4f4 was expected", "interrupted",
    ]  # fmt: skip
    assert {sample.operation for sample in run.samples if sample.value} == {"write", "reread"}


def test_a_run_without_a_failure_has_no_problem_and_the_next_one_keeps_its_own() -> None:
    failed = BANNER + BLOCK.format("re-readers", "1040.50") + FAILURES["read"][0]
    sound = BANNER + BLOCK.format("re-readers", "2040.50") + "\n\niozone test complete.\n"
    assert [bool(run.problem) for run in parse(failed + sound).runs] == [True, False]
    assert [bool(run.problem) for run in parse(sound + failed).runs] == [False, True]


def test_a_throughput_of_nothing_at_all_is_no_measurement() -> None:
    (run,) = parse(BANNER + FAILURES["write"][0] + BLOCK.format("initial writers", "0.00")).runs
    assert {sample.value for sample in run.samples} == {None}
    assert all(sample.missing_reason for sample in run.samples)
    (run,) = parse(
        BANNER
        + BLOCK.format("initial writers", "7.50").replace(
            "Min throughput per process \t\t\t=  7.50", "Min throughput per process \t\t\t=  0.00"
        )
    ).runs
    assert {sample.metric: sample.value for sample in run.samples}["bandwidth_min"] == 0


@pytest.mark.parametrize("name", FAILURES)
def test_a_file_without_any_figure_is_named_as_iozones(name: str) -> None:
    printed, told = FAILURES[name]
    with pytest.raises(ParseError, match="no figures of IOzone") as raised:
        parse(BANNER + printed)
    assert told in raised.value.found
    (reading,) = recognise(SourceText(BANNER + printed))
    assert (reading.format.name, reading.parsed) == ("iozone", None)
    assert told in (reading.error.found if reading.error else "")


def test_a_row_before_which_iozone_stopped_says_why() -> None:
    parsed = parse(
        TABLE
        + "          131072     512\nError writing block 1, fd= 3\nwrite: No space left on device\n\niozone: interrupted\n"
    )
    assert ["Error writing block 1" in broken.message for broken in parsed.broken] == [True]
    assert "interrupted" in parsed.runs[0].problem

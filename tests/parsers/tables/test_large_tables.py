"""Tables of a million rows: read in time, and where nothing can be read, not to their end."""

import time

import pytest

from apps.parsers.shape import ParseError
from apps.parsers.source_text import SourceText
from apps.parsers.tables import parse, sniff
from tests.pace import within

SELF_SAYING = "| file size (MiB) | write (KiB/s) |\n|---|---|\n"
RULES = "".join("=" * (2 + n % 40) + " " + "=" * (2 + n // 40) + "\n" for n in range(600))


@pytest.mark.parametrize(
    "text",
    ["1  2\n" * 2**18, "1;2\n" * 2**18, "|1|2|\n" * 2**18, "1\t2\n" * 2**18, SELF_SAYING + "| 1 | 2 |\n" * 2**17, RULES * 70],
    ids=["aligned", "semicolons", "pipes", "tabs", "markdown", "rules"],
)  # fmt: skip
def test_a_mebibyte_of_rows_that_are_all_alike_takes_less_than_a_second(text: str) -> None:
    source = SourceText(text[: 2**20])
    started = time.process_time()
    try:
        parse(source)
        sniff(source)
    except ParseError:
        pass
    assert within(time.process_time() - started, 1)


def test_rows_of_one_shape_show_each_of_their_numbers_that_can_be_either() -> None:
    found = sniff(SourceText("config;write\na;1,234\nb;N.A.\nc;5,678\nd;5,678,5\n".replace("5,678,5", "9,012")))
    assert found.unclear == ((2, "write", "1,234"), (4, "write", "5,678"), (5, "write", "9,012"))
    assert found.columns[1].kind == "number"


def test_reading_ends_where_nothing_could_be_read_for_long() -> None:
    rows = "".join(f"| {n} | {n}.5 |\n" for n in range(1, 500)) + "| 1 | 2 |\n" * 5_000 + "| 777 | 2 |\n"
    found = parse(SourceText(SELF_SAYING + rows))
    (run,) = found.runs
    assert len(run.samples) == 499
    assert found.warnings[-1] == "nothing is read from line 2502 on: 2,000 places before it could not be read"
    found = parse(SourceText(SELF_SAYING + rows.replace("| 1 | 2 |\n" * 5_000, "| 1 | 2 |\n" * 1_900)))
    assert found.runs[0].samples[-1].file_size == 777 * 2**20

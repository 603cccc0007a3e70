"""Tables of a million rows: read in time, and where nothing can be read, not to their end."""

import contextlib
import itertools
import time
from collections.abc import Callable

import pytest

from apps.parsers.core.models import ParseError
from apps.parsers.core.source_text import SourceText
from apps.parsers.tables import guess, list_questions, parse, sniff
from tests.pace import within
from tests.sampling import for_each

SELF_SAYING = "| file size (MiB) | write (KiB/s) |\n|---|---|\n"
RULES = "".join("=" * (2 + n % 40) + " " + "=" * (2 + n // 40) + "\n" for n in range(600))


def _styled(number: int) -> str:
    """A number in one of the ways that people write them, another one in each cell."""
    value = number * 7919 % 1_000_003 / 7
    ways = (f"{value:.2f}", f"{value:.1f}".replace(".", ","), f"~ {value:.0f}", f"> {value:.0f}", f"{value:.0f} ± {value / 9:.1f}",
            f"{value:,.1f} MB/s", f"{value:.0f} / {value / 3:.0f}", f"{value:.0f} – {value * 2:.0f}")  # fmt: skip
    return ways[number * 31 % len(ways)]


@pytest.mark.slow
@for_each(
    "line",
    [
        lambda n: ";,\t|"[n % 4].join(_styled(n * 9 + k) for k in range(2 + n % 7)),
        lambda n: "".join(_styled(n * 9 + k) + ";,\t|"[(n + k * k) % 4] for k in range(2 + n % 7)),
        lambda n: (
            "" if n % 5 == 4 else "config;write MB/s;read" if n % 5 == 0 else f"c{n};{_styled(n)};{_styled(n + 1)}"
        ),
        lambda n: "" if n % 4 == 3 else "config   write MB/s" if n % 4 == 0 else f"c{n}   {_styled(n)}",
        lambda n: "" if n % 4 == 0 else "file size (MiB);write (KiB/s)" if n % 4 == 1 else f"{n};{n * 7919 % 100_003}",
        lambda n: "019a"[n % 4] + ";,|\t "[n * n % 5] + "019"[n % 3] + ("  ", ";", ",")[n // 3 % 3] + "1",
        lambda n: "words" if n % 3 == 2 else f"{n};{n * 7919 % 100_003}",
        lambda n: "  ".join(str(n * 7919 * k % 100_003) for k in range(900)),
        lambda n: "file size (MiB);write (KiB/s)" if n == 0 else f"{n};{n * 7919 % 100_003}",
    ],
    number=2,
)
def test_a_mebibyte_of_rows_that_all_differ_takes_less_than_two_seconds(line: Callable[[int], str]) -> None:
    source = SourceText("\n".join(itertools.islice(map(line, itertools.count()), _lines_of_a_mebibyte(line))))
    started = time.process_time()
    with contextlib.suppress(ParseError):
        parse(source)
    grid = sniff(source)
    list_questions(grid, guess(grid))
    assert within(time.process_time() - started, 2)


def _lines_of_a_mebibyte(line: Callable[[int], str]) -> int:
    some = [len(line(number).encode()) + 1 for number in range(1000)]
    return 2**20 * len(some) // sum(some)


@pytest.mark.slow
def test_of_thousands_of_tables_the_first_are_read_and_the_end_is_told() -> None:
    one = "file size (MiB);write (KiB/s)\n1;5\n\n"
    found = parse(SourceText(one * 3010))
    assert len(found.runs) == 3000
    (told,) = found.broken
    assert (told.line, told.found) == (9001, "more than 3,000 tables")
    few = parse(SourceText(one * 2999))
    assert (len(few.runs), few.broken) == (2999, ())


def test_a_table_that_says_everything_is_found_behind_hundreds_that_do_not() -> None:
    silent = "1;2\n3;4\n\nwords\n"
    found = parse(SourceText(silent * 500 + "file size (MiB);write (KiB/s)\n1;5\n"))
    assert [run.samples[0].value for run in found.runs] == [5 * 1024]
    assert len(found.broken) == 200


@pytest.mark.slow
@for_each(
    "text",
    [
        "1  2\n" * 2**18,
        "1;2\n" * 2**18,
        "|1|2|\n" * 2**18,
        "1\t2\n" * 2**18,
        SELF_SAYING + "| 1 | 2 |\n" * 2**17,
        RULES * 70,
    ],
    number=4,
)
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

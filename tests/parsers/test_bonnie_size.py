"""Bonnie's and bonnie++'s readers on large and on hostile texts: time and memory grow with the text and no faster.

`bonniepp_text`, `bonnie_text` and `plain_floats` are also what the benchmark of legacy text measures.
"""

import random
import time
import tracemalloc
from collections.abc import Callable

import pytest

from apps.parsers import bonnie1, bonniepp
from apps.parsers.shape import ParsedFile, ParseError
from apps.parsers.source_text import SourceText

MIB = 1024**2
PIECE = MIB // 4
Parser = Callable[[SourceText], ParsedFile]


def bonniepp_text(runs: int, *, with_tables: bool = True) -> bytes:
    """Output of bonnie++ 1.97, its layout from its source: a table and a CSV line a run."""
    number = random.Random(197).randrange
    return "".join(_bonniepp_run(run, number, with_tables) for run in range(runs)).encode()


def _bonniepp_run(run: int, number: Callable[[int, int], int], with_tables: bool) -> str:
    name, seeks = f"host{run % 97}", number(1000, 9999) / 10
    rates = [number(500, 2000), number(10000, 900000), number(5000, 400000), number(1000, 4000), number(10000, 900000)]
    cpus = [number(0, 100) for _ in range(12)]
    small = [str(number(100, 99999)) if test not in (1, 4) else "+++++" for test in range(6)]
    small_cpus = [str(cpu) if rate[0] != "+" else "+++" for rate, cpu in zip(small, cpus[6:], strict=True)]
    late = [f"{number(10, 99999)}us" if number(0, 2) else f"{number(100, 9999)}ms" for _ in range(12)]
    large = [*map(str, rates), str(seeks)]
    table = "".join([
        "Version  1.97       ------Sequential Output------ --Sequential Input- --Random-\n",
        "Concurrency   1     -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--\n",
        "Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP\n",
        f"{name:<15} 64G", *(f" {rate:>5} {cpu:>3}" for rate, cpu in zip(large, cpus, strict=False)), "\n",
        "Latency          ", *(f" {one:>9}" for one in late[:6]), "\n",
        "Version  1.97       ------Sequential Create------ --------Random Create--------\n",
        f"{name:<19} -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--\n",
        "              files  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP\n",
        f"{'16':>19}", *(f" {rate:>5} {cpu:>3}" for rate, cpu in zip(small, small_cpus, strict=True)), "\n",
        "Latency          ", *(f" {one:>9}" for one in late[6:]), "\n",
    ])  # fmt: skip
    first = ",".join(f"{rate},{cpu}" for rate, cpu in zip(large, cpus, strict=False))
    second = ",".join(f"{rate},{cpu}" for rate, cpu in zip(small, small_cpus, strict=True))
    line = f"1.97,1.97,{name},1,{1400000000 + run},64G,,{first},16,,,,,{second},{','.join(late)}\n"
    return table + line if with_tables else line


def bonnie_text(runs: int) -> bytes:
    number = random.Random(1).random
    head = (
        "              -------Sequential Output-------- ---Sequential Input-- --Random--\n"
        "              -Per Char- --Block--- -Rewrite-- -Per Char- --Block--- --Seeks---\n"
        "Machine    MB K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU  /sec %CPU\n"
    )
    row = "".join(" {:5.0f} {:4.1f}" for _ in range(5)) + " {:5.1f} {:4.1f}\n"
    return "".join(
        f"== host-{run % 7} : run {run} ==\n{head}host-{run % 7}   2047"
        + row.format(*(number() * (90000 if not place % 2 else 100) for place in range(12)))
        for run in range(runs)
    ).encode()


def plain_floats(data: bytes) -> float:
    """The floor: every line split by commas or blanks, every word that is a number converted."""
    total = 0.0
    for line in data.decode().split("\n"):
        for word in line.split(",") if "," in line else line.split():
            try:
                total += float(word)
            except ValueError:
                continue
    return total


def spent(parse: Parser, data: bytes) -> float:
    """The least CPU time of three readings."""
    return min(_spent(parse, data) for _ in range(3))


def _spent(parse: Parser, data: bytes) -> float:
    begun = time.process_time()
    try:
        parse(SourceText(data))
    except ParseError:
        pass
    return time.process_time() - begun


HOSTILE: dict[str, Callable[[int], str]] = {
    "commas": lambda size: "," * size,
    "csv of commas": lambda size: "1.97,1.97," + "," * size,
    "csv of numbers": lambda size: "1.97,1.97," + "1," * (size // 2),
    "starts of csv": lambda size: "1.97,1.97,a,1,1,4G,,\n" * (size // 21),
    "starts in one line": lambda size: "1.97,1.97, " * (size // 11),
    "old starts": lambda size: "a,4G,1,2,3,4,5,6,7,8\n" * (size // 21),
    "one digit": lambda size: "a,4G," + "9" * size,
    "headers": lambda size: "-Per Chr- -Create-- --Read\n" * (size // 27),
    "rows": lambda size: "-Per Chr-\n%CP\n" + "4G 1 1 1 1 1 1 1 1 1 1 1 1\n" * (size // 27),
    "rows cut": lambda size: "-Per Chr-\n%CP\n" + "4G 1 1 1 1 1\n" * (size // 14),
    "one row": lambda size: "-Per Chr-\n%CP\n4G" + " 1" * (size // 2),
    "small files": lambda size: "-Create-- --Read\n%CP\n" + "16 1 1 1 1 1 1 1 1 1 1 1 1\n" * (size // 27),
    "copied page": lambda size: "4G Per Char Block Rewrite Per Char Block\n" + "4G 1 1 1 1 1 1 1 1\n" * (size // 21),
    "prompts": lambda size: ("$" * 380 + "onnie\n-Per Chr-\n%CP\n4G 1 1 1 1 1 1 1 1 1 1 1 1\n") * (size // 430),
    "bonnie rows": lambda size: "-Per Char- --Block--- -Rewrite-- -Per Char- --Block---\n%CPU\n"
    + "1 1 1 1 1 1 1 1 1 1 1 1 1\n" * (size // 26),
    "bonnie headers": lambda size: "-Per Char- --Block--- -Rewrite-- -Per Char- --Block--- %CPU\n" * (size // 60),
    "bonnie dashes": lambda size: "-Rewrite- %CPU " + "-" * size,
    "bonnie stars": lambda size: "-Per Char- --Block--- -Rewrite-- -Per Char- --Block---\n%CPU\n1 " + "*" * size,
    "bonnie short": lambda size: "-Per Char- --Block--- -Rewrite-- -Per Char- --Block---\n%CPU\n" + "1 1 1 1 1\n" * (size // 10),
    "quotes": lambda size: "> " * (size // 2),
}  # fmt: skip


def two_seconds_a_mebibyte() -> float:
    """For the text below, on a machine that nobody else uses, by what plain splitting takes now."""
    begun = time.process_time()
    plain_floats(b"1 " * MIB)
    return max(2.0, 20 * (time.process_time() - begun)) * PIECE / MIB


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_mebibyte_takes_less_than_two_seconds(case: str) -> None:
    data = HOSTILE[case](PIECE).encode()
    for module in (bonniepp, bonnie1):
        assert _spent(module.parse, data) < two_seconds_a_mebibyte()
        begun = time.process_time()
        module.looks_like(SourceText(data))
        assert time.process_time() - begun < two_seconds_a_mebibyte()


@pytest.mark.parametrize(("case", "parse"), [("rows", bonniepp.parse), ("bonnie rows", bonnie1.parse)])
def test_memory_is_at_most_256_times_the_text(case: str, parse: Parser) -> None:
    size = MIB // 16
    text = SourceText(HOSTILE[case](size))
    tracemalloc.start()
    _spent(parse, text.data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 256 * size


@pytest.mark.parametrize("text", [bonniepp_text, bonnie_text])
def test_four_times_the_text_takes_about_four_times_as_long(text: Callable[[int], bytes]) -> None:
    parse = bonniepp.parse if text is bonniepp_text else bonnie1.parse
    assert spent(parse, text(2000)) < 8 * spent(parse, text(500))


def test_the_generated_texts_hold_what_they_say() -> None:
    assert len(bonniepp.parse(SourceText(bonniepp_text(50))).runs) == 50
    assert len(bonniepp.parse(SourceText(bonniepp_text(50, with_tables=False))).runs) == 50
    assert len(bonnie1.parse(SourceText(bonnie_text(50))).runs) == 50
    assert plain_floats(b"1,2\n3 x 4") == 10

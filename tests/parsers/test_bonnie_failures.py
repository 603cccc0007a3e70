"""Bonnie and bonnie++ that ended before their table: named as theirs, with the message that tells why."""

import pytest

from apps.parsers.core.models import Broken
from apps.parsers.core.registry import FormatReading, recognise
from apps.parsers.core.source_text import SourceText

UID = "Using uid:1000, gid:1000.\n"
TABLE = """done
Rewriting...done
Reading intelligently...done
start 'em...done...done...done...done...done...
Version 2.00        ------Sequential Output------ --Sequential Input- --Random-
                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Name:Size etc        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
box7             2G            410m  85  1.3g  81            3.1g  97 11222  71
Latency                       16086us   16060us             12042us   45087us
"""
ENOSPC = "Writing intelligently...Can't write block.: No space left on device\nCan't write block 1280.\n"
FAILED = {
    "disk full": (UID + ENOSPC, 2, "Can't write block.: No space left on device"),
    "no folder": (UID + "Can't open file ./Bonnie.14476\n", 2, "Can't open file ./Bonnie.14476"),
    "files": (
        f"{UID}Writing intelligently...done\nRewriting...done\nstart 'em...done...done...\n"
        "Create files in sequential order...Can't create file 00000000c6ktFD\nCleaning up test directory after error.\n",
        5, "Can't create file 00000000c6ktFD",
    ),
    "drastic": (
        "Writing with putc()...done\nWriting intelligently...done\nRewriting...Bonnie: drastic I/O error (re write(2)): Input/output error\n",
        3, "Bonnie: drastic I/O error (re write(2)): Input/output error",
    ),
    "drastic alone": (
        "Can't write block.\nBonnie: drastic I/O error (write(2)): No such file or directory\n",
        2, "Bonnie: drastic I/O error (write(2)): No such file or directory",
    ),
    "read": (
        f"{UID}Writing intelligently...done\nReading intelligently...Can't read a full block, only got 512 bytes.\n",
        3, "Can't read a full block",
    ),
    "stopped": (f"{UID}Writing a byte at a time...^C\n", 2, "^C"),
    "killed": (f"$ bonnie++ -d /mnt\n{UID}Writing a byte at a time...done\nWriting intelligently...Killed\n", 4, "Killed"),
    "killed below": (f"{UID}Writing a byte at a time...\n./run.sh: line 3:  4711 Terminated              bonnie++ -d /mnt\n", 3, "Terminated"),
}  # fmt: skip
FAILED_BONNIE = {
    "drastic": ("Writing with putc()...Bonnie: drastic I/O error (putc): No space left on device\n", 2, "Bonnie: drastic I/O error (putc)"),
    "signal": ("Writing with putc()...done\nRewriting...Terminated\n", 3, "Terminated"),
    "seek": ("Writing with putc()...done\nRewriting...\nBonnie: drastic I/O error (rewrite lseek(2)): Invalid argument\n", 4, "Bonnie: drastic"),
}  # fmt: skip
STARTS = [
    "File './Bonnie.4711', size: 104857600\n",
    "Bonnie 1.4: File '/mnt/Bonnie.9', size: 104857600, volumes: 1\n",
    "Bonnie 2.0.6: File '/mnt/Bonnie.9', size: 1048576\n",
]


def only(text: str) -> FormatReading:
    (reading,) = recognise(SourceText(text))
    return reading


def broken(reading: FormatReading) -> list[Broken]:
    return list(reading.parsed.broken) if reading.parsed else [reading.error] if reading.error else []


@pytest.mark.parametrize("name", FAILED)
def test_bonniepp_without_a_table_says_what_stopped_it(name: str) -> None:
    text, line, message = FAILED[name]
    reading = only(text)
    (fault,) = broken(reading)
    assert (reading.format.name, reading.has_found, fault.line) == ("bonnie++", False, line)
    assert "stopped" in fault.message
    assert fault.found.startswith(message)


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("name", FAILED_BONNIE)
def test_bonnie_without_a_table_says_what_stopped_it(start: str, name: str) -> None:
    text, line, message = FAILED_BONNIE[name]
    reading = only(start + text)
    (fault,) = broken(reading)
    assert (reading.format.name, fault.line) == ("bonnie", line)
    assert "stopped" in fault.message
    assert fault.found.startswith(message)


def test_an_output_that_just_ends_is_named_too() -> None:
    for text, name in (
        (UID + "Writing a byte at a time...done\nWriting intelligently...", "bonnie++"),
        (STARTS[0] + "Writing with putc()...", "bonnie"),
    ):
        reading = only(text)
        assert reading.format.name == name
        assert "table is missing" in broken(reading)[0].message


@pytest.mark.parametrize("uid", [UID, ""])
def test_a_run_that_failed_takes_nothing_from_the_one_beside_it(uid: str) -> None:
    good = f"{uid}Writing intelligently...{TABLE}"
    for text in (uid + ENOSPC + good, good + uid + ENOSPC):
        reading = only(text)
        assert reading.parsed
        assert [run.problem for run in reading.parsed.runs] == [""]
        assert [fault.found for fault in broken(reading)] == ["Can't write block.: No space left on device"]
    assert broken(only(good)) == []


def test_a_failure_above_the_table_of_the_same_run_is_its_problem() -> None:
    text = f"{UID}Writing intelligently...{TABLE}".replace("start 'em", "Can't sync file.\nstart 'em")
    reading = only(text)
    assert reading.parsed
    assert [run.problem for run in reading.parsed.runs] == ["Can't sync file."]


@pytest.mark.parametrize(
    "text",
    [
        "Using uid:1000, gid:1000.\n",
        "Rewriting... history\nCan't open file x\n",
        "Writing intelligently is hard\n",
        "Killed\n",
    ],
)
def test_words_of_others_are_none_of_theirs(text: str) -> None:
    assert not [reading for reading in recognise(SourceText(text)) if reading.format.name.startswith("bonnie")]

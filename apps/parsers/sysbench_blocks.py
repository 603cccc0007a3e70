"""Where the runs of sysbench's fileio test stand in a text, and what was typed for each."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from apps.parsers.prompts import host_before
from apps.parsers.source_text import SourceText

_START = re.compile(r"sysbench v?(\d[\w.-]{0,40})[: ]")
_INDENTED = re.compile(
    r" {1,16}(?:sysbench v?\d|Running the test with|Number of threads:|Extra file open flags:|\d{1,9} files, |\S{1,20} total file size|"
    r"Block size |Read/Write ratio for|Periodic FSYNC|Calling fsync\(\)|Using \w+ (?:mmaped )?I/O mode|Doing |Creating files for|"
    r"Initializ|\[ {0,8}\d|FATAL:|ALERT:)"
)
_COMMAND = re.compile(r"(?:^\s*|[$#>%] {0,8}|`)((?:sudo |time )?(?:[\w.~/-]{0,80}/)?sysbench [^|;&`]+)")
_AROUND = re.compile(r"\s(?:prepare|cleanup|help)\b")  # a run, and printing none of its figures
_HEAD = re.compile(  # what stands once above the figures of a run
    r"(?P<flags>Extra file open flags:)|(?P<files>\d{1,9} files, \S{1,20} each)|(?P<size>\S{1,20} total file size)"
    r"|(?P<block>Block size \S)|(?P<mode>Doing .{1,40} test\s*$)"
)
_ONCE = (
    "Operations performed:",
    "File operations:",
    "Throughput:",
    "reads/s:",
    "read, MiB/s:",
)
FIRST = _ONCE[:2]  # of a run's figures
OLD_SPEED = "Total transferred "
END = "execution time (avg/stddev):"  # the last line of a report
CHECKPOINT = "] Checkpoint report:"  # before the figures since the checkpoint before, all figures are counted anew then
_DISTANCE = 6  # lines between the version and the options


@dataclass(slots=True)
class Block:
    """`is_own`: no other report stands between the command line and this one; one that follows without a command of its own may
    have been asked for other sizes.
    """

    first: int
    end: int  # behind its last line
    version: str
    command: str
    host: str  # of the prompt before the command
    is_own: bool
    parts: list[int] = field(
        default_factory=list
    )  # where the reports of its checkpoints begin, and the one behind them
    is_owed: bool = False  # the report behind the last checkpoint


def plain(line: str) -> str:
    """What sysbench prints at the margin, where a mail has it indented."""
    return line.lstrip(" ") if line.startswith(" ") and _INDENTED.match(line) else line


def blocks_of(text: SourceText) -> Iterator[Block]:
    starts = list(_starts(text))
    ends = [start.first for start in starts[1:]] + [len(text.lines)]
    for block, end in zip(starts, ends, strict=False):
        begun = block.parts[-1] if block.parts else block.first
        closed = (index + 1 for index in range(begun, end) if END in text.lines[index])
        block.end = next(closed, end)
        yield block


def _starts(text: SourceText) -> Iterator[Block]:
    command, host, is_own, is_closed = "", "", True, False
    before: int | None = None
    seen: set[str] = set()  # of what stands once in a run
    run: Block | None = None
    for index, printed in enumerate(text.lines):
        if not printed:
            continue
        line = plain(printed)
        own = _once(line)
        is_first = own in _HEAD.groupindex or own in FIRST
        is_closed = is_closed or own in seen or (is_first and not seen <= _HEAD.groupindex.keys())
        if "sysbench" in line and ("--" in line or " run" in line) and (match := _COMMAND.search(line[:2000])):
            if " run" in match[1] or not _AROUND.search(match[1]):
                command, host, is_own = match[1], host_before(line, match.start() + 1), True
        elif match := _START.match(line[:200]):
            yield (run := Block(index, index, match[1], command, host, is_own))
            command, host, before, is_closed, seen = "", "", index, False, set()
        elif run and _is_part(run, line, own if is_closed else ""):
            run.parts.append(index)
            is_closed, seen = False, set()
        elif _begins_bare(text, index, before, is_closed):
            yield (run := Block(index, index, "", command, host, is_own))
            before, is_own, is_closed, seen = index, False, False, set()
        elif END in line:
            is_closed = True
        seen |= {own} - {""}


def _is_part(run: Block, line: str, own: str) -> bool:
    """Whether the report of a checkpoint begins, or, behind such ones, the report of the rest."""
    if CHECKPOINT in line:
        run.is_owed = True
        return True
    if not run.is_owed or not own or own in _HEAD.groupindex:
        return False
    run.is_owed = False
    return True


def _once(line: str) -> str:
    """Which of the words that stand once in a run; of 0.4 also `Read 629Mb  Written 419Mb  Total transferred …`."""
    words = line.lstrip()
    if head := _HEAD.match(words):
        return head.lastgroup or ""
    own = next((word for word in _ONCE if words.startswith(word)), "")
    return own or (OLD_SPEED if words.startswith("Read ") and OLD_SPEED in words else "")


def _begins_bare(text: SourceText, index: int, before: int | None, is_closed: bool) -> bool:
    """Whether a run begins here without its version line: that stands directly above the options."""
    line = plain(text.lines[index])
    if before is None or is_closed:
        return line.startswith("Running the test with") or bool(_once(line))
    return line.startswith("Running the test with") and index - before > _DISTANCE

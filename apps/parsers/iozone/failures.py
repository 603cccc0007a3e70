"""What IOzone prints when a test fails: wrong data in the file (-+d, -V), errors of reads and writes, an interruption.

Error in file: Found ?0? Expecting ?f4f4f4f4f4f4f4f4? addr 7f725af00000        Error writing block 160, fd= 3
Error in file: Position 267386880                                              write: No space left on device
Record # 255 Record size 1024 kb                                               iozone: interrupted
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_WRONG_DATA = re.compile(r"\s*(?:Error in file\b|Found pattern: |Sanity check failed)")
_PARTS = re.compile(  # lines of one report of wrong data
    r"\s*(?:Error in file\b.{0,200}|Record # {1,4}-?\d.{0,100}|where {1,4}\S{1,40} loop.{0,40}|Found pattern: .{0,100})$"
)
_POSITION = re.compile(r"Position (-?\d{1,20})")
_PATTERNS = re.compile(r"Found \?([0-9a-fA-F]{1,32})\? Expecting \?([0-9a-fA-F]{1,32})\?")
_FAILED = re.compile(
    r"\s*(?:Error (?:p|f)?(?:writ|read)\w{0,8} block\b|Can ?not (?:open|create|fdopen) temp|Unable to (?:get|open|write|create) "
    r"|(?:Mmap|Mapping|Fork) failed|Thread create failed|File lock for \w{4,5} failed|(?:Write|Read) unlock failed"
    r"|I/O error during read|Client # {0,3}\d{1,9} reporting an error|Master sending signaled death|msync failed|fsync: )"
)
_REASON = re.compile(  # perror's line below it
    r"\s*(?:p?(?:write|read)v?|f(?:open|read|write|dopen|sync|lush)|open|creat|close|lseek|mmap|msync|munmap|unlink|stat|shmget): \S.{0,150}$"
)
_INTERRUPTED = re.compile(r"\s*iozone: interrupted\s*$")
_LONGEST = 400
_MOST_SHOWN = 4
_FAR = 3  # lines between the lines of one report


@dataclass(slots=True)
class IozoneFailure:
    """A failure: what happened, and the indices of its lines."""

    text: str
    first: int
    last: int


def find_failure(lines: Sequence[str], index: int) -> IozoneFailure | None:
    """Return the failure that begins in this line, None for any other line."""
    line = lines[index]
    if not (
        "rror" in line or "iozone:" in line or "ailed" in line or "nable" in line or "an" in line or "ound" in line
    ):
        return None
    line = line[:_LONGEST]
    if _WRONG_DATA.match(line):
        return _read_wrong_data(lines, index)
    if _INTERRUPTED.match(line):
        return IozoneFailure("interrupted", index, index)
    if _FAILED.match(line):
        following = next((at for at in range(index + 1, min(index + _FAR, len(lines))) if lines[at].strip()), index)
        reason = lines[following][:_LONGEST] if following > index and _REASON.match(lines[following][:_LONGEST]) else ""
        text = line.strip() + (f" ({reason.strip()})" if reason else "")
        return IozoneFailure(text[:200], index, following if reason else index)
    return None


def _read_wrong_data(lines: Sequence[str], index: int) -> IozoneFailure:
    last = index
    while last + 1 < len(lines) and _PARTS.match(lines[last + 1][:_LONGEST]):
        last += 1
    whole = " ".join(line[:_LONGEST].strip() for line in lines[index : last + 1])
    patterns, position = _PATTERNS.search(whole), _POSITION.search(whole)
    text = (
        f"wrong data in the file: {patterns[1]} where {patterns[2]} was expected"
        if patterns
        else "wrong data in the file"
    )
    return IozoneFailure(text + (f", at position {position[1]}" if position else ""), index, last)


def describe_failures(failures: Sequence[IozoneFailure], numbers: Sequence[int]) -> str:
    """Return the failures of a run in one sentence, each with its line; `numbers` are those of their first lines."""
    sentences = [f"{failure.text} (line {number})" for failure, number in zip(failures, numbers, strict=True)]
    more = len(sentences) - _MOST_SHOWN
    return "; ".join(sentences if more <= 0 else [*sentences[: _MOST_SHOWN - 1], f"{more + 1} more"])

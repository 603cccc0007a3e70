"""dd's last lines, as it prints them to standard error: GNU (fileutils 4 to coreutils 9), BSD, macOS, busybox, toybox.

One real line each, of coreutils 9.1 (twice), FreeBSD and busybox:

    `3145728 bytes (3,1 MB, 3,0 MiB) copied, 0,00183079 s, 1,7 GB/s`
    `скопійовано 3145728 байтів (3,1 MB, 3,0 MiB), 0,00305499 s, 1,0 GB/s`
    `805306368 bytes transferred in 10.373802 secs (77628853 bytes/sec)`
    `1048576 bytes (1.0MB) copied, 0.000943 seconds, 1.0GB/s`

A result is a run with `bandwidth` and `elapsed`, at file_size = the bytes that were moved. Only its structure is looked
at (bytes, a word, perhaps a bracket, words, seconds, rate), so that it is read in any language; the records lines
(`3+0 records in`) before it and a command line before these belong to it.

- **Rate**: bytes / seconds. Where dd prints whole bytes/sec (BSD, coreutils before 6) that figure is the more precise
  one and is taken, if it agrees. The printed rate is checked against bytes / seconds with the rounding of both; where
  it disagrees the sample has a note and the file a warning, and bytes / seconds stands.
- **Units**: GNU's rate and bracket count 1000 (dd.c: human_SI; `MiB` in the bracket 1024); busybox's and toybox's
  "MB" are 1024 × 1024 (make_human_readable_str, human_readable). None of them is used but for the check.
- **Decimals**: point or comma, whatever the language; dd prints no thousands marks. `1.234,5 s` is broken. Digits with
  apostrophes or blanks were written by hand: they are read, and the run is marked as transcribed.
- **Operation**: `write` where of= is a file or device and if= is /dev/zero or a random source, `read` where of= is
  /dev/null, `copy` for both or neither; `copy` with a note where no command is shown.
- **Block size**: bs= as shown (512 without, POSIX); without a command, bytes / records where all records were full.
- The outputs of a loop belong to its commands in turns, also behind lines that it prints itself; what it printed last is
  the caption. Where one of several has its output hidden, none is claimed.
- **time**: the wall time of a dd that was timed is a label (`real`), as a `sync` behind dd may be in it.
- No result line (fileutils, busybox without FEATURE_DD_THIRD_STATUS_LINE, a cut file): the bytes where the block size
  is known, and no rate. `status=progress` lines are no results. The two dd of a pipe report one copy: one run.
"""

import re

from apps.parsers.dd_apart import apart
from apps.parsers.dd_blocks import Block, blocks
from apps.parsers.dd_command import Command
from apps.parsers.dd_lines import ALONE, LONE, RECORDS, Result, Unclear, is_near, read_result
from apps.parsers.shape import Broken, ParsedFile, ParsedRun, ParsedSample, ParseError
from apps.parsers.source_text import SourceText

NAME = "dd"
TITLE = "dd"
NOT_SHOWN = "the command is not shown: whether this wrote or read the disk is not known"

_EXPECTED = "3145728 bytes (3.1 MB, 3.0 MiB) copied, 0.0018 s, 1.7 GB/s"
_NS = 1e9
_MOST_TOLD = 20
_REAL = re.compile(r"\s*real\s+(\d[\dhms., ]{0,20}?)\s*$|\s*([\d.,]{1,12}) real\b")
_NO_RESULT = re.compile(r"\bstatus=no(?:xfer|ne)|\bbusybox\b")
_LATIN, _DIGIT = re.compile("[A-Za-z]"), re.compile("[0-9]")


def looks_like(text: SourceText) -> float:
    whole = text.text
    if " records out" in whole and (" copied, " in whole or " transferred in " in whole):
        return 1.0
    if "/s" in whole and any("/s" in line and isinstance(read_result(line), Result) for line in text.lines):
        return 1.0
    if not whole.isascii() and any("B/" in line and isinstance(read_result(line), Result) for line in text.lines):
        return 1.0  # "/s" is translated, too
    if "+" in whole and (_has_records(text.lines) or (" records " in whole and any(map(LONE.match, text.lines)))):
        return 0.6
    if "+" in whole and ("B/" in whole or "bytes/s" in whole) and apart(text) is not text:
        return 1.0
    return (
        0.6
        if " bytes " in whole and any(" bytes " in line[:200] and ALONE.match(line[:200]) for line in text.lines)
        else 0.0
    )


def _has_records(lines: list[str]) -> bool:
    """Two records lines, one right behind the other."""
    before = -2
    for index, line in enumerate(lines):
        if "+" in line and len(line) < 200 and (match := RECORDS.search(line)) and _stands_alone(line, match):
            if index == before + 1:
                return True
            before = index
    return False


def _stands_alone(line: str, match: re.Match[str]) -> bool:
    """No Latin word before it and no number behind it, as lists of devices have them ("4+2 port adapter 1028")."""
    return not _LATIN.search(line, 0, match.start()) and not _DIGIT.search(line, match.end())


def parse(text: SourceText) -> ParsedFile:
    """Every copy in the text. `ParseError` where there is none."""
    text = apart(text)
    reader = _Reader(text)
    runs = tuple([run for block in blocks(text) if (run := reader.run_of(block))])
    if not runs and not reader.broken:
        raise ParseError("no result of dd", expected=_EXPECTED)
    return ParsedFile(runs, tuple(reader.warnings), tuple(reader.broken))


class _Reader:
    def __init__(self, text: SourceText) -> None:
        self.text = text
        self.broken: list[Broken] = []
        self.warnings: list[str] = []

    def run_of(self, block: Block) -> ParsedRun | None:
        if not block.results:
            return self._without_result(block)
        event = block.results[-1]
        if not isinstance(event.result, Result):
            unclear = event.result or Unclear("no result", "", _EXPECTED)
            self.broken.append(Broken(unclear.message, self.text.number(event.index), unclear.found, unclear.expected))
            return None
        result, command = event.result, block.command
        size = (command.block_size() if command else None) or block.block_size(result.bytes)
        label = self.text.lines[event.index][: result.start].strip() if not block.records else block.caption
        samples = self._samples(block, result, size, self.text.number(event.index))
        return self._run(block, samples, size, label[:200], result.is_transcribed)

    def _run(
        self, block: Block, samples: tuple[ParsedSample, ...], size: int | None, caption: str, is_transcribed: bool
    ) -> ParsedRun:
        command = block.command
        workload: dict[str, str | int | float] = command.workload() if command else {}
        if size:
            workload["block_size"] = size
        number, target = self.text.number, command.target if command else ""
        return ParsedRun(
            "dd", "", (), samples, (), (), None, None, self._wall(block), block.problem, workload, block.host, target, caption,
            number(block.first), number(block.last), is_transcribed,
        )  # fmt: skip

    def _wall(self, block: Block) -> dict[str, str]:
        """What the shell measured, with a sync perhaps: `time sh -c "dd … && sync"`; no figure of dd's."""
        if not block.results or (behind := block.results[-1].index + 1) > block.last:
            return {}
        found = (_REAL.match(line) for line in self.text.lines[behind : block.last + 1])
        return next(({"real": match[1] or match[2]} for match in found if match), {})

    def _samples(self, block: Block, result: Result, size: int | None, line: int) -> tuple[ParsedSample, ...]:
        operation, note = _operation(block.command)
        if result.seconds is None or not result.bytes:
            reason = "no bytes were copied" if not result.bytes else "dd printed no time that passed"
            missing = ParsedSample(
                operation, "bandwidth", None, 0, result.bytes, size, None, None, result.rate_text, line,
                missing_reason=reason, note=note,
            )  # fmt: skip
            return (missing,)
        rate = result.bytes / result.seconds
        if not is_near(result, rate):
            wrong = (
                f"printed {result.rate_text}, but {result.bytes} bytes in {result.seconds_text} are {rate:.0f} bytes/s"
            )
            self.warnings.append(f"line {line}: {wrong}")
            note = f"{note}; {wrong}" if note else wrong
        elif result.is_whole_rate and result.rate:
            rate = result.rate
        if len(block.results) > 1:
            pipe = "two dd in a pipe report this copy"
            note = f"{note}; {pipe}" if note else pipe
        elapsed = result.seconds * _NS
        if not elapsed.is_integer():  # as it mostly is, and rounding goes through digits
            elapsed = round(elapsed, 3)
        moved = result.bytes
        return (
            ParsedSample(
                operation, "bandwidth", rate, 0, moved, size, None, None, result.rate_text, line,
                "exact", "", None, None, None, note,
            ),
            ParsedSample(
                operation, "elapsed", elapsed, 0, moved, size, None, None, result.seconds_text, line,
                "exact", "", None, None, None, note,
            ),
        )  # fmt: skip

    def _without_result(self, block: Block) -> ParsedRun | None:
        """Only records lines: the bytes where the block size is known, and why there is no rate."""
        if len(block.records) < 2:
            self._tell_cut(block)
            return None
        self._warn(block)
        operation, note = _operation(block.command)
        size = block.command.block_size() if block.command else None
        full, part = block.records[-1]
        line = self.text.number(block.last)
        samples = [
            ParsedSample(
                operation, "bandwidth", None, block_size=size, line=line, note=note,
                missing_reason="dd printed no time and no rate",
            )
        ]  # fmt: skip
        if size and full + part and size * (full + part) < 2**63:
            printed = f"{full}+{part} records of {size} bytes"
            low, high = (float(size * full), float(size * (full + part))) if part else (None, None)
            samples.append(
                ParsedSample(
                    operation, "io_bytes", None if part else float(size * full), block_size=size, printed=printed,
                    line=line, low=low, high=high, note=note,
                )
            )  # fmt: skip
        return self._run(block, tuple(samples), size, caption="", is_transcribed=False)

    def _tell_cut(self, block: Block) -> None:
        """One of two records lines, where it is one without doubt."""
        line = self.text.lines[block.first]
        if LONE.match(line):
            message, expected = "a report of dd's that is cut off", "records in, records out, and the bytes behind them"
            self.broken.append(Broken(message, self.text.number(block.first), line.strip(), expected))

    def _warn(self, block: Block) -> None:
        """Some dd print no more than their records lines; else these are cut off."""
        is_asked = block.command is not None and _NO_RESULT.search(block.command.text)
        if not is_asked and len(self.warnings) < _MOST_TOLD:
            number = self.text.number(block.last)
            self.warnings.append(f"line {number}: no bytes, seconds and rate stand behind dd's records lines")


def _operation(command: Command | None) -> tuple[str, str]:
    return (command.operation, command.note()) if command else ("copy", NOT_SHOWN)

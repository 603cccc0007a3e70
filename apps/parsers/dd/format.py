"""Parser of dd's last lines, which it prints to standard error.

GNU (fileutils 4 to coreutils 9), BSD, macOS, illumos, busybox, toybox. One real line each, of coreutils 9.1 (twice),
FreeBSD, busybox and illumos:

    `3145728 bytes (3,1 MB, 3,0 MiB) copied, 0,00183079 s, 1,7 GB/s`
    `скопійовано 3145728 байтів (3,1 MB, 3,0 MiB), 0,00305499 s, 1,0 GB/s`
    `805306368 bytes transferred in 10.373802 secs (77628853 bytes/sec)`
    `1048576 bytes (1.0MB) copied, 0.000943 seconds, 1.0GB/s`
    `2147483648 (2.00 GiB) bytes transferred in 4.000000 secs (512 MiB/sec)`

A result is a run with `bandwidth` and `elapsed`, at file_size = the bytes that were moved. Only its structure is
checked (bytes, a word, perhaps a bracket, words, seconds, rate), so that it is read in any language. The records lines
(`3+0 records in`) before it and a command line before these belong to it.

- **Rate**: bytes / seconds. Where dd prints whole bytes/sec (BSD, coreutils before 6) that figure is more precise and
  is used, if it agrees. The printed rate is checked against bytes / seconds with the rounding of both; where it
  disagrees the sample has a note and the file a warning, and the value is bytes / seconds.
- **Units**: rate and bracket of GNU dd count 1000 (dd.c: human_SI; `MiB` in the bracket 1024); "MB" of busybox and
  toybox is 1024 × 1024 (make_human_readable_str, human_readable). They are only used for the check.
- **Decimals**: point or comma, whatever the language; dd prints no thousands separators. `1.234,5 s` is broken. Digits
  with apostrophes or blanks were written by hand: they are read, and the run is marked as transcribed.
- **Operation**: `write` where of= is a file or device and if= is /dev/zero or a random source, `read` where of= is
  /dev/null, `copy` for both or neither; `copy` with a note where no command is shown.
- **Block size**: bs= as shown (512 without, POSIX); without a command, bytes / records where all records were full.
- The outputs of a loop belong to its commands in turn, also behind lines that it prints itself; the last of these is
  the caption. Where one of several has its output hidden, none is assigned.
- **time**: the wall time of a dd that was timed is a label (`real`). Where the shell timed the dd together with a sync
  behind it (`timed_sync.py`) it gives the figures of section 0, and dd's own, which end in memory, are section 1.
- **Interim reports** (Ctrl-T, SIGUSR1) are no results: the last report of a copy counts (`interim_reports.py`).
- Without a result line (fileutils, busybox without FEATURE_DD_THIRD_STATUS_LINE, a cut file) there are the bytes where
  the block size is known, and no rate. `status=progress` lines are no results. The two dd of a pipe report one copy,
  which is one run.

Paragraphs in which posts and mails joined dd's lines are split first (`split_joined_lines`):

    $ dd if=/dev/zero of=/srv/a bs=1M count=100 100+0 records in 100+0
    records out 104857600 bytes (105 MB) copied, 0.5 s, 210 MB/s 100+0 records in …
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, pairwise

from msgspec.structs import replace

from apps.parsers.core.models import Broken, ParsedFile, ParsedRun, ParsedSample, ParsedSection, ParseError
from apps.parsers.core.source_text import SourceText, find_blocks
from apps.parsers.dd.blocks import DdBlock, find_copies
from apps.parsers.dd.command import DdCommand
from apps.parsers.dd.lines import ALONE, BSD, GNU, ILLUMOS, LONE, RECORDS, DdResult, UnclearResult, is_near, read_result
from apps.parsers.dd.timed_sync import is_sync_timed

_SHORT = 23  # characters; two records lines have more
_TWO_RESULTS = 80  # characters; two results have more
_LONGEST = 20_000  # characters of a paragraph
_WORDS = re.compile(r"[^\W\d_]*(?:[ \u00a0\u202f][^\W\d_]{1,20})?")  # the rest of "3+0 records in"
_WORD = re.compile(r"\w")

Span = tuple[int, int]
Piece = tuple[str, int]  # a text, and the index of the line in which it begins


def split_joined_lines(text: SourceText) -> SourceText:
    """Return the text with such paragraphs split; lines keep their numbers, of which some may occur more than once."""
    lines = text.lines
    several = [
        index
        for index, line in enumerate(lines)
        if len(line) > _SHORT and ("+" in line or len(line) > _TWO_RESULTS) and _may_be_joined(line)
    ]
    cut = {
        first: (behind, pieces)
        for first, behind in (find_blocks(lines) if several else ())
        if _is_in(several, first, behind) and (pieces := _split_paragraph(lines, first, behind))
    }
    if not cut:
        return text
    result: list[Piece] = []
    index = 0
    while index < len(lines):
        index, pieces = cut.get(index) or (index + 1, [(lines[index], index)])
        result += pieces
    return text.with_lines([piece for piece, _ in result], [text.number(at) for _, at in result])


def _may_be_joined(line: str) -> bool:
    """Return quickly whether a line may hold several; true for every line that does.

    Each result and each records line has one of these marks, or begins with bytes.
    """
    marks = line.count("+") + line.count("B/") + line.count("s/s")
    return (marks > 1 or (marks == 1 and "+" in line and ("(" in line or "bytes" in line))) and len(line) < _LONGEST


def _is_in(places: Sequence[int], first: int, behind: int) -> bool:
    at = bisect_right(places, first - 1)
    return at < len(places) and places[at] < behind


def _split_paragraph(lines: Sequence[str], first: int, behind: int) -> list[Piece]:
    """Return the pieces of a paragraph; none where each of its lines holds one thing."""
    joined = " ".join(lines[first:behind])
    if len(joined) > _LONGEST:
        return []
    spans, alone = _find_items(joined), [len(_find_items(line)) for line in lines[first:behind]]
    if max(alone) < 2 and len(spans) <= sum(alone):
        return []
    begins = list(accumulate((len(line) + 1 for line in lines[first : behind - 1]), initial=0))
    ends = [begin for begin in begins if not any(start < begin < end for start, end in spans)]
    places = sorted({*ends, *(place for span in spans for place in span), len(joined)})
    pieces = [(joined[start:end].rstrip(), first + bisect_right(begins, start) - 1) for start, end in pairwise(places)]
    return [
        (piece, index) for piece, index in pieces if _WORD.search(piece)
    ]  # a slash between two records lines is no piece


def _find_items(text: str) -> list[Span]:
    """Return where the records lines and results in a text begin and end."""
    records = [match.span() for match in RECORDS.finditer(text)]
    extended = [(start, rest.end() if (rest := _WORDS.match(text, end)) else end) for start, end in records]
    return sorted([*extended, *(match.span() for pattern in (GNU, BSD, ILLUMOS) for match in pattern.finditer(text))])


NAME = "dd"
TITLE = "dd"
NO_COMMAND = "the command is not shown: whether this wrote or read the disk is not known"

_EXPECTED = "3145728 bytes (3.1 MB, 3.0 MiB) copied, 0.0018 s, 1.7 GB/s"
_NS = 1e9
_MOST_TOLD = 20
WITH_SYNC, WITHOUT_SYNC = "with the sync", "dd without the sync"  # the sections of a dd whose sync was timed
_BEFORE_SYNC = "dd's own time: the sync that followed is not in it, so that data may still have been in memory"
_BY_SHELL = "the shell's time, of dd and the sync behind it"
_NO_RESULT = re.compile(r"\bstatus=no(?:xfer|ne)|\bbusybox\b")
_LATIN, _DIGIT = re.compile("[A-Za-z]"), re.compile("[0-9]")


def looks_like(text: SourceText) -> float:
    """Return how sure it is that the text has a result of dd: 1 for a result, 0.6 for records lines or a cut-off result."""
    whole = text.text
    if " records out" in whole and (" copied, " in whole or " transferred in " in whole):
        return 1.0
    if "/s" in whole and any("/s" in line and isinstance(read_result(line), DdResult) for line in text.lines):
        return 1.0
    if not whole.isascii() and any("B/" in line and isinstance(read_result(line), DdResult) for line in text.lines):
        return 1.0  # "/s" is translated, too
    if "+" in whole and (_has_records(text.lines) or (" records " in whole and any(map(LONE.match, text.lines)))):
        return 0.6
    if "+" in whole and ("B/" in whole or "bytes/s" in whole) and split_joined_lines(text) is not text:
        return 1.0
    return (
        0.6
        if " bytes " in whole and any(" bytes " in line[:200] and ALONE.match(line[:200]) for line in text.lines)
        else 0.0
    )


def _has_records(lines: list[str]) -> bool:
    """Return whether two records lines stand directly below each other."""
    before = -2
    for index, line in enumerate(lines):
        if "+" in line and len(line) < 200 and (match := RECORDS.search(line)) and _stands_alone(line, match):
            if index == before + 1:
                return True
            before = index
    return False


def _stands_alone(line: str, match: re.Match[str]) -> bool:
    """Return whether no Latin word stands before and no number behind it, as in lists of devices ("4+2 port adapter 1028")."""
    return not _LATIN.search(line, 0, match.start()) and not _DIGIT.search(line, match.end())


def parse(text: SourceText) -> ParsedFile:
    """Parse every copy in the text.

    Raises:
        ParseError: if there is none.
    """
    text = split_joined_lines(text)
    reader = _DdReader(text)
    runs = tuple([run for block in find_copies(text) if (run := reader.make_run(block))])
    if not runs and not reader.broken:
        raise ParseError("no result of dd", expected=_EXPECTED)
    return ParsedFile(runs, tuple(reader.warnings), tuple(reader.broken))


class _DdReader:
    def __init__(self, text: SourceText) -> None:
        self.text = text
        self.broken: list[Broken] = []
        self.warnings: list[str] = []

    def make_run(self, block: DdBlock) -> ParsedRun | None:
        if not block.results:
            return self._make_run_without_result(block)
        event = block.results[-1]
        if not isinstance(event.result, DdResult):
            unclear = event.result or UnclearResult("no result", "", _EXPECTED)
            self.broken.append(Broken(unclear.message, self.text.number(event.index), unclear.found, unclear.expected))
            return None
        result, command = event.result, block.command
        size = (command.get_block_size() if command else None) or block.compute_block_size(result.bytes)
        label = self.text.lines[event.index][: result.start].strip() if not block.records else block.caption
        samples = self._make_samples(block, result, size, self.text.number(event.index))
        if synced := self._make_synced_samples(block, result, size):
            samples = synced + tuple(
                replace(sample, section=1, note=f"{sample.note}; {_BEFORE_SYNC}".removeprefix("; "))
                for sample in samples
            )
        run = self._build_run(block, samples, size, label[:200], result.is_transcribed)
        return _divide_by_sync(run) if synced else run

    def _build_run(
        self, block: DdBlock, samples: tuple[ParsedSample, ...], size: int | None, caption: str, is_transcribed: bool
    ) -> ParsedRun:
        command = block.command
        workload: dict[str, str | int | float] = command.make_workload() if command else {}
        if size:
            workload["block_size"] = size
        announced, copied = (
            command.get_announced_size() if command else None,
            {sample.file_size for sample in samples} - {None, 0},
        )
        if announced and copied and announced not in copied:
            workload["header_file_size"] = announced
        number, target = self.text.number, command.target if command else ""
        return ParsedRun(
            "dd", "", (), samples, (), (), None, None, _get_wall_time(block), block.problem, workload, block.host, target, caption,
            number(block.first), number(block.last), is_transcribed,
        )  # fmt: skip

    def _make_synced_samples(self, block: DdBlock, result: DdResult, size: int | None) -> tuple[ParsedSample, ...]:
        """Return rate and time of a write with the sync behind it, () where the shell did not time both together."""
        command, times = block.command, block.times
        if (
            command is None
            or command.operation == "read"
            or not times
            or not times.real
            or not is_sync_timed(command.text)
        ):
            return ()
        if result.seconds is None or not result.bytes:
            return ()
        line = self.text.number(times.line)
        if times.real < result.seconds - 10.0**-times.decimals:
            took = f"{times.printed} is less than dd's own {result.seconds_text}"
            self.warnings.append(f"line {line}: {took}: not taken as the time of dd and sync")
            return ()
        note, quality = command.make_note(), "approximate" if times.is_rough() else "exact"
        note = f"{note}; {_BY_SHELL}" if note else _BY_SHELL
        figures = (
            ("bandwidth", result.bytes / times.real, f"{result.bytes} bytes, {times.printed}"),
            ("elapsed", round(times.real * _NS, 3), times.printed),
        )
        return tuple(
            ParsedSample(
                command.operation, metric, value, 0, result.bytes, size, None, None, printed, line, quality, note=note
            )
            for metric, value, printed in figures
        )

    def _make_samples(self, block: DdBlock, result: DdResult, size: int | None, line: int) -> tuple[ParsedSample, ...]:
        operation, note = _get_operation(block.command)
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
        if not elapsed.is_integer():  # rounding is slow, and rarely needed
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

    def _make_run_without_result(self, block: DdBlock) -> ParsedRun | None:
        """Make a run of records lines only: the bytes where the block size is known, and the reason why there is no rate."""
        if len(block.records) < 2:
            self._report_cut(block)
            return None
        self._warn_of_missing_result(block)
        operation, note = _get_operation(block.command)
        size = block.command.get_block_size() if block.command else None
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
        return self._build_run(block, tuple(samples), size, caption="", is_transcribed=False)

    def _report_cut(self, block: DdBlock) -> None:
        """Report a single records line as broken if it stands alone in its line."""
        line = self.text.lines[block.first]
        if LONE.match(line):
            message, expected = "a report of dd's that is cut off", "records in, records out, and the bytes behind them"
            self.broken.append(Broken(message, self.text.number(block.first), line.strip(), expected))

    def _warn_of_missing_result(self, block: DdBlock) -> None:
        """Add a warning for records lines without a result, unless the command suppresses it."""
        is_asked = block.command is not None and _NO_RESULT.search(block.command.text)
        if not is_asked and len(self.warnings) < _MOST_TOLD:
            number = self.text.number(block.last)
            self.warnings.append(f"line {number}: no bytes, seconds and rate stand behind dd's records lines")


def _divide_by_sync(run: ParsedRun) -> ParsedRun:
    """Return a run whose figures are those with the sync, and behind them dd's own, which lack it."""
    sections = (ParsedSection(0, WITH_SYNC), ParsedSection(1, WITHOUT_SYNC))
    is_unsynced = run.workload.get("sync") == "none"
    workload = run.workload | ({"sync": "fsync"} if is_unsynced else {})
    return replace(run, sections=sections, workload=workload)


def _get_wall_time(block: DdBlock) -> dict[str, str]:
    """Return what the shell measured, which is no figure of dd, as a label."""
    return {"real": block.times.wall} if block.times and block.times.wall else {}


def _get_operation(command: DdCommand | None) -> tuple[str, str]:
    return (command.operation, command.make_note()) if command else ("copy", NO_COMMAND)

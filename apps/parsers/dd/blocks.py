"""Grouping of a text's lines into copies of dd: the records lines, the result, and the command that was typed before."""

import re
from collections.abc import Iterator

from msgspec import Struct

from apps.parsers.core.shell_times import ZSH, ShellTimes
from apps.parsers.core.source_text import SourceText
from apps.parsers.dd import interim_reports
from apps.parsers.dd.command import DdCommand, read_command
from apps.parsers.dd.lines import (
    ALONE,
    BEGUN,
    CUT,
    ENDS_IN_BYTES,
    PLAIN_RECORDS,
    RECORDS,
    DdResult,
    UnclearResult,
    read_result,
)
from apps.parsers.dd.shell_lines import TypedCommands, find_printed_caption, is_printed, read_typed

_CUT_OFF = "a result that is cut off"
_LONGEST = 200
_MOST_PROGRESS_SECONDS = 5  # between two lines of progress: dd prints one each second, or later when it is blocked

Records = tuple[int, int]  # full and partial blocks


class DdEvent(Struct):
    """A line that dd printed. `result` is an `UnclearResult` where it can not be read, and None for a records line."""

    index: int
    records: Records | None = None
    result: DdResult | UnclearResult | None = None
    last: int = 0  # index of the last line of a wrapped result
    is_progress: bool = False


def find_events(text: SourceText) -> list[DdEvent]:
    """Return the records lines and results of a text, without those that only report progress."""
    lines = text.lines
    events: list[DdEvent] = []
    for index, line in enumerate(lines):
        if ("/s" in line or ("B/" in line and not line.isascii())) and (result := read_result(line)):  # "MB/秒", "МB/с"
            events.append(DdEvent(index, None, result, index))
        elif "+" in line and len(line) < _LONGEST and (match := PLAIN_RECORDS(line) or RECORDS.search(line)):
            full, part = match.groups()
            events.append(DdEvent(index, (int(full), int(part)), None, index))
            if (
                line[-1] not in "nt"
                and ENDS_IN_BYTES(line)
                and isinstance((wrapped := _read_wrapped(lines, index)).result, DdResult)
            ):
                events.append(wrapped)
        elif line.isdigit() and events and events[-1].records and events[-1].last == index - 1:
            wrapped = _read_wrapped(lines, index)
            events += [wrapped] if isinstance(wrapped.result, DdResult) else []
        elif _is_cut(line, events[-1] if events else None, index):
            events.append(_read_wrapped(lines, index))
    _mark_progress(events, text)
    return [event for event in events if not event.is_progress]


def _is_cut(line: str, before: DdEvent | None, index: int) -> bool:
    """Return whether a line begins as a result does and ends before its rate."""
    if before and before.records and index - before.last <= 2:
        return bool(CUT.search(line)) or (index - before.last == 1 and len(line) < _LONGEST and bool(BEGUN.match(line)))
    return " bytes " in line and len(line) < _LONGEST and bool(ALONE.match(line))


def _read_wrapped(lines: list[str], index: int) -> DdEvent:
    """Read a result that a mail program broke, or that was cut off."""
    if index + 1 < len(lines) and (result := read_result(f"{lines[index].rstrip()} {lines[index + 1].lstrip()}")):
        return DdEvent(index, result=result, last=index + 1)
    expected = "the seconds and the rate behind it"
    return DdEvent(index, result=UnclearResult(_CUT_OFF, lines[index].strip()[:120], expected), last=index)


def _mark_progress(events: list[DdEvent], text: SourceText) -> None:
    """Mark the results that only report progress.

    `status=progress` prints whole seconds, over and over on one line, before the records lines. Where a copy has them
    on lines of their own, each is followed by the next one.
    """
    for position, event in reversed(list(enumerate(events))):
        if event.records is not None:
            continue
        before = events[position - 1] if position else None
        after = events[position + 1] if position + 1 < len(events) else None
        follows_records = before is not None and before.records is not None and event.index - before.last <= 1
        if not _may_be_progress(event.result):
            is_alone = not follows_records and (before is None or before.last < event.index - 1)
            event.is_progress = is_alone and _is_last_progress(events[position : position + 4])
            continue
        is_rewritten = any(
            other is not None
            and other.result
            and text.number(other.index) == text.number(event.index)
            and _is_more(event.result, other.result)
            for other in (before, after)
        )
        precedes_records = (
            isinstance(event.result, DdResult)
            and after is not None
            and after.records is not None
            and after.index - event.last <= 2
        )
        goes_on = after is not None and not follows_records and _is_next_progress(event, after)
        event.is_progress = is_rewritten or goes_on or (precedes_records and not follows_records)


def _is_next_progress(event: DdEvent, after: DdEvent) -> bool:
    """Return whether the event behind reports the progress of the same copy.

    A blocked dd prints its lines far apart: any distance is one where the lines end above a report.
    """
    other = after.result
    is_whole = isinstance(other, DdResult) and other.is_whole_seconds
    most = None if after.is_progress else _MOST_PROGRESS_SECONDS
    return is_whole and after.index == event.last + 1 and _goes_on(event.result, other, least=1, most=most)


def _is_last_progress(events: list[DdEvent]) -> bool:
    """Return whether a line with fractions of a second, as older versions print them, is progress followed by the final report."""
    event, *report = events
    if len(report) < 3 or event.index + 1 != report[0].index or None in (report[0].records, report[1].records):
        return False
    has_begun = (
        isinstance(event.result, DdResult) and (event.result.seconds or 0) >= 1
    )  # progress is printed after one second at the earliest
    return has_begun and _goes_on(event.result, report[2].result, least=0)


def _is_more(result: DdResult | UnclearResult | None, other: DdResult | UnclearResult | None) -> bool:
    """Return whether two results differ in their bytes: copies of equal size on one line are two copies."""
    return not (isinstance(result, DdResult) and isinstance(other, DdResult)) or result.bytes != other.bytes


def _goes_on(
    result: DdResult | UnclearResult | None,
    other: DdResult | UnclearResult | None,
    least: int,
    most: float | None = _MOST_PROGRESS_SECONDS,
) -> bool:
    """Return whether the other result is of the same copy, `most` seconds later and by at least `least` bytes longer."""
    if (
        not (isinstance(result, DdResult) and isinstance(other, DdResult))
        or result.seconds is None
        or other.seconds is None
    ):
        return False
    later = other.seconds - result.seconds
    return later >= 0 and (most is None or later <= most) and other.bytes - result.bytes >= least


def _may_be_progress(result: DdResult | UnclearResult | None) -> bool:
    return (
        result.is_whole_seconds if isinstance(result, DdResult) else result is not None and result.message == _CUT_OFF
    )


_INTERLUDE = re.compile(  # prompts for passwords, errors, messages of a quota, `date` or docker before a copy
    r"\s*(?:Password:|---> Running in [0-9a-f]{8,64}\s*$|\[sudo\]|dd: |dd$|\^C|[\w-]{1,32}: (?:write failed|warning), (?:user|group|project) "
    r"|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z0-9][\w ]{4,10} [0-9]{2}:[0-9]{2}:[0-9]{2} [\w +-]{4,16}$)"
)
_FENCE_OR_HEADING = re.compile(  # a fence in Markdown, or a heading such as "Output should be something like this:"
    r"\s*(?:(?:`{3}|~{3})[\w-]*|\.{3}|(?:# ?)?\*{0,2}(?:\w{1,10} ){0,2}"
    r"(?:outputs?|results?|sa[ií]da|salida|sortie|r[ée]sultats?|ausgabe|ergebnis|resultado|вывод|результат|получаем|输出|结果|出力)"
    r"(?:(?: (?:for|should|will|would|be|is|looks?|something|similar|to|like|this|that|the|following|as|follows|below)){1,8}"
    r"| \w{1,10})?[:：]{0,2}\*{0,2}[:：]?)\s*$",
    re.IGNORECASE,
)
_BESIDE_TIMES = re.compile(r"\s*_{20,80}\s*$|\s*\d{1,12}inputs\+\d{1,12}outputs |\s*Command exited with non-zero")
_WORDS_OF_TIMES = ("real", "user", "sys", "elapsed", "Executed in", "inputs+", "u ", "____", "Command ")
_VERBOSE_TIMES = "\tCommand being timed: "
_BSD_PROGRESS = re.compile(r"\s*[0-9][0-9.,'’ ]{0,30} bytes \([^()]{1,40}\) transferred [0-9.,]{1,12}s, ")
_USER_AND_HOST = re.compile(r"\s*`?\[?[\w.-]{1,32}@([\w.-]{1,64})[:\s]")
_MOST_BACK = 3
_MOST_BEFORE_TIMES = 5  # lines


class DdBlock(Struct):
    """One copy. `results` has two entries where the two dd of a pipe report it."""

    first: int
    last: int
    records: list[Records] = []
    results: list[DdEvent] = []
    command: DdCommand | None = None
    host: str = ""
    problem: str = ""
    caption: str = ""
    times: ShellTimes | None = None  # what the shell measured
    is_requested: bool = False  # a line above asks for an interim report
    has_interim: bool = False  # such a report was read

    def go_on(self, later: "DdBlock") -> None:
        """Become the copy of which `later` is a later report."""
        self.records, self.results, self.last = later.records, later.results, later.last
        self.problem, self.has_interim = later.problem or self.problem, True
        self.is_requested = later.is_requested

    def compute_block_size(self, size: int) -> int | None:
        """Return the bytes per record where all records were full, in as well as out; else None."""
        records = set(self.records[-2:])
        if len(self.records) < 2 or len(records) != 1:
            return None
        full, part = records.pop()
        return size // full if part == 0 and full and size % full == 0 else None


def find_copies(text: SourceText) -> Iterator[DdBlock]:
    """Yield every copy in the text, in its order."""
    lines = text.lines
    before: DdBlock | None = None
    waiting: list[DdCommand] = []  # commands that were typed together and have no result yet
    loop: TypedCommands | None = None  # the loop that they belong to
    for block in _group_events(find_events(text), lines):
        if before and _is_other_end(before, block) and _is_next(before, block, lines):
            before.results += block.results
            before.last = block.last
            continue
        above = max(before.last + 1 if before else 0, block.first - _MOST_BACK)
        block.is_requested = any(map(interim_reports.is_request, lines[above : block.first]))
        if before and _is_later_report(before, block, lines, len(waiting), loop):
            before.go_on(block)
            _read_times(before, lines)
            continue
        if typed := _read_typed_above(block, lines, before.last if before else -1):
            waiting, loop = list(typed.commands), typed if typed.is_loop else None
        elif before is None or not _follows(before, block, lines, loop):
            waiting, loop = [], None
        elif loop:
            waiting, block.host = waiting or list(loop.commands), before.host
        if loop and loop.prints:
            block.caption = find_printed_caption(lines, block.first, before.last if before else -1)
        if waiting:
            block.command = waiting.pop(0)
        elif before and _is_again(before, block, lines):
            block.command, block.host = before.command, before.host
        _read_times(block, lines)
        if before:
            yield before
        before = block
    if before:
        yield before


def _follows(before: DdBlock, block: DdBlock, lines: list[str], loop: TypedCommands | None) -> bool:
    """Return whether only blank lines, and lines that the loop prints, stand between two copies."""
    if _is_next(before, block, lines):
        return True
    return loop is not None and loop.prints and is_printed(lines[before.last + 1 : block.first])


def _is_again(before: DdBlock, block: DdBlock, lines: list[str]) -> bool:
    """Return whether this is the same command repeated: bare results below each other, of equal size."""
    if (
        before.records
        or block.records
        or not before.command
        or before.command.pipe > 1
        or block.first != before.last + 1
    ):
        return False
    result_before, result = (each.results[-1].result if each.results else None for each in (before, block))
    is_alone = not lines[block.first][: _get_start(block)].strip()
    return (
        is_alone
        and isinstance(result_before, DdResult)
        and isinstance(result, DdResult)
        and result_before.bytes == result.bytes
    )


def _is_other_end(before: DdBlock, block: DdBlock) -> bool:
    """Return whether this is the second dd of a pipe, which reports the same copy."""
    pipe = before.command.pipe if before.command else 1
    if pipe == 1 or not 0 < len(before.results) < pipe or not block.results:
        return False
    result_before, result = before.results[-1].result, block.results[0].result
    return isinstance(result_before, DdResult) and isinstance(result, DdResult) and result_before.bytes == result.bytes


def _group_events(events: list[DdEvent], lines: list[str]) -> Iterator[DdBlock]:
    """Yield the events as copies: records lines and the result that stands close behind them."""
    records: list[DdEvent] = []
    position = 0
    while position < len(events):
        event = events[position]
        position += 1
        if records and event.index != records[-1].last + 1 and not _is_close(records[-1], event, lines):
            yield from _group_records(records)
            records = []
        if event.records is not None:
            records.append(event)
            continue
        results = [event]
        if len(records) == 4 and position < len(events) and _is_same_copy(event, events[position]):
            results.append(events[position])
            position += 1
        elif len(records) > 2:
            yield from _group_records(records[:-2])
            records = records[-2:]
        first = records[0].index if records else event.index
        yield DdBlock(first, results[-1].last, [each.records for each in records if each.records], results)
        records = []
    yield from _group_records(records)


def _is_close(before: DdEvent, after: DdEvent, lines: list[str]) -> bool:
    between = lines[before.last + 1 : after.index]
    return len(between) <= _MOST_BACK and all(not line.strip() or _INTERLUDE.match(line) for line in between)


def _is_same_copy(first: DdEvent, second: DdEvent) -> bool:
    result, next_result = first.result, second.result
    is_both = isinstance(result, DdResult) and isinstance(next_result, DdResult)
    return (
        is_both and second.index == first.last + 1 and getattr(result, "bytes", 0) == getattr(next_result, "bytes", 1)
    )


def _group_records(records: list[DdEvent]) -> Iterator[DdBlock]:
    for start in range(0, len(records), 2):
        pair = records[start : start + 2]
        yield DdBlock(pair[0].index, pair[-1].last, [each.records for each in pair if each.records])


def _read_typed_above(block: DdBlock, lines: list[str], floor: int) -> TypedCommands | None:
    """Return the dd commands that were typed for a block, directly above it but for blank lines, prompts, progress and a loop's prints.

    An error message of dd in between becomes the block's problem.
    """
    label = "" if block.records else lines[block.first][: _get_start(block)]
    if label.strip() and not _FENCE_OR_HEADING.match(label):
        commands = read_command(label)  # a command with its result in a comment; any other label belongs to a list
        return TypedCommands(block.first, label, commands) if len(commands) == 1 else None
    index, left = block.first - 1, _MOST_BACK
    while index > floor and left and _may_stand_between(lines[index]):
        if lines[index].lstrip().startswith("dd: "):
            block.problem = lines[index].strip()[:200]
        is_free = _is_progress(lines[index]) or _FENCE_OR_HEADING.match(lines[index])
        left -= 0 if is_free or interim_reports.is_beside(lines[index]) else 1
        index -= 1
    if index <= floor:
        return None
    typed = read_typed(lines, index, floor)
    if not typed.commands:
        typed = _find_printing_loop(lines, index, floor) or typed
    if not typed.commands or typed.is_unclear:
        return None
    above = typed.first - 1
    if above > floor and any(not command.is_looped for command in read_command(lines[above])):
        return None  # two commands and one result, which may belong to either
    if host := _USER_AND_HOST.match(typed.text):
        block.host = host[1]
    return typed


def _find_printing_loop(lines: list[str], index: int, floor: int) -> TypedCommands | None:
    """Return the loop above the few lines that it printed before its first dd."""
    for above in range(index - 1, max(floor, index - 1 - _MOST_BACK), -1):
        if not is_printed(lines[above + 1 : index + 1]):
            return None
        if (typed := read_typed(lines, above, floor)).prints:
            return typed
    return None


def _is_progress(line: str) -> bool:
    if " transferred " in line and _BSD_PROGRESS.match(line):
        return True
    result = read_result(line) if "B/" in line or "/s" in line else None
    return isinstance(result, DdResult) and result.is_whole_seconds


def _get_start(block: DdBlock) -> int:
    result = block.results[0].result
    return result.start if isinstance(result, DdResult) else 0


def _may_stand_between(line: str) -> bool:
    is_empty = not line.strip() or _INTERLUDE.match(line) or ("=" not in line and _FENCE_OR_HEADING.match(line))
    return bool(is_empty) or _is_progress(line) or interim_reports.is_beside(line)


def _read_times(block: DdBlock, lines: list[str]) -> None:
    """Read the times that the shell printed below a dd that was timed, of every shell, into the block.

    They are not taken where a command behind the dd was timed.
    """
    command = block.command.text if block.command else ""
    times, last, index = ShellTimes(), block.last, block.last + 1
    if command.rfind("time ") > command.rfind("dd "):
        return
    while index < len(lines) and index - last < _MOST_BEFORE_TIMES:
        line = lines[index]
        if line.startswith(_VERBOSE_TIMES) and times.real is None:
            times.take_verbose(lines, index)
            last = times.last
        elif "% cpu " in line and ZSH.search(line) and times.take_zsh(line, index):
            last = index
        elif any(word in line for word in _WORDS_OF_TIMES) and (times.take(line, index) or _BESIDE_TIMES.match(line)):
            last = index if times.real is not None or times.user is not None else last
        elif line and not line.isspace():
            break
        index = max(index, last) + 1
    block.times, block.last = (times, last) if last > block.last else (None, block.last)


def _is_later_report(
    before: DdBlock, block: DdBlock, lines: list[str], waiting: int, loop: TypedCommands | None
) -> bool:
    """Return whether a block is a later report of the copy before it, of which that one was an interim report."""
    if before.times or (before.command and before.command.pipe > 1):
        return False
    between = lines[before.last + 1 : block.first]
    if not all(_may_stand_between_reports(line) for line in between) or _has_label(block, lines):
        return False
    is_requested = before.is_requested or block.is_requested or any(map(interim_reports.is_request, between))
    if not _is_longer(before, block, is_requested) or ((waiting or loop) and not is_requested):
        return False
    block.problem = next((line.strip()[:200] for line in between if line.startswith("dd: ")), "")
    if is_requested or before.command:
        return True
    is_typed = interim_reports.is_typed_count(before.records) and not interim_reports.is_in_flight(before.records)
    return bool(before.records and before.results) and not is_typed


def _is_longer(before: DdBlock, block: DdBlock, is_requested: bool) -> bool:
    """Return whether the figures of a block are those of the copy before it at a later time."""
    if not interim_reports.has_later_records(before.records, block.records) or bool(before.results) != bool(
        block.results
    ):
        return False
    if not before.results:
        return sum(block.records[-1]) > sum(before.records[-1])
    result, later = before.results[-1].result, block.results[-1].result
    if not interim_reports.is_later(result, later, is_requested=is_requested or before.has_interim):
        return False
    if _get_bytes(before) == _get_bytes(block):
        return True
    size, later_size = _get_record_size(before), _get_record_size(block)
    most = before.command.get_largest_size() if before.command else None
    is_whole = most is not None and (_get_bytes(before) >= most or _get_bytes(block) > most)
    return not is_whole and (size is None or later_size is None or size == later_size)


def _get_bytes(block: DdBlock) -> int:
    result = block.results[-1].result if block.results else None
    return result.bytes if isinstance(result, DdResult) else 0


def _get_record_size(block: DdBlock) -> float | None:
    """Return the bytes of a record that was written, None where not all were full."""
    full, part = block.records[-1] if block.records else (0, 0)
    return _get_bytes(block) / full if full and not part else None


def _has_label(block: DdBlock, lines: list[str]) -> bool:
    """Return whether words stand before a bare result, as in a list of results."""
    return not block.records and bool(lines[block.first][: _get_start(block)].strip())


def _may_stand_between_reports(line: str) -> bool:
    is_blank = not line or line.isspace()
    return is_blank or line.startswith("dd: ") or interim_reports.is_beside(line) or _is_progress(line)


def _is_next(before: DdBlock, block: DdBlock, lines: list[str]) -> bool:
    """Return whether only blank lines stand between two copies."""
    return before.last + 1 == block.first or not "".join(lines[before.last + 1 : block.first]).strip()

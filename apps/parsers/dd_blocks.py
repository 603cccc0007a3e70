"""Which lines of a text belong to one dd: its records lines, its result, and what was typed before."""

import re
from collections.abc import Iterator

from msgspec import Struct

from apps.parsers.dd_command import Command, read_command
from apps.parsers.dd_events import Event, Records, events
from apps.parsers.dd_lines import Result, read_result
from apps.parsers.dd_typed import Typed, is_printed, printed_above, typed_at
from apps.parsers.source_text import SourceText

_ASIDE = re.compile(  # questions, errors, what a quota, `date` or docker tells before a copy
    r"\s*(?:Password:|---> Running in [0-9a-f]{8,64}\s*$|\[sudo\]|dd: |dd$|\^C|[\w-]{1,32}: (?:write failed|warning), (?:user|group|project) "
    r"|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z0-9][\w ]{4,10} [0-9]{2}:[0-9]{2}:[0-9]{2} [\w +-]{4,16}$)"
)
_OTHER_FENCE = re.compile(  # of the output, in Markdown, and what it is called: "Output should be something like this:"
    r"\s*(?:(?:`{3}|~{3})[\w-]*|\.{3}|(?:# ?)?\*{0,2}(?:\w{1,10} ){0,2}"
    r"(?:outputs?|results?|sa[ií]da|salida|sortie|r[ée]sultats?|ausgabe|ergebnis|resultado|вывод|результат|получаем|输出|结果|出力)"
    r"(?:(?: (?:for|should|will|would|be|is|looks?|something|similar|to|like|this|that|the|following|as|follows|below)){1,8}"
    r"| \w{1,10})?[:：]{0,2}\*{0,2}[:：]?)\s*$",
    re.IGNORECASE,
)
_TIMED = re.compile(
    r"\s*(?:real|user|sys)\s+\d|\s*[\d.,]+ (?:real|user|sys)\b"
    r"|[^\n]{1,400}? [\d.,]{1,12}s user [\d.,]{1,12}s system \d{1,6}% cpu [\d.,:]{1,16} total\s*$"  # zsh, behind the command
)
_BSD_PROGRESS = re.compile(r"\s*[0-9][0-9.,'’ ]{0,30} bytes \([^()]{1,40}\) transferred [0-9.,]{1,12}s, ")
_USER_AND_HOST = re.compile(r"\s*`?\[?[\w.-]{1,32}@([\w.-]{1,64})[:\s]")
_MOST_BACK = 3


class Block(Struct):
    """One copy. `results` has two entries where the two dd of a pipe report it."""

    first: int
    last: int
    records: list[Records] = []
    results: list[Event] = []
    command: Command | None = None
    host: str = ""
    problem: str = ""
    caption: str = ""

    def block_size(self, size: int) -> int | None:
        """Bytes per record where all records were full, in as well as out."""
        told = set(self.records[-2:])
        if len(self.records) < 2 or len(told) != 1:
            return None
        full, part = told.pop()
        return size // full if part == 0 and full and size % full == 0 else None


def blocks(text: SourceText) -> Iterator[Block]:
    """Every copy of the text, in its order."""
    lines = text.lines
    before: Block | None = None
    waiting: list[Command] = []  # commands that were typed together and whose results are still to come
    loop: Typed | None = None  # the loop that they come from
    for block in _copies(events(text), lines):
        if before and _is_other_end(before, block) and _is_next(before, block, lines):
            before.results += block.results
            before.last = block.last
            continue
        if typed := _read_before(block, lines, before.last if before else -1):
            waiting, loop = list(typed.commands), typed if typed.is_loop else None
        elif before is None or not _follows(before, block, lines, loop):
            waiting, loop = [], None
        elif loop:
            waiting, block.host = waiting or list(loop.commands), before.host
        if loop and loop.prints:
            block.caption = printed_above(lines, block.first, before.last if before else -1)
        if waiting:
            block.command = waiting.pop(0)
        elif before and _is_again(before, block, lines):
            block.command, block.host = before.command, before.host
        block.last = _behind_time(lines, block.last, block.command.text if block.command else "")
        if before:
            yield before
        before = block
    if before:
        yield before


def _follows(before: Block, block: Block, lines: list[str], loop: Typed | None) -> bool:
    """Whether nothing stands between two copies but blank lines, and what the loop itself prints."""
    if _is_next(before, block, lines):
        return True
    return loop is not None and loop.prints and is_printed(lines[before.last + 1 : block.first])


def _is_again(before: Block, block: Block, lines: list[str]) -> bool:
    """Whether this is the result of the same command, done once more: bare results below each other, of as many bytes."""
    if (
        before.records
        or block.records
        or not before.command
        or before.command.pipe > 1
        or block.first != before.last + 1
    ):
        return False
    one, other = (each.results[-1].result if each.results else None for each in (before, block))
    is_alone = not lines[block.first][: _start_of(block)].strip()
    return is_alone and isinstance(one, Result) and isinstance(other, Result) and one.bytes == other.bytes


def _is_other_end(before: Block, block: Block) -> bool:
    """Whether this is the second dd of a pipe: it reports the same copy."""
    pipe = before.command.pipe if before.command else 1
    if pipe == 1 or not 0 < len(before.results) < pipe or not block.results:
        return False
    one, other = before.results[-1].result, block.results[0].result
    return isinstance(one, Result) and isinstance(other, Result) and one.bytes == other.bytes


def _copies(found: list[Event], lines: list[str]) -> Iterator[Block]:
    """The events as copies: records lines and the result that stands close behind them."""
    records: list[Event] = []
    position = 0
    while position < len(found):
        event = found[position]
        position += 1
        if records and event.index != records[-1].last + 1 and not _is_close(records[-1], event, lines):
            yield from _without_result(records)
            records = []
        if event.records is not None:
            records.append(event)
            continue
        results = [event]
        if len(records) == 4 and position < len(found) and _is_same_copy(event, found[position]):
            results.append(found[position])
            position += 1
        elif len(records) > 2:
            yield from _without_result(records[:-2])
            records = records[-2:]
        first = records[0].index if records else event.index
        yield Block(first, results[-1].last, [each.records for each in records if each.records], results)
        records = []
    yield from _without_result(records)


def _is_close(before: Event, after: Event, lines: list[str]) -> bool:
    between = lines[before.last + 1 : after.index]
    return len(between) <= _MOST_BACK and all(not line.strip() or _ASIDE.match(line) for line in between)


def _is_same_copy(first: Event, second: Event) -> bool:
    one, other = first.result, second.result
    is_both = isinstance(one, Result) and isinstance(other, Result)
    return is_both and second.index == first.last + 1 and getattr(one, "bytes", 0) == getattr(other, "bytes", 1)


def _without_result(records: list[Event]) -> Iterator[Block]:
    for start in range(0, len(records), 2):
        pair = records[start : start + 2]
        yield Block(pair[0].index, pair[-1].last, [each.records for each in pair if each.records])


def _read_before(block: Block, lines: list[str], floor: int) -> Typed | None:
    """The dd commands that were typed for a block: right before it, but for blank lines, questions and progress, and what
    a loop prints.

    What dd complained about in between becomes the block's problem.
    """
    label = "" if block.records else lines[block.first][: _start_of(block)]
    if label.strip() and not _OTHER_FENCE.match(label):
        commands = read_command(label)  # with its result in a remark; any other label is of a list that somebody made
        return Typed(block.first, label, commands) if len(commands) == 1 else None
    index, left = block.first - 1, _MOST_BACK
    while index > floor and left and _may_stand_between(lines[index]):
        if lines[index].lstrip().startswith("dd: "):
            block.problem = lines[index].strip()[:200]
        left -= 0 if _is_progress(lines[index]) or _OTHER_FENCE.match(lines[index]) else 1
        index -= 1
    if index <= floor:
        return None
    found = typed_at(lines, index, floor)
    if not found.commands:
        found = _printing_loop(lines, index, floor) or found
    if not found.commands or found.is_unclear:
        return None
    above = found.first - 1
    if above > floor and any(not one.is_looped for one in read_command(lines[above])):
        return None  # two commands and one result: which of them it belongs to is not said
    if host := _USER_AND_HOST.match(found.text):
        block.host = host[1]
    return found


def _printing_loop(lines: list[str], index: int, floor: int) -> Typed | None:
    """The loop above the few lines that it printed before its first dd."""
    for above in range(index - 1, max(floor, index - 1 - _MOST_BACK), -1):
        if not is_printed(lines[above + 1 : index + 1]):
            return None
        if (found := typed_at(lines, above, floor)).prints:
            return found
    return None


def _is_progress(line: str) -> bool:
    if " transferred " in line and _BSD_PROGRESS.match(line):
        return True
    result = read_result(line) if "B/" in line or "/s" in line else None
    return isinstance(result, Result) and result.is_whole_seconds


def _start_of(block: Block) -> int:
    result = block.results[0].result
    return result.start if isinstance(result, Result) else 0


def _may_stand_between(line: str) -> bool:
    return bool(
        not line.strip() or _ASIDE.match(line) or ("=" not in line and _OTHER_FENCE.match(line))
    ) or _is_progress(line)


def _behind_time(lines: list[str], last: int, command: str) -> int:
    """The shell's real, user and sys, and zsh's line of them, belong to the dd that was timed; not those of what was timed behind it."""
    index = last + 1 if command.rfind("time ") <= command.rfind("dd ") else len(lines)
    while index < len(lines) and index - last < 5:
        line = lines[index]
        if not line or line.isspace():
            index += 1
        elif ("user" in line or "real" in line or "sys" in line) and _TIMED.match(line):
            last, index = index, index + 1
        else:
            break
    return last


def _is_next(before: Block, block: Block, lines: list[str]) -> bool:
    """Whether only blank lines stand between them."""
    return before.last + 1 == block.first or not "".join(lines[before.last + 1 : block.first]).strip()

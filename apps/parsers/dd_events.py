"""The lines of a text that dd printed: records lines and results, but for those that only told its progress."""

from msgspec import Struct

from apps.parsers.dd_lines import ALONE, BEGUN, CUT, ENDS_IN_BYTES, PLAIN_RECORDS, RECORDS, Result, Unclear, read_result
from apps.parsers.source_text import SourceText

_CUT_OFF = "a result that is cut off"
_LONGEST = 200
_MOST_SECONDS = 5  # between two lines of progress: dd prints one each second, or as soon as it is let to

Records = tuple[int, int]


class Event(Struct):
    """A line that dd printed. `result` is Unclear where it is broken, and None for a records line."""

    index: int
    records: Records | None = None
    result: Result | Unclear | None = None
    last: int = 0  # index of the last line, where a result is wrapped
    is_progress: bool = False


def events(text: SourceText) -> list[Event]:
    lines = text.lines
    found: list[Event] = []
    for index, line in enumerate(lines):
        if ("/s" in line or ("B/" in line and not line.isascii())) and (result := read_result(line)):  # "MB/秒", "МB/с"
            found.append(Event(index, None, result, index))
        elif "+" in line and len(line) < _LONGEST and (match := PLAIN_RECORDS(line) or RECORDS.search(line)):
            full, part = match.groups()
            found.append(Event(index, (int(full), int(part)), None, index))
            if (
                line[-1] not in "nt"
                and ENDS_IN_BYTES(line)
                and isinstance((wrapped := _wrapped(lines, index)).result, Result)
            ):
                found.append(wrapped)
        elif line.isdigit() and found and found[-1].records and found[-1].last == index - 1:
            wrapped = _wrapped(lines, index)
            found += [wrapped] if isinstance(wrapped.result, Result) else []
        elif _is_cut(line, found[-1] if found else None, index):
            found.append(_wrapped(lines, index))
    _mark_progress(found, text)
    return [event for event in found if not event.is_progress]


def _is_cut(line: str, before: Event | None, index: int) -> bool:
    """Whether this begins as a result does, and ends before its rate."""
    if before and before.records and index - before.last <= 2:
        return bool(CUT.search(line)) or (index - before.last == 1 and len(line) < _LONGEST and bool(BEGUN.match(line)))
    return " bytes " in line and len(line) < _LONGEST and bool(ALONE.match(line))


def _wrapped(lines: list[str], index: int) -> Event:
    """A result that a mail program broke, or that was cut off."""
    if index + 1 < len(lines) and (result := read_result(f"{lines[index].rstrip()} {lines[index + 1].lstrip()}")):
        return Event(index, result=result, last=index + 1)
    expected = "the seconds and the rate behind it"
    return Event(index, result=Unclear(_CUT_OFF, lines[index].strip()[:120], expected), last=index)


def _mark_progress(found: list[Event], text: SourceText) -> None:
    """`status=progress` prints whole seconds, over and over on one line, before the records lines. Where somebody made lines
    of them, each is followed by the next one.
    """
    for position, event in reversed(list(enumerate(found))):
        if event.records is not None:
            continue
        before = found[position - 1] if position else None
        after = found[position + 1] if position + 1 < len(found) else None
        follows_records = before is not None and before.records is not None and event.index - before.last <= 1
        if not _may_be_progress(event.result):
            is_alone = not follows_records and (before is None or before.last < event.index - 1)
            event.is_progress = is_alone and _is_last_progress(found[position : position + 4])
            continue
        is_rewritten = any(
            other is not None
            and other.result
            and text.number(other.index) == text.number(event.index)
            and _is_more(event.result, other.result)
            for other in (before, after)
        )
        precedes_records = (
            isinstance(event.result, Result)
            and after is not None
            and after.records is not None
            and after.index - event.last <= 2
        )
        goes_on = after is not None and not follows_records and _is_next_progress(event, after)
        event.is_progress = is_rewritten or goes_on or (precedes_records and not follows_records)


def _is_next_progress(event: Event, after: Event) -> bool:
    """Whether the line behind it tells the same copy's progress."""
    other = after.result
    is_whole = isinstance(other, Result) and other.is_whole_seconds
    return is_whole and after.index == event.last + 1 and _goes_on(event.result, other, least=1)


def _is_last_progress(found: list[Event]) -> bool:
    """Whether a line with parts of a second, as older ones print them, tells the progress of the report that follows it at once."""
    event, *report = found
    if len(report) < 3 or event.index + 1 != report[0].index or None in (report[0].records, report[1].records):
        return False
    has_begun = (
        isinstance(event.result, Result) and (event.result.seconds or 0) >= 1
    )  # the first is printed behind a second
    return has_begun and _goes_on(event.result, report[2].result, least=0)


def _is_more(one: Result | Unclear | None, other: Result | Unclear | None) -> bool:
    """Whether one of them tells of more bytes: copies of as many bytes that stand on one line are two copies."""
    return not (isinstance(one, Result) and isinstance(other, Result)) or one.bytes != other.bytes


def _goes_on(one: Result | Unclear | None, other: Result | Unclear | None, least: int) -> bool:
    """Whether the other tells of the same copy a few seconds and at least so many bytes later."""
    if not (isinstance(one, Result) and isinstance(other, Result)) or one.seconds is None or other.seconds is None:
        return False
    return 0 <= other.seconds - one.seconds <= _MOST_SECONDS and other.bytes - one.bytes >= least


def _may_be_progress(result: Result | Unclear | None) -> bool:
    return result.is_whole_seconds if isinstance(result, Result) else result is not None and result.message == _CUT_OFF

"""Removal of a logger's words before the first line of a message that has several lines.

A program that captures a tool's output writes it to its log as one message: time, logger and level stand before the
first line alone, and the tool's other lines follow without them.

    2019-07-01 22:14:42,123 - bench.disks - INFO - 1024+0 records in
    1024+0 records out
    INFO:root:rr: (groupid=0, jobs=1): err= 0: pid=9
    Jul  1 22:14:42 host3 bench[4711]: rr: (groupid=0, jobs=1): err= 0: pid=9
    ok: [host3] => rr: (groupid=0, jobs=1): err= 0: pid=9

Words are taken for a logger's where they hold a time and a level, a program with its process number, or are of a form
that only loggers print. A date alone, or a time of day in brackets, counts; a bare time of day does only before a line
of fio's, because tools print such themselves. Marks before every line are removed by `timestamps.py`; those without a
time, which are the same in each line, are here.
"""

import re

from apps.parsers.core.source_text import SourceText, get_ascii_bytes

_CLOCK = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
_ZONE = r"(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?"
_DATE = rf"\d{{4}}[-/]\d\d[-/]\d\d(?:[T ]|, ){_CLOCK}{_ZONE}"
_SHORT = rf"(?:[A-Z][a-z]{{2}} )?[A-Z][a-z]{{2}} {{1,2}}\d{{1,2}} (?:\d{{4}} )?{_CLOCK}(?: \d{{4}}(?= ))?"
_END = r"(?=[\s\]|:-]|$)"
_FULL_TIME = re.compile(
    rf"\[ ?(?:{_DATE}|{_SHORT}|{_CLOCK}) ?\]|(?:{_DATE}){_END}|[IWEFD]\d{{4}} {_CLOCK} {{1,8}}\d{{1,10}} [\w.-]{{1,64}}:\d{{1,6}}\]"
    rf"|time=\"{_DATE}\"|(?:<\d{{1,3}}>)?\[ {{0,8}}\d{{1,7}}\.\d{{3,9}}\]"
)
_SHORT_TIME = re.compile(rf"(?:(?:<\d{{1,3}}>1? ?)?{_SHORT}|{_CLOCK}){_END}")
_LEVELS = r"(?:DEBUG|INFO|NOTICE|WARN(?:ING)?|ERR(?:OR)?|CRIT(?:ICAL)?|FATAL|TRACE|debug|info|notice|warning|error)"
_WITH_LEVEL = re.compile(rf"\[[^\]\n]{{0,30}}{_DATE}[^\]\n]{{0,60}}?\b{_LEVELS}\b[^\]\n]{{0,60}}\]")
_LEVEL = re.compile(rf"[\[(<]? ?{_LEVELS} {{0,4}}[\])>]?(?![\w.])|level={_LEVELS}(?!\w)")
_PYTHON = re.compile(rf"{_LEVELS}:[\w.]{{1,64}}:(?! \(g)")  # logging.basicConfig
_PROGRAM = re.compile(r"(?:[\w.-]{1,64} )?[\w./@-]{1,64}\[\d{1,10}\]:?(?= |$)|[\w.-]{1,64} [\w./@-]{1,64}:(?= (?!\(g))")
_ANSIBLE = re.compile(r"(?:ok|changed|failed|fatal): \[[\w.:-]{1,100}\](?: =>)?")
_STREAM = re.compile(r"std(?:out|err)(?: [FP])?(?= )")
_BRACKET = re.compile(r"\[[^\]\n]{1,64}\]|\{[^}\n]{1,64}\}|<[^>\n]{1,64}>|\([\w .:#-]{1,64}\)(?! )")
_NAME = re.compile(r"[\w./@-]{1,64}(?:[:#(]\d{1,6}\)?)?(?= {1,8}[-|] )")  # between rules
_PLACE = re.compile(r"[\w./-]{1,64}:[\w./-]{0,64}:?\d{1,6}:?(?= )|[\w-]{1,64}(?:\.[\w-]{1,64}){1,8}:?(?= (?!\(g))")
_BEFORE_LEVEL = re.compile(r"[\w./@-]{1,64}:?(?= )")  # only where a level follows
_SEPARATOR = re.compile(r"[-|:>]{1,2}(?=\s)|=>(?=\s)|msg=\"?|:(?=\s)")
_ANY_LEVEL = re.compile(r"\d:\d\d\b.{0,200}?\b(?:DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|TRACE)\b[\]):|\s-]{0,8}")
_SPEAKER = re.compile(r"[\w./@:-]{1,64}: (?!\(g)")
_BLANKS = re.compile(r"[ \t]{1,8}")
_OF_FIO = (": (groupid=", ": (g=")
_MOST_WORDS = 12
_FEWEST = 3  # lines with the same words
_LONGEST = 400  # characters of a logger's words
_LARGEST = 16 << 20  # bytes
_HINT = re.compile(
    rb"\d:\d\d:\d\d|\bINFO\b|\bDEBUG\b|\bNOTICE\b|\bWARN|\bERROR\b|\blevel=|\] => |^\w+: \[|\[ *\d+\.\d{3}",
    re.MULTILINE,
)


def without_message_heads(text: SourceText) -> SourceText | None:
    """Return the text without a logger's words before messages of several lines, with the same line numbers.

    None where there are none.
    """
    data = get_ascii_bytes(text)
    if len(data) > _LARGEST or not _HINT.search(data):
        return None
    rows = text.text.split("\n")
    ends = [find_message(row) for row in rows]
    heads = [
        index
        for index, end in enumerate(ends)
        if end and index + 1 < len(rows) and not ends[index + 1] and _has_words(rows, index)
    ]
    heads += _find_repeated(rows, ends)
    if not heads:
        return None
    for index in set(heads):
        rows[index] = rows[index][ends[index] :]
    return text.with_data("\n".join(rows).encode("utf-8", "replace"))


def _find_repeated(rows: list[str], ends: list[int]) -> list[int]:
    """Return the indices of lines, three or more on end, with the very same words before them: `INFO:root:`."""
    repeated, stretch = list[int](), list[int]()
    for index, end in enumerate([*ends, 0]):
        if stretch and not (end and rows[index][:end] == rows[stretch[0]][: ends[stretch[0]]]):
            repeated += stretch if len(stretch) >= _FEWEST else []
            stretch = []
        stretch += [index] if end else []
    return repeated


def _has_words(rows: list[str], index: int) -> bool:
    """Return whether a message goes on below its first line: one of the next two lines is not blank."""
    return any(row.strip() for row in rows[index + 1 : index + 3])


def find_message(line: str) -> int:
    """Return the index at which a logged line's message begins; 0 where no logger's words stand before it."""
    if ":" not in line[:_LONGEST]:
        return 0
    at, is_head = _read_head(line)
    name = next((place for mark in _OF_FIO if (place := line.find(mark, 0, _LONGEST)) >= 0), 0)
    if not name:
        return at if is_head and at < len(line) else 0
    return _find_job(line, name, at if is_head or at > 0 else 0)


def _find_job(line: str, name: int, at: int) -> int:
    """Return the index at which the name of fio's job begins, which ends at `name`, behind a logger's words."""
    if not at and (level := _ANY_LEVEL.search(line, 0, name)):
        at = level.end()
    if at and (speaker := _SPEAKER.match(line, at)) and speaker.end() < name:
        at = speaker.end()
    return at if at < name else 0


def _read_head(line: str) -> tuple[int, bool]:
    """Return where a logger's words end, and whether they are surely a logger's; 0 where there are none."""
    at = start = len(line) - len(line.lstrip(" \t"))
    if (match := _PYTHON.match(line, at) or _ANSIBLE.match(line, at)) is not None:
        return _skip(line, match.end()), True
    has_time = has_day = has_mark = False
    for _ in range(_MOST_WORDS):
        at = _skip(line, at)
        if match := _WITH_LEVEL.match(line, at):
            has_time = has_mark = True
        elif match := _FULL_TIME.match(line, at):
            has_time = has_day = True
        elif match := _SHORT_TIME.match(line, at):
            has_time = True
        elif (match := _LEVEL.match(line, at)) or (has_time and (match := _PROGRAM.match(line, at))):
            has_mark = True
        else:
            match = _match_word(line, at, has_time=has_time, has_mark=has_mark)
        if match is None or not match.end() > at or match.end() > _LONGEST:
            break
        at = match.end()
    is_any = has_time or has_mark
    return (at if is_any and at > start else 0), has_time and (has_mark or has_day)


def _match_word(line: str, at: int, *, has_time: bool, has_mark: bool) -> re.Match[str] | None:
    """Return the next word of a logger that is neither a time nor a level."""
    for form in (_SEPARATOR, _STREAM, _BRACKET, _NAME, _PLACE):
        if match := form.match(line, at):
            return match if has_time or has_mark else None
    if has_time and not has_mark and (word := _BEFORE_LEVEL.match(line, at)):
        return word if _LEVEL.match(line, _skip(line, word.end())) else None
    return None


def _skip(line: str, at: int) -> int:
    blanks = _BLANKS.match(line, at)
    return blanks.end() if blanks else at

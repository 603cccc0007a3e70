"""Removal of what logs put before every line of a tool: CI systems, containers, consoles, journals, loggers and `ts`.

    2023-05-04T10:11:12.1234567Z   read: IOPS=12.3k, BW=48.1MiB/s (50.4MB/s)(2886MiB/60001msec)
    [2023-05-04 10:11:12] fio-3.28
    May 04 10:11:12 host3 bench.sh[4711]: 1073741824 bytes (1.1 GB) copied, 8.2 s, 131 MB/s
    [   12.345678] 1024+0 records out
    disks-1  | 2023-05-04 10:11:12,123 - bench - INFO - 1024+0 records in

Layers are removed from the outside in: a container's label, a time, a logger's words behind it. A layer is removed
where nearly all lines of the text have it, or at least three lines on end, as where a piece of a log stands in a mail.
A label and a logger's words must be the same in all these lines; where they differ, they may be the tool's.

What looks like a time may also be the first column of a table, so the result is only offered to formats that are
recognised by words.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from apps.parsers.core.source_text import SourceText, get_ascii_bytes

_CLOCK = rb"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
_DAY = rb"(?:\d{4}[-/]\d\d[-/]\d\d(?:[T ]|, )|\d{1,2}[-/ ][A-Z][a-z]{2}[-/ ]\d{4}[: ])"
_DATE = rb"(?:\xef\xbb\xbf)?" + _DAY + _CLOCK + rb"(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?"
_LEVEL = (  # the stream of a CI system or a container, or a log level
    rb"(?: (?:\d\d[OE]\+?|std(?:out|err) [FP]))?(?: \[?(?:DEBUG|INFO|NOTICE)\]?:?)?"
)
_SHORT = rb"[A-Z][a-z]{2} {1,2}\d{1,2} " + _CLOCK
_HOST_AND_PROGRAM = rb"[\w.-]{1,64} [\w./@-]{1,64}(?:\[\d{1,10}\])?:"
_END = rb")(?:[ \t]|(?=\r?$))"
_TIMES = tuple(
    re.compile(rb"^[ \t]{0,8}(?:" + form + _END, re.MULTILINE)
    for form in (
        _SHORT + rb" " + _HOST_AND_PROGRAM,
        _SHORT,
        rb"\[" + _DATE + rb"\]" + _LEVEL,
        _DATE + _LEVEL,
        rb"\[" + _CLOCK + rb"\]",
        rb"[IWEF]\d{4} " + _CLOCK + rb" {1,8}\d{1,10} [\w.-]{1,64}:\d{1,6}\]",  # klog and glog of Go programs
        rb"[^\t\n]{1,120}\t(?:[^\t\n]{1,120}\t)?" + _DATE,  # job and step of a CI system
        _CLOCK,
    )
)
_SECONDS = tuple(
    re.compile(rb"^[ \t]{0,8}(?:" + form + _END, re.MULTILINE)
    for form in (
        rb"(?:<\d{1,3}>)?\[ {0,8}\d{1,7}\.\d{3,9}\](?:\[ {0,8}[TC]\d{1,8}\])?",  # the kernel's and serial consoles'
        rb"\d{10}\.\d{3,9}",
    )
)
_LABELS = {  # by bytes that each contains, searched first because that is quicker
    needle: re.compile(rb"^(?:" + form + _END, re.MULTILINE)
    for needle, form in {
        b"  |": rb"(?:\x1b\[[\d;]{0,12}m)?[A-Za-z0-9][\w.-]{0,99} {2,64}\|(?:\x1b\[0?m)?",  # docker compose
        b"[pod/": rb"\[pod/[^\]\s]{1,200}\]",
        b"-exec):": rb"[\w.\[\]\"-]{1,100} \((?:remote|local)-exec\):",
        b"//": rb"//",  # a comment in a program
        b"] out:": rb"\[[\w.@:-]{1,64}\] out:",
    }.items()
}
_ANY_CLOCK = re.compile(rb"\d:\d\d:\d\d")
_FIGURES = re.compile(rb"[ \t]*[\d.]{1,20}(?:[ \t]+[\d.]{1,20})+[ \t]*\r?$")
_LOGGERS = tuple(  # what may stand behind a time, one at a time
    re.compile(rb"(?:" + form + rb")(?=[ \t\r]|$)")
    for form in (
        _HOST_AND_PROGRAM,
        rb"[\w./@-]{1,64}(?:\[\d{1,10}\])?:",
        rb"\[[^\]\r\n]{1,64}\]|\{[^}\r\n]{1,64}\}|-",
        rb"[\w./-]{1,64}(?= - )|[A-Z]{4,8}[|:]{0,2}",
    )
)
_OWN_TIMES = (b"avg_", b" RD=")  # Vdbench's lines begin with the time of day
_FILLED = re.compile(rb"^[ \t\r]*[^ \t\r\n]", re.MULTILINE)
_FEWEST = 3
_SHARE = 0.9  # of all lines that are not empty; a log has a few lines without the mark
_MOST_LAYERS = 3
_MOST_WORDS = 6  # of a logger behind one time
_TRIED = 5
_HEAD = 2000
_LONGEST_MIXED = 1 << 20  # bytes; larger texts are only checked for being a log as a whole


def without_times(text: SourceText) -> SourceText | None:
    """Return the text without a log's marks before its lines, with the same line numbers; None where there are none."""
    lines: list[bytes] | None = None
    for _ in range(_MOST_LAYERS):
        data = get_ascii_bytes(text) if lines is None else b"\n".join(lines)
        if (shorter := _without_layer(data)) is None:
            break
        lines = shorter
    return None if lines is None else text.with_data(b"\n".join(lines))


def _without_layer(data: bytes) -> list[bytes] | None:
    """Return the lines without the outermost layer, None where there is none."""
    for form in _iterate_forms(data):
        is_whole = form not in _LABELS.values() and _is_everywhere(form, data)
        if not is_whole and not (form.search(data) if len(data) <= _LONGEST_MIXED else form.search(data[:_HEAD])):
            continue
        lines = data.split(b"\n")
        ends = [match.end() if (match := form.match(line)) else 0 for line in lines]
        indices = (
            [index for index, end in enumerate(ends) if end] if is_whole else list(_find_stretches(lines, ends, form))
        )
        if indices and not (form is _TIMES[-1] and _are_rows(lines[index][ends[index] :] for index in indices)):
            for index in indices:
                lines[index] = lines[index][ends[index] :]
            if form not in _LABELS.values():
                _drop_loggers(lines, indices)
            return lines
    return None


def _iterate_forms(data: bytes) -> Iterator[re.Pattern[bytes]]:
    yield from (form for needle, form in _LABELS.items() if needle in data)
    if _ANY_CLOCK.search(data):
        yield from _TIMES[:-1] if any(word in data for word in _OWN_TIMES) else _TIMES
    yield from _SECONDS


def _is_everywhere(form: re.Pattern[bytes], data: bytes) -> bool:
    if not form.search(data[:_HEAD]):
        return False
    times = sum(1 for _ in form.finditer(data))
    return times >= _FEWEST and times >= _SHARE * sum(1 for _ in _FILLED.finditer(data))


def _are_rows(rest: Iterable[bytes]) -> bool:
    """Return whether only figures stand behind the time of day: such rows are printed by tools every second."""
    return all(_FIGURES.match(line) for line in rest if line.strip())


def _find_stretches(lines: Sequence[bytes], ends: Sequence[int], form: re.Pattern[bytes]) -> Iterator[int]:
    """Yield the indices of marked lines that stand at least three on end, not counting empty ones.

    Lines with one label must be together, too: where labels take turns, several programs wrote at the same time.
    """
    has_label = form in _LABELS.values()
    stretches: list[tuple[bytes, list[int]]] = [(b"", [])]
    for index, (line, end) in enumerate(zip(lines, ends, strict=True)):
        if not end and (not line or line.isspace()):
            continue
        label = line[:end].strip() if has_label else b""
        if not end or label != stretches[-1][0]:
            stretches.append((label, []))
        if end:
            stretches[-1][1].append(index)
    labels = [label for label, stretch in stretches if stretch]
    if has_label and sum(
        1 for label_before, label_after in pairwise([b"", *labels]) if label_before != label_after
    ) > len(set(labels)):
        return
    for _, stretch in stretches:
        yield from stretch if len(stretch) >= _FEWEST else ()


def _drop_loggers(lines: list[bytes], indices: Sequence[int]) -> None:
    """Remove the words of a logger that nearly all of these lines begin with, in place."""
    for _ in range(_MOST_WORDS):
        filled = [index for index in indices if lines[index].strip()]
        if not any(_drop_word(lines, filled, form) for form in _LOGGERS):
            return


def _drop_word(lines: list[bytes], filled: Sequence[int], form: re.Pattern[bytes]) -> bool:
    """Remove the most frequent first word that matches `form` where nearly all lines begin with it; return whether it did."""
    begun = Counter(match[0] for index in filled[:_TRIED] if (match := form.match(lines[index])))
    for word, _ in begun.most_common(1):
        mine = [index for index in filled if _begins_with(lines[index], word)]
        if len(mine) >= _FEWEST and len(mine) >= _SHARE * len(filled):
            for index in mine:
                lines[index] = lines[index][len(word) + 1 :]
            return True
    return False


def _begins_with(line: bytes, word: bytes) -> bool:
    return line.startswith(word) and line[len(word) : len(word) + 1] in (b" ", b"\t", b"\r", b"")

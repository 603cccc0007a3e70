"""A margin before lines, as code blocks in Markdown and reStructuredText, and people's pastes, have it.

`without_margin` takes away what all lines of a text begin with. `unindented` takes it from each block in prose: lines on end that
all have a margin, between lines that have none, with nothing directly above them or below. Tools print such blocks too, to say
what belongs to what (mdadm, ssacli), so that is for a text in which nothing is found otherwise.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from apps.parsers.source_text import SourceText

_BARE = re.compile(r"^\S", re.MULTILINE)
_MOST = 100_000  # lines


def without_margin(text: SourceText) -> SourceText | None:
    """The same lines, with the same numbers, without what all of them begin with; None where one begins with a word."""
    whole = text.text
    if not whole[:1].isspace() or _BARE.search(whole):
        return None
    rows = whole.split("\n")
    return _without(text, rows, [(0, len(rows))])


def unindented(text: SourceText) -> SourceText | None:
    """The same lines, with the same numbers, and blocks without their margins; None where there are none."""
    rows = text.text.split("\n")
    return _without(text, rows, list(_blocks(rows))) if len(rows) <= _MOST else None


def _without(text: SourceText, rows: list[str], blocks: Sequence[tuple[int, int]]) -> SourceText | None:
    is_changed = False
    for first, end in blocks:
        margin = _common([row for row in rows[first:end] if row.strip()])
        is_changed = is_changed or margin > 0
        rows[first:end] = [row[margin:] if row.strip() else row for row in rows[first:end]]
    return text.with_data("\n".join(rows).encode("utf-8", "replace")) if is_changed else None


def _common(rows: Sequence[str]) -> int:
    """How many blanks and tabs all of them begin with alike."""
    if not rows:
        return 0
    least, most = min(rows), max(rows)  # what these two begin with, all between them do
    alike = takewhile(lambda pair: pair[0] == pair[1] and pair[0] in " \t", zip(least, most, strict=False))
    return sum(1 for _ in alike)


def _blocks(rows: Sequence[str]) -> Iterator[tuple[int, int]]:
    """(first, behind the last) of lines that are blank or begin with one, where the first and the last ones are."""
    first, is_behind_blank = 0, True
    for place, row in enumerate((*rows, "end")):
        if row[:1].strip():  # begins with a word
            if place > first and is_behind_blank and (place == len(rows) or not rows[place - 1].strip()):
                yield first, place
            first = place + 1
            is_behind_blank = first < len(rows) and not rows[first].strip()

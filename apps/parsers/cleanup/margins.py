"""Removal of a margin before lines, as code blocks in Markdown and reStructuredText and people's pastes have it.

`without_margin` removes what all lines of a text begin with. `without_block_margins` removes it from each block in
prose: lines on end that all have a margin, between lines that have none, with a blank line above and below. Tools print
such blocks too, to show what belongs together (mdadm, ssacli), so that is used only where nothing is recognised
otherwise.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from apps.parsers.core.source_text import SourceText

_BARE = re.compile(r"^\S", re.MULTILINE)
_MOST = 100_000  # lines


def without_margin(text: SourceText) -> SourceText | None:
    """Return the text without the blanks that all lines begin with, with the same line numbers; None where one has none."""
    whole = text.text
    if not whole[:1].isspace() or _BARE.search(whole):
        return None
    rows = whole.split("\n")
    return _without(text, rows, [(0, len(rows))])


def without_block_margins(text: SourceText) -> SourceText | None:
    """Return the text with blocks moved to the left margin, with the same line numbers; None where there are none."""
    rows = text.text.split("\n")
    return _without(text, rows, list(_find_blocks(rows))) if len(rows) <= _MOST else None


def _without(text: SourceText, rows: list[str], blocks: Sequence[tuple[int, int]]) -> SourceText | None:
    is_changed = False
    for first, end in blocks:
        margin = _count_common_blanks([row for row in rows[first:end] if row.strip()])
        is_changed = is_changed or margin > 0
        rows[first:end] = [row[margin:] if row.strip() else row for row in rows[first:end]]
    return text.with_data("\n".join(rows).encode("utf-8", "replace")) if is_changed else None


def _count_common_blanks(rows: Sequence[str]) -> int:
    """Return how many blanks and tabs all rows have in common at their beginning."""
    if not rows:
        return 0
    least, most = min(rows), max(rows)  # a prefix of the first and last in sorting order is one of all
    alike = takewhile(lambda pair: pair[0] == pair[1] and pair[0] in " \t", zip(least, most, strict=False))
    return sum(1 for _ in alike)


def _find_blocks(rows: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield (first, behind the last) index of blocks whose lines are blank or indented, with blank lines at both ends."""
    first, is_behind_blank = 0, True
    for index, row in enumerate((*rows, "end")):
        if row[:1].strip():  # begins with a word
            if index > first and is_behind_blank and (index == len(rows) or not rows[index - 1].strip()):
                yield first, index
            first = index + 1
            is_behind_blank = first < len(rows) and not rows[first].strip()

"""Lines of dd's that came to stand on one, as posts and mails that fill their paragraphs anew have them: each on its own again.

    $ dd if=/dev/zero of=/srv/a bs=1M count=100 100+0 records in 100+0
    records out 104857600 bytes (105 MB) copied, 0.5 s, 210 MB/s 100+0 records in …

Such a paragraph is cut where records lines and results begin and end, and no longer where a line ended inside one.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, pairwise

from apps.parsers.dd_lines import BSD, GNU, RECORDS
from apps.parsers.source_text import SourceText, blocks

_SHORT = 23  # letters: two records lines have more
_TWO_RESULTS = 80  # letters: two results have more
_LONGEST = 20_000  # letters of a paragraph
_WORDS = re.compile(r"[^\W\d_]*(?:[ \u00a0\u202f][^\W\d_]{1,20})?")  # the rest of "3+0 records in"
_WORD = re.compile(r"\w")

Span = tuple[int, int]
Piece = tuple[str, int]  # and the index of the line that it begins in


def apart(text: SourceText) -> SourceText:
    """The same text, with the same numbers of lines; some may come more than once."""
    lines = text.lines
    several = [
        index
        for index, line in enumerate(lines)
        if len(line) > _SHORT and ("+" in line or len(line) > _TWO_RESULTS) and _may_have_several(line)
    ]
    cut = {
        first: (behind, pieces)
        for first, behind in (blocks(lines) if several else ())
        if _is_in(several, first, behind) and (pieces := _pieces(lines, first, behind))
    }
    if not cut:
        return text
    found: list[Piece] = []
    index = 0
    while index < len(lines):
        index, pieces = cut.get(index) or (index + 1, [(lines[index], index)])
        found += pieces
    return text.with_lines([piece for piece, _ in found], [text.number(at) for _, at in found])


def _may_have_several(line: str) -> bool:
    """Quick, and true of every line with two: each result and each records line has one of these, or begins with bytes."""
    marks = line.count("+") + line.count("B/") + line.count("s/s")
    return (marks > 1 or (marks == 1 and "+" in line and ("(" in line or "bytes" in line))) and len(line) < _LONGEST


def _is_in(places: Sequence[int], first: int, behind: int) -> bool:
    at = bisect_right(places, first - 1)
    return at < len(places) and places[at] < behind


def _pieces(lines: Sequence[str], first: int, behind: int) -> list[Piece]:
    """The pieces of a paragraph; none where each of its lines holds one thing."""
    joined = " ".join(lines[first:behind])
    if len(joined) > _LONGEST:
        return []
    spans, alone = _items(joined), [len(_items(line)) for line in lines[first:behind]]
    if max(alone) < 2 and len(spans) <= sum(alone):
        return []
    begins = list(accumulate((len(line) + 1 for line in lines[first : behind - 1]), initial=0))
    ends = [begin for begin in begins if not any(start < begin < end for start, end in spans)]
    places = sorted({*ends, *(place for span in spans for place in span), len(joined)})
    pieces = [(joined[start:end].rstrip(), first + bisect_right(begins, start) - 1) for start, end in pairwise(places)]
    return [(piece, index) for piece, index in pieces if _WORD.search(piece)]  # and no slash between records


def _items(text: str) -> list[Span]:
    """Where the records lines and results in it begin and end."""
    records = [match.span() for match in RECORDS.finditer(text)]
    found = [(start, rest.end() if (rest := _WORDS.match(text, end)) else end) for start, end in records]
    return sorted([*found, *(match.span() for pattern in (GNU, BSD) for match in pattern.finditer(text))])
